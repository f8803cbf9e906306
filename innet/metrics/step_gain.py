"""What in-network aggregation gains in a training step: above 1 a gain, below 1 a loss."""

from collections.abc import Iterable
from dataclasses import dataclass

from innet.metrics.step_figures import IN_NETWORK, StepSummary

_DECIMALS = 6


@dataclass(frozen=True, slots=True)
class Gain:
    """Step time of `over`, the best point-to-point algorithm that ran, over in_network's.

    `offloaded` says whether a switch took part in anything: where none did, a difference comes
    from the choice of point-to-point algorithm alone.
    """

    over: str
    gain: float
    offloaded: bool


def gain_of(runs: Iterable[StepSummary]) -> Gain | None:
    """Return the gain at one point; None without both kinds of runs, or when no time passed."""
    found = list(runs)
    ours = next((run for run in found if run.algorithm == IN_NETWORK), None)
    others = [run for run in found if run.algorithm != IN_NETWORK]
    if ours is None or not others or not ours.step_ps:
        return None
    best = min(others, key=lambda run: run.step_ps)
    offloaded = any(each.offloaded for each in ours.operations)
    return Gain(best.algorithm, round(best.step_ps / ours.step_ps, _DECIMALS), offloaded)
