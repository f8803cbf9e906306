"""What the plots of training steps show, and that they are drawn, twice the same."""

import subprocess
import sys

import pytest
from made_step_results import MS, step_point, step_results, step_summary, stored_steps

from innet.errors import ConfigurationError
from innet.metrics.step_gain import Gain
from innet.report.plot import rendered
from innet.report.results import Unfinished
from innet.report.step_charts import gain_chart, shared_runs
from innet.report.step_draw import draw_finished, draw_step_folders
from innet.report.step_plots import gain_figure
from innet.report.step_results import StepResults
from innet.trace.spans_file import StoredSpan, spans_file

RATES = {"1 Gbps": 240, "10 Gbps": 150, "800 Gbps": 100}


def swept_rates(folder, name="made", **values):
    points = tuple(
        step_point(
            step_summary(),
            step_summary("ring", ms),
            parameters={"topology.link.rate": rate, **values},
        )
        for rate, ms in RATES.items()
    )
    return stored_steps(folder, StepResults(name, points))


@pytest.fixture
def single(tmp_path):
    run = stored_steps(tmp_path / "one", step_results(step_summary(), step_summary("ring", 150)))
    spans = [
        StoredSpan(algorithm, rank, *what, number, "")
        for algorithm in ("in_network", "ring")
        for rank in range(8)
        for number, what in enumerate(
            [("compute", "", 0, 98 * MS, 0), ("all_reduce", "dp", 98 * MS, 22 * MS, 100)]
        )
    ]
    (run.folder / "spans.csv.gz").write_bytes(spans_file(spans))
    return run


def test_bars_have_a_gain_a_point_of_every_run(tmp_path, single):
    lost = stored_steps(tmp_path / "lost", step_results(step_summary(), step_summary("ring", 90)))
    missing = (Unfinished("ring", "deadlock"),)
    stuck = stored_steps(tmp_path / "s", step_results(step_summary(), unfinished=missing))
    alone = stored_steps(tmp_path / "a", step_results(step_summary()))
    bars = gain_chart([single, lost, stuck, alone]).bars
    assert [bar.gain for bar in bars] == [
        Gain("ring", 1.25, True, 1),
        Gain("ring", 0.75, True, 1),
        None,
        None,
    ]
    assert bars[0].label == str(tmp_path / "one")
    assert [bar.why for bar in bars[2:]] == [
        "ring did not finish",
        "no two algorithms to compare",
    ]


def test_a_sweep_has_gains_and_times_along_what_was_swept(tmp_path):
    chart = gain_chart([swept_rates(tmp_path / "made")])
    assert (chart.axis.key, chart.axis.quantity) == ("topology.link.rate", "rate")
    (line,) = chart.lines
    assert line.samples == ((1e9, 2.0), (1e10, 1.25), (8e11, round(100 / 120, 6)))
    ours, ring = chart.times
    assert (ours.algorithm, ring.samples[0]) == ("in_network", (1e9, 240.0 * MS))
    assert chart.bounds == ((1e9, 100.0 * MS), (1e10, 100.0 * MS), (8e11, 100.0 * MS))


def test_several_sweeps_have_a_line_each_and_no_times(tmp_path):
    runs = [swept_rates(tmp_path / "a", "first"), swept_rates(tmp_path / "b", "second")]
    chart = gain_chart(runs)
    assert [line.name for line in chart.lines] == ["first", "second"]
    assert chart.times == chart.bounds == ()


def test_a_sweep_of_two_keys_has_a_line_for_each_value_of_the_other(tmp_path):
    points = tuple(
        step_point(
            step_summary(),
            step_summary("ring", 150),
            parameters={"topology.link.rate": rate, "topology.workers": workers},
        )
        for rate in RATES
        for workers in (4, 8)
    )
    run = stored_steps(tmp_path / "made", StepResults("made", points))
    assert [line.name for line in gain_chart([run]).lines] == ["4 workers", "8 workers"]
    assert len(gain_chart([run], "workers").lines) == 3


def test_sweep_beside_a_single_point_are_bars(tmp_path, single):
    bars = gain_chart([swept_rates(tmp_path / "made", "swept"), single]).bars
    assert [bar.label for bar in bars][2:] == ["swept, 800 Gbps links", "made"]


def test_sweeps_of_different_keys_are_bars(tmp_path):
    points = tuple(
        step_point(step_summary(), step_summary("ring", 150), parameters={"training.batch": size})
        for size in (16, 32)
    )
    other = stored_steps(tmp_path / "b", StepResults("batches", points))
    chart = gain_chart([swept_rates(tmp_path / "a", "rates"), other])
    assert chart.axis.key is None
    assert [bar.label for bar in chart.bars][2:] == [
        "rates, 800 Gbps links",
        "batches, batch 16",
        "batches, batch 32",
    ]


