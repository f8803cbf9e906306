"""Time the real BMv2: with frames made beforehand, and with innet's agents.

Usage: python tests/benchmarks/bmv2_rates.py [--workers N] [--packets P] [--window W] [--runs R]

For each size of packet it shows, as medians of R runs of all three in turns,

    one       slots a second that BMv2 completes for one plain program that sends for all
              workers a window ahead, and only counts the results of worker 0: the cheapest
              sender there is, and never more than that one process beside BMv2
    each      the same for a plain program a worker, which waits for its own results, so with as
              many processes as there are agents
    agents    the same for an all-reduce by innet's agents, with every sum checked
    share     how much of what each of the plain programs gets the agents get
    busy      for how much of the time BMv2's busiest thread has work: it runs, or waits for a
              processor. Unlike rates it says little of what else this machine does.

All three send the same frames, to the byte, in windows of the same size. A slot takes a packet
of every worker. Needs simple_switch_grpc, finsy, and root. Figures are this machine's; nothing
is asserted.
"""

import argparse
import select
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from statistics import median
from typing import NamedTuple

from blaster import PATIENCE_S
from blaster import __file__ as blaster_file

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
from innet.tensors.blocks import Vector
from innet.tensors.generate import generate
from innet.tensors.verify import BlockLayout, count_wrong
from innet.wire.frames import FrameWriter, Message, payload_of
from innet.wire.headers import MessageType

SIZES = (32, 64, 256)
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


class Timed(NamedTuple):
    """Slots a second, and how busy BMv2 was meanwhile."""

    rate: float
    busy: float


def tensors_of(plan: Plan) -> list[Vector]:
    """The workers' tensors."""
    return [generate(w, plan.elements, plan.dtype, plan.seed) for w in range(plan.workers)]


def frames_of(plan: Plan, job: Job) -> list[list[bytes]]:
    """What each worker sends, chunk by chunk."""
    k = job.elements_per_packet
    members = zip(job.members, tensors_of(plan), strict=True)
    return [
        [
            FrameWriter(member.address, job.switch, with_udp_checksum=True).pack(
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
                    payload=payload_of(tensor[chunk * k : (chunk + 1) * k], k),
                )
            )
            for chunk in range(tensor.size // k)
        ]
        for member, tensor in members
    ]


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


def blast_for_all(
    ends: Mapping[int, socket.socket], frames: Sequence[Sequence[bytes]], window: int
) -> None:
    """Send everything, `window` chunks ahead of worker 0's results."""
    packets = len(frames[0])
    first = ends[1]
    sent = received = 0
    while received < packets:
        until = min(packets, received + window)
        for chunk in range(sent, until):
            for worker, of_worker in enumerate(frames, start=1):
                ends[worker].send(of_worker[chunk])
        sent = until
        if not select.select([first], [], [], PATIENCE_S)[0]:
            raise SystemExit(f"BMv2 sent {received} of {packets} results")
        received += len(receive_frames(first))


class Blasters:
    """A plain program a worker, ready to start."""

    def __init__(
        self, ends: Mapping[int, socket.socket], frames: Sequence[Sequence[bytes]], window: int
    ) -> None:
        self._stack = ExitStack()
        folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory()))
        self._programs = []
        for worker, of_worker in enumerate(frames, start=1):
            file, descriptor = folder / f"{worker}", ends[worker].fileno()
            file.write_bytes(b"".join(of_worker))
            arguments = map(str, (descriptor, file, len(of_worker[0]), window))
            program = subprocess.Popen(
                [sys.executable, blaster_file, *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                pass_fds=[descriptor],
            )
            self._programs.append(self._stack.enter_context(program))
            self._stack.callback(program.kill)
        self._all_say(b"ready\n")

    def run(self) -> None:
        """Start all, and wait for all."""
        for program in self._programs:
            assert program.stdin is not None
            program.stdin.write(b"\n")
            program.stdin.flush()
        self._all_say(b"done\n")

    def close(self) -> None:
        """End them."""
        self._stack.close()

    def _all_say(self, line: bytes) -> None:
        for program in self._programs:
            assert program.stdout is not None
            if program.stdout.readline() != line:
                raise SystemExit("a blaster has failed")


def by_blaster(plan: Plan, *, is_one_each: bool) -> Timed:
    """For plain programs, one for all workers or one each, on a BMv2 of their own."""
    job = job_of(plan)
    frames = frames_of(plan, job)
    with (
        NamespaceNetwork(worker_addresses(plan)) as network,
        Bmv2(network.switch) as bmv2,
        ExitStack() as stack,
    ):
        RuntimePlane(bmv2.target, job.elements_per_packet, bmv2.device).add(job)
        ends = open_far_ends(network.workers)
        for end in ends.values():
            stack.callback(end.close)
        blasters = Blasters(ends, frames, job.slots) if is_one_each else None
        if blasters is not None:
            stack.callback(blasters.close)
        busy, started = Busy(bmv2.pid), time.monotonic()
        if blasters is None:
            blast_for_all(ends, frames, job.slots)
        else:
            blasters.run()
        taken = time.monotonic() - started
        busy.look()
        return Timed(len(frames[0]) / taken, busy.share())


def by_agents(plan: Plan) -> Timed:
    """For an all-reduce by agents; BMv2 is watched from their first progress to their last."""
    tensors = tensors_of(plan)
    watches: list[Busy] = []

    def look(_share: float) -> None:
        if not watches:
            watches.append(Busy(emulation.switch.process.pid))
        watches[0].look()

    with Emulation(plan, tensors, Options("bmv2", "netns")) as emulation:
        emulated = emulation.run(look)
    k = plan.aggregation.elements_per_packet
    wrong = count_wrong(
        emulated.trace.results, tensors, plan.dtype, "in_network", BlockLayout(k, 1)
    )
    if wrong or any(rank.retransmissions for rank in emulated.trace.ranks):
        raise SystemExit(f"{wrong} wrong values, or packets sent again")
    return Timed(plan.elements / k / emulated.wall_s, watches[0].share())


def row_of(plan: Plan) -> list[float]:
    """One run of all three: rates and how busy BMv2 was, then the agents' shares."""
    one, each = by_blaster(plan, is_one_each=False), by_blaster(plan, is_one_each=True)
    agents = by_agents(plan)
    return [*one, *each, *agents, agents.rate / one.rate, agents.rate / each.rate]


def main() -> None:
    """Run and print."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--workers", type=int, default=3)
    options.add_argument("--packets", type=int, default=2000)
    options.add_argument("--window", type=int, default=64)
    options.add_argument("--runs", type=int, default=3)
    asked = options.parse_args()
    print(f"{asked.workers} workers, window {asked.window}: slots a second, and how busy BMv2 is")
    busy = f"{'busy':>5}"
    print(f"{'k':>4} {'one':>7} {busy} {'each':>7} {busy} {'agents':>7} {busy}  shares")
    for k in SIZES:
        plan = plan_of(k, asked.workers, asked.packets, asked.window)
        rows = [row_of(plan) for _ in range(asked.runs)]
        shown = [median(column) for column in zip(*rows, strict=True)]
        rates = "{:>7.0f} {:>5.0%} " * 3
        print(f"{k:>4} {rates.format(*shown)} {shown[-2]:>4.0%} {shown[-1]:>4.0%}", flush=True)


if __name__ == "__main__":
    main()
