"""The grid of all-reduces that must be right on real sockets, and runs that cover its pairs.

The whole grid takes hours; `tests/benchmarks/emulated_grid.py` runs it. `PAIRWISE` holds every
pair of values of any two axes at least once, with long tensors where they cost least.
"""

import itertools
from typing import NamedTuple

from in_one_process import plan_of

MILLION = 1_000_003  # prime, so no packet size divides it


class Case(NamedTuple):
    """One run. `disorder` stands for duplicates and reordering on all links."""

    target: str
    workers: int
    k: int
    dtype: str
    elements: int
    loss: float
    disorder: bool

    def plan(self):
        """Its plan; timeouts adapt themselves to the machine."""
        faults = ", ".join(DISORDER) if self.disorder else ""
        return plan_of(
            self.elements,
            f"topology.workers={self.workers}",
            f"packet.elements={self.k}",
            f"collective.dtype={self.dtype}",
            f"topology.link.loss={self.loss}",
            f"faults=[{faults}]",
            "host.rto=adaptive",
            "switch.slots=64",
        )


AXES = Case(
    target=("soft", "p4"),
    workers=(2, 3, 8, 16),
    k=(32, 64, 256),
    dtype=("int32", "float32"),
    elements=(0, 1, 63, 64, 65, MILLION),
    loss=(0.0, 0.01, 0.1),
    disorder=(False, True),
)

DISORDER = tuple(
    f"{{{verb}: {{from: {sender}, to: {receiver}, probability: 0.05, by: {late} ms}}}}"
    for verb, late in (("duplicate", 2), ("reorder", 5))
    for sender, receiver in (("all", "switch"), ("switch", "all"))
)

PAIRWISE = (
    Case("soft", 2, 64, "int32", 0, 0.0, False),
    Case("p4", 2, 32, "float32", 0, 0.01, True),
    Case("soft", 3, 64, "float32", 0, 0.01, False),
    Case("p4", 8, 32, "int32", 0, 0.1, False),
    Case("soft", 16, 256, "int32", 0, 0.01, False),
    Case("soft", 2, 256, "float32", 1, 0.1, True),
    Case("p4", 3, 64, "int32", 1, 0.0, True),
    Case("p4", 8, 64, "int32", 1, 0.0, True),
    Case("p4", 16, 32, "float32", 1, 0.01, False),
    Case("p4", 2, 256, "float32", 63, 0.1, False),
    Case("soft", 3, 32, "float32", 63, 0.01, True),
    Case("p4", 8, 256, "int32", 63, 0.01, False),
    Case("soft", 16, 64, "int32", 63, 0.0, False),
    Case("soft", 2, 64, "float32", 64, 0.01, False),
    Case("p4", 3, 64, "int32", 64, 0.01, True),
    Case("soft", 8, 256, "float32", 64, 0.1, True),
    Case("p4", 16, 32, "int32", 64, 0.0, True),
    Case("p4", 2, 32, "int32", 65, 0.1, True),
    Case("p4", 3, 64, "int32", 65, 0.1, True),
    Case("soft", 3, 256, "int32", 65, 0.0, False),
    Case("soft", 8, 32, "float32", 65, 0.01, True),
    Case("soft", 16, 64, "float32", 65, 0.1, False),
    Case("soft", 2, 256, "float32", MILLION, 0.0, True),
    Case("soft", 2, 64, "int32", MILLION, 0.01, False),
    Case("p4", 2, 32, "int32", MILLION, 0.01, False),
    Case("p4", 3, 256, "float32", MILLION, 0.1, False),
    Case("p4", 8, 256, "int32", MILLION, 0.0, False),
    Case("soft", 16, 256, "int32", MILLION, 0.0, False),
)


def grid(axes=AXES):
    """Every case of the product."""
    return [Case(*values) for values in itertools.product(*axes)]


def pairs_of(case):
    """The pairs of two axes' values that a case holds."""
    return set(itertools.combinations(zip(case._fields, case, strict=True), 2))
