"""Sweeps: the same files as a run's, by any number of processes and after any stop."""

import dataclasses
import json

import numpy as np
import pytest

from innet.campaign.execute import WorkInterruptedError, execute
from innet.campaign.sweep import POINTS, Crew, sweep
from tests.campaign.conftest import files_of

FOUR_OF_A_RUN = ["links.csv", "manifest.json", "summary.json", "workers.csv"]


def ignore(_):
    """Take what is reported."""


def stop_after(points):
    """A report that interrupts a sweep once so many points are done."""

    def report(status):
        if status.done == points:
            raise KeyboardInterrupt

    return report


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_sweep_leaves_what_a_run_leaves_and_a_record_a_point(grid, request_of, tmp_path, jobs):
    execute(request_of(grid, "run"), ignore)
    outcome = sweep(request_of(grid, "sweep"), Crew(jobs), ignore)
    assert outcome.failures == []
    found, expected = files_of(tmp_path / "sweep" / "grid"), files_of(tmp_path / "run" / "grid")
    assert list(expected) == FOUR_OF_A_RUN
    assert {name: found.pop(name) for name in expected} == expected
    assert len(found) == 6
    assert all(name.startswith(f"{POINTS}/") for name in found)


def test_records_do_not_depend_on_the_number_of_processes(grid, request_of, tmp_path):
    for jobs in (1, 2, 3):
        sweep(request_of(grid, str(jobs)), Crew(jobs), ignore)
    one, two, three = (files_of(tmp_path / name) for name in "123")
    assert one == two == three


def test_a_stopped_sweep_goes_on_with_what_is_left(grid, request_of, tmp_path):
    with pytest.raises(WorkInterruptedError, match="4 finished points are kept"):
        sweep(request_of(grid), Crew(), stop_after(4))
    folder = tmp_path / "runs" / "grid"
    assert json.loads((folder / "manifest.json").read_text())["complete"] is False
    assert len(json.loads((folder / "summary.json").read_text())["points"]) == 4
    kept = files_of(folder / POINTS)
    seen = []
    sweep(request_of(grid), Crew(), seen.append)
    assert [(status.kept, status.done) for status in seen] == [(4, 4), (4, 5), (4, 6)]
    assert [status.left for status in seen] == [1, 0, 0]
    assert files_of(folder / POINTS).items() > kept.items()
    execute(request_of(grid, "run"), ignore)
    assert files_of(tmp_path / "run" / "grid").items() < files_of(folder).items()


def test_a_finished_sweep_runs_nothing_again(grid, request_of):
    first = sweep(request_of(grid), Crew(), ignore)
    seen = []
    second = sweep(request_of(grid), Crew(2), seen.append)
    assert [status.kept for status in seen] == [6]
    assert second == first


def test_a_record_that_is_not_whole_is_made_again(grid, request_of, tmp_path):
    sweep(request_of(grid), Crew(), ignore)
    folder = tmp_path / "runs" / "grid"
    whole = files_of(folder)
    damaged = sorted((folder / POINTS).iterdir())
    damaged[0].write_bytes(damaged[0].read_bytes()[:100])
    damaged[1].write_text("{}")
    damaged[2].write_text(damaged[2].read_text().replace('"version": 1', '"version": 0'))
    seen = []
    sweep(request_of(grid), Crew(), seen.append)
    assert seen[0].kept == 3
    assert files_of(folder) == whole


def test_another_seed_or_setting_is_another_point(grid, request_of):
    sweep(request_of(grid), Crew(), ignore)
    seen = []
    sweep(request_of(grid, overrides=("seed=2",)), Crew(), seen.append)
    assert seen[0].kept == 0


def test_another_engine_makes_other_records(grid, request_of):
    sweep(request_of(grid), Crew(), ignore)
    seen = []
    reference = dataclasses.replace(request_of(grid), engine="reference")
    outcome = sweep(reference, Crew(), seen.append)
    assert seen[0].kept == 0
    assert {run.engine for point in outcome.results.points for run in point.runs} == {"reference"}


def test_equal_points_are_run_once(grid, request_of, tmp_path):
    sizes = "sweep={collective.size: [4 KiB, 4 KiB, 4096 B, 8 KiB]}"
    outcome = sweep(request_of(grid, overrides=(sizes,)), Crew(), ignore)
    assert len(outcome.results.points) == 4
    assert len(files_of(tmp_path / "runs" / "grid" / POINTS)) == 2


def test_a_point_that_fails_is_recorded_and_the_others_go_on(grid, request_of, tmp_path):
    np.save(tmp_path / "good.npy", np.arange(200, dtype=np.int32).reshape(2, 100))
    (tmp_path / "bad.npy").write_text("no tensor")
    tensors = ("collective={dtype: int32}", "sweep={collective.tensors: [bad.npy, good.npy]}")
    outcome = sweep(request_of(grid, overrides=tensors), Crew(2), ignore)
    (failure,) = outcome.failures
    assert failure.startswith("collective.tensors=bad.npy: ")
    assert "bad.npy" in failure.removeprefix("collective.tensors=bad.npy: ")
    assert outcome.manifest["complete"] is False
    (point,) = outcome.results.points
    assert point.parameters == {"collective.tensors": "good.npy"}
    records = [json.loads(text) for text in files_of(tmp_path / "runs/grid/points").values()]
    assert sorted(record["error"] is None for record in records) == [False, True]
    # The next time it is tried again.
    np.save(tmp_path / "bad.npy", np.ones((2, 7), dtype=np.int32))
    seen = []
    again = sweep(request_of(grid, overrides=tensors), Crew(), seen.append)
    assert [(status.kept, status.failed) for status in seen] == [(1, 0), (1, 0)]
    assert (again.failures, again.manifest["complete"]) == ([], True)


def test_a_run_that_cannot_finish_is_told_as_a_run_tells_it(grid, request_of, tmp_path):
    limit = ("limit=8 us",)
    told = execute(request_of(grid, "run", limit), ignore).failures
    outcome = sweep(request_of(grid, overrides=limit), Crew(2), ignore)
    assert outcome.failures == told
    assert 0 < len(told) < 12
    seen = []
    assert sweep(request_of(grid, overrides=limit), Crew(), seen.append).failures == told
    assert seen[0].kept == 6
    assert files_of(tmp_path / "run").items() < files_of(tmp_path / "runs").items()
