"""Traces of training steps made by hand, on a star of hosts."""

from dataclasses import fields

from innet.topology.star import Cable, build_star
from innet.trace.records import LinkRecord
from innet.trace.steps import COMPUTE, Decision, Span, StepTrace

IN_NETWORK = ("in_network", "")
RING = ("ring", "the switch has no free slots")


def star(workers=2):
    return build_star([Cable(10**10, 10**6)] * workers, workers, 400_000)


def work(rank, start, end):
    return Span(rank, COMPUTE, "", start, end)


def opened(rank, start, end, number, operation="all_reduce", decision=0, axes="dp"):
    return Span(rank, operation, axes, start, end, 100, number, decision)


def link_record(link, **counts):
    zeros = {field.name: 0 for field in fields(LinkRecord)}
    return LinkRecord(**{**zeros, "link": link, **counts})


def step_trace(spans, ranks=2, finish=None, ran=IN_NETWORK, links=None):
    """A trace whose ranks end with their spans; decisions count what the spans hold."""
    spans = tuple(sorted(spans))
    ends = [max((s.end_ps for s in spans if s.rank == rank), default=0) for rank in range(ranks)]
    keys = {s.decision: (s.operation.replace("recv", "send"), s.axes) for s in spans}
    sizes = {s.number: (s.decision, s.size_bytes) for s in spans}
    decisions = []
    for place in range(max(keys, default=-1) + 1):
        own = [size for decision, size in sizes.values() if decision == place]
        names = keys.get(place, ("all_reduce", "dp"))
        decisions.append(Decision(*names, *ran, len(own), sum(own)))
    if links is None:
        links = [link_record(link, bytes=1000, busy_ps=5) for link in range(2 * ranks)]
    return StepTrace(spans, tuple(finish or ends), tuple(decisions), tuple(links), ())
