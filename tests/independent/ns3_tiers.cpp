// Two tiers of ns-3's raw point-to-point devices: leaves with workers below one root.
//
// Usage: ns3_tiers OPERATION RACKS WORKERS PACKET_BYTES PACKETS WINDOW HOST_RATE HOST_DELAY
//                  UP_RATE UP_DELAY LEAF_LATENCY ROOT_LATENCY
// WORKERS are those of a rack, PACKET_BYTES on the medium. OPERATION is one of
//   levels   leaves add up their workers' packets, the root adds up the leaves', and the sum goes
//            down again: PACKETS a worker, of which WINDOW are on their way at most
//   root     the same, but only the root adds up, and leaves forward
//   ring     all workers on a ring, in order: 2 (n - 1) messages of PACKETS packets to the next,
//            each but the first sent when the one before has come whole
//   doubling pairs at distances 1, 2, 4 ... swap messages of PACKETS packets; a pair begins when
//            both have come so far
// Prints, as JSON, when each worker is done, in picoseconds.

#include "ns3/drop-tail-queue.h"
#include "ns3/node-container.h"
#include "ns3/packet.h"
#include "ns3/point-to-point-helper.h"
#include "ns3/simulator.h"
#include "ns3/string.h"

#include <bit>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <vector>

using namespace ns3;

namespace
{
constexpr uint32_t PPP_BYTES = 2; // What a point-to-point device adds to a packet.
constexpr uint16_t IPV4 = 0x0800; // The devices carry only protocols that PPP knows.

// What a packet says: a contribution or a message's packet for a worker, or a result for one.
struct Label
{
    uint32_t isResult;
    uint32_t worker; // the receiver
    uint32_t number;
};

struct Switch
{
    Time latency;
    Ptr<NetDevice> up; // null at the root
    std::vector<Ptr<NetDevice>> down;
    std::map<uint32_t, uint32_t> contributions;
};

std::string operation;
uint32_t racks, perRack, packetBytes, packets;
std::vector<Ptr<NetDevice>> hosts;
std::vector<Switch> leaves;
Switch root;
std::vector<uint32_t> sent, received, rounds;
std::set<uint32_t> ready;
std::vector<Time> finish;

uint32_t
Workers()
{
    return racks * perRack;
}

bool
SendsMessages()
{
    return operation == "ring" || operation == "doubling";
}

void
Transmit(Ptr<NetDevice> device, Label label)
{
    Ptr<Packet> packet = Create<Packet>(reinterpret_cast<const uint8_t*>(&label), sizeof(label));
    packet->AddPaddingAtEnd(packetBytes - PPP_BYTES - sizeof(label));
    NS_ABORT_MSG_UNLESS(device->Send(packet, device->GetBroadcast(), IPV4), "a packet was lost");
}

Label
LabelOf(Ptr<const Packet> packet)
{
    Label label;
    packet->CopyData(reinterpret_cast<uint8_t*>(&label), sizeof(label));
    return label;
}

// --- switches ---------------------------------------------------------------------------

void
ToAllChildren(Switch* from, Label label)
{
    for (const Ptr<NetDevice>& port : from->down)
    {
        Transmit(port, label);
    }
}

void
ToEveryWorker(Label label)
{
    for (label.worker = 0; label.worker < Workers(); ++label.worker)
    {
        Transmit(root.down[label.worker / perRack], label);
    }
}

bool
ReceiveAtLeaf(uint32_t rack, Ptr<NetDevice>, Ptr<const Packet> packet, uint16_t, const Address&)
{
    Switch& leaf = leaves[rack];
    const Label label = LabelOf(packet);
    if (operation == "levels")
    {
        if (label.isResult)
        {
            Simulator::Schedule(leaf.latency, &ToAllChildren, &leaf, label);
        }
        else if (++leaf.contributions[label.number] == perRack)
        {
            Simulator::Schedule(leaf.latency, &Transmit, leaf.up, label);
        }
        return true;
    }
    const bool isLocal = label.worker / perRack == rack;
    const bool goesDown = SendsMessages() ? isLocal : label.isResult;
    Ptr<NetDevice> port = goesDown ? leaf.down[label.worker % perRack] : leaf.up;
    Simulator::Schedule(leaf.latency, &Transmit, port, label);
    return true;
}

bool
ReceiveAtRoot(Ptr<NetDevice>, Ptr<const Packet> packet, uint16_t, const Address&)
{
    Label label = LabelOf(packet);
    if (SendsMessages())
    {
        Simulator::Schedule(root.latency, &Transmit, root.down[label.worker / perRack], label);
        return true;
    }
    const uint32_t complete = operation == "levels" ? racks : Workers();
    if (++root.contributions[label.number] == complete)
    {
        label.isResult = 1;
        if (operation == "levels")
        {
            Simulator::Schedule(root.latency, &ToAllChildren, &root, label);
        }
        else
        {
            Simulator::Schedule(root.latency, &ToEveryWorker, label);
        }
    }
    return true;
}

// --- workers ----------------------------------------------------------------------------

uint32_t
Target(uint32_t worker)
{
    if (operation == "ring")
    {
        return (worker + 1) % Workers();
    }
    return operation == "doubling" ? worker ^ (1u << rounds[worker]) : worker;
}

void
SendNext(uint32_t worker)
{
    Transmit(hosts[worker], Label{0, Target(worker), sent[worker]++});
}

void
SendMessage(uint32_t worker)
{
    for (uint32_t packet = 0; packet < packets; ++packet)
    {
        SendNext(worker);
    }
}

// Those who begin at one instant do so in order, which is the order of their packets in a queue.
void
SendReady()
{
    for (uint32_t worker : ready)
    {
        SendMessage(worker);
    }
    ready.clear();
}

void
EndRound(uint32_t worker)
{
    ++rounds[worker];
    if (operation == "ring")
    {
        SendMessage(worker);
    }
    else if (rounds[Target(worker)] == rounds[worker])
    {
        ready.insert({worker, Target(worker)});
        Simulator::ScheduleNow(&SendReady);
    }
}

uint32_t
PacketsInAll()
{
    if (operation == "doubling")
    {
        return std::bit_width(Workers() - 1) * packets;
    }
    return operation == "ring" ? 2 * (Workers() - 1) * packets : packets;
}

bool
ReceiveAtWorker(uint32_t worker, Ptr<NetDevice>, Ptr<const Packet>, uint16_t, const Address&)
{
    const uint32_t count = ++received[worker];
    if (count == PacketsInAll())
    {
        finish[worker] = Simulator::Now();
    }
    else if (!SendsMessages() && sent[worker] < packets)
    {
        SendNext(worker);
    }
    else if (SendsMessages() && count % packets == 0)
    {
        EndRound(worker);
    }
    return true;
}

void
Start(uint32_t window)
{
    for (uint32_t worker = 0; worker < Workers(); ++worker)
    {
        for (uint32_t packet = 0; packet < std::min(window, packets); ++packet)
        {
            SendNext(worker);
        }
    }
}

NetDeviceContainer
Cable(Ptr<Node> below, Ptr<Node> above, const std::string& rate, const std::string& delay)
{
    PointToPointHelper cable;
    cable.SetDeviceAttribute("DataRate", StringValue(rate));
    cable.SetChannelAttribute("Delay", StringValue(delay));
    cable.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue("1000000p"));
    return cable.Install(below, above);
}
} // namespace

