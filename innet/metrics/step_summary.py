"""From the trace of a training step to its figures."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from operator import attrgetter
from typing import TypeVar

from innet.metrics.step_diagnosis import diagnose_step
from innet.metrics.step_figures import (
    ClassFigures,
    OpenTimes,
    OperationFigures,
    RankTimes,
    StepSummary,
)
from innet.metrics.step_intervals import Interval, Intervals, length_ps, overlap_ps, union
from innet.metrics.step_waiting import entered_ps
from innet.metrics.traffic import direction_name, lost_on
from innet.topology.graph import Graph
from innet.trace.records import LinkRecord
from innet.trace.steps import COMPUTE, Decision, Span, StepTrace

_Times = TypeVar("_Times", OpenTimes, RankTimes)


def summarise_step(trace: StepTrace, graph: Graph, algorithm: str, engine: str) -> StepSummary:
    """Return the figures of a step that `engine` ran on the network `graph`."""
    ranks = list(_ranks(trace))
    times = [rank.times(step_time_ps(trace)) for rank in ranks]
    slowest = trace.finish_ps.index(max(trace.finish_ps))
    operations = tuple(
        _operation_figures(decision, place, ranks, slowest)
        for place, decision in enumerate(trace.decisions)
    )
    classes = tuple(_class_figures(trace.links, graph))
    bound = max(each.compute_ps for each in times)
    diagnosis = diagnose_step(
        algorithm, step_time_ps(trace), bound, times[slowest], slowest, operations, classes
    )
    return StepSummary(
        algorithm,
        engine,
        len(ranks),
        step_time_ps(trace),
        bound,
        slowest,
        _mean(times),
        times[slowest],
        operations,
        classes,
        sum(map(lost_on, trace.links)),
        diagnosis.limited_by,
        diagnosis.because,
        diagnosis.help,
    )


def step_time_ps(trace: StepTrace) -> int:
    """Return when the last rank was done, in ps from time 0."""
    return max(trace.finish_ps)


def rank_times(trace: StepTrace) -> list[RankTimes]:
    """Return what every rank did during the step."""
    return [rank.times(step_time_ps(trace)) for rank in _ranks(trace)]


@dataclass(frozen=True, slots=True)
class _Rank:
    """A rank's compute, and its other spans, each with when its operation had its ranks."""

    compute: Intervals
    opened: Sequence[tuple[Span, int]]

    def times(self, step_ps: int) -> RankTimes:
        compute = length_ps(self.compute)
        times = self.open_times(self.opened)
        return RankTimes(
            compute,
            times.exposed_ps,
            times.waiting_ps,
            times.hidden_ps,
            step_ps - compute - times.exposed_ps,
        )

    def open_times(self, opened: Sequence[tuple[Span, int]]) -> OpenTimes:
        """Return the times of some of its spans."""
        whole = union((span.start_ps, span.end_ps) for span, _ in opened)
        entered = union(_since(span, entered_ps) for span, entered_ps in opened)
        hidden = overlap_ps(whole, self.compute)
        exposed = length_ps(whole) - hidden
        under_way = length_ps(entered) - overlap_ps(entered, self.compute)
        return OpenTimes(exposed, exposed - under_way, hidden)

    def decided(self, decision: int) -> list[tuple[Span, int]]:
        """Return the spans of which one thing was decided."""
        return [each for each in self.opened if each[0].decision == decision]


def _since(span: Span, entered_ps: int) -> Interval:
    return max(span.start_ps, entered_ps), span.end_ps


def _ranks(trace: StepTrace) -> Iterator[_Rank]:
    entries = entered_ps(trace.spans)
    compute: list[list[Interval]] = [[] for _ in trace.finish_ps]
    opened: list[list[tuple[Span, int]]] = [[] for _ in trace.finish_ps]
    for span in trace.spans:
        if span.operation == COMPUTE:
            compute[span.rank].append((span.start_ps, span.end_ps))
        else:
            opened[span.rank].append((span, entries[span.number]))
    for computes, spans in zip(compute, opened, strict=True):
        yield _Rank(union(computes), spans)


def _operation_figures(
    decision: Decision, place: int, ranks: Sequence[_Rank], slowest: int
) -> OperationFigures:
    times = [rank.open_times(rank.decided(place)) for rank in ranks]
    return OperationFigures(
        decision.operation,
        decision.axes,
        decision.how,
        decision.why,
        decision.modelled,
        decision.calls,
        decision.size_bytes,
        _mean(times),
        times[slowest],
    )


def _mean(times: Sequence[_Times]) -> _Times:
    kind = type(times[0])
    sums = [sum(map(attrgetter(field.name), times)) for field in fields(kind)]
    return kind(*(round(Fraction(total, len(times))) for total in sums))


def _class_figures(links: Sequence[LinkRecord], graph: Graph) -> Iterator[ClassFigures]:
    for link_class in graph.link_classes:
        own = [each for each in links if graph.links[each.link].link_class == link_class]
        if own:
            busiest = max(own, key=lambda record: (record.busy_ps, -record.link))
            yield ClassFigures(
                link_class,
                sum(record.bytes for record in own),
                direction_name(graph, busiest.link),
                graph.links[busiest.link].rate_bps,
                busiest.busy_ps,
            )
