"""Plots are drawn, in all formats, twice the same, and with the right scales."""

import subprocess
import sys

import pytest
from made_results import run_summary, single_point, stored, swept

from innet.errors import ConfigurationError
from innet.report.axes import set_x_axis, set_y_axis, x_title
from innet.report.draw import draw_runs
from innet.report.labels import key_value
from innet.report.plot import draw
from innet.report.results import PointResult, Results
from innet.report.series import choose_chart
from innet.report.style import ALGORITHM_STYLES, label_of, marker_fill, style_of
from innet.scenario.sections import ALGORITHMS

SIZES = ["1 KiB", "64 KiB", "4 MiB"]
STARTS = {"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}


@pytest.fixture
def axes():
    from matplotlib.figure import Figure

    return Figure().subplots()


def labels(axis):
    return [tick.get_text() for tick in axis.get_ticklabels()]


@pytest.mark.parametrize("file_format", ["svg", "png", "pdf"])
def test_the_same_chart_gives_the_same_bytes(tmp_path, file_format):
    run = stored(tmp_path / "made", swept("topology.link.loss", [0, 1e-4, 1e-3]))
    first, second = (draw(choose_chart([run], "auto", "time"), file_format) for _ in range(2))
    assert first == second
    assert first.startswith(STARTS[file_format])


def test_another_process_draws_the_same_bytes(tmp_path):
    run = stored(tmp_path / "made", single_point(run_summary(), run_summary("ring")))
    other = tmp_path / "other.svg"
    program = (
        "from pathlib import Path; from innet.report.draw import draw_runs; "
        f"draw_runs([Path({str(run.folder)!r})], 'auto', 'busbw', Path({str(other)!r}))"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
    assert other.read_bytes() == draw(choose_chart([run], "auto", "busbw"), "svg")


def test_a_drawing_has_no_date(tmp_path):
    run = stored(tmp_path / "made", single_point(run_summary()))
    assert b"<dc:date>" not in draw(choose_chart([run], "auto", "time"), "svg")


def test_plots_go_to_the_run_directory_by_default(tmp_path):
    stored(tmp_path / "made", swept("collective.size", SIZES))
    written = draw_runs([tmp_path / "made"], "auto", "algbw", None)
    assert written == tmp_path / "made" / "plots" / "algbw_against_size.svg"
    assert [path.name for path in written.parent.iterdir()] == [written.name]


def test_bars_have_no_axis_in_their_name(tmp_path):
    stored(tmp_path / "made", single_point(run_summary()))
    assert draw_runs([tmp_path / "made"], "auto", "time", None).name == "time.svg"


def test_another_ending_is_refused_before_anything_is_read(tmp_path):
    with pytest.raises(ConfigurationError, match=r"end the name in .svg, .png or .pdf"):
        draw_runs([tmp_path / "nothing"], "auto", "time", tmp_path / "plot.jpg")


def test_sizes_are_on_a_log_axis_with_units(axes, tmp_path):
    chart = choose_chart([stored(tmp_path / "a", swept("collective.size", SIZES))], "auto", "time")
    set_x_axis(axes, chart.axis, [1024, 65536, 2**22], 60)
    assert axes.get_xscale() == "log"
    assert labels(axes.xaxis) == SIZES


def test_ticks_that_do_not_fit_are_left_out_evenly(axes, tmp_path):
    sizes = [f"{2**power} KiB" for power in range(9)]
    chart = choose_chart([stored(tmp_path / "a", swept("collective.size", sizes))], "auto", "time")
    set_x_axis(axes, chart.axis, [1024 * 2**power for power in range(9)], 30)
    assert labels(axes.xaxis) == ["1 KiB", "16 KiB", "256 KiB"]


def test_sizes_of_layers_have_round_ticks(axes, tmp_path):
    sizes = [16896, 38144, 66048, 147968, 263168, 528384, 2105344, 9441280]
    run = stored(tmp_path / "a", swept("collective.size", [f"{size} B" for size in sizes]))
    set_x_axis(axes, choose_chart([run], "auto", "time").axis, sizes, 40)
    assert labels(axes.xaxis) == ["64 KiB", "256 KiB", "1 MiB", "4 MiB"]
    set_x_axis(axes, choose_chart([run], "auto", "time").axis, [4198400, 127131648], 60)
    assert labels(axes.xaxis) == ["16 MiB", "64 MiB"]


def test_no_loss_has_its_place_a_decade_below_the_least(axes, tmp_path):
    losses = [0, 1e-4, 1e-3]
    run = stored(tmp_path / "a", swept("topology.link.loss", losses))
    place = set_x_axis(axes, choose_chart([run], "auto", "time").axis, losses, 60)
    assert [place(loss) for loss in losses] == pytest.approx([1e-5, 1e-4, 1e-3])
    assert labels(axes.xaxis) == ["0", "10$^{-4}$", "10$^{-3}$"]


def test_times_from_0_on_are_on_a_plain_axis_with_units(axes, tmp_path):
    starts = ["0 us", "50 us", "100 us", "400 us", "500 us"]
    run = stored(tmp_path / "a", swept("workers.3.start", starts))
    axis = choose_chart([run], "auto", "time").axis
    set_x_axis(axes, axis, [10**6 * start for start in (0, 50, 100, 400, 500)], 40)
    assert axes.get_xscale() == "linear"
    assert labels(axes.xaxis) == ["0", "100 \N{MICRO SIGN}s", "400 \N{MICRO SIGN}s"]
    assert x_title(axis) == "start of worker 3"


def test_slots_and_windows_that_change_together_are_both_the_window(tmp_path):
    points = tuple(
        PointResult({"switch.slots": n, "message.window": n}, (run_summary(),)) for n in (2, 4)
    )
    chart = choose_chart([stored(tmp_path / "a", Results("made", points))], "window", "time")
    assert x_title(chart.axis) == "window (packets)"
    alone = choose_chart([stored(tmp_path / "b", swept("switch.slots", [1, 2]))], "window", "time")
    assert x_title(alone.axis) == "slots of the switch"


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("topology.link.rate", "10 Gbps", "10 Gbps links"),
        ("host.rto", "adaptive", "timeout adaptive"),
        ("topology.link.loss", 1e-4, "loss 1e-4"),
        ("switch.guard", True, "guard on"),
    ],
)
def test_keys_with_their_values_read_well(key, value, told):
    assert key_value(key, value) == told


