"""Small stars for the engine's tests: 204-byte packets at 10 Gbps unless told otherwise."""

from pathlib import Path

from innet.engine.simulate import simulate
from innet.scenario.build import build_plan
from innet.scenario.load import parse_scenario
from innet.tensors.generate import generate

PACKET_PS = 163_200  # 204 bytes at 10 Gbps
DELAY_PS = LATENCY_PS = 1_000_000
ROUND_TRIP_PS = 2 * PACKET_PS + 2 * DELAY_PS + LATENCY_PS

TEXT = """
version: 1
name: test
topology: {{kind: star, workers: {workers}, link: {{rate: 10 Gbps, delay: 1 us, loss: {loss}}}}}
switch: {{latency: 1 us, slots: {slots}, guard: {guard}}}
packet: {{elements: 32}}
collective: {{op: all_reduce, size: 4000 B, dtype: int32}}
algorithms: [in_network]
{more}
"""


def scenario(workers=2, slots=4, more="", loss="0", guard="on"):
    text = TEXT.format(workers=workers, slots=slots, more=more, loss=loss, guard=guard)
    return parse_scenario(text, "test.yaml", (), Path("."))


def timing(chunks=4, algorithm="in_network", **settings):
    """The trace of a run without values."""
    return simulate(build_plan(scenario(**settings), algorithm, False, chunks * 32))


def summed(elements, algorithm="in_network", workers=2, **settings):
    """The tensors and the trace of a run with values."""
    tensors = [generate(worker, elements, "int32", 7) for worker in range(workers)]
    case = scenario(workers=workers, **settings)
    return tensors, simulate(build_plan(case, algorithm, True, elements), tensors)


def finish_ps(trace):
    return max(rank.finish_ps for rank in trace.ranks)


def fault(text):
    return f"faults: [{text}]"
