"""Algorithm and bus bandwidth as NCCL's tests define them (nccl-tests, doc/PERFORMANCE.md).

algbw is the tensor's size over the time. busbw is algbw times a factor of the operation, such
that a bandwidth-optimal point-to-point algorithm reaches the rate of the link. In-network
aggregation moves fewer bytes than any of those, so its busbw is no rate on any wire: it is the
rate that the links would need for a ring to end at the same time, and is labelled "equivalent".
"""

from fractions import Fraction

from innet.units import PS_PER_SECOND

# With n workers: `whole` vectors of which each worker moves (n - 1)/n, or the vector itself.
_FRACTIONS_OF_BUS = {"all_reduce": 2, "reduce_scatter": 1, "all_gather": 1, "all_to_all": 1}
_WHOLE_ON_BUS = ("broadcast", "reduce")


def bus_factor(operation: str, workers: int) -> Fraction:
    """Return busbw over algbw of an operation among `workers` ranks.

    Raises KeyError for an operation that NCCL's tests do not define.
    """
    if operation in _WHOLE_ON_BUS:
        return Fraction(1)
    return Fraction(_FRACTIONS_OF_BUS[operation] * (workers - 1), workers)


def algorithm_bandwidth_bps(size_bytes: int, time_ps: int) -> int:
    """Return bits of the tensor per second, rounded half to even; 0 when no time passed."""
    return round(_exact_bandwidth(size_bytes, time_ps))


def bus_bandwidth_bps(size_bytes: int, time_ps: int, operation: str, workers: int) -> int:
    """Return NCCL's bus bandwidth in bit/s, rounded half to even; 0 when no time passed."""
    return round(_exact_bandwidth(size_bytes, time_ps) * bus_factor(operation, workers))


def _exact_bandwidth(size_bytes: int, time_ps: int) -> Fraction:
    return Fraction(size_bytes * 8 * PS_PER_SECOND, time_ps) if time_ps else Fraction(0)
