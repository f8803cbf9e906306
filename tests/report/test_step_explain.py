"""`explain` and `compare` on run directories of training steps."""

import pytest
from made_results import run_summary, single_point, stored
from made_step_results import (
    operation_figures,
    step_point,
    step_results,
    step_summary,
    stored_steps,
)

from innet.errors import ConfigurationError
from innet.metrics.step_figures import OpenTimes
from innet.report.by_kind import compare_folders, draw_folders, explain_folder
from innet.report.results import Unfinished
from innet.report.step_explain import explain_step_lines
from innet.report.step_results import StepResults


def test_every_step_is_explained():
    none = OpenTimes(0, 0, 0)
    quiet = operation_figures("broadcast", "tp", slowest=none)
    refused = operation_figures("reduce_scatter", "dp", "ring", "it would lose")
    point = step_point(
        step_summary(operations=(operation_figures(), refused, quiet), dropped=1),
        step_summary("ring", 150, operations=()),
        parameters={"topology.link.rate": "10 Gbps"},
        unfinished=(Unfinished("double_tree", "deadlock"),),
    )
    assert [line.plain for line in explain_step_lines(StepResults("made", (point,)))] == [
        "made at topology.link.rate=10 Gbps",
        "  in_network: 120.00 ms a step, limited by compute",
        "    why:   Rank 3, the last to end, computed 83.3 % of the step.",
        "    helps: A faster device.",
        "    all_reduce over dp: exposed 14.00 ms (11.7 %), of which waiting 1.000 ms (0.833 %), "
        "hidden 53.00 ms (44.2 %) at rank 3",
        "    reduce_scatter over dp: exposed 14.00 ms (11.7 %), of which waiting 1.000 ms "
        "(0.833 %), hidden 53.00 ms (44.2 %) at rank 3",
        "    in_network: 1 packet lost, dropped by a queue, or corrupted",
        "    not in the network: reduce_scatter over dp (102.2 MB): it would lose",
        "  ring: 150.00 ms a step, limited by compute",
        "    why:   Rank 3, the last to end, computed 83.3 % of the step.",
        "    helps: A faster device.",
        "  double_tree did not finish",
        "    deadlock",
        "  gain: in_network is 1.25 times as fast as ring, the only point-to-point algorithm here",
        "  a network that took no time would be 1.2 times as fast as in_network, at the most: a "
        "rank computes 100.0 ms",
    ]


def test_nothing_to_explain_is_an_error():
    with pytest.raises(ConfigurationError, match="nothing to explain"):
        list(explain_step_lines(StepResults("made", ())))


def test_the_comparison_gives_ratios_exposed_times_and_gains(tmp_path):
    before, after = tmp_path / "a", tmp_path / "b"
    stored_steps(before, step_results(step_summary(), step_summary("ring", 150)), {"seed": 1})
    slower = step_summary(step_ms=180, limited_by="waiting")
    stored_steps(
        after, step_results(slower, step_summary("ring", 150), step_summary("x", 200)), {"seed": 2}
    )
    assert [line.plain for line in compare_folders(before, after)] == [
        f"# A: {before}   B: {after}",
        "",
        "seed: 1 -> 2",
        "",
        "algorithm     step A    step B  B/A  exposed A  exposed B  hidden A  hidden B  limited by",
        "in_network  120.0 ms  180.0 ms  1.5   22.00 ms   82.00 ms  55.00 ms  55.00 ms  "
        "compute -> waiting",
        "ring        150.0 ms  150.0 ms    =   52.00 ms   52.00 ms  55.00 ms  55.00 ms  compute",
        "only in B: 1 runs (x)",
        "",
        "exposed and hidden are means over ranks",
        "",
        "A: gain 1.25 over ring",
        "B: gain 0.8333 over ring, a loss",
    ]


def test_kinds_are_not_mixed_and_options_are_of_their_kind(tmp_path):
    stored(tmp_path / "collective", single_point(run_summary()))
    stored_steps(tmp_path / "steps", step_results(step_summary()))
    both = [tmp_path / "collective", tmp_path / "steps"]
    with pytest.raises(ConfigurationError, match=r"cannot be shown together: .* of a training"):
        compare_folders(*both)
    with pytest.raises(ConfigurationError, match="cannot be shown together"):
        draw_folders(both, "auto", "time", None, None, "auto", None)
    for wrong, told in (
        (
            (both[:1], "auto", "time", None, None, "gain", None),
            "--chart: has no meaning for a coll",
        ),
        ((both[:1], "auto", "time", None, None, "auto", "ring"), "--algorithm: has no meaning"),
        ((both[1:], "auto", "busbw", None, None, "auto", None), "--y: has no meaning for training"),
        ((both[1:], "auto", "time", None, "a.b", "auto", None), "--lines: has no meaning"),
    ):
        with pytest.raises(ConfigurationError, match=told):
            draw_folders(*wrong)
    first, *_ = explain_folder(tmp_path / "collective")
    assert first.plain == "made"
    assert "a step, limited by" in list(explain_folder(tmp_path / "steps"))[1].plain
