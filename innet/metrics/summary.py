"""From the plan and trace of a finished run to its figures."""

from innet.metrics.bounds import lower_bound_ps
from innet.metrics.diagnosis import diagnose
from innet.metrics.figures import OPERATION, RunSummary
from innet.metrics.rates import algorithm_bandwidth_bps, bus_bandwidth_bps
from innet.metrics.traffic import (
    class_bytes,
    finish_time_ps,
    packets_dropped,
    packets_sent,
    retransmissions,
    wire_bytes_per_nic,
)
from innet.plan.plan import Plan
from innet.trace.records import Trace
from innet.wire.dtypes import ITEMSIZE


def summarise(plan: Plan, trace: Trace, wrong: int, checked: bool) -> RunSummary:
    """Return the figures of a finished run in which `wrong` elements differed, if `checked`."""
    time_ps = finish_time_ps(plan, trace)
    size_bytes = plan.elements * ITEMSIZE[plan.dtype]
    diagnosis = diagnose(plan, trace)
    return RunSummary(
        algorithm=plan.algorithm,
        workers=plan.workers,
        size_bytes=size_bytes,
        elements=plan.elements,
        dtype=plan.dtype,
        time_ps=time_ps,
        bound_ps=lower_bound_ps(plan),
        algbw_bps=algorithm_bandwidth_bps(size_bytes, time_ps),
        busbw_bps=bus_bandwidth_bps(size_bytes, time_ps, OPERATION, plan.workers),
        busbw_equivalent=plan.aggregation is not None,
        wrong=wrong,
        checked=checked,
        wire_bytes_per_nic=wire_bytes_per_nic(plan, trace),
        packets=packets_sent(plan, trace),
        dropped=packets_dropped(trace),
        retransmissions=retransmissions(trace),
        limited_by=diagnosis.limited_by,
        because=diagnosis.because,
        help=diagnosis.help,
        engine=trace.engine,
        class_bytes=class_bytes(plan, trace),
    )
