"""Plans for a star, and a way to run one on BMv2 and count what is wrong with the results."""

from pathlib import Path

from innet.emulator.emulate import Emulation, Options
from innet.scenario.build import build_plan
from innet.scenario.load import parse_scenario
from innet.tensors.generate import generate
from innet.tensors.verify import BlockLayout, count_wrong

SCENARIO = """\
version: 1
name: star
topology: {kind: star, workers: 2, link: {rate: 10 Gbps, delay: 1 us}}
switch: {latency: 400 ns, slots: 32}
packet: {elements: 32}
collective: {op: all_reduce, size: 0 B, dtype: int32, check: always}
algorithms: [in_network]
"""


def plan_of(elements, *overrides):
    """A plan for tensors of `elements` elements of 4 bytes; overrides are `key=value`."""
    size = f"collective.size={4 * elements} B"
    scenario = parse_scenario(SCENARIO, overrides=(size, *overrides))
    return build_plan(scenario, "in_network", True, elements)


def run(plan, network="netns", deadline_s=30.0, on_progress=None):
    """Run a plan on BMv2; `on_progress(emulation)` is called once, when a third is done."""
    called = []

    def progress(share):
        if on_progress is not None and share > 0.3 and not called:
            called.append(share)
            on_progress(emulation)

    tensors = [generate(w, plan.elements, plan.dtype, plan.seed) for w in range(plan.workers)]
    with Emulation(plan, tensors, Options("bmv2", network, deadline_s)) as emulation:
        try:
            emulated = emulation.run(progress)
        finally:
            pid = emulation.switch.process.pid
    assert not Path(f"/proc/{pid}").exists()
    assert bool(called) == (on_progress is not None)
    layout = BlockLayout(plan.aggregation.elements_per_packet, plan.hosts[0].cores)
    return emulated, count_wrong(emulated.trace.results, tensors, plan.dtype, "in_network", layout)
