"""What in-network aggregation gains in a training step: above 1 a gain, below 1 a loss."""

from collections.abc import Iterable
from dataclasses import dataclass

from innet.metrics.step_figures import IN_NETWORK, OperationFigures, StepSummary

_DECIMALS = 6


@dataclass(frozen=True, slots=True)
class Gain:
    """Step time of `over`, the best point-to-point algorithm that ran, over in_network's.

    `among` tells how many point-to-point algorithms ran; `offloaded`, whether a switch took part
    in anything: where none did, a difference comes from the choice of algorithm alone.
    """

    over: str
    gain: float
    offloaded: bool
    among: int


def gain_of(runs: Iterable[StepSummary]) -> Gain | None:
    """Return the gain at one point; None without both kinds of runs, or when no time passed."""
    ran = list(runs)
    compared = _compared(ran)
    if compared is None:
        return None
    ours, best = compared
    gain = round(best.step_ps / ours.step_ps, _DECIMALS)
    offloaded = any(each.offloaded for each in ours.operations)
    return Gain(best.algorithm, gain, offloaded, len(ran) - 1)


@dataclass(frozen=True, slots=True)
class OffloadingLoss:
    """Operations that are exposed longer in the network than by `over`; means over ranks, in ps."""

    name: str
    over: str
    in_network_ps: int
    over_ps: int


def offloading_losses(runs: Iterable[StepSummary]) -> list[OffloadingLoss]:
    """Return the offloaded operations at one point that the best of the others exposes less.

    Only kinds and axes of which one thing was decided are compared, and differences of 5 % and
    more of the longer time: other operations at once can make that much.
    """
    compared = _compared(runs)
    if compared is None:
        return []
    ours, best = (_alone(run.operations) for run in compared)
    return [
        OffloadingLoss(
            each.name, compared[1].algorithm, each.mean.exposed_ps, best[name].mean.exposed_ps
        )
        for name, each in ours.items()
        if each.offloaded
        and name in best
        and 20 * best[name].mean.exposed_ps < 19 * each.mean.exposed_ps
    ]


def _compared(runs: Iterable[StepSummary]) -> tuple[StepSummary, StepSummary] | None:
    """Return the step in the network and the best of the others, if there are both."""
    found = list(runs)
    ours = next((run for run in found if run.algorithm == IN_NETWORK), None)
    others = [run for run in found if run.algorithm != IN_NETWORK]
    if ours is None or not others or not ours.step_ps:
        return None
    return ours, min(others, key=lambda run: run.step_ps)


def _alone(operations: Iterable[OperationFigures]) -> dict[str, OperationFigures]:
    found: dict[str, list[OperationFigures]] = {}
    for each in operations:
        found.setdefault(each.name, []).append(each)
    return {name: own[0] for name, own in found.items() if len(own) == 1}
