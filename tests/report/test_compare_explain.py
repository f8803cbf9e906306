"""`compare` says what changed, `explain` what limited a run."""

from made_results import run_summary, single_point, stored, swept

from innet.report.compare import changes, compare_lines, pairs
from innet.report.explain import explain_lines
from innet.report.results import PointResult, Results, Unfinished


def test_changes_are_told_by_dotted_key():
    before = {"name": "a", "switch": {"slots": 8, "guard": True}, "faults": []}
    after = {
        "name": "b",
        "switch": {"slots": 64, "guard": True},
        "faults": [],
        "limit": "1 s",
    }
    assert [(c.key, c.before, c.after) for c in changes(before, after)] == [
        ("switch.slots", 8, 64),
        ("limit", None, "1 s"),
    ]


def test_runs_are_matched_by_point_and_algorithm():
    before = swept("switch.slots", [1, 2], ("in_network", "ring"))
    after = swept("switch.slots", [2, 3], ("ring",))
    matched = pairs(*([(p.parameters, p.runs) for p in each.points] for each in (before, after)))
    found = {(p.point, p.algorithm): (bool(p.before), bool(p.after)) for p in matched}
    assert found == {
        ("switch.slots=1", "in_network"): (True, False),
        ("switch.slots=1", "ring"): (True, False),
        ("switch.slots=2", "in_network"): (True, False),
        ("switch.slots=2", "ring"): (True, True),
        ("switch.slots=3", "ring"): (False, True),
    }


def test_the_comparison_gives_ratios(tmp_path):
    slow, fast = run_summary(time_ps=200_000_000, limited_by="window"), run_summary()
    before = stored(tmp_path / "a", single_point(slow, run_summary("ring")), {"seed": 1})
    after = stored(tmp_path / "b", single_point(fast, run_summary("ring")), {"seed": 2})
    assert [line.plain for line in compare_lines(before, after)] == [
        f"# A: {tmp_path / 'a'}   B: {tmp_path / 'b'}",
        "",
        "seed: 1 -> 2",
        "",
        "algorithm      time A     time B     B/A  resent A  resent B  limited by",
        "in_network  200.00 us  166.36 us  0.8318         0         0  window -> link",
        "ring        166.36 us  166.36 us       =         0         0  link",
    ]


def test_equal_scenarios_are_said_to_be_equal(tmp_path):
    before = stored(tmp_path / "a", single_point(run_summary()))
    after = stored(tmp_path / "b", single_point(run_summary("ring")))
    lines = [line.plain for line in compare_lines(before, after)]
    assert "The scenarios are the same." in lines
    assert lines[-2:] == ["only in A: 1 runs (in_network)", "only in B: 1 runs (ring)"]


def test_changed_lists_and_mappings_are_written_out(tmp_path):
    before = stored(tmp_path / "a", single_point(run_summary()), {"faults": [{"drop": {"n": 1}}]})
    after = stored(tmp_path / "b", single_point(run_summary()), {"faults": []})
    assert "faults: [{drop: {n: 1}}] -> []" in [line.plain for line in compare_lines(before, after)]


def test_every_run_is_explained():
    point = PointResult(
        {"topology.link.loss": 1e-4},
        (run_summary(wrong=2), run_summary("ring", time_ps=332_726_400)),
        (Unfinished("double_tree", "worker 1 waits"),),
    )
    assert [line.plain for line in explain_lines(Results("made", (point,)))] == [
        "made at topology.link.loss=1e-4",
        "  in_network: 166.36 us, +4.0% over its lower bound of 160.00 us, limited by link",
        "    why:   The busiest link was sending 97 % of the time.",
        "    helps: Faster links.",
        "    wrong: 2 elements differ from the exact sum",
        "  ring: 332.73 us, +108.0% over its lower bound of 160.00 us, limited by link",
        "    why:   The busiest link was sending 97 % of the time.",
        "    helps: Faster links.",
        "  double_tree did not finish",
        "    worker 1 waits",
        "  fastest: in_network, 2 times as fast as ring",
    ]