def test_what_cannot_be_drawn_is_said(tmp_path, single):
    alone = stored_steps(tmp_path / "a", step_results(step_summary()))
    with pytest.raises(ConfigurationError, match="no gain to draw: it needs in_network and"):
        gain_chart([alone])
    with pytest.raises(ConfigurationError, match="--x loss: was not swept"):
        gain_chart([swept_rates(tmp_path / "b")], "loss")
    with pytest.raises(ConfigurationError, match="66 bars are too many"):
        gain_chart([single] * 66)
    with pytest.raises(ConfigurationError, match="132 bars are too many"):
        shared_runs([single] * 66)
    with pytest.raises(ConfigurationError, match="no run has finished there"):
        shared_runs([stored_steps(tmp_path / "c", step_results())])
    with pytest.raises(ConfigurationError, match="9 lines are too many"):
        gain_chart([swept_rates(tmp_path / str(n), str(n)) for n in range(9)])


@pytest.mark.parametrize("chart", ["auto", "gain", "shares", "timeline"])
@pytest.mark.parametrize("ending", ["svg", "png"])
def test_every_chart_is_drawn_twice_the_same(tmp_path, single, chart, ending):
    first, second = tmp_path / f"a.{ending}", tmp_path / f"b.{ending}"
    for path in (first, second):
        assert draw_step_folders([single.folder], chart, out=path) == path
    assert first.read_bytes() == second.read_bytes()
    assert b"<dc:date>" not in first.read_bytes()


def test_another_process_draws_the_same_bytes(tmp_path, single):
    other = tmp_path / "other.svg"
    program = (
        "from pathlib import Path; from innet.report.step_draw import draw_step_folders; "
        f"draw_step_folders([Path({str(single.folder)!r})], 'timeline', out=Path({str(other)!r}))"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
    path = draw_step_folders([single.folder], "timeline")
    assert path.read_bytes() == other.read_bytes()


def test_plots_go_to_the_run_directory_under_their_names(tmp_path, single):
    assert [path.name for path in draw_finished(single)] == ["shares.svg", "timeline.svg"]
    swept = swept_rates(tmp_path / "swept")
    assert [path.name for path in draw_finished(swept)] == ["gain_against_topology.link.rate.svg"]
    assert draw_step_folders([single.folder, swept.folder], "auto").name == "gain.svg"
    path = draw_step_folders([single.folder], "timeline", algorithm="ring")
    assert path == single.folder / "plots" / "timeline_ring.svg"
    nothing = stored_steps(
        tmp_path / "no",
        StepResults("no", (step_point(step_summary()), step_point(step_summary()))),
    )
    assert draw_finished(nothing) == []


def test_timelines_are_of_one_run_with_spans(tmp_path, single):
    with pytest.raises(ConfigurationError, match="one run directory at a time"):
        draw_step_folders([single.folder] * 2, "timeline")
    with pytest.raises(ConfigurationError, match="--algorithm ring: of --chart timeline alone"):
        draw_step_folders([single.folder], "shares", algorithm="ring")
    (single.folder / "spans.csv.gz").write_bytes(b"")
    with pytest.raises(ConfigurationError, match=r"spans\.csv\.gz: .*run the scenario again"):
        draw_step_folders([single.folder], "timeline")
    (single.folder / "spans.csv.gz").write_bytes(spans_file([]))
    with pytest.raises(ConfigurationError, match="no rank did anything"):
        draw_step_folders([single.folder], "timeline")


def test_the_gains_axis_holds_all_bars_and_the_line_of_no_gain(tmp_path, single):
    lost = stored_steps(tmp_path / "lost", step_results(step_summary(), step_summary("ring", 90)))
    shown = {}

    def make():
        shown["figure"] = gain_figure(gain_chart([single, lost]))
        return shown["figure"]

    rendered(make, "svg")
    (axes,) = shown["figure"].axes
    low, high = axes.get_xlim()
    assert low < 0.75 < 1 < 1.25 < high
    assert [round(bar.get_x() + bar.get_width(), 6) for bar in axes.patches] == [1.25, 0.75]
    assert [text.get_text() for text in axes.texts] == [
        "1.25\N{MULTIPLICATION SIGN} over ring",
        "0.75\N{MULTIPLICATION SIGN} over ring",
    ]
