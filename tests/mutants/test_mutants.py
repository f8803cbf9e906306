"""Faults that the test suite must notice: each is put into a copy of innet, and tests must fail.

The copy is found before the installed package, since its directory comes first on PYTHONPATH.
A fault's text must match its place exactly once, so a fault cannot go missing unseen.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
TESTS_FAILED = 1  # pytest's exit code; a copy that cannot be imported gives another


class Mutant(NamedTuple):
    """A fault: in `file` of innet, `text` becomes `fault`; `tests` notice it."""

    name: str
    file: str
    text: str
    fault: str
    tests: tuple[str, ...]


SWITCH = "protocol/test_switch_cases.py"
JOB = "protocol/test_job_cases.py"
WORKER = "protocol/test_worker.py"
TREE = "protocol/test_tree_cases.py"
FIGURES = "metrics/test_step_summary.py"

PROGRAM = "workload/test_programs.py"
STEP = "engine/steps/test_step_driver.py"

MUTANTS = [
    Mutant(
        "no worker bitmap",
        "protocol/transitions.py",
        "    bitmap[word] |= bit\n",
        "",
        (f"{SWITCH}::test_case_16_a_repeat_before_completion_is_dropped_and_counted_once",),
    ),
    Mutant(
        "the other set's bit is not cleared",
        "protocol/transitions.py",
        "bitmap[other * words + worker // BITS_PER_WORD] &= ~bit",
        "pass",
        (f"{SWITCH}::test_case_18_the_sets_take_turns_without_residue",),
    ),
    Mutant(
        "no sequence check at the worker",
        "protocol/transitions.py",
        "if done == IDLE or numbers[slot] != number or sets[slot] != in_set:",
        "if done == IDLE or sets[slot] != in_set:",
        (f"{WORKER}::test_a_worker_drops_what_it_does_not_wait_for",),
    ),
    Mutant(
        "first window's resend off by one",
        "protocol/worker.py",
        "self._contribute(slot, self._chunk[slot], number, asks_help)",
        "self._contribute(slot, self._chunk[slot] + 1, number, asks_help)",
        (f"{JOB}::test_case_28_a_repeat_is_the_packet_that_was_sent",),
    ),
    Mutant(
        "first window's number off by one",
        "protocol/transitions.py",
        "    numbers[slot] = number\n    tries[slot] = 0\n",
        "    numbers[slot] = number + 1\n    tries[slot] = 0\n",
        (f"{JOB}::test_case_28_a_repeat_is_the_packet_that_was_sent",),
    ),
    Mutant(
        "no guard under reordering",
        "protocol/transitions.py",
        "    if guard and counted > 0 and numbers[here] != number:\n",
        "    if False:\n",
        (
            f"{SWITCH}::test_case_23_an_overtaken_repeat",
            f"{SWITCH}::test_case_25_a_restarted_workers_chunk_0_is_stale_when_guarded",
        ),
    ),
    Mutant(
        "a guard that takes older numbers",
        "protocol/transitions.py",
        "    return 0 < ahead < HALF_RANGE\n",
        "    return True\n",
        (f"{SWITCH}::test_case_30_numbers_wrap",),
    ),
    Mutant(
        "a guard that does not know that numbers wrap",
        "protocol/transitions.py",
        "    ahead = (number - than) & NUMBER_MASK\n",
        "    ahead = number - than\n",
        (f"{SWITCH}::test_case_30_numbers_wrap",),
    ),
    Mutant(
        "a single set at the worker",
        "protocol/transitions.py",
        "    sets[slot] = 1 - in_set\n",
        "    sets[slot] = in_set\n",
        (f"{JOB}::test_case_24_the_next_tensor_goes_on_with_the_other_set",),
    ),
    Mutant(
        "a single set at the switch",
        "protocol/switch.py",
        "            return\n        here = in_set * self.slots + slot\n",
        "            return\n        here = slot\n",
        (f"{SWITCH}::test_case_17_the_old_result_is_there_while_a_peer_is_one_chunk_ahead",),
    ),
    Mutant(
        "no call for help after a loss of switch state",
        "protocol/transitions.py",
        "            return CALL_HELP\n",
        "            return REPEAT\n",
        (f"{JOB}::test_case_26_the_guarded_job_goes_on_after_a_loss_of_state",),
    ),
    Mutant(
        "no help after a loss of switch state",
        "protocol/transitions.py",
        "    return kept_chunk[slot]\n",
        "    return IDLE\n",
        (f"{JOB}::test_case_26_help_comes_from_the_tensor_before",),
    ),
    Mutant(
        "a lower switch that adds to the result",
        "protocol/level_transitions.py",
        "            answer = numbers[here] == number\n",
        "            answer = bitmap[here * words + child // 32] >> child % 32 & 1 == 1\n",
        (f"{TREE}::test_a_result_is_the_sum_of_all_even_where_contributions_were_lost",),
    ),
    Mutant(
        "a lower switch that takes any result",
        "protocol/level_transitions.py",
        "            elif not is_newer(number, numbers[here]):\n                return False\n",
        "",
        (f"{TREE}::test_a_result_for_what_the_set_held_before_is_stale",),
    ),
    Mutant(
        "a lower switch that contributes the result",
        "protocol/level_transitions.py",
        "        if held == children:\n            return SEND_UP_AGAIN\n",
        "        if held >= children:\n            return SEND_UP_AGAIN\n",
        (
            f"{TREE}::test_a_call_from_above_makes_a_switch_collect_again_"
            "what_the_result_has_overwritten",
        ),
    ),
    Mutant(
        "no repeats passed up",
        "protocol/level_transitions.py",
        "    if flags != UNICAST:\n        return flags\n",
        "    return flags\n",
        (f"{TREE}::test_a_repeat_before_the_result_sends_the_sum_up_again",),
    ),
    Mutant(
        "a lower switch that asks for every child",
        "protocol/level_transitions.py",
        "guard and asks_help and switch_calls(asked, words, here, child)",
        "guard and asks_help",
        (f"{TREE}::test_children_that_ask_at_the_same_time_make_the_switch_ask_once",),
    ),
    Mutant(
        "a call for help for everybody who asks",
        "protocol/transitions.py",
        "guard and asks_help and switch_calls(asked, words, here, worker)",
        "guard and asks_help",
        (f"{SWITCH}::test_one_call_is_enough_for_all_that_ask_at_the_same_time",),
    ),
    Mutant(
        "a call for the first who asks alone",
        "protocol/transitions.py",
        "    calls = asked[word] & bit != 0\n",
        "    calls = False\n",
        (f"{SWITCH}::test_who_asks_twice_is_heard_whoever_asked_before",),
    ),
    Mutant(
        "a wrapping job id accepted by the switch",
        "protocol/switch.py",
        "job != self.job",
        "job % 256 != self.job % 256",
        (f"{SWITCH}::test_case_29_a_job_that_has_the_same_low_byte_is_another_job",),
    ),
    Mutant(
        "a wrapping job id accepted by the worker",
        "protocol/worker.py",
        "if job != self.job",
        "if job % 256 != self.job % 256",
        (f"{JOB}::test_case_29_a_worker_takes_nothing_from_a_job_with_the_same_low_byte",),
    ),
    Mutant(
        "a wrapping job id written",
        "wire/frames.py",
        "        0 <= message.job <= 0xFF,\n",
        "        True,\n",
        ("wire/test_frames.py::test_fields_that_do_not_fit_are_named",),
    ),
    Mutant(
        "a verifier that compares signed errors",
        "tensors/verify.py",
        "np.abs(got - exact) <= bound",
        "got - exact <= bound",
        ("tensors/test_verify.py::test_errors_of_either_sign_count",),
    ),
    Mutant(
        "ranks may be a turn further apart than their slack",
        "workload/slack.py",
        "if len(begun) == slack else",
        "if len(begun) == slack + 1 else",
        (f"{PROGRAM}::test_with_slack_a_turn_waits_for_the_same_operation_of_some_turns_before",),
    ),
    Mutant(
        "a quorum needs one more than it says",
        "engine/steps/matching.py",
        "return len(self.began) == quorum",
        "return quorum is not None and len(self.began) == quorum + 1",
        (f"{STEP}::test_a_quorum_completes_an_operation_for_all",),
    ),
    Mutant(
        "the first bucket is as large as the others",
        "workload/program.py",
        "min(limit, FIRST_BUCKET_BYTES)",
        "limit",
        (f"{STEP}::test_gradients_go_in_pytorchs_buckets_while_backward_goes_on",),
    ),
    Mutant(
        "operations that overlap are exposed twice",
        "metrics/step_intervals.py",
        "if found and start <= found[-1][1]:",
        "if False:",
        (f"{FIGURES}::test_overlapping_operations_are_exposed_once_in_all_and_each_by_itself",),
    ),
    Mutant(
        "a sender waits for its receiver",
        "metrics/step_waiting.py",
        'not in (COMPUTE, "recv")',
        "!= COMPUTE",
        (f"{FIGURES}::test_a_receiver_waits_for_its_sender_but_no_sender_for_its_receiver",),
    ),
    Mutant(
        "the gain is over the worst of the others",
        "metrics/step_gain.py",
        "return ours, min(",
        "return ours, max(",
        (f"{FIGURES}::test_the_gain_is_over_the_best_point_to_point_algorithm",),
    ),
]


def run(directory, tests):
    """Run tests of this repository on the innet package in `directory`."""
    command = [sys.executable, "-m", "pytest", "-x", "-p", "no:cacheprovider"]
    command += ["-c", ROOT / "pyproject.toml", *(f"{ROOT}/tests/{test}" for test in tests)]
    settings = {
        "PYTHONPATH": str(directory),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",  # plugins take longer than the tests
    }
    return subprocess.run(
        command,
        cwd=directory,
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def copy(tmp_path):
    shutil.copytree(
        ROOT / "innet", tmp_path / "innet", ignore=shutil.ignore_patterns("__pycache__")
    )
    return tmp_path


def test_the_tests_pass_without_a_fault(copy):
    tests = dict.fromkeys(test for mutant in MUTANTS for test in mutant.tests)
    ran = run(copy, tests)
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_every_test_notices_the_fault(copy, mutant):
    file = copy / "innet" / mutant.file
    source = file.read_text(encoding="utf-8")
    assert source.count(mutant.text) == 1
    file.write_text(source.replace(mutant.text, mutant.fault), encoding="utf-8")
    for test in mutant.tests:
        ran = run(copy, [test])
        assert ran.returncode == TESTS_FAILED, f"{test}\n{ran.stdout}{ran.stderr}"
