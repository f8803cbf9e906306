// In-network aggregation on a star of ns-3's raw point-to-point devices.
//
// Usage: ns3_star RESOLUTION PACKET_BYTES CHUNKS WINDOW DELAY LATENCY RATE...
// RESOLUTION is "ns" or "ps"; PACKET_BYTES are on the medium; DELAY is that of every link, LATENCY
// that of the switch; there is a worker for every RATE. A worker sends the first WINDOW chunks and
// then one more for every result; the switch answers the last contribution of a chunk with a
// packet to every worker. Prints, as JSON, when each worker has its last result (ps) and the
// processor time of the simulation (s).

#include "ns3/drop-tail-queue.h"
#include "ns3/node-container.h"
#include "ns3/packet.h"
#include "ns3/point-to-point-helper.h"
#include "ns3/simulator.h"
#include "ns3/string.h"

#include <ctime>
#include <iostream>
#include <string>
#include <vector>

using namespace ns3;

namespace
{
constexpr uint32_t PPP_BYTES = 2; // What a point-to-point device adds to a packet.
constexpr uint16_t IPV4 = 0x0800; // The devices carry only protocols that PPP knows.

struct Star
{
    uint32_t payloadBytes;
    uint32_t chunks;
    Time latency;
    std::vector<Ptr<NetDevice>> hosts;
    std::vector<Ptr<NetDevice>> ports;
    std::vector<uint32_t> sent;          // Chunks that each worker has sent.
    std::vector<uint32_t> received;      // Results that each worker has.
    std::vector<uint32_t> contributions; // Of each chunk, at the switch.
    std::vector<Time> finish;
};

Star star;

void
Transmit(Ptr<NetDevice> device, Ptr<Packet> packet)
{
    NS_ABORT_MSG_UNLESS(device->Send(packet, device->GetBroadcast(), IPV4), "a packet was lost");
}

void
SendNextChunk(uint32_t worker)
{
    if (star.sent[worker] == star.chunks)
    {
        return;
    }
    const uint32_t chunk = star.sent[worker]++;
    const auto number = reinterpret_cast<const uint8_t*>(&chunk);
    Ptr<Packet> packet = Create<Packet>(number, sizeof(chunk));
    packet->AddPaddingAtEnd(star.payloadBytes - sizeof(chunk));
    Transmit(star.hosts[worker], packet);
}

void
Multicast(Ptr<const Packet> packet)
{
    for (const Ptr<NetDevice>& port : star.ports)
    {
        Transmit(port, packet->Copy());
    }
}

bool
ReceiveAtSwitch(Ptr<NetDevice>, Ptr<const Packet> packet, uint16_t, const Address&)
{
    uint32_t chunk;
    packet->CopyData(reinterpret_cast<uint8_t*>(&chunk), sizeof(chunk));
    if (++star.contributions[chunk] == star.hosts.size())
    {
        Simulator::Schedule(star.latency, &Multicast, packet);
    }
    return true;
}

bool
ReceiveAtWorker(uint32_t worker, Ptr<NetDevice>, Ptr<const Packet>, uint16_t, const Address&)
{
    if (++star.received[worker] == star.chunks)
    {
        star.finish[worker] = Simulator::Now();
    }
    SendNextChunk(worker);
    return true;
}

void
Connect(Ptr<Node> host, Ptr<Node> middle, const std::string& rate, const std::string& delay)
{
    PointToPointHelper cable;
    cable.SetDeviceAttribute("DataRate", StringValue(rate));
    cable.SetChannelAttribute("Delay", StringValue(delay));
    cable.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue("1000000p"));
    NetDeviceContainer ends = cable.Install(host, middle);
    const uint32_t worker = star.hosts.size();
    ends.Get(0)->SetReceiveCallback(MakeBoundCallback(&ReceiveAtWorker, worker));
    ends.Get(1)->SetReceiveCallback(MakeCallback(&ReceiveAtSwitch));
    star.hosts.push_back(ends.Get(0));
    star.ports.push_back(ends.Get(1));
}

void
Start(uint32_t window)
{
    for (uint32_t packet = 0; packet < window; ++packet)
    {
        for (uint32_t worker = 0; worker < star.hosts.size(); ++worker)
        {
            SendNextChunk(worker);
        }
    }
}
} // namespace

int
main(int count, char* words[])
{
    const std::vector<std::string> arguments(words + 1, words + count);
    const std::vector<std::string> rates(arguments.begin() + 6, arguments.end());
    Time::SetResolution(arguments[0] == "ps" ? Time::PS : Time::NS);
    star.payloadBytes = std::stoul(arguments[1]) - PPP_BYTES;
    star.chunks = std::stoul(arguments[2]);
    star.latency = Time(arguments[5]);
    NodeContainer nodes(rates.size() + 1);
    for (uint32_t worker = 0; worker < rates.size(); ++worker)
    {
        Connect(nodes.Get(worker), nodes.Get(rates.size()), rates[worker], arguments[4]);
    }
    star.sent.assign(rates.size(), 0);
    star.received.assign(rates.size(), 0);
    star.finish.assign(rates.size(), Time(0));
    star.contributions.assign(star.chunks, 0);

    const std::clock_t begin = std::clock();
    Simulator::ScheduleNow(&Start, std::stoul(arguments[3]));
    Simulator::Run();
    const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;

    std::cout << "{\"seconds\": " << seconds << ", \"finish_ps\": [";
    for (uint32_t worker = 0; worker < rates.size(); ++worker)
    {
        std::cout << (worker ? ", " : "") << star.finish[worker].GetPicoSeconds();
    }
    std::cout << "]}\n";
    Simulator::Destroy();
}
