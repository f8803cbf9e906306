"""Write the timeline of a training step from its run directory, for other tools to show."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from innet.errors import ConfigurationError
from innet.files import write_whole
from innet.report.step_results import SPANS, algorithm_of, read_spans_of, read_step_run
from innet.trace.perfetto import perfetto_file
from innet.trace.spans_file import read_spans_file
from innet.workload.mesh import Mesh


def write_perfetto(folder: Path, algorithm: str | None, out: Path | None) -> Path:
    """Write an algorithm's spans in the Trace Event Format; return the file.

    By default it is trace_ALGORITHM.json in the run directory. Raises ConfigurationError for a
    folder without a training run, one without spans, or a file that cannot be written.
    """
    run = read_step_run(folder)
    chosen = algorithm_of(run, algorithm)
    content = read_spans_of(run)
    try:
        spans = [span for span in read_spans_file(content) if span.algorithm == chosen]
    except ValueError as error:
        raise ConfigurationError(
            f"{error}; run the scenario again", file=str(folder / SPANS)
        ) from None
    about = {"scenario": run.results.name, "algorithm": chosen, "ts": "us of simulated time"}
    path = folder / f"trace_{chosen}.json" if out is None else out
    write_whole(path, perfetto_file(spans, _rank_names(run.scenario), about))
    return path


def _rank_names(scenario: Mapping[str, Any]) -> dict[int, str]:
    """Return every rank with its coordinates on the mesh, for example `rank 3: pp 1, dp 0`."""
    mesh = Mesh(scenario["training"]["mesh"])
    return {
        rank: f"rank {rank}: "
        + ", ".join(f"{axis} {place}" for axis, place in mesh.coordinates(rank).items())
        for rank in range(mesh.ranks)
    }
