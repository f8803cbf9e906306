"""What a user is told when nothing moves: who waits, who is missing, what of the switch."""

from innet.emulator.stall import WorkerState, explain

SECOND = 10**12
ASKING = [(3, 1, 7, 5)]  # slot, set, number, timeouts


def state(worker, **changes):
    known = {
        "is_done": False,
        "trouble": None,
        "waiting": ASKING,
        "silent_ps": 0,
        "unheard": False,
    }
    return WorkerState(worker, **{**known, **changes})


def told(*states, switch=""):
    return list(explain(states, switch, SECOND))


def test_a_worker_in_trouble_is_named_and_missing():
    lines = told(state(0), state(1, trouble="does not answer", waiting=[]), state(2, is_done=True))
    assert lines[0] == "worker 1 does not answer"
    assert lines[1] == (
        "worker 0 waits for slot 3 (chunk number 7, 5 timeouts); "
        "the contribution of worker 1 is missing"
    )


def test_trouble_that_was_told_already_is_not_told_twice():
    lines = told(state(0), state(1, trouble="", waiting=[]))
    assert lines == [
        "worker 0 waits for slot 3 (chunk number 7, 5 timeouts); "
        "the contribution of worker 1 is missing"
    ]


def test_a_worker_that_is_behind_is_missing():
    lines = told(state(0), state(1, waiting=[(3, 0, 3, 9)]))
    assert lines[0].endswith("the contribution of worker 1 is missing")
    assert lines[1] == "worker 1 waits for slot 3 (chunk number 3, 9 timeouts)"


def test_a_worker_that_the_switch_does_not_hear_is_named():
    lines = told(state(0), state(1, unheard=True))
    assert lines[0] == "the switch hears nothing from worker 1"
    assert "the contribution of worker 1 is missing" in lines[1]


def test_a_silent_switch_is_named_with_what_is_known_of_it():
    assert told(state(0, silent_ps=SECOND))[0] == (
        "no worker has heard from the switch for 1 s, though it hears them"
    )
    assert told(state(0, silent_ps=SECOND, unheard=None))[0] == (
        "no worker has heard from the switch for 1 s, which may be down or cut off"
    )
    assert told(state(0, silent_ps=SECOND), switch="the switch is down")[0] == "the switch is down"


def test_a_switch_that_somebody_hears_is_not_blamed():
    lines = told(state(0, silent_ps=SECOND), state(1, silent_ps=0))
    assert all("switch" not in line for line in lines)


def test_the_oldest_chunk_is_told_and_many_names_are_cut():
    many = [state(worker, trouble="", waiting=[]) for worker in range(1, 11)]
    line = told(state(0, waiting=[(5, 0, 40, 0), (1, 0, 33, 2)]), *many)[-1]
    assert line.startswith("worker 0 waits for slot 1 (chunk number 33, 2 timeouts)")
    assert "worker 8 and 2 more is missing" in line