def test_variants_have_markers_of_their_own():
    fills = [marker_fill("#D55E00", variant) for variant in range(3)]
    assert fills[:2] == ["#D55E00", "white"]
    assert fills[2] == pytest.approx((0.934, 0.747, 0.6), abs=0.001)


def test_doubling_values_are_on_a_log_axis(axes, tmp_path):
    run = stored(tmp_path / "a", swept("topology.workers", [4, 8, 16]))
    set_x_axis(axes, choose_chart([run], "auto", "time").axis, [4, 8, 16], 60)
    assert axes.get_xscale() == "log"


def test_close_values_are_on_a_plain_axis(axes, tmp_path):
    run = stored(tmp_path / "a", swept("topology.workers", [4, 5, 6]))
    set_x_axis(axes, choose_chart([run], "auto", "time").axis, [4, 5, 6], 60)
    assert axes.get_xscale() == "linear"


@pytest.mark.parametrize(
    ("measure", "values", "scale"),
    [("time", [1e6, 1e9], "log"), ("time", [1e6, 2e6], "linear"), ("algbw", [1e6, 1e9], "linear")],
)
def test_times_over_a_decade_are_on_a_log_axis(axes, tmp_path, measure, values, scale):
    run = stored(tmp_path / "a", swept("switch.slots", [1, 2]))
    set_y_axis(axes, choose_chart([run], "auto", measure), values)
    assert axes.get_yscale() == scale
    if scale == "linear":
        assert axes.get_ylim()[0] == 0


def test_every_algorithm_has_its_own_colour_and_marker():
    assert set(ALGORITHM_STYLES) == set(ALGORITHMS)
    colours, markers = zip(*ALGORITHM_STYLES.values(), strict=True)
    assert len(set(colours)) == len(set(markers)) == len(ALGORITHMS)
    assert style_of("something_new") not in ALGORITHM_STYLES.values()


def test_names_for_people():
    assert label_of("in_network", None) == "in-network"
    assert label_of("double_tree", "slow") == "double tree (slow)"


def test_pyplot_is_never_imported(tmp_path):
    run = stored(tmp_path / "made", single_point(run_summary()))
    program = (
        "import sys; from pathlib import Path; from innet.report.draw import draw_runs; "
        "assert 'matplotlib' not in sys.modules; "
        f"draw_runs([Path({str(run.folder)!r})], 'auto', 'time', None); "
        "assert 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