int
main(int count, char* words[])
{
    const std::vector<std::string> arguments(words + 1, words + count);
    NS_ABORT_MSG_UNLESS(arguments.size() == 12, "12 arguments, see the source");
    Time::SetResolution(Time::PS);
    operation = arguments[0];
    racks = std::stoul(arguments[1]);
    perRack = std::stoul(arguments[2]);
    packetBytes = std::stoul(arguments[3]);
    packets = std::stoul(arguments[4]);
    const uint32_t window = SendsMessages() ? packets : std::stoul(arguments[5]);
    leaves.resize(racks);
    root.latency = Time(arguments[11]);
    NodeContainer leafNodes(racks), rootNode(1), hostNodes(Workers());
    for (uint32_t rack = 0; rack < racks; ++rack)
    {
        leaves[rack].latency = Time(arguments[10]);
        NetDeviceContainer up =
            Cable(leafNodes.Get(rack), rootNode.Get(0), arguments[8], arguments[9]);
        up.Get(0)->SetReceiveCallback(MakeBoundCallback(&ReceiveAtLeaf, rack));
        up.Get(1)->SetReceiveCallback(MakeCallback(&ReceiveAtRoot));
        leaves[rack].up = up.Get(0);
        root.down.push_back(up.Get(1));
        for (uint32_t place = 0; place < perRack; ++place)
        {
            const uint32_t worker = hosts.size();
            NetDeviceContainer ends =
                Cable(hostNodes.Get(worker), leafNodes.Get(rack), arguments[6], arguments[7]);
            ends.Get(0)->SetReceiveCallback(MakeBoundCallback(&ReceiveAtWorker, worker));
            ends.Get(1)->SetReceiveCallback(MakeBoundCallback(&ReceiveAtLeaf, rack));
            hosts.push_back(ends.Get(0));
            leaves[rack].down.push_back(ends.Get(1));
        }
    }
    sent.assign(Workers(), 0);
    received.assign(Workers(), 0);
    rounds.assign(Workers(), 0);
    finish.assign(Workers(), Time(0));
    Simulator::ScheduleNow(&Start, window);
    Simulator::Run();
    std::cout << "{\"finish_ps\": [";
    for (uint32_t worker = 0; worker < Workers(); ++worker)
    {
        std::cout << (worker ? ", " : "") << finish[worker].GetPicoSeconds();
    }
    std::cout << "]}\n";
    Simulator::Destroy();
}
