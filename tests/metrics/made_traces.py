"""Plans of small scenarios, and traces made by hand for them."""

from dataclasses import fields

from innet.plan.plan import Plan
from innet.scenario.build import build_plan
from innet.scenario.load import parse_scenario
from innet.trace.records import LinkRecord, RankRecord, Trace

# A packet of 256 values takes 1024 B on the medium, 819.2 ns at 10 Gbps; a round trip 3.6384 us.
SMALL_WINDOW = """
version: 1
name: window
topology: {kind: star, workers: 4, link: {rate: 10 Gbps, delay: 1 us}}
switch: {latency: 0 ns, slots: 64}
packet: {elements: 256, overhead: 0 B}
collective: {op: all_reduce, size: 1 MiB, dtype: int32}
algorithms: [in_network]
"""


def plan_of(*overrides: str, algorithm: str = "in_network", text: str = SMALL_WINDOW) -> Plan:
    scenario = parse_scenario(text, overrides=overrides)
    elements = scenario.collective.elements
    assert elements is not None
    return build_plan(scenario, algorithm, False, elements)


def rank_record(rank: int, finish_ps: int, **counts: int) -> RankRecord:
    zeros = {field.name: 0 for field in fields(RankRecord)}
    return RankRecord(**{**zeros, "rank": rank, "finish_ps": finish_ps, **counts})


def link_record(link: int, **counts: int) -> LinkRecord:
    zeros = {field.name: 0 for field in fields(LinkRecord)}
    return LinkRecord(**{**zeros, "link": link, **counts})


def trace_of(plan: Plan, finish_ps: int, ranks=None, links=None) -> Trace:
    """Return a trace in which every rank ends at `finish_ps`; the dicts change single records."""
    ranks, links = ranks or {}, links or {}
    busy = {"busy_ps": finish_ps // 2, "bytes": 1000, "packets": 10}
    return Trace(
        engine="made",
        ranks=tuple(
            rank_record(rank, **{"finish_ps": finish_ps, **ranks.get(rank, {})})
            for rank in range(len(plan.hosts))
        ),
        links=tuple(
            link_record(link, **{**busy, **links.get(link, {})})
            for link in range(len(plan.graph.links))
        ),
        switches=(),
        hops=0,
        results=None,
    )
