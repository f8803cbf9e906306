"""Time the real BMv2: with frames made beforehand, and with innet's agents.

Usage: python tests/benchmarks/bmv2_rates.py [--workers N] [--packets P] [--window W] [--runs R]

For each size of packet it shows, as medians of R runs of both in turns,

    blaster   slots a second that BMv2 completes for a plain program: it sends frames that were
              made before, a window ahead, and only counts the results of worker 0
    agents    slots a second of an all-reduce by innet's agents, with every sum checked
    share     how much of what the blaster gets the agents get
    busy      for how much of the time BMv2's busiest thread has work: it runs, or waits for a
              processor. Unlike rates it says little of what else this machine does.

A slot takes a packet of every worker. Needs simple_switch_grpc, finsy, and root. Figures are
this machine's; nothing is asserted.
"""

import argparse
import select
import socket
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
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


class Busy:
    """Watches the threads of a process, by what Linux counts for each of them."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._before = self._at_work()
        self._started = self._ended = time.perf_counter_ns()
        self._after = self._before

    def look(self) -> None:
        """Let the time that is watched end now."""
        self._after, self._ended = self._at_work(), time.perf_counter_ns()

    def share(self) -> float:
        """For how much of the time the busiest thread had work."""
        passed = max(1, self._ended - self._started)
        threads = self._after.keys()
        return max(self._after[each] - self._before.get(each, 0) for each in threads) / passed

    def _at_work(self) -> dict[str, int]:
        """Nanoseconds in which each thread has run or waited for a processor."""
        found = {}
        for thread in Path(f"/proc/{self._pid}/task").iterdir():
            with suppress(FileNotFoundError):  # it has just ended
                ran, waited, _ = (thread / "schedstat").read_text().split()
                found[thread.name] = int(ran) + int(waited)
        return found


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


def by_blaster(plan: Plan, packets: int) -> tuple[float, float]:
    """Slots a second for a plain program on a BMv2 of its own, and how busy that is."""
    job = job_of(plan)
    frames = frames_of(job, packets)
    with NamespaceNetwork(worker_addresses(plan)) as network, Bmv2(network.switch) as bmv2:
        RuntimePlane(bmv2.target, job.elements_per_packet, bmv2.device).add(job)
        ends = open_far_ends(network.workers)
        try:
            busy = Busy(bmv2.pid)
            rate = blast(ends, frames, job.slots)
            busy.look()
            return rate, busy.share()
        finally:
            for end in ends.values():
                end.close()


def by_agents(plan: Plan, packets: int) -> tuple[float, float]:
    """Slots a second of an all-reduce by agents, and how busy BMv2 is from first to last."""
    tensors = [generate(w, plan.elements, plan.dtype, plan.seed) for w in range(plan.workers)]
    watches: list[Busy] = []

    def look(_share: float) -> None:
        if not watches:
            watches.append(Busy(emulation.switch.process.pid))
        watches[0].look()

    with Emulation(plan, tensors, Options("bmv2", "netns")) as emulation:
        emulated = emulation.run(look)
    layout = BlockLayout(plan.aggregation.elements_per_packet, 1)
    wrong = count_wrong(emulated.trace.results, tensors, plan.dtype, "in_network", layout)
    if wrong or any(rank.retransmissions for rank in emulated.trace.ranks):
        raise SystemExit(f"{wrong} wrong values, or packets sent again")
    return packets / emulated.wall_s, watches[0].share()


def main() -> None:
    """Run and print."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--workers", type=int, default=3)
    options.add_argument("--packets", type=int, default=2000)
    options.add_argument("--window", type=int, default=64)
    options.add_argument("--runs", type=int, default=3)
    asked = options.parse_args()
    print(f"{asked.workers} workers, window {asked.window}: slots a second, and how busy BMv2 is")
    print(f"{'k':>4} {'blaster':>9} {'busy':>5} {'agents':>9} {'busy':>5} {'share':>6}")
    for k in SIZES:
        plan = plan_of(k, asked.workers, asked.packets, asked.window)
        rows = []
        for _ in range(asked.runs):
            blaster, agents = by_blaster(plan, asked.packets), by_agents(plan, asked.packets)
            rows.append((*blaster, *agents, agents[0] / blaster[0]))
        shown = [median(column) for column in zip(*rows, strict=True)]
        print("{:>4} {:>9.0f} {:>5.0%} {:>9.0f} {:>5.0%} {:>6.0%}".format(k, *shown), flush=True)


if __name__ == "__main__":
    main()
