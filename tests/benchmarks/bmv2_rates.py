"""Time the real BMv2: with frames made beforehand, and with innet's agents.

Usage: python tests/benchmarks/bmv2_rates.py [--workers N] [--packets P] [--window W] [--runs R]

For each size of packet it shows, as medians of R runs of both in turns,

    blaster   slots a second that BMv2 completes for a plain program: it sends frames that were
              made before, a window ahead, and only counts the results of worker 0
    agents    slots a second of an all-reduce by innet's agents, with every sum checked
    share     how much of what the blaster gets the agents get

A slot takes a packet of every worker. Needs simple_switch_grpc, finsy, and root. Figures are
this machine's; nothing is asserted.
"""

import argparse
import select
import socket
import time
from collections.abc import Mapping, Sequence
from statistics import median

import numpy as np

from innet.emulator.bmv2 import Bmv2
from innet.emulator.check.wired import open_far_ends
from innet.emulator.control.p4runtime import RuntimePlane
from innet.emulator.emulate import Emulation, Options, job_of
from innet.emulator.jobs import Job
from innet.emulator.netns import NamespaceNetwork
from innet.emulator.placed import worker_addresses
from innet.emulator.sockets import receive_frames
from innet.plan.plan import Plan
from innet.scenario.build import build_plan
from innet.scenario.load import parse_scenario
from innet.tensors.generate import generate
from innet.tensors.verify import BlockLayout, count_wrong
from innet.wire.frames import FrameWriter, Message, payload_of
from innet.wire.headers import MessageType

SIZES = (32, 64, 256)
PATIENCE_S = 10.0
SCENARIO = """\
version: 1
name: benchmark
topology: {kind: star, workers: 2, link: {rate: 10 Gbps, delay: 1 us}}
switch: {slots: 64}
host: {rto: 20 s}
collective: {size: 0 B, dtype: int32}
algorithms: [in_network]
"""


def plan_of(k: int, workers: int, packets: int, window: int) -> Plan:
    """A plan for `packets` packets of `k` values from each worker."""
    overrides = (
        f"collective.size={4 * k * packets} B",
        f"packet.elements={k}",
        f"topology.workers={workers}",
        f"switch.slots={window}",
    )
    scenario = parse_scenario(SCENARIO, overrides=overrides)
    return build_plan(scenario, "in_network", True, k * packets)


def frames_of(job: Job, packets: int) -> list[list[bytes]]:
    """What each worker sends, chunk by chunk."""
    k = job.elements_per_packet
    payload = payload_of(np.arange(k, dtype=np.int32), k)
    messages = [
        Message(
            type=MessageType.UPDATE,
            asks_help=False,
            elements=k,
            job=job.number,
            number=chunk,
            slot=chunk % job.slots,
            pool_set=chunk // job.slots % 2,
            exponent=0,
            second_exponent=0,
            payload=payload,
        )
        for chunk in range(packets)
    ]
    writers = [FrameWriter(member.address, job.switch) for member in job.members]
    return [[writer.pack(message) for message in messages] for writer in writers]


def blast(
    ends: Mapping[int, socket.socket], frames: Sequence[Sequence[bytes]], window: int
) -> float:
    """Send everything, `window` chunks ahead of worker 0's results; return slots a second."""
    packets = len(frames[0])
    first = ends[1]
    started = time.perf_counter()
    sent = received = 0
    while received < packets:
        while sent < packets and sent < received + window:
            for worker, of_worker in enumerate(frames, start=1):
                ends[worker].send(of_worker[sent])
            sent += 1
        if not select.select([first], [], [], PATIENCE_S)[0]:
            raise SystemExit(f"BMv2 sent {received} of {packets} results")
        received += len(receive_frames(first))
    return packets / (time.perf_counter() - started)


def blaster_rate(plan: Plan, packets: int) -> float:
    """Slots a second for a plain program on a BMv2 of its own."""
    job = job_of(plan)
    frames = frames_of(job, packets)
    with NamespaceNetwork(worker_addresses(plan)) as network, Bmv2(network.switch) as bmv2:
        RuntimePlane(bmv2.target, job.elements_per_packet, bmv2.device).add(job)
        ends = open_far_ends(network.workers)
        try:
            return blast(ends, frames, job.slots)
        finally:
            for end in ends.values():
                end.close()


def agents_rate(plan: Plan, packets: int) -> float:
    """Slots a second of an all-reduce by agents."""
    tensors = [generate(w, plan.elements, plan.dtype, plan.seed) for w in range(plan.workers)]
    with Emulation(plan, tensors, Options("bmv2", "netns")) as emulation:
        emulated = emulation.run()
    layout = BlockLayout(plan.aggregation.elements_per_packet, 1)
    wrong = count_wrong(emulated.trace.results, tensors, plan.dtype, "in_network", layout)
    if wrong or any(rank.retransmissions for rank in emulated.trace.ranks):
        raise SystemExit(f"{wrong} wrong values, or packets sent again")
    return packets / emulated.wall_s


def main() -> None:
    """Run and print."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--workers", type=int, default=3)
    options.add_argument("--packets", type=int, default=2000)
    options.add_argument("--window", type=int, default=64)
    options.add_argument("--runs", type=int, default=3)
    asked = options.parse_args()
    print(f"{asked.workers} workers, window {asked.window}: slots a second")
    print(f"{'k':>4} {'blaster':>9} {'agents':>9} {'share':>7}")
    for k in SIZES:
        plan = plan_of(k, asked.workers, asked.packets, asked.window)
        pairs = [
            (blaster_rate(plan, asked.packets), agents_rate(plan, asked.packets))
            for _ in range(asked.runs)
        ]
        blasted, agents = (median(rates) for rates in zip(*pairs, strict=True))
        share = median(of_agents / of_blaster for of_blaster, of_agents in pairs)
        print(f"{k:>4} {blasted:>9.0f} {agents:>9.0f} {share:>7.0%}", flush=True)


if __name__ == "__main__":
    main()
