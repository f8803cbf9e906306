"""What a plot shows: the axis that was swept, panels for the rest, a series an algorithm."""

import pytest
from made_results import run_summary, stored, swept

from innet.errors import ConfigurationError
from innet.report.results import PointResult, Results
from innet.report.series import choose_chart


def chart_of(tmp_path, results, x="auto", measure="time", **more):
    return choose_chart([stored(tmp_path / "made", results, **more)], x, measure)


def grid(rows, columns):
    """Results over rows {key: values} x columns {key: values}."""
    (row_key, row_values), (column_key, column_values) = *rows.items(), *columns.items()
    return Results(
        "made",
        tuple(
            PointResult({row_key: row, column_key: column}, (run_summary(),))
            for row in row_values
            for column in column_values
        ),
    )


@pytest.mark.parametrize(
    ("key", "values", "x", "quantity"),
    [
        ("collective.size", ["1 KiB", "1 MiB"], "size", "size"),
        ("topology.workers", [2, 4], "workers", "workers"),
        ("topology.link.loss", [0, 1e-3], "loss", "loss"),
        ("switch.slots", [1, 2], "window", "window"),
        ("message.window", [1, 2], "window", "window"),
        ("topology.link.rate", ["10 Gbps", "100 Gbps"], "topology.link.rate", "rate"),
        ("host.send", ["0 ns", "1 us"], "host.send", "duration"),
        ("packet.elements", [32, 64], "packet.elements", "number"),
        ("switch.guard", [True, False], "switch.guard", "category"),
    ],
)
def test_what_was_swept_is_found_and_can_be_named(tmp_path, key, values, x, quantity):
    for name in ("auto", x):
        axis = chart_of(tmp_path, swept(key, values), name).axis
        assert (axis.key, axis.quantity) == (key, quantity)


def test_a_series_an_algorithm_in_order_of_x(tmp_path):
    chart = chart_of(tmp_path, swept("collective.size", ["1 MiB", "1 KiB"]))
    (panel,) = chart.panels
    assert [line.algorithm for line in panel.series] == ["in_network", "ring"]
    assert [(s.x, s.value, s.bound) for s in panel.series[1].samples] == [
        (1024, 4 * 10**8, 18 * 10**7),
        (2**20, 2 * 10**8, 9 * 10**7),
    ]


def test_the_key_with_most_values_is_x_and_the_others_make_panels(tmp_path):
    results = grid({"topology.link.loss": [0, 1e-4]}, {"topology.workers": [2, 4, 8]})
    chart = chart_of(tmp_path, results)
    assert chart.axis.key == "topology.workers"
    assert [panel.title for panel in chart.panels] == ["loss 0", "loss 1e-4"]


def test_keys_that_go_with_x_make_no_panels(tmp_path):
    points = tuple(
        PointResult({"topology.workers": n, "switch.slots": 4 * n}, (run_summary(),))
        for n in (2, 4)
    )
    assert len(chart_of(tmp_path, Results("made", points)).panels) == 1


def test_without_a_sweep_there_is_no_x(tmp_path):
    results = Results("made", (PointResult({}, (run_summary(), run_summary("ring"))),))
    chart = chart_of(tmp_path, results)
    assert chart.axis.key is None
    assert len(chart.panels[0].series) == 2


@pytest.mark.parametrize(
    ("key", "figures", "told"),
    [
        ("switch.slots", {}, "all-reduce, 1 MiB float32, 8 workers"),
        ("collective.size", {"size_bytes": 0}, "all-reduce, float32, 8 workers"),
        ("topology.workers", {"workers": 2}, "all-reduce, 1 MiB float32"),
        ("collective.dtype", {"dtype": "int32"}, "all-reduce, 1 MiB, 8 workers"),
    ],
)
def test_a_figure_says_what_is_the_same_everywhere(tmp_path, key, figures, told):
    points = (PointResult({key: 1}, (run_summary(),)), PointResult({key: 2}, (run_summary(),)))
    if figures:
        points = (points[0], PointResult({key: 2}, (run_summary(**figures),)))
    assert chart_of(tmp_path, Results("made", points)).subtitle == told


def test_an_x_that_was_not_swept_is_refused(tmp_path):
    with pytest.raises(ConfigurationError, match=r"--x loss: .*what was: collective.size"):
        chart_of(tmp_path, swept("collective.size", ["1 KiB", "1 MiB"]), "loss")


def test_too_many_panels_are_refused(tmp_path):
    results = grid({"switch.slots": range(14)}, {"topology.workers": range(2, 40)})
    with pytest.raises(ConfigurationError, match=r"14 combinations of switch.slots"):
        chart_of(tmp_path, results)


def test_nothing_finished_is_refused(tmp_path):
    with pytest.raises(ConfigurationError, match="no run has finished"):
        chart_of(tmp_path, Results("made", ()))


@pytest.mark.parametrize(
    ("measure", "value"),
    [("algbw", 2**20 * 8e12 / 1e8), ("busbw", 2**20 * 14e12 / 1e8), ("rate", 2**18 * 1e12 / 1e8)],
)
def test_measures_and_their_bounds(tmp_path, measure, value):
    chart = chart_of(tmp_path, swept("switch.slots", [1, 2]), measure=measure)
    sample = chart.panels[0].series[0].samples[0]
    assert sample.value == pytest.approx(value)
    assert sample.bound == pytest.approx(value / 0.9)


def test_several_runs_make_one_sweep_by_their_scenarios(tmp_path):
    runs = [
        stored(
            tmp_path / name,
            Results(name, (PointResult({}, (run_summary(),)),)),
            {"switch": {"slots": slots}},
        )
        for name, slots in (("few", 8), ("many", 64))
    ]
    runs.append(stored(tmp_path / "sweep", swept("switch.slots", [16, 32])))
    (panel,) = choose_chart(runs, "auto", "time").panels
    assert [(line.name, [s.x for s in line.samples]) for line in panel.series][:2] == [
        ("few", [8]),
        ("many", [64]),
    ]


def test_runs_of_one_name_are_told_apart_by_their_folders(tmp_path):
    runs = [stored(tmp_path / name, swept("switch.slots", [1, 2])) for name in ("a", "b")]
    (panel,) = choose_chart(runs, "auto", "time").panels
    assert {line.name for line in panel.series} == {str(tmp_path / "a"), str(tmp_path / "b")}


def test_values_of_one_key_can_be_lines_instead_of_panels(tmp_path):
    points = tuple(
        PointResult(
            {"packet.elements": k, "topology.workers": n},
            (run_summary(time_ps=k * n), run_summary("ring", time_ps=n)),
        )
        for k in (32, 64)
        for n in (2, 4)
    )
    runs = [stored(tmp_path / "made", Results("made", points))]
    (panel,) = choose_chart(runs, "auto", "time", "packet.elements").panels
    assert [(line.algorithm, line.variant, line.name) for line in panel.series] == [
        ("in_network", 0, "32 elements a packet"),
        ("in_network", 1, "64 elements a packet"),
        ("ring", 0, None),
    ]
    assert [sample.value for sample in panel.series[1].samples] == [128, 256]


def test_lines_of_a_key_that_was_not_swept_are_refused(tmp_path):
    runs = [stored(tmp_path / "made", swept("switch.slots", [1, 2]))]
    with pytest.raises(ConfigurationError, match=r"--lines host.send: was not swept"):
        choose_chart(runs, "auto", "time", "host.send")
