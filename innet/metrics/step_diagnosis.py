"""What limited a training step, seen from the rank that ended last, and what would help.

That rank's time is its compute, its waiting for other ranks to enter operations, and operations
under way without compute. The largest of these limits the step, the last one told by the
operations that cost the most.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from innet.metrics.step_figures import IN_NETWORK, ClassFigures, OperationFigures, RankTimes
from innet.units import format_duration, format_rate


@dataclass(frozen=True, slots=True)
class StepDiagnosis:
    """What limited a step; `because` and `help` are sentences with numbers for people."""

    limited_by: str
    because: str
    help: str


def diagnose_step(
    algorithm: str,
    step_ps: int,
    bound_ps: int,
    times: RankTimes,
    rank: int,
    operations: Sequence[OperationFigures],
    classes: Sequence[ClassFigures],
) -> StepDiagnosis:
    """Return what limited a step whose last rank was `rank`, which spent `times`."""
    under_way = times.exposed_ps - times.waiting_ps
    who = f"Rank {rank}, the last to end,"
    if times.compute_ps >= max(times.waiting_ps, under_way):
        because = f"{who} computed {_share(times.compute_ps, step_ps)}."
        return StepDiagnosis("compute", because, _of_compute(step_ps, bound_ps))
    if times.waiting_ps >= under_way:
        most = max(operations, key=lambda each: each.slowest.waiting_ps)
        because = (
            f"{who} waited {_share(times.waiting_ps, step_ps)} for other ranks to enter "
            f"operations, longest in {most.name}."
        )
        return StepDiagnosis("waiting", because, _OF_WAITING)
    most = max(operations, key=_under_way_ps)
    because = (
        f"{who} had {most.name} ({most.how}) under way without compute for "
        f"{_share(_under_way_ps(most), step_ps)}. {_busiest(step_ps, classes)}"
    )
    return StepDiagnosis(most.name, because, _of_communication(algorithm, step_ps, most, classes))


# What no switch takes part in, whatever its resources.
_POINT_TO_POINT = ("send", "all_to_all", "gather")

_OF_WAITING = (
    "Work shared more evenly over the ranks or, in a pipeline, more micro-batches; a faster "
    "network only where the ranks that came late were communicating."
)


def _of_compute(step_ps: int, bound_ps: int) -> str:
    if not bound_ps:
        return "Nothing is left to gain."
    if step_ps == bound_ps:
        return "A faster device; the network costs the step nothing."
    return (
        f"A faster device; a network that took no time would make the step at most "
        f"{step_ps / bound_ps:.4g} times as fast ({format_duration(bound_ps, 4)})."
    )


def _of_communication(
    algorithm: str, step_ps: int, most: OperationFigures, classes: Sequence[ClassFigures]
) -> str:
    busiest = _busiest_class(classes)
    if busiest is not None and 2 * busiest.busiest_ps >= step_ps:
        which = f" of the class {busiest.link_class}" if len(classes) > 1 else ""
        ways = [f"faster links{which} or fewer bytes"]
    else:
        ways = ["fewer steps one after another, a larger window or more slots, shorter links"]
    if 10 * most.slowest.hidden_ps < _under_way_ps(most):
        ways.append("more of it under compute (async)")
    if algorithm == IN_NETWORK and most.operation not in _POINT_TO_POINT and not most.offloaded:
        ways.append(f"in-network aggregation, which did not run it: {most.why}")
    told = "; ".join(ways)
    return f"{told[0].upper()}{told[1:]}."


def _busiest(step_ps: int, classes: Sequence[ClassFigures]) -> str:
    busiest = _busiest_class(classes)
    if busiest is None or not busiest.busiest_ps:
        return "No link carried anything."
    return (
        f"The busiest link, {busiest.busiest} at {format_rate(busiest.busiest_rate_bps)}, was "
        f"sending {_share(busiest.busiest_ps, step_ps)}."
    )


def _busiest_class(classes: Sequence[ClassFigures]) -> ClassFigures | None:
    return max(classes, key=lambda each: each.busiest_ps, default=None)


def _under_way_ps(operations: OperationFigures) -> int:
    return operations.slowest.exposed_ps - operations.slowest.waiting_ps


def _share(part_ps: int, step_ps: int) -> str:
    return f"{100 * part_ps / step_ps:.3g} % of the step" if step_ps else "no time"
