"""The table as text: what people read and what ends up in a log."""

from pathlib import Path

from made_results import run_summary, single_point, swept

from innet.report.results import PointResult, Results, Unfinished
from innet.report.table import table_lines

SCENARIO = {"message": {"ack": "0 B"}}


def text_of(results, scenario=SCENARIO):
    return [line.plain for line in table_lines(results, scenario)]


def test_the_table_of_one_point():
    results = single_point(
        run_summary(),
        run_summary(
            "sharded_parameter_server",
            time_ps=2_290_712_345,
            wrong=3,
            retransmissions=17,
            limited_by="loss recovery",
        ),
        run_summary("ring", checked=False, algbw_bps=400_000_000, bound_ps=0),
    )
    golden = Path(__file__).parent / "golden" / "table.txt"
    assert "\n".join(text_of(results)) + "\n" == golden.read_text()


def test_swept_values_stand_beside_size_and_workers():
    lines = text_of(swept("topology.link.loss", [0, 1e-4]))
    assert lines[1].endswith("redop  workers  topology.link.loss")
    assert lines[4].endswith("sum        8                   0")
    assert lines[7].endswith("sum        8                1e-4")


def test_swept_sizes_and_workers_are_not_shown_twice():
    lines = text_of(swept("collective.size", ["1 MiB", "2 MiB"]))
    assert lines[1].endswith("workers")


def test_an_unfinished_run_says_so_in_its_place():
    point = PointResult({}, (run_summary(),), (Unfinished("ring", "worker 1 waits for block 3"),))
    lines = text_of(Results("made", (point,)))
    assert lines[6] == "  ring  did not finish: worker 1 waits for block 3"


def test_a_point_without_a_finished_run_still_has_its_line():
    point = PointResult({"topology.workers": 4}, (), (Unfinished("ring", "stuck"),))
    assert "4" in text_of(Results("made", (point,)))[4]


def test_timing_only_is_said_in_the_column_and_below():
    lines = text_of(single_point(run_summary(checked=False)))
    assert any(line.startswith("# #wrong -: timing only") for line in lines)


def test_notes_tell_what_the_figures_rest_on():
    notes = "\n".join(text_of(single_point(run_summary(), run_summary("ring"))))
    assert "store and forward whole packets" in notes
    assert "block floating point" in notes
    assert "acknowledgements take no bandwidth" in notes
    assert "equivalent" in notes


def test_notes_that_do_not_apply_are_left_out():
    integers = text_of(
        single_point(run_summary("ring", dtype="int32")), {"message": {"ack": "84 B"}}
    )
    notes = "\n".join(integers)
    for absent in ("block floating point", "acknowledgements", "equivalent", "timing only"):
        assert absent not in notes


def test_lines_fit_a_hundred_and_twenty_columns():
    algorithms = ("in_network", "sharded_parameter_server")
    results = swept("topology.link.loss", [0, 1e-4], algorithms, limited_by="loss recovery")
    assert max(map(len, text_of(results))) <= 120


def test_nothing_finished_gives_only_the_heads():
    assert text_of(Results("made", ()))[0] == "# made: all_reduce, 0 points, 0 runs"
