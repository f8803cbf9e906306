"""What commands do with run directories, of a collective or of training steps alike."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from rich.text import Text

from innet.errors import ConfigurationError
from innet.report.compare import compare_lines
from innet.report.draw import draw_runs
from innet.report.explain import explain_lines
from innet.report.results import COLLECTIVE, kind_of_run, read_run
from innet.report.series import Measure
from innet.report.step_compare import compare_step_lines
from innet.report.step_draw import StepChart, draw_step_folders
from innet.report.step_explain import explain_step_lines
from innet.report.step_results import TRAINING, read_step_run


def explain_folder(folder: Path) -> Iterable[Text]:
    """Return what limited the runs of a directory; ConfigurationError for one that holds none."""
    if kind_of_run(folder) == TRAINING:
        return explain_step_lines(read_step_run(folder).results)
    return explain_lines(read_run(folder).results)


def compare_folders(before: Path, after: Path) -> list[Text]:
    """Return what changed between two run directories of one kind.

    Raises ConfigurationError for two kinds, or a directory that holds no run.
    """
    if _common_kind([before, after]) == TRAINING:
        return compare_step_lines(read_step_run(before), read_step_run(after))
    return compare_lines(read_run(before), read_run(after))


def draw_folders(
    folders: Sequence[Path],
    x: str,
    y: Measure,
    out: Path | None,
    lines: str | None,
    chart: StepChart,
    algorithm: str | None,
) -> Path:
    """Draw run directories of one kind and return the file.

    `y` and `lines` are of collectives alone, `chart` and `algorithm` of training steps. Raises
    ConfigurationError for what the kind does not have, and as `draw_runs` and
    `draw_step_folders` do.
    """
    if _common_kind(folders) == COLLECTIVE:
        _refuse("a collective", {"--chart": chart != "auto", "--algorithm": algorithm is not None})
        return draw_runs(folders, x, y, out, lines)
    _refuse("training steps", {"--y": y != "time", "--lines": lines is not None})
    return draw_step_folders(folders, chart, x, algorithm, out)


def _common_kind(folders: Sequence[Path]) -> str:
    kinds = {folder: kind_of_run(folder) for folder in folders}
    if len(set(kinds.values())) > 1:
        told = ", ".join(f"{folder} of a {kind} scenario" for folder, kind in kinds.items())
        raise ConfigurationError(f"these run directories cannot be shown together: {told}")
    return next(iter(kinds.values()))


def _refuse(kind: str, given: dict[str, bool]) -> None:
    for option, wrong in given.items():
        if wrong:
            raise ConfigurationError(f"{option}: has no meaning for {kind}")
