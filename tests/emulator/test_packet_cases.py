"""What a switch does with each packet, through frames: the soft switch and the P4 program.

Numbers in names are those of the published protocol's rules and known flaws that each case
is about; each expected sum is added up by hand.
"""

import random
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from star import Star, sums

from innet.emulator.check.packets import worker_address
from innet.emulator.control.local import P4Switch
from innet.emulator.soft import SoftSwitch
from innet.wire.frames import FrameWriter
from innet.wire.headers import MessageType

SIZES = (32, 64, 256)


@pytest.fixture(scope="module")
def switches():
    return {
        (target.__name__, elements): target(elements)
        for target, elements in product((SoftSwitch, P4Switch), SIZES)
    }


@pytest.fixture(params=list(product(("SoftSwitch", "P4Switch"), SIZES)), ids=str)
def target(request, switches):
    return switches[request.param], request.param[1]


@pytest.fixture
def star(target):
    return Star(*target)


@pytest.fixture
def published(target):
    return Star(*target, guard=False)


def test_the_last_worker_completes_the_sum_for_all(star):
    assert star.send(0, 0, [1, 2, 3]) == {}
    answers = star.send(1, 0, [10, 20, -3])
    assert set(answers) == {0, 1}
    wanted = np.resize([11, 22, 0], star.elements)
    for message in answers.values():
        assert message.values.tolist() == wanted.tolist()
        assert message[:9] == star.message(0, [0])[:9]


def test_a_repeat_after_completion_is_answered_to_its_sender_alone(star):
    star.send(0, 0, [1])
    star.send(1, 0, [2])
    for _ in range(3):
        assert sums(star.send(1, 0, [2])) == {1: 3}
    assert star.counted() == {"absorbed": 1, "completed": 1, "unicasts": 3}


def test_a_repeat_before_completion_is_dropped_and_counted_once(star):
    star.send(0, 0, [1])
    assert star.send(0, 0, [1]) == {}
    assert sums(star.send(1, 0, [2])) == {0: 3, 1: 3}
    assert star.counted() == {"absorbed": 1, "repeats_dropped": 1, "completed": 1}


@pytest.mark.parametrize("guard", [True, False])
def test_an_old_set_is_kept_while_a_worker_lacks_its_sum(target, guard):
    star = Star(*target, guard=guard)
    star.send(0, 1, [1])
    star.send(1, 1, [2])
    assert star.send(1, 2, [20]) == {}
    assert sums(star.send(0, 1, [1])) == {0: 3}
    assert sums(star.send(0, 2, [10])) == {0: 30, 1: 30}


@pytest.mark.parametrize("guard", [True, False])
@pytest.mark.parametrize("first", [0, 1])
def test_sets_used_again_leave_no_residue(target, guard, first):
    star = Star(*target, guard=guard)
    for number in range(first, first + 4):
        star.send(0, number, [10**number])
        assert sums(star.send(1, number, [5])) == dict.fromkeys((0, 1), 10**number + 5)


@pytest.mark.parametrize("guard", [True, False])
def test_a_single_worker_is_answered_with_its_own_values(target, guard):
    star = Star(*target, workers=1, guard=guard)
    assert sums(star.send(0, 0, [7])) == {0: 7}
    assert sums(star.send(0, 0, [7])) == {0: 7}
    assert sums(star.send(0, 1, [9])) == {0: 9}
    assert star.counted() == {"completed": 2, "unicasts": 1}


def test_slots_and_cores_are_independent(target):
    star = Star(*target, cores=2)
    star.send(0, 0, [1], slot=0, core=0)
    star.send(1, 0, [50], slot=1, core=1)
    answers = star.switch.process(1, star.frame(0, star.message(0, [5], slot=1), core=1))
    ports = {port: int.from_bytes(frame[36:38]) for port, frame in answers}
    assert ports == {1: worker_address(1).port + 1, 2: worker_address(2).port + 1}
    assert sums(star.send(1, 0, [2], slot=0, core=0)) == {0: 3, 1: 3}


