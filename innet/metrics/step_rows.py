"""The rows of ranks.csv, operations.csv and links.csv of a training step."""

from dataclasses import asdict

from innet.metrics.rows import Row, direction_rows
from innet.metrics.step_figures import StepSummary
from innet.metrics.step_summary import rank_times, step_time_ps
from innet.topology.graph import Graph
from innet.trace.steps import StepTrace


def rank_rows(trace: StepTrace, algorithm: str) -> list[Row]:
    """Return what every rank did during the step, in ps."""
    return [
        {"algorithm": algorithm, "rank": rank, "finish_ps": finish, **asdict(times)}
        for rank, (finish, times) in enumerate(zip(trace.finish_ps, rank_times(trace), strict=True))
    ]


def operation_rows(summary: StepSummary) -> list[Row]:
    """Return the operations of each kind, axes and decision; times are means over ranks."""
    return [
        {
            "algorithm": summary.algorithm,
            "operation": each.operation,
            "axes": each.axes,
            "calls": each.calls,
            "size_bytes": each.size_bytes,
            "how": each.how,
            "offloaded": int(each.offloaded),
            "why": each.why,
            "modelled": each.modelled,
            **asdict(each.mean),
        }
        for each in summary.operations
    ]


def step_link_rows(trace: StepTrace, graph: Graph, algorithm: str) -> list[Row]:
    """Return what every link direction carried; `busy_share` is of the step's time."""
    rows = direction_rows(algorithm, graph, trace.links, step_time_ps(trace))
    return [{**row, "link_class": graph.links[row["link"]].link_class} for row in rows]
