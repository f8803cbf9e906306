"""One point of a sweep as a task: a pure function of its scenario, for any process to run."""

import hashlib
import json
from base64 import b64encode
from pathlib import Path
from typing import NamedTuple

from innet import __version__
from innet.campaign.campaign import Campaign
from innet.engine.simulate import Engine
from innet.errors import InnetError
from innet.report.points import PointRecord
from innet.report.results import FORMAT_VERSION
from innet.scenario.schema import Scenario


class Task(NamedTuple):
    """A point to run by an engine; `key` names its record, `spans` says whether it keeps them."""

    key: str
    scenario: Scenario
    engine: Engine = "auto"
    spans: bool = False


class Finished(NamedTuple):
    """A task's key and what came out."""

    key: str
    record: PointRecord


def key_of(scenario: Scenario, engine: Engine) -> str:
    """Return the hash of all that a point's results depend on."""
    told = {
        "innet": __version__,
        "format": FORMAT_VERSION,
        "engine": engine,
        "scenario": scenario.resolved(),
        "tensors": [_digest(file) for file in scenario.tensor_files],
    }
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()


def _digest(file: Path) -> str | None:
    """Return the hash of a tensor file; None when it cannot be read, as running will tell."""
    try:
        with file.open("rb") as content:
            return hashlib.file_digest(content, "sha256").hexdigest()
    except OSError:
        return None


def run_task(task: Task) -> Finished:
    """Run a point; whatever goes wrong is in the record, so that other points go on."""
    try:
        record = _run(task)
    except InnetError as error:
        record = failed_record(task.scenario, str(error))
    except MemoryError:
        record = failed_record(task.scenario, "not enough memory")
    except Exception as error:
        told = f"{type(error).__name__}: {error}".partition("\n")[0]
        record = failed_record(task.scenario, f"internal error ({told}); please report it")
    return Finished(task.key, record)


def _run(task: Task) -> PointRecord:
    campaign = Campaign(task.scenario, lambda step: None, task.engine)
    campaign.run()
    (point,) = campaign.results.points
    return PointRecord(
        FORMAT_VERSION,
        task.scenario.resolved(),
        point.runs,
        point.unfinished,
        [(failure.algorithm, failure.told) for failure in campaign.failed],
        campaign.rows,
        spans=b64encode(campaign.spans).decode() if task.spans else "",
    )


def failed_record(scenario: Scenario, error: str) -> PointRecord:
    """Return the record of a point that could not be run."""
    return PointRecord(FORMAT_VERSION, scenario.resolved(), error=error)
