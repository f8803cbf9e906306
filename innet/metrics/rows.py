"""The rows of workers.csv and links.csv: one a rank and one a link direction of each run."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from innet.metrics.traffic import direction_name, finish_time_ps
from innet.plan.plan import Plan
from innet.topology.graph import Graph
from innet.trace.records import LinkRecord, Trace

Row = dict[str, Any]


def worker_rows(plan: Plan, trace: Trace) -> list[Row]:
    """Return what every rank did; ranks that only help have `helper` set."""
    return [
        {
            "algorithm": plan.algorithm,
            "rank": record.rank,
            "node": plan.graph.nodes[plan.hosts[record.rank].node].name,
            "helper": int(record.rank >= plan.workers),
            **_without(asdict(record), "rank"),
        }
        for record in trace.ranks
    ]


def link_rows(plan: Plan, trace: Trace) -> list[Row]:
    """Return what every link direction carried; `busy_share` is of the collective's time."""
    return direction_rows(plan.algorithm, plan.graph, trace.links, finish_time_ps(plan, trace))


def direction_rows(
    algorithm: str, graph: Graph, links: Sequence[LinkRecord], time_ps: int
) -> list[Row]:
    """Return a row a link direction; `busy_share` is of `time_ps`."""
    return [
        {
            "algorithm": algorithm,
            "link": record.link,
            "direction": direction_name(graph, record.link),
            "rate_bps": graph.links[record.link].rate_bps,
            "busy_share": round(record.busy_ps / time_ps, 6) if time_ps else 0.0,
            **_without(asdict(record), "link"),
        }
        for record in links
    ]


def _without(row: Row, key: str) -> Row:
    return {name: value for name, value in row.items() if name != key}
