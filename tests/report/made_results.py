"""Results made by hand, with round numbers."""

import json

from innet.metrics.figures import RunSummary
from innet.report.results import PointResult, Results, StoredRun


def run_summary(algorithm="in_network", **values):
    known = {
        "workers": 8,
        "size_bytes": 2**20,
        "elements": 2**18,
        "dtype": "float32",
        "time_ps": 166_363_200,
        "bound_ps": 160_000_000,
        "algbw_bps": 50_423_410_935,
        "busbw_bps": 88_240_969_137,
        "busbw_equivalent": algorithm == "in_network",
        "wrong": 0,
        "checked": True,
        "wire_bytes_per_nic": 1_126_400,
        "packets": 8192,
        "dropped": 0,
        "retransmissions": 0,
        "limited_by": "link",
        "because": "The busiest link was sending 97 % of the time.",
        "help": "Faster links.",
        "engine": "reference",
    }
    return RunSummary(algorithm=algorithm, **{**known, **values})


def single_point(*runs, parameters=None, **point):
    return Results("made", (PointResult(parameters or {}, runs, **point),))


def swept(key, values, algorithms=("in_network", "ring"), **figures):
    """Results over one key, in which times grow with the value's place and the algorithm's."""
    points = []
    for place, value in enumerate(values):
        runs = tuple(
            run_summary(
                algorithm,
                time_ps=10**8 * (place + 1) * (order + 1),
                bound_ps=9 * 10**7 * (place + 1),
                **figures,
            )
            for order, algorithm in enumerate(algorithms)
        )
        points.append(PointResult({key: value}, runs))
    return Results("made", tuple(points))


def stored(folder, results, resolved=None):
    """Write what read_run reads and return what it returns."""
    folder.mkdir(parents=True, exist_ok=True)
    manifest = {"version": 1, "scenario": {"resolved": resolved or {}}}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    (folder / "summary.json").write_text(json.dumps(results.as_stored()))
    return StoredRun(folder, manifest, results)
