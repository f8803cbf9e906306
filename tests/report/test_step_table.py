"""The table of training steps as text: what people read and what ends up in a log."""

from pathlib import Path

import pytest
from made_step_results import (
    MS,
    RESOLVED,
    operation_figures,
    step_point,
    step_results,
    step_summary,
)

from innet.metrics.step_figures import OpenTimes, RankTimes
from innet.metrics.step_gain import Gain
from innet.report.results import Unfinished
from innet.report.step_explain import explain_step_lines
from innet.report.step_results import StepResults
from innet.report.step_table import free_network_text, gain_text, step_table_lines

ALIKE = RankTimes(100 * MS, 50 * MS, 0, 55 * MS, 0)


def text_of(results, scenario=RESOLVED):
    return [line.plain for line in step_table_lines(results, scenario)]


def test_the_table_of_one_point():
    send = operation_figures("send", "pp", "direct", "a message is not a sum")
    results = step_results(
        step_summary(operations=(operation_figures(), send)),
        step_summary("ring", 150, mean=ALIKE, slowest=ALIKE),
    )
    golden = Path(__file__).parent / "golden" / "step_table.txt"
    assert "\n".join(text_of(results)) + "\n" == golden.read_text()
    notes = [line for line in text_of(results) if line.startswith("#")][1:]
    for word in ("step", "exposed", "waiting", "hidden", "idle", "medium bytes", "calls"):
        assert any(word in note for note in notes)


def test_swept_points_have_their_gains_and_no_operations():
    points = tuple(
        step_point(step_summary(), step_summary("ring", ms), parameters={"topology.link.rate": it})
        for it, ms in (("1 Gbps", 150), ("800 Gbps", 100))
    )
    lines = text_of(StepResults("made", points))
    assert lines[2] == "topology.link.rate=1 Gbps"
    assert lines[13].startswith("  loss: in_network takes 1.2 times as long as ring")
    assert not any("ran as" in line or "medium bytes  " in line for line in lines)


def test_an_unfinished_step_says_so_in_its_place():
    missing = (Unfinished("ring", "deadlock at 5 us\n  rank 0 waits"),)
    lines = text_of(step_results(step_summary(), unfinished=missing))
    assert "  ring  did not finish: deadlock at 5 us" in lines
    assert text_of(step_results(unfinished=missing))[-1].startswith("  ring  did not finish")


def test_an_operation_that_loses_by_offloading_is_said_to():
    ours = operation_figures("reduce_scatter", mean=OpenTimes(24 * MS, 0, 0))
    theirs = operation_figures("reduce_scatter", how="ring", why="it was asked for")
    runs = step_summary(operations=(ours,)), step_summary("ring", 150, operations=(theirs,))
    told = (
        "  offloading reduce_scatter over dp loses: exposed 24.00 ms in the network, 12.00 ms by "
    )
    assert told + "ring" in text_of(step_results(*runs))
    assert told + "ring" in [line.plain for line in explain_step_lines(step_results(*runs))]


def test_packets_that_did_not_arrive_are_counted():
    lines = text_of(step_results(step_summary(dropped=3), step_summary("ring")))
    assert [line for line in lines if "lost, dropped" in line] == [
        "  in_network: 3 packets lost, dropped by a queue, or corrupted"
    ]


def test_refusals_and_models_of_all_points_are_told_once():
    refused = operation_figures("reduce", "tp", "binomial_tree", "no slots", modelled="a guess")
    points = tuple(
        step_point(step_summary(operations=(refused,)), parameters={"training.batch": size})
        for size in (1, 2)
    )
    told = [line for line in text_of(StepResults("made", points)) if "over tp" in line]
    assert told == [
        "  reduce over tp not in the network: no slots",
        "  reduce over tp modelled by a guess",
    ]


def test_a_step_of_one_rank_that_sends_nothing():
    alone = step_summary(ranks=1, slowest_rank=0, operations=(), mean=ALIKE, slowest=ALIKE)
    lines = text_of(step_results(alone))
    assert lines[2].split()[3:5] == ["rank", "0"]
    assert lines[6].split() == ["in_network", "none"]


@pytest.mark.parametrize(
    ("gain", "offloaded", "told"),
    [
        (1.5, True, "gain: in_network is 1.5 times as fast as ring, the only point-to-point"),
        (0.8, True, "loss: in_network takes 1.25 times as long as ring, the only point-to-point"),
        (1.000001, True, "no gain: in_network takes as long as ring, the only point-to-point"),
        (0.99993, True, "no gain: in_network takes as long as ring, the only point-to-point"),
        (1.0, False, "no gain: in_network takes as long as ring, the only point-to-point"),
    ],
)
def test_a_loss_is_told_as_a_loss(gain, offloaded, told):
    found = gain_text(Gain("ring", gain, offloaded, 1))
    assert found.startswith(told)
    several = gain_text(Gain("ring", gain, offloaded, 3))
    assert "ring, the best of 3 point-to-point algorithms here" in several
    assert found.endswith("(no switch took part in any operation)") != offloaded


def test_without_compute_a_free_network_has_no_end():
    assert free_network_text([step_summary(bound_ps=0)]).startswith("no rank computes")


def test_lines_fit_a_hundred_and_twenty_columns():
    runs = (step_summary(), step_summary("sharded_parameter_server", 150))
    assert max(map(len, text_of(step_results(*runs)))) <= 120
