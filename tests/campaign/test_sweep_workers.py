"""Who runs a sweep's points: processes that may be killed, and a Dask cluster."""

import os
import sys

import pytest

from innet.campaign.execute import execute
from innet.campaign.sweep import Crew, sweep
from innet.campaign.sweep_point import Task, key_of
from innet.campaign.sweep_workers import run_on_cluster, run_on_cores
from innet.errors import ConfigurationError, MissingToolError
from innet.scenario.load import expand, load_scenario
from tests.campaign.conftest import files_of


class Killer:
    """Kills the process that it is sent to, as the system does when memory runs out."""

    def __reduce__(self):
        return eval, ("__import__('os').kill(__import__('os').getpid(), 9)",)

    def resolved(self):
        return {}


@pytest.mark.skipif(os.name != "posix", reason="kills a process by signal 9")
def test_a_killed_process_fails_its_point_alone(grid):
    scenarios = [point.scenario for point in expand(load_scenario(grid))][:2]
    tasks = [Task(key_of(scenario, "auto"), scenario) for scenario in scenarios]
    tasks.insert(1, Task("killer", Killer()))
    found = dict(run_on_cores(tasks, 2))
    assert set(found) == {task.key for task in tasks}
    assert "was killed" in found.pop("killer").error
    assert [record.error for record in found.values()] == [None] * len(scenarios)


def test_a_cluster_needs_dask(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingToolError, match=r"pip install 'innet\[cluster\]'"):
        list(run_on_cluster([], "tcp://127.0.0.1:8786"))


def test_an_address_where_nobody_answers_is_told(monkeypatch):
    pytest.importorskip("distributed", reason="Dask is not installed")
    monkeypatch.setattr("innet.campaign.sweep_workers._CONNECT_S", 1)
    for address in ("tcp://127.0.0.1:9", "nonsense://x"):
        with pytest.raises(ConfigurationError, match="no Dask scheduler answers at"):
            list(run_on_cluster([], address))


def test_a_cluster_gives_what_a_run_gives(grid, request_of, tmp_path):
    distributed = pytest.importorskip("distributed", reason="Dask is not installed")
    execute(request_of(grid, "run"), lambda step: None)
    local = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None
    )
    with local:
        outcome = sweep(
            request_of(grid), Crew(cluster=local.scheduler_address), lambda status: None
        )
    assert outcome.failures == []
    assert files_of(tmp_path / "run").items() < files_of(tmp_path / "runs").items()