def test_jobs_are_independent(target):
    star = Star(*target)
    second = star.job.switch._replace(port=star.job.switch.port + 9)
    job = replace(star.job, number=2, switch=second, first_slot=8)
    star.switch.add(job)
    star.send(0, 0, [1])
    frame = FrameWriter(star.job.members[1].address, second).pack(star.message(0, [100], job=2))
    assert star.switch.process(2, frame) == []
    assert sums(star.send(1, 0, [2])) == {0: 3, 1: 3}


def test_other_traffic_is_forwarded_as_it_is(star):
    target = worker_address(2)
    frame = target.mac + worker_address(1).mac + b"\x86\xdd" + bytes(46)
    assert star.switch.process(1, frame) == [(2, frame)]
    assert star.switch.process(2, frame) == [(2, frame)]
    broadcast = b"\xff" * 6 + frame[6:]
    assert star.switch.process(1, broadcast) == [(2, broadcast)]


@pytest.mark.parametrize("guard", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_losses_and_resends_on_paths_in_order_are_harmless(target, guard, seed):
    """Stop and wait on one slot; each path loses a third and keeps its order."""
    star = Star(*target, guard=guard)
    draw = random.Random(seed)
    results = [[], []]
    values = [[draw.randrange(-(2**31), 2**31) for _ in range(8)] for _ in range(2)]
    while min(map(len, results)) < 8:
        worker = draw.randrange(2)
        at = len(results[worker])
        if at == 8 or draw.random() < 1 / 3:
            continue
        answers = star.send(worker, at, [values[worker][at]])
        for receiver, message in answers.items():
            waits_for = len(results[receiver])
            if draw.random() < 2 / 3 and message.number == waits_for:
                results[receiver].append(int(message.values[0]))
    wanted = [_wrapped(a + b) for a, b in zip(*values, strict=True)]
    assert results == [wanted, wanted]


def _wrapped(number):
    return (number + 2**31) % 2**32 - 2**31


def _reorder(star):
    """A stale copy of W1's chunk 0 arrives after its chunk 1, then come chunk 2's values."""
    star.send(0, 0, [1])
    star.send(1, 0, [2])
    star.send(0, 1, [10])
    star.send(1, 1, [20])
    star.send(0, 2, [100])
    star.send(1, 0, [2])
    return star.send(1, 2, [200])


def test_23_a_reordered_copy_is_not_added(star):
    assert sums(_reorder(star)) == {0: 300, 1: 300}
    assert star.counted()["stale_dropped"] == 1


def test_23_the_published_protocol_adds_it(published):
    published.send(0, 0, [1])
    published.send(1, 0, [2])
    published.send(0, 1, [10])
    published.send(1, 1, [20])
    published.send(0, 2, [100])
    assert sums(published.send(1, 0, [2])) == {0: 102, 1: 102}


def test_24_a_tensor_that_starts_again_at_the_same_set_gets_its_own_sum(star):
    star.send(0, 0, [1])
    star.send(1, 0, [2])
    assert star.send(0, 2, [100]) == {}
    assert sums(star.send(1, 2, [200])) == {0: 300, 1: 300}


def test_24_the_published_protocol_answers_with_the_old_sum(published):
    published.send(0, 0, [1])
    published.send(1, 0, [2])
    assert sums(published.send(0, 2, [100])) == {0: 3}


def test_25_a_worker_that_starts_again_does_not_touch_its_peers_sum(star):
    star.send(0, 0, [1])
    star.send(1, 0, [2])
    star.send(0, 1, [10])
    assert sums(star.send(1, 0, [77])) == {1: 3}
    assert sums(star.send(1, 1, [20])) == {0: 30, 1: 30}


def test_26_help_heals_a_switch_that_lost_its_registers(star):
    star.send(0, 0, [1])
    star.send(1, 0, [2])  # its result is lost on the way to worker 1
    star.send(0, 1, [10])
    star.switch.wipe()
    assert star.send(1, 0, [2]) == {}
    calls = star.send(1, 0, [2], asks_help=True)
    assert {worker: call.type for worker, call in calls.items()} == dict.fromkeys(
        (0, 1), MessageType.HELP
    )
    assert all(call[1:7] == (False, star.elements, 1, 0, 0, 0) for call in calls.values())
    assert sums(star.send(0, 0, [1])) == {0: 3, 1: 3}
    star.send(0, 1, [10])
    assert sums(star.send(1, 1, [20])) == {0: 30, 1: 30}


def test_26_the_published_protocol_stays_silent(published):
    published.send(0, 0, [1])
    published.send(1, 0, [2])
    published.send(0, 1, [10])
    published.switch.wipe()
    for _ in range(3):
        assert published.send(1, 0, [2], asks_help=True) == {}
        assert published.send(0, 1, [10], asks_help=True) == {}


@pytest.mark.parametrize(
    ("first", "second", "greater"), [(3, -5, 3), (-128, -1, -1), (127, -128, 127), (0, 0, 0)]
)
def test_27_the_exponent_is_the_signed_maximum_of_this_set_alone(star, first, second, greater):
    star.send(0, 0, [1], exponent=127)
    star.send(1, 0, [1], exponent=127)
    star.send(0, 2, [1], exponent=first)
    answers = star.send(1, 2, [1], exponent=second)
    assert {message.exponent for message in answers.values()} == {greater}
    assert star.send(0, 2, [1], exponent=first)[0].exponent == greater


def test_29_a_packet_of_another_job_is_dropped(star):
    assert star.send(0, 0, [1], job=2) == {}
    assert star.counted() == {"other_job_dropped": 1}


@pytest.mark.parametrize("wiped", [False, True])
@pytest.mark.parametrize("first", [2**31 - 2, 2**32 - 2])
def test_30_numbers_wrap(star, first, wiped):
    for number in range(first, first + 6):
        if wiped and number == first + 2:
            star.switch.wipe()
        star.send(0, number, [number % 1000])
        assert sums(star.send(1, number, [1])) == dict.fromkeys((0, 1), number % 1000 + 1)


def test_41_sums_wrap(star):
    star.send(0, 0, [2**31 - 1])
    assert sums(star.send(1, 0, [1])) == {0: -(2**31), 1: -(2**31)}


@pytest.mark.parametrize("pool_index", [8, 0x8008, 0x3FFF, 0x7FFF, 0xFFFF])
def test_a_slot_outside_the_pool_changes_nothing(star, pool_index):
    star.send(0, 0, [1])
    frame = bytearray(star.frame(1, star.message(0, [100])))
    frame[48:50] = pool_index.to_bytes(2)
    assert star.send_frame(1, bytes(frame)) == {}
    assert star.counted() == {"absorbed": 1, "out_of_pool_dropped": 1}
    assert sums(star.send(1, 0, [2])) == {0: 3, 1: 3}


def test_32_workers_are_told_apart(target):
    star = Star(*target, workers=32)
    for worker in range(31):
        assert star.send(worker, 0, [1 << worker]) == {}
    assert sums(star.send(31, 0, [-(2**31)])) == dict.fromkeys(range(32), -1)


def test_a_host_cannot_speak_for_another(star):
    star.send(0, 0, [1])
    frame = star.frame(1, star.message(0, [2]))
    assert star.switch.process(1, frame) == []
    assert star.counted() == {"absorbed": 1, "unknown_dropped": 1}


def test_a_switch_set_up_twice_sends_one_copy(star):
    star.send(0, 0, [1])
    star.switch.add(star.job)
    assert sums(star.send(1, 0, [2])) == {0: 3, 1: 3}
