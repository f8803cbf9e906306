"""Results of training steps made by hand, with round numbers."""

import json

from innet.metrics.step_figures import (
    ClassFigures,
    OpenTimes,
    OperationFigures,
    RankTimes,
    StepSummary,
)
from innet.report.step_results import StepPoint, StepResults, StoredSteps

MS = 10**9
RESOLVED = {"training": {"mesh": {"pp": 2, "dp": 4}, "model": "resnet50", "batch": 32}}


def operation_figures(operation="all_reduce", axes="dp", how="in_network", why="", **values):
    known = {
        "modelled": "",
        "calls": 5,
        "size_bytes": 102_228_128,
        "mean": OpenTimes(12 * MS, 2 * MS, 55 * MS),
        "slowest": OpenTimes(14 * MS, 1 * MS, 53 * MS),
    }
    return OperationFigures(operation, axes, how, why, **{**known, **values})


def step_summary(algorithm="in_network", step_ms=120, **values):
    how = algorithm
    why = "" if algorithm == "in_network" else "the scenario runs it point to point"
    known = {
        "engine": "reference",
        "ranks": 8,
        "step_ps": step_ms * MS,
        "bound_ps": 100 * MS,
        "slowest_rank": 3,
        "mean": RankTimes(98 * MS, (step_ms - 98) * MS, 2 * MS, 55 * MS, 0),
        "slowest": RankTimes(100 * MS, (step_ms - 100) * MS, 1 * MS, 53 * MS, 0),
        "operations": (operation_figures(how=how, why=why),),
        "link_classes": (ClassFigures("link", 204_456_256, "worker3 -> switch", 10**10, 80 * MS),),
        "dropped": 0,
        "limited_by": "compute",
        "because": "Rank 3, the last to end, computed 83.3 % of the step.",
        "help": "A faster device.",
    }
    return StepSummary(algorithm, **{**known, **values})


def step_point(*runs, parameters=None, **point):
    return StepPoint(parameters or {}, runs, **point)


def step_results(*runs, **point):
    return StepResults("made", (step_point(*runs, **point),))


def stored_steps(folder, results, resolved=None):
    """Write what read_step_run reads and return what it returns."""
    folder.mkdir(parents=True, exist_ok=True)
    manifest = {"version": 1, "scenario": {"resolved": resolved or RESOLVED}}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    (folder / "summary.json").write_text(json.dumps(results.as_json()))
    return StoredSteps(folder, manifest, results)
