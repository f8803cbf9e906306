"""Emulations as users get them, in processes, and what happens when one of them is lost."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from in_one_process import plan_of

from innet.emulator.emulate import Emulation, Options
from innet.errors import UnfinishedError
from innet.tensors.generate import generate
from innet.tensors.verify import BlockLayout, count_wrong

LONG = 64 * 2500
SETTINGS = ("topology.workers=3", "switch.slots=32")


def tensors_of(plan):
    return [generate(w, plan.elements, plan.dtype, plan.seed) for w in range(plan.workers)]


def run(plan, target="p4", deadline_s=30.0, on_progress=None):
    """Run a plan; `on_progress(emulation)` is called once, when a third is done."""
    called = []

    def progress(share):
        if on_progress is not None and share > 0.3 and not called:
            called.append(share)
            on_progress(emulation)

    tensors = tensors_of(plan)
    with Emulation(plan, tensors, Options(target, "loopback", deadline_s)) as emulation:
        pids = [process.pid for process in emulation.workers]
        try:
            emulated = emulation.run(progress)
        finally:
            assert bool(called) == (on_progress is not None)
    assert not any(is_alive(pid) for pid in pids)
    layout = BlockLayout(plan.aggregation.elements_per_packet, plan.hosts[0].cores)
    results = emulated.trace.results
    return emulated, count_wrong(results, tensors, plan.dtype, "in_network", layout)


def is_alive(pid):
    return Path(f"/proc/{pid}").exists()


def kill(process, number=signal.SIGKILL):
    os.kill(process.pid, number)


@pytest.mark.parametrize(("target", "dtype"), [("soft", "float32"), ("p4", "int32")])
def test_processes_sum_and_count(target, dtype):
    plan = plan_of(6400, "topology.workers=2", f"collective.dtype={dtype}", "host.rto=20 s")
    emulated, wrong = run(plan, target)
    chunks = 100 if dtype == "int32" else 132
    assert wrong == 0
    assert [rank.packets_sent for rank in emulated.trace.ranks] == [chunks, chunks]
    assert emulated.trace.switches[0].completed == chunks
    assert emulated.trace.engine == f"{target} on loopback"
    assert [link.packets for link in emulated.trace.links] == [chunks] * 4
    assert emulated.dropped == {
        "links": {"lost": 0, "corrupted": 0},
        "workers": {},
        "switch": {},
    }
    assert emulated.wall_s > 0


def test_a_switch_that_is_killed_is_started_and_filled_again():
    emulated, wrong = run(
        plan_of(LONG, *SETTINGS), on_progress=lambda emulation: kill(emulation.switch.process)
    )
    assert wrong == 0
    assert "the switch ended once and was started and filled again" in emulated.notes


def test_a_switch_whose_registers_are_wiped_goes_on():
    _, wrong = run(plan_of(LONG, *SETTINGS), on_progress=lambda emulation: emulation.switch.wipe())
    assert wrong == 0


def test_a_worker_that_is_killed_is_named():
    with pytest.raises(UnfinishedError) as raised:
        run(plan_of(LONG, *SETTINGS), on_progress=lambda emulation: kill(emulation.workers[1]))
    lines = str(raised.value).splitlines()
    assert "worker 1 was killed by signal 9, before it had its result" in lines[0]
    assert lines[1].startswith("  worker 0 waits for slot ")
    assert lines[1].endswith("the contribution of worker 1 is missing")


def test_a_worker_that_stops_is_named_after_the_deadline():
    with pytest.raises(UnfinishedError) as raised:
        run(
            plan_of(LONG, *SETTINGS),
            deadline_s=1.0,
            on_progress=lambda emulation: kill(emulation.workers[2], signal.SIGSTOP),
        )
    told = str(raised.value)
    assert "nothing has moved for 1 s" in told
    assert "worker 2 does not answer" in told
    assert "the contribution of worker 2 is missing" in told


def test_a_switch_that_stops_is_named_after_the_deadline():
    with pytest.raises(UnfinishedError) as raised:
        run(
            plan_of(LONG, *SETTINGS),
            deadline_s=1.0,
            on_progress=lambda emulation: kill(emulation.switch.process, signal.SIGSTOP),
        )
    assert "the switch (p4) has not answered for 2 s" in str(raised.value)


def test_faults_of_the_switch_are_survived():
    faults = "[{pause: {node: switch, at: 20 ms, for: 50 ms}}, "
    faults += "{restart: {node: switch, at: 100 ms, for: 50 ms}}]"
    _, wrong = run(plan_of(64 * 1500, *SETTINGS, f"faults={faults}"), "soft")
    assert wrong == 0


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ("{crash: {node: switch, at: 0 ms}}", "the switch is gone, by a fault of the scenario"),
        ("{crash: {node: 1, at: 0 ms}}", "worker 1 is gone, by a fault of the scenario"),
        ("{drop: {from: 1, to: switch}}", "the switch hears nothing from worker 1"),
        ("{drop: {from: switch, to: all}}", "no worker has heard from the switch"),
    ],
)
def test_who_is_cut_off_is_named(fault, told):
    plan = plan_of(6400, "topology.workers=2", f"faults=[{fault}]", "host.rto=50 ms")
    with pytest.raises(UnfinishedError) as raised:
        run(plan, "soft", deadline_s=1.0)
    assert told in str(raised.value)
    assert "worker 0 waits for slot " in str(raised.value)


KILLED = """\
import sys
sys.path.insert(0, {here!r})
from in_one_process import plan_of
from test_processes import tensors_of
from innet.emulator.emulate import Emulation, Options

plan = plan_of(64 * 20000, "topology.workers=2")
with Emulation(plan, tensors_of(plan), Options("soft")) as emulation:
    print(*[p.pid for p in (*emulation.workers, emulation.switch.process)], flush=True)
    emulation.run()
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_no_process_stays_when_innet_is_killed(number, tmp_path):
    here = str(Path(__file__).parent)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "TMPDIR": str(tmp_path)}
    parent = subprocess.Popen(
        [sys.executable, "-c", KILLED.format(here=here)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environment,
    )
    with parent:
        pids = [int(pid) for pid in parent.stdout.readline().split()]
        assert len(pids) == 3
        assert all(is_alive(pid) for pid in pids)
        parent.send_signal(number)
    late = time.monotonic() + 30
    while any(is_alive(pid) for pid in pids):
        assert time.monotonic() < late
        time.sleep(0.02)
