"""What processes are told comes out as it went in, or is refused."""

import json
from dataclasses import replace

import pytest

from innet.emulator.codec import decode, encode
from innet.emulator.emulate import job_of
from innet.emulator.jobs import Job
from innet.emulator.settings import AgentSettings, End, SocketEnd
from innet.plan.plan import Plan
from innet.scenario.build import build_plan
from innet.scenario.load import parse_scenario

SCENARIO = """\
version: 1
name: told
seed: 18446744073709551615
topology: {kind: star, workers: 3, link: {rate: 10 Gbps, delay: 1 us, loss: 0.1, queue: 1 MiB}}
packet: {elements: 32}
collective: {size: 400 B, dtype: float32}
algorithms: [in_network]
faults:
  - {drop: {from: 1, to: switch, packet: [3, 7], kind: update, until: 5 ms}}
  - {pause: {node: switch, at: 1 ms, for: 2 ms}}
"""


@pytest.fixture
def plan():
    return build_plan(parse_scenario(SCENARIO), "in_network", True, 100)


def there_and_back(kind, value):
    return decode(kind, json.loads(json.dumps(encode(value))))


def test_a_plan_comes_back_equal(plan):
    assert there_and_back(Plan, plan) == plan


def test_a_job_comes_back_equal(plan):
    job = job_of(plan)
    assert there_and_back(Job, job) == job


def test_settings_come_back_equal(plan):
    job = job_of(plan)
    end = End(sockets=(SocketEnd(7, "127.0.0.1", 4000), SocketEnd(8, "127.0.0.1", 4001)))
    settings = AgentSettings(
        plan, 2, 1, end, job.members[2].address, job.switch, "in.npy", "out.npy", None
    )
    assert there_and_back(AgentSettings, settings) == settings
    raw = replace(settings, end=End("eth0"), capture="a.pcapng")
    assert there_and_back(AgentSettings, raw) == raw


@pytest.mark.parametrize(
    ("kind", "document"),
    [
        (Job, None),
        (Job, 5),
        (Job, {"number": 1}),
        (Job, {"port": 1}),
        (End, {"interface": None, "sockets": 3}),
    ],
)
def test_another_document_is_refused(kind, document):
    with pytest.raises(ValueError, match=f"no {kind.__name__}"):
        decode(kind, document)
