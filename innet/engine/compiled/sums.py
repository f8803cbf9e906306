"""The values of a run's results, from the account of what they are made of.

Where a result is made of one contribution of every worker under its own number, its values are
those contributions' sum, which NumPy adds up many chunks at a time.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from innet.collectives.schedule import block_bounds
from innet.draws import draw
from innet.engine.compiled.state import Draws, Ints, State
from innet.errors import UnfinishedError
from innet.plan.plan import Aggregation, Plan
from innet.protocol.transitions import NUMBER_MASK
from innet.wire.dtypes import DType, narrow, widen
from innet.wire.fixed_point import block_exponents, decode_tensor, encode_tensor

Vector = npt.NDArray[Any]

_ELEMENTS_AT_ONCE = 1 << 18


def results_of(plan: Plan, state: State, tensors: Sequence[Vector]) -> tuple[Vector, ...]:
    """Return every worker's vector, one array for all; UnfinishedError if a sum is not whole.

    Every worker has taken one result of every number, and all results of a number are alike.
    """
    assert plan.aggregation is not None
    check_account(plan.aggregation, state)
    parts = pairwise(block_bounds(plan.elements, plan.hosts[0].cores))
    k = plan.aggregation.elements_per_packet
    sums = [sum_of([tensor[a:b] for tensor in tensors], plan.dtype, k) for a, b in parts]
    whole = np.concatenate(sums)
    return (whole,) * plan.workers


def check_account(format_: Aggregation, state: State) -> None:
    """Raise UnfinishedError unless each result is made of one contribution of every worker."""
    host, account = state.hosts.workers[0], state.switch.account
    wrong = int(state.switch.counters["contradictions"][0])
    for shard in state.hosts.shards[host["first_shard"] : host["end_shard"]]:
        first, chunks = int(account.first[shard["first_slot"]]), int(shard["chunks"])
        numbers = (format_.first_number + np.arange(chunks)) & NUMBER_MASK
        wanted = words_of(state.settings.workers, numbers)
        wrong += int((account.given[first : first + chunks] != wanted).sum())
    if wrong:
        raise UnfinishedError(
            f"{wrong} sums are not made of one contribution of every worker; "
            "the reference engine shows their values"
        )


def words_of(workers: int, numbers: Ints) -> Draws:
    """Return the words of one contribution of every worker under each number, added up."""
    total, attempts = np.zeros(len(numbers), np.uint64), cast(int, numbers.view(np.uint64))
    for worker in range(workers):
        total += cast(Draws, draw(cast(int, np.uint64(worker + 1)), attempts))
    return total


def sum_of(vectors: Sequence[Vector], dtype: DType, k: int) -> Vector:
    """Sum vectors as a switch does, of which packets carry blocks of `k` elements."""
    total = np.zeros_like(vectors[0])
    step = max(1, _ELEMENTS_AT_ONCE // k) * k
    for start in range(0, total.size, step):
        parts = [vector[start : start + step] for vector in vectors]
        if dtype == "int32":
            for part in parts:
                total[start : start + step] += part
        else:
            total[start : start + step] = _float_sum(parts, dtype, k, start)
    return total


def _float_sum(parts: Sequence[Vector], dtype: DType, k: int, first: int) -> Vector:
    """The sum in block floating point, by the largest exponent that any worker has."""
    wide = [widen(part, dtype) for part in parts]
    exponents = np.max([block_exponents(part, k, first=first).exponents for part in wide], axis=0)
    total = np.zeros(wide[0].size, np.int32)
    for part in wide:
        total += encode_tensor(part, exponents, k, len(parts))
    return narrow(decode_tensor(total, exponents, k, len(parts)), dtype)
