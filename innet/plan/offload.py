"""Which operations of a step switches take part in, with which slots, and why not in the others.

A job is what one lane of one group runs in one format. Jobs at a switch have slots of their own:
each has an equal share of its pool, by the switch of its tree where most jobs meet. A job whose
tree does not fit takes no slots from the others.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from innet.plan.plan import Aggregation, TreeSwitch
from innet.plan.step import Request
from innet.plan.tree import aggregation_tree
from innet.topology.graph import Graph
from innet.topology.routes import Routes
from innet.wire.dtypes import ITEMSIZE, DType
from innet.workload.actions import Call
from innet.workload.sparse import as_exchange

# A value takes 4 bytes in a packet and in a slot, and a slot has two sets of them.
VALUE_BYTES = 4
_SETS = 2
_EXCHANGES = ("all_to_all", "gather")
# What a switch only copies: whatever their type, such vectors are words of 4 bytes to it.
_COPIED = ("all_gather", "broadcast")
COPY = "copy"
OPERATIONS = ("sum", "min", "max", COPY)
DEFAULT_OPERATIONS = ("sum", COPY)

Tree = tuple[TreeSwitch, ...]


@dataclass(frozen=True, slots=True)
class SwitchResources:
    """What every switch that aggregates has.

    `slots` in its pool; `operations` it can do on the values of two packets, or `copy` for one
    packet to several ports; `largest_group` is how many contributions it can tell apart, None
    without limit.
    """

    slots: int
    operations: frozenset[str] = frozenset(DEFAULT_OPERATIONS)
    largest_group: int | None = None


def slot_bytes(elements_per_packet: int) -> int:
    """Return the memory that a slot takes at a switch."""
    return _SETS * elements_per_packet * VALUE_BYTES


class Offer(NamedTuple):
    """What a job has in the network; its operations run one after another."""

    aggregation: Aggregation
    job: int


class _Job(NamedTuple):
    """`floats` says that there is a round of exponents."""

    group: tuple[int, ...]
    lane: str | None
    floats: bool


def plan_offload(
    requests: Sequence[Request],
    default: DType,
    routes: Routes,
    switch: SwitchResources,
    format_: Aggregation,
    cores: int,
) -> dict[Request, Offer | str]:
    """Return, for every request, what it has in the network, or why no switch takes part.

    `default` is the type of vectors that name none, `routes` those between all ranks, `format_`
    what all aggregations have in common. Each of a host's `cores` needs a slot.
    """
    refused = {request: _refusal(request, switch) for request in requests}
    jobs = {request: _job(request, default) for request in requests if not refused[request]}
    trees = _trees(routes, dict.fromkeys(jobs.values()))
    unfit = {job: misfit(routes.graph, tree, switch) for job, tree in trees.items()}
    fit = {job: tree for job, tree in trees.items() if not unfit[job]}
    shares = _shares(switch.slots, fit)
    offers: dict[Request, Offer | str] = dict(refused)
    for request, job in jobs.items():
        if unfit[job]:
            offers[request] = unfit[job]
        elif shares[job] < cores:
            offers[request] = _too_few(routes, switch.slots, fit, fit[job])
        else:
            floats, number = job.floats, list(fit).index(job)
            own = replace(format_, tree=fit[job], slots=shares[job], exponent_round=floats)
            offers[request] = Offer(own, number)
    return offers


def at_switch(call: Call, default: DType) -> Call:
    """Return a collective as a switch sees it: what is only copied has no values to it."""
    if call.kind not in _COPIED:
        return call
    return as_exchange(call, ITEMSIZE[call.dtype or default])._replace(dtype="int32")


def _trees(routes: Routes, jobs: Iterable[_Job]) -> dict[_Job, Tree]:
    """Return every job's tree; where several roots are equal, jobs are spread over them."""
    found: dict[_Job, Tree] = {}
    meeting: Counter[int] = Counter()
    for job in jobs:
        found[job] = aggregation_tree(routes, job.group, meeting)
        meeting.update(switch.node for switch in found[job])
    return found


def misfit(graph: Graph, tree: Tree, switch: SwitchResources) -> str:
    """Return why a tree of switches does not fit their resources; empty if it does."""
    if not tree:
        return "no switch that can sum is reached by all its ranks"
    most = switch.largest_group
    for node in tree:
        if most is not None and node.children > most:
            name = graph.nodes[node.node].name
            told = "more than switch.largest_group"
            return f"{node.children} contributions would meet at {name}, {told} ({most})"
    return ""


def _job(request: Request, default: DType) -> _Job:
    assert request.call is not None
    dtype = at_switch(request.call, default).dtype or default
    return _Job(request.group, request.lane, dtype != "int32")


def _refusal(request: Request, switch: SwitchResources) -> str:
    """Return why no switch takes part in a request, wherever its ranks are; empty if one may."""
    call = request.call
    if call is None:
        return "a message has no sum"
    if call.kind in _EXCHANGES:
        return f"{call.kind} has no sum"
    missing = [name for name in _needed(call.kind, call.op) if name not in switch.operations]
    if missing:
        return "switches " + ("copy no packets" if missing == [COPY] else f"take no {missing[0]}")
    if call.density is not None and call.kind not in _COPIED:
        return "switches add no sparse vectors"
    return "" if call.quorum is None else "switches wait for all, not for a quorum"


def _needed(kind: str, op: str) -> tuple[str, ...]:
    """Return what a switch does for a collective; only what all get has to be copied."""
    if kind in _COPIED:
        return (COPY,)
    return (op, COPY) if kind == "all_reduce" else (op,)


def _shares(slots: int, trees: Mapping[_Job, Tree]) -> dict[_Job, int]:
    meeting = _meeting(trees.values())
    return {
        job: slots // max(meeting[switch.node] for switch in tree) for job, tree in trees.items()
    }


def _meeting(trees: Iterable[Tree]) -> Counter[int]:
    """Return how many jobs meet at each switch."""
    return Counter(switch.node for tree in trees for switch in tree)


def _too_few(routes: Routes, slots: int, trees: Mapping[_Job, Tree], tree: Tree) -> str:
    meeting = _meeting(trees.values())
    node = max((switch.node for switch in tree), key=lambda node: (meeting[node], -node))
    told = f"{meeting[node]} groups meet at {routes.graph.nodes[node].name}"
    return f"{told}, too many for its {slots} slots"
