"""Which operations of a training step switches take part in, and why not in the others.

A job is what one lane of one group runs in one format. Jobs at a switch have slots of their own:
each has an equal share of the pool, by the switch of its tree where most jobs meet.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from innet.plan.plan import Aggregation, TreeSwitch
from innet.plan.step import Request
from innet.plan.tree import aggregation_tree
from innet.scenario.build import packet_bytes
from innet.scenario.schema import Scenario
from innet.topology.routes import Routes
from innet.wire.dtypes import ITEMSIZE, DType
from innet.wire.headers import help_medium_bytes
from innet.workload.actions import Call
from innet.workload.sparse import as_exchange

_EXCHANGES = ("all_to_all", "gather")
# What a switch only copies: whatever their type, such vectors are words of 4 bytes to it.
_COPIED = ("all_gather", "broadcast")


class Offer(NamedTuple):
    """What a job has in the network; its operations run one after another."""

    aggregation: Aggregation
    job: int


class _Job(NamedTuple):
    """`floats` says that there is a round of exponents."""

    group: tuple[int, ...]
    lane: str | None
    floats: bool


def offers_of(
    scenario: Scenario, routes: Routes, requests: Sequence[Request]
) -> dict[Request, Offer | str]:
    """Return, for every request, what it has in the network, or why no switch takes part."""
    assert scenario.training is not None
    dtype = scenario.training.dtype
    refused = {request: _refusal(request) for request in requests}
    jobs = [_job(request, dtype) for request in requests if not refused[request]]
    trees = {job: aggregation_tree(routes, job.group) for job in dict.fromkeys(jobs)}
    shares = _shares(scenario.switch.slots, trees)
    offers: dict[Request, Offer | str] = {}
    for request in requests:
        job = None if refused[request] else _job(request, dtype)
        if job is None:
            offers[request] = refused[request]
        elif not trees[job]:
            offers[request] = "no switch that can sum is reached by all its ranks"
        elif shares[job] < scenario.host.cores:
            told = f"{scenario.switch.slots} slots are too few for the jobs that meet at a switch"
            offers[request] = told
        else:
            aggregation = _aggregation(scenario, trees[job], shares[job], job.floats)
            offers[request] = Offer(aggregation, list(trees).index(job))
    return offers


def at_switch(call: Call, default: DType) -> Call:
    """Return a collective as a switch sees it: what is only copied has no values to it."""
    if call.kind not in _COPIED:
        return call
    return as_exchange(call, ITEMSIZE[call.dtype or default])._replace(dtype="int32")


def _job(request: Request, default: DType) -> _Job:
    assert request.call is not None
    dtype = at_switch(request.call, default).dtype or default
    return _Job(request.group, request.lane, dtype != "int32")


def _refusal(request: Request) -> str:
    """Say why no switch takes part in a request, wherever its ranks are; empty if one may."""
    call = request.call
    if call is None:
        return "a message has no sum"
    if call.kind in _EXCHANGES:
        return f"{call.kind} has no sum"
    if call.op != "sum":
        return f"switches take no {call.op}"
    if call.density is not None and call.kind not in _COPIED:
        return "switches add no sparse vectors"
    return "" if call.quorum is None else "switches wait for all, not for a quorum"


def _shares(slots: int, trees: Mapping[_Job, Sequence[TreeSwitch]]) -> dict[_Job, int]:
    meeting = Counter(switch.node for tree in trees.values() for switch in tree)
    return {
        job: slots // max((meeting[switch.node] for switch in tree), default=1)
        for job, tree in trees.items()
    }


def _aggregation(
    scenario: Scenario, tree: tuple[TreeSwitch, ...], slots: int, floats: bool
) -> Aggregation:
    return Aggregation(
        tree=tree,
        slots=slots,
        guard=scenario.switch.guard,
        elements_per_packet=scenario.packet.elements,
        packet_bytes=packet_bytes(scenario),
        help_bytes=help_medium_bytes(),
        exponent_round=floats,
    )
