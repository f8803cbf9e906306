"""The rows of workers.csv and links.csv: one a rank and one a link direction of each run."""

from dataclasses import asdict
from typing import Any

from innet.metrics.traffic import finish_time_ps, link_name
from innet.plan.plan import Plan
from innet.trace.records import Trace

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
    time = finish_time_ps(plan, trace)
    return [
        {
            "algorithm": plan.algorithm,
            "link": record.link,
            "direction": link_name(plan, record.link),
            "rate_bps": plan.graph.links[record.link].rate_bps,
            "busy_share": round(record.busy_ps / time, 6) if time else 0.0,
            **_without(asdict(record), "link"),
        }
        for record in trace.links
    ]


def _without(row: Row, key: str) -> Row:
    return {name: value for name, value in row.items() if name != key}
