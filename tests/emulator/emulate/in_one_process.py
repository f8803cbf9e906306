"""A whole star in one process: a switch and agents on real UDP sockets of the loopback.

Processes are what a user gets; they are slow to start, so most tests do without them.
"""

import functools
from dataclasses import dataclass

import numpy as np

from innet.emulator.agent.agent import Agent
from innet.emulator.agent.paths import UdpPath
from innet.emulator.clock import PS_PER_SECOND, Clock
from innet.emulator.control.local import P4Switch
from innet.emulator.emulate import JOB, job_of
from innet.emulator.limits import fitted
from innet.emulator.loop import Loop
from innet.emulator.loopback import LoopbackNetwork, addresses
from innet.emulator.server.ports import UdpPort
from innet.emulator.server.server import SwitchServer
from innet.emulator.soft import SoftSwitch
from innet.scenario.build import build_plan
from innet.scenario.load import parse_scenario
from innet.tensors.generate import generate
from innet.tensors.verify import BlockLayout, verify

PATIENCE_PS = 60 * PS_PER_SECOND
SCENARIO = """\
version: 1
name: star
topology: {kind: star, workers: 2, link: {rate: 10 Gbps, delay: 1 us}}
switch: {latency: 400 ns, slots: 32}
packet: {elements: 64}
collective: {op: all_reduce, size: 0 B, dtype: int32, check: always}
algorithms: [in_network]
"""


def plan_of(elements, *overrides):
    """A plan for int32 or float32 tensors of `elements` elements; overrides are `key=value`."""
    size = f"collective.size={4 * elements} B"
    scenario = parse_scenario(SCENARIO, overrides=(size, *overrides))
    return build_plan(scenario, "in_network", True, elements)


@functools.cache
def switch_of(target, elements):
    """A switch, loaded once: the P4 program takes a while. Its tables are the last user's."""
    return SoftSwitch(elements) if target == "soft" else P4Switch(elements)


@dataclass
class Star:
    """What takes part. `run` until all have their results; `wrong` elements are counted."""

    plan: object
    network: LoopbackNetwork
    switch: object
    server: SwitchServer
    agents: list
    tensors: list
    clock: Clock

    def run(self, is_over=None):
        loop = Loop(self.clock, [self.server, *self.agents])
        loop.run(lambda: self._is_late() or (is_over or self.is_finished)())
        assert not self._is_late(), [agent.waiting()[:3] for agent in self.agents]

    def is_finished(self):
        return all(agent.finished for agent in self.agents)

    def _is_late(self):
        return self.clock.now() > PATIENCE_PS

    def wrong(self):
        results = [agent.result() for agent in self.agents]
        layout = BlockLayout(self.plan.aggregation.elements_per_packet, self.plan.hosts[0].cores)
        return verify(results, self.tensors, self.plan.dtype, "in_network", layout).wrong

    def counted(self, name):
        return sum(getattr(agent.record(), name) for agent in self.agents)

    def close(self):
        self.network.close()


def make_star(target, plan):
    """A star for a plan on the switch `target`."""
    network = LoopbackNetwork(plan.workers, plan.hosts[0].cores)
    plan = fitted(plan, network, None)
    job, k = job_of(plan), plan.aggregation.elements_per_packet
    switch = switch_of(target, k)
    ports = [
        UdpPort(member.port, cable.switch, addresses(cable.worker), member.address, job.switch)
        for member, cable in zip(job.members, network.cables, strict=True)
    ]
    server = SwitchServer(switch, ports)
    switch.add(job)
    tensors = [generate(w, plan.elements, plan.dtype, plan.seed) for w in range(plan.workers)]
    agents = [
        Agent(plan, w, tensors[w], UdpPath(cable.worker, addresses(cable.switch), k), JOB)
        for w, cable in enumerate(network.cables)
    ]
    return Star(plan, network, switch, server, agents, tensors, Clock())


def expected_chunks(elements, k, slots, is_float):
    """Chunks of one core: one a block, and one a slot for the exponents of floats."""
    blocks = int(np.ceil(elements / k))
    return blocks + (min(slots, blocks) if is_float else 0)
