"""What a step takes by payload alone: no headers, no latency, and no two operations on one link.

The bytes of the busiest direction at a rank, for a vector of S bytes and n ranks:

| operation | in the network | point to point |
|---|---|---|
| all_reduce | S in words of 4 bytes | 2 (n-1)/n S |
| reduce_scatter, reduce | S in words of 4 bytes | (n-1)/n S; S on a chain |
| all_gather, broadcast | S | (n-1)/n S; S on a chain |
| all_to_all, gather | - | (n-1)/n S |
"""

from dataclasses import dataclass

from innet.engine.steps.driver import run_step
from innet.engine.steps.lowering import Lowered
from innet.plan.operation import Operation
from innet.scenario.step import workload_of
from innet.wire.dtypes import ITEMSIZE
from innet.workload.sparse import as_exchange
from tests.engine.steps.made_networks import RTO, AlphaBetaNetwork, PlainLowering


@dataclass
class PayloadLowering(PlainLowering):
    in_network: bool
    dtype: str

    def collective(self, call):
        size = round(self._bytes(call))
        return Lowered(Operation(call.kind, call.group, size, "int32", RTO, root=call.root), "", "")

    def _bytes(self, call):
        item = ITEMSIZE[call.dtype or self.dtype]
        summed = call.density is None and call.op == "sum" and call.quorum is None
        if self.in_network and call.kind in ("all_gather", "broadcast"):
            return as_exchange(call, item).size
        if self.in_network and summed and call.kind in ("all_reduce", "reduce", "reduce_scatter"):
            return call.size * 4 / item
        call = as_exchange(call, item)
        if call.kind in ("broadcast", "reduce"):
            return call.size
        share = (len(call.group) - 1) / len(call.group)
        return call.size * share * (2 if call.kind == "all_reduce" else 1)


def payload_gain(scenario):
    """How many times as fast as over rings a star's step is in the network."""
    workload, rate = workload_of(scenario), scenario.topology.link.rate
    times = [
        run_step(
            workload,
            AlphaBetaNetwork(0, rate),
            PayloadLowering(in_network, scenario.training.dtype),
        )
        for in_network in (False, True)
    ]
    slow, fast = (max(trace.finish_ps) for trace in times)
    return slow / fast
