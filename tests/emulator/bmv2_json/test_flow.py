"""Graphs of blocks as Python source: any graph runs its blocks in the order of its edges."""

from hypothesis import given, settings
from hypothesis import strategies as st

from innet.emulator.bmv2_json.flow import DEEPEST, Block, Writer, write_graph


@st.composite
def graphs(draw):
    size = draw(st.integers(1, 12))
    target = st.one_of(st.none(), st.integers(0, size - 1))
    return [draw(st.lists(target, min_size=1, max_size=3)) for _ in range(size)]


def run_source(graph, choices):
    """The numbers of blocks in the order in which the written source runs them."""
    writer = Writer(depth=1)

    def block(number, targets):
        def write(go):
            writer(f"trace.append({number})")
            writer("choice = next(choices)")
            for place, target in enumerate(targets):
                with writer.block(
                    f"{'elif' if place else 'if'} choice % {len(targets)} == {place}:"
                ):
                    go(None if target is None else str(target))

        return Block([None if target is None else str(target) for target in targets], write)

    blocks = {str(number): block(number, targets) for number, targets in enumerate(graph)}
    write_graph(writer, blocks, "0")
    source = "\n".join(["def run(trace, choices):", *writer.lines])
    names = {}
    exec(source, names)
    trace = []
    try:
        names["run"](trace, iter(choices))
    except StopIteration:
        trace.append("out of choices")
    return trace


def run_plainly(graph, choices):
    trace, at = [], 0
    choices = iter(choices)
    while at is not None:
        trace.append(at)
        choice = next(choices, None)
        if choice is None:
            return [*trace, "out of choices"]
        at = graph[at][choice % len(graph[at])]
    return trace


@settings(max_examples=300, deadline=None)
@given(graphs(), st.lists(st.integers(0, 5), max_size=30))
def test_any_graph_runs_as_its_edges_say(graph, choices):
    assert run_source(graph, choices) == run_plainly(graph, choices)


def test_a_long_chain_of_branches_is_not_nested_too_deep():
    size = 5 * DEEPEST
    graph = [[number + 1, None] for number in range(size)] + [[None]]
    choices = [0] * (size + 1)
    assert run_source(graph, choices) == [*range(size + 1)]
    assert run_source(graph, [0, 0, 1]) == [0, 1, 2]


def test_an_empty_graph_writes_nothing():
    writer = Writer()
    write_graph(writer, {}, None)
    assert writer.lines == []
