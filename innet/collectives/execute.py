"""Run a schedule on vectors in memory, step by step: what any engine's results must equal.

The one module of this package that needs NumPy, since it handles values. How two vectors are
added is the caller's business: element types narrower than float32 have their own way.
"""

from collections.abc import Callable, Sequence
from itertools import groupby

import numpy as np
import numpy.typing as npt

from innet.collectives.schedule import Message, Schedule, block_bounds
from innet.errors import ConfigurationError

Vector = npt.NDArray[np.generic]
Add = Callable[[Vector, Vector], Vector]


def execute(schedule: Schedule, vectors: Sequence[Vector], add: Add) -> list[Vector]:
    """Return what every worker holds at the end; `vectors[w]` is worker w's, left unchanged.

    All vectors are one-dimensional, of one length and element type. `add(own, received)`
    returns the sum of two slices in that type. ConfigurationError if the vectors do not fit.
    """
    _check_vectors(schedule, vectors)
    held = [vector.copy() for vector in vectors]
    held += [np.zeros_like(vectors[0]) for _ in range(schedule.workers, schedule.ranks)]
    bounds = block_bounds(len(vectors[0]), schedule.blocks)
    for _, group in groupby(schedule.messages, key=lambda message: message.step):
        _run_step(tuple(group), held, bounds, add)
    return held[: schedule.workers]


def _run_step(
    step: Sequence[Message], held: list[Vector], bounds: tuple[int, ...], add: Add
) -> None:
    slices = [slice(bounds[m.first], bounds[m.first + m.count]) for m in step]
    # Sends come before receipts, so all payloads are taken before any is applied.
    payloads = [held[m.source][part].copy() for m, part in zip(step, slices, strict=True)]
    for message, part, payload in zip(step, slices, payloads, strict=True):
        own = held[message.target]
        own[part] = add(own[part], payload) if message.reduce else payload


def _check_vectors(schedule: Schedule, vectors: Sequence[Vector]) -> None:
    if len(vectors) != schedule.workers:
        raise ConfigurationError(
            f"{len(vectors)} vectors for {schedule.workers} workers; give one for each"
        )
    first = vectors[0]
    for worker, vector in enumerate(vectors):
        if vector.ndim != 1 or vector.shape != first.shape or vector.dtype != first.dtype:
            raise ConfigurationError(
                f"worker {worker}'s vector has shape {vector.shape} and type {vector.dtype}, "
                f"worker 0's {first.shape} and {first.dtype}; all must be one-dimensional and alike"
            )
