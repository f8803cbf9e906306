"""Spans name their operation and what was decided of it."""

from innet.engine.steps.driver import run_step
from innet.trace.steps import COMPUTE
from tests.engine.steps.made_networks import AlphaBetaNetwork, PlainLowering, made_workload


class ShortInTheNetwork(PlainLowering):
    """Offloads what is shorter than 100 B."""

    def collective(self, call):
        lowered = super().collective(call)
        if call.size < 100:
            return type(lowered)(lowered.operation, "in_network", "")
        return lowered


def test_the_spans_of_an_operation_share_its_number_and_its_decision():
    step = [
        {"compute": "1 ns"},
        {"all_reduce": {"size": 8, "over": "dp"}},
        {"all_reduce": {"size": 800, "over": "dp"}},
        {"all_reduce": {"size": 16, "over": "dp"}},
        {"send": {"to": {"dp": "dp+1"}, "size": 4}},
        {"recv": {"from": {"dp": "dp-1"}, "size": 4}},
    ]
    network = AlphaBetaNetwork(latency_ps=1000)
    trace = run_step(made_workload({"dp": 3}, step), network, ShortInTheNetwork())
    assert [(each.how, each.calls, each.size_bytes) for each in trace.decisions] == [
        ("in_network", 2, 24),
        ("plain", 1, 800),
        ("plain", 2, 8),
    ]
    for span in trace.spans:
        if span.operation == COMPUTE:
            assert (span.number, span.decision) == (-1, -1)
            continue
        operation, decision = network.operations[span.number], trace.decisions[span.decision]
        assert operation.elements == span.size_bytes
        assert decision.operation == operation.kind
        assert (decision.how == "in_network") == (span.size_bytes in (8, 16))
    members = {}
    for span in trace.spans:
        members.setdefault(span.number, []).append((span.rank, span.operation))
    assert sorted(len(each) for number, each in members.items() if number >= 0) == [2, 2, 3, 3, 3]
    assert sorted(each for each in members.values() if len(each) == 2) == [
        [(0, "send"), (1, "recv")],
        [(1, "send"), (2, "recv")],
    ]
