"""What BMv2's slowness and its queues mean for a plan."""

import pytest
from bmv2_runs import plan_of

from innet.emulator.bmv2 import DEFAULT_QUEUE_PACKETS, packet_ps
from innet.emulator.limits import fitted, patient, require_emulable
from innet.emulator.targets import default_network, switch_window
from innet.errors import ConfigurationError
from tests.engine.made_trees import two_levels, with_tree

MS = 10**9


class AnyWindow:
    def window(self, elements):
        return None


def test_the_first_timeout_waits_for_the_windows_of_all_workers():
    plan = plan_of(32 * 1000, "topology.workers=4", "switch.slots=100")
    waiting = patient(plan, MS).rto
    # 4 workers with 100 packets of 1 ms each on their way: 400 ms.
    assert waiting.initial_ps == 800 * MS
    assert waiting.minimum_ps == 400 * MS
    assert waiting.maximum_ps == 1600 * MS
    few = patient(plan_of(32 * 10, "topology.workers=4", "switch.slots=100"), MS)
    assert few.rto.initial_ps == 80 * MS


@pytest.mark.parametrize("overrides", [("host.rto=3 ms",), ()])
def test_other_timeouts_stay_as_they_are(overrides):
    plan = plan_of(32 * 1000, *overrides)
    assert patient(plan, MS if overrides else 0) == plan


def test_more_values_take_longer():
    assert 0 < packet_ps(32) < packet_ps(64) < packet_ps(256)


@pytest.mark.parametrize(("room", "slots"), [(None, 500), (64, 64), (501, 500)])
def test_slots_fit_into_the_switchs_queues(room, slots):
    plan = plan_of(32 * 1000, "switch.slots=500")
    assert fitted(plan, AnyWindow(), room).aggregation.slots == slots


def test_only_bmv2_has_queues_and_needs_interfaces(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert switch_window("p4") is None
    assert switch_window("bmv2") == DEFAULT_QUEUE_PACKETS
    assert (default_network("p4"), default_network("bmv2")) == ("loopback", "netns")


def test_only_one_switch_aggregates():
    with pytest.raises(ConfigurationError, match="not a tree of 2"):
        require_emulable(with_tree(plan_of(32), two_levels(2)), "soft")
