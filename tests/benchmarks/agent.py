"""Time the host agent, the two Python switches, and both together over the loopback.

Usage: python tests/benchmarks/agent.py [--elements N] [--runs R]

Shown are packets a second, the median of R runs:

    agent     sent and received by one agent that is answered at once, without sockets
    soft, p4  taken by a switch, without sockets, of two workers
    loopback  sent by all workers through real sockets, in processes; for two and four workers,
              on each switch, with the time until the last worker has its result

All results are checked. Figures are this machine's; nothing is asserted.
"""

import argparse
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from statistics import median

import numpy as np
from p4_fuzz import all_reduce_frames

from innet.emulator.agent.agent import Agent
from innet.emulator.agent.messages import PacketFormat
from innet.emulator.check.packets import star_job
from innet.emulator.control.local import P4Switch
from innet.emulator.emulate import Emulation, Options
from innet.emulator.soft import SoftSwitch
from innet.plan.plan import Plan
from innet.protocol.endpoint import AggregationPacket
from innet.scenario.build import build_plan
from innet.scenario.load import parse_scenario
from innet.tensors.generate import generate
from innet.tensors.verify import BlockLayout, count_wrong

SIZES = (32, 64, 256)
DTYPES = ("int32", "float32")
SCENARIO = """\
version: 1
name: benchmark
topology: {kind: star, workers: 2, link: {rate: 10 Gbps, delay: 1 us}}
switch: {slots: 64}
host: {rto: 20 s}
collective: {size: 0 B, dtype: int32}
algorithms: [in_network]
"""


class Mirror:
    """A path that answers every update with itself, through the bytes of the wire."""

    def __init__(self, elements: int) -> None:
        self.dropped: Counter[str] = Counter()
        self._format = PacketFormat(elements)
        self._bodies: list[bytes] = []

    def descriptors(self) -> Sequence[int]:
        """None."""
        return ()

    def send(self, core: int, update: AggregationPacket) -> None:
        """Keep the packet."""
        self._bodies.append(self._format.pack(update))

    def receive(self) -> list[AggregationPacket]:
        """Give all packets back."""
        bodies, self._bodies = self._bodies, []
        return [self._format.parse(body) for body in bodies]

    def close(self) -> None:
        """Do nothing."""


def plan_of(elements: int, k: int, dtype: str, workers: int) -> Plan:
    """A plan for tensors of `elements` elements."""
    overrides = (
        f"collective.size={4 * elements} B",
        f"collective.dtype={dtype}",
        f"packet.elements={k}",
        f"topology.workers={workers}",
    )
    return build_plan(parse_scenario(SCENARIO, overrides=overrides), "in_network", True, elements)


def agent_rate(elements: int, k: int, dtype: str) -> float:
    """Packets a second of one agent alone."""
    plan = plan_of(elements, k, dtype, 1)
    vector = generate(0, elements, plan.dtype, 1)
    agent = Agent(plan, 0, vector, Mirror(k), 0)
    started = time.perf_counter()
    agent.on_time(0)
    while not agent.finished:
        agent.on_readable(0)
    taken = time.perf_counter() - started
    assert np.array_equal(agent.result(), vector)
    record = agent.record()
    return (record.packets_sent + record.packets_received) / taken


def switch_rate(switch: SoftSwitch | P4Switch, k: int) -> float:
    """Packets a second that a switch takes."""
    switch.load()
    switch.add(star_job(1, 2, k, slots=64))
    frames = all_reduce_frames(k, 2)
    started = time.perf_counter()
    for port, frame in frames:
        switch.process(port, frame)
    taken = time.perf_counter() - started
    assert switch.counters()["completed"] == len(frames) // 2
    return len(frames) / taken


def loopback_run(elements: int, k: int, workers: int, target: str) -> tuple[float, float]:
    """Packets a second that all workers send, and seconds until the last has its result."""
    plan = plan_of(elements, k, "int32", workers)
    tensors = [generate(worker, elements, plan.dtype, 1) for worker in range(workers)]
    with Emulation(plan, tensors, Options(target)) as emulation:
        emulated = emulation.run()
    results = emulated.trace.results
    assert results is not None
    assert count_wrong(results, tensors, plan.dtype, "in_network", BlockLayout(k)) == 0
    sent = sum(rank.packets_sent for rank in emulated.trace.ranks)
    return sent / emulated.wall_s, emulated.wall_s


def show(name: str, runs: int, rate: Callable[[], float]) -> None:
    """Print the median rate of some runs."""
    print(f"{name:34}{median(rate() for _ in range(runs)):12,.0f} packets/s")


def main() -> None:
    """Time everything."""
    parser = argparse.ArgumentParser(description="Time agents and switches in Python.")
    parser.add_argument("--elements", type=int, default=500_000)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    for k, dtype in product(SIZES, DTYPES):
        elements = options.elements * k // max(SIZES)
        show(f"agent, {k} {dtype}", options.runs, partial(agent_rate, elements, k, dtype))
    for k, kind in product(SIZES, (SoftSwitch, P4Switch)):
        switch = kind(k)
        name = f"{'soft' if kind is SoftSwitch else 'p4'}, {k} values"
        show(name, options.runs, partial(switch_rate, switch, k))
    for k, workers, target in product(SIZES, (2, 4), ("soft", "p4")):
        elements = options.elements * k // max(SIZES)
        found = [loopback_run(elements, k, workers, target) for _ in range(options.runs)]
        rate, wall_s = (median(column) for column in zip(*found, strict=True))
        name = f"loopback, {k} values, {workers} workers, {target}"
        print(f"{name:34}{rate:12,.0f} packets/s  {elements} elements in {wall_s:.3f} s")


if __name__ == "__main__":
    main()
