"""All-reduces on the real BMv2: right sums, and what happens when something is lost."""

import os
import signal
import subprocess
import time

import pytest
from bmv2_runs import plan_of, run

from innet.emulator.bmv2 import COMMAND_LINE, QUEUE_PACKETS, queue_packets
from innet.emulator.mininet_python import find_mininet
from innet.errors import ConfigurationError, UnfinishedError

pytestmark = pytest.mark.usefixtures("real_bmv2")

LONG = 32 * 3000
THREE = "topology.workers=3"


@pytest.mark.parametrize(
    ("elements", "overrides"),
    [
        (0, ()),
        (1, ("packet.elements=256",)),
        (65, ("packet.elements=64", "collective.dtype=float32", THREE)),
        (32 * 200 + 5, ("topology.link.loss=0.1", "topology.workers=8")),
        (256 * 40, ("packet.elements=256", "collective.dtype=float32", "host.cores=2")),
        (
            64 * 200,
            (
                "packet.elements=64",
                "topology.link.loss=0.01",
                "faults=[{duplicate: {from: all, to: switch, probability: 0.05}}, "
                "{reorder: {from: all, to: switch, probability: 0.05, by: 5 ms}}]",
            ),
        ),
    ],
    ids=["empty", "one", "float", "loss", "cores", "disorder"],
)
def test_every_worker_gets_the_sum(elements, overrides):
    emulated, wrong = run(plan_of(elements, *overrides))
    assert wrong == 0
    assert emulated.trace.engine == "bmv2 on netns"


def test_mininet_runs_it_too_and_says_what_its_links_are_not():
    if find_mininet() is None:
        pytest.skip("Mininet is not installed")
    emulated, wrong = run(plan_of(6400, "topology.link.rate=100 Mbps"), "mininet")
    assert wrong == 0
    kernel = subprocess.run(
        ["unshare", "--net", "tc", "qdisc", "add", "dev", "lo", "root", "netem", "delay", "1ms"],
        capture_output=True,
        check=False,
    )
    told = [note for note in emulated.notes if "delay is not enforced" in note]
    assert bool(told) == bool(kernel.returncode)
    assert not any("rate" in note for note in emulated.notes)


def test_a_switch_that_is_killed_is_started_and_filled_again():
    plan = plan_of(LONG, THREE)
    emulated, wrong = run(plan, on_progress=lambda emulation: emulation.switch.process.kill())
    assert wrong == 0
    assert "the switch ended once and was started and filled again" in emulated.notes


def test_a_switch_that_loses_a_jobs_state_goes_on():
    _, wrong = run(plan_of(LONG, THREE), on_progress=lambda emulation: emulation.switch.wipe())
    assert wrong == 0


def wait_until_idle(switch):
    counted = None
    while counted != (counted := switch.counters()):
        time.sleep(0.2)


def test_a_switch_whose_registers_are_wiped_goes_on():
    """Really wiped, by way of BMv2's command line, which takes one register after the other.

    So no packet may come in between: what is lost in part is another fault.
    """
    if queue_packets() != QUEUE_PACKETS:
        pytest.skip(f"{COMMAND_LINE} does not run")

    names = (
        "epoch_of_set",
        "marks_of_slot",
        "count_of_set",
        "number_of_set",
        "asked_of_set",
        "value_00",
    )
    commands = "".join(f"register_reset InnetIngress.aggregate.{name}\n" for name in names)

    def wipe(emulation):
        place = emulation.switch.process.place
        for worker in emulation.workers:
            os.kill(worker.pid, signal.SIGSTOP)
        wait_until_idle(emulation.switch)
        told = subprocess.run(
            place.command(COMMAND_LINE, "--thrift-port", "9090"),
            input=commands,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        assert "rror" not in told
        assert "Invalid" not in told
        for worker in emulation.workers:
            os.kill(worker.pid, signal.SIGCONT)

    _, wrong = run(plan_of(LONG, THREE), on_progress=wipe)
    assert wrong == 0


def test_a_worker_that_is_killed_is_named():
    def kill(emulation):
        os.kill(emulation.workers[1].pid, signal.SIGKILL)

    with pytest.raises(UnfinishedError) as raised:
        run(plan_of(LONG, THREE), on_progress=kill)
    assert "worker 1 was killed by signal 9" in str(raised.value)
    assert "the contribution of worker 1 is missing" in str(raised.value)


def test_a_switch_that_stops_is_named_after_the_deadline():
    with pytest.raises(UnfinishedError) as raised:
        run(
            plan_of(LONG, THREE),
            deadline_s=2.0,
            on_progress=lambda emulation: emulation.switch.pause(),
        )
    assert "nothing has moved for 2 s" in str(raised.value)
    assert "the switch (simple_switch_grpc) is stopped" in str(raised.value)


def test_faults_of_the_switch_are_survived():
    faults = "[{pause: {node: switch, at: 20 ms, for: 100 ms}}, "
    faults += "{restart: {node: switch, at: 300 ms, for: 50 ms}}]"
    _, wrong = run(plan_of(LONG, THREE, f"faults={faults}"))
    assert wrong == 0


def test_the_loopback_is_refused():
    with pytest.raises(ConfigurationError, match="needs --net netns or mininet"):
        run(plan_of(64), "loopback")
