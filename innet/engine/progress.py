"""How far a run is, as every engine tells it now and then."""

from collections.abc import Callable
from typing import NamedTuple


class Reached(NamedTuple):
    """The share of the work that is done, 0 to 1, and the simulated time reached, in ps.

    Both never go back in a run. The share counts chunks of sums that workers have, or packets of
    messages that have come through.
    """

    share: float
    at_ps: int


Report = Callable[[Reached], None]
