"""From Chakra traces to a training step.

What the device does is kept, in the order of its dependencies: work one after another, and
communication beside it until something depends on it. Calls of the CPU that launch the device's
work are left out where the trace has both, since they run ahead of it.
"""

import heapq
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from innet.errors import ConfigurationError
from innet.workload.importers.chakra import (
    COLLECTIVE,
    COMPUTE,
    RECEIVE,
    SEND,
    Node,
    read_trace,
)
from innet.workload.importers.imported import Entry, Imported, collective, compute, counted, wait

AXIS = "world"
# CollectiveCommType; sizes are those of a rank's input, so that a vector of all_gather is larger.
_KINDS: Mapping[int, str] = {
    0: "all_reduce",
    1: "reduce",
    2: "all_gather",
    5: "broadcast",
    6: "all_to_all",
    7: "reduce_scatter",
    8: "reduce_scatter",
}
_BARRIER = 9
_WORLD = ("", "0")  # names of the group of all ranks


def import_chakra(paths: Sequence[Path], ranks: int | None) -> Imported:
    """Return the step of one trace a rank, or of one trace that all `ranks` ranks follow.

    ConfigurationError for a broken trace, or a number of ranks that is missing or does not fit.
    """
    if not paths:
        raise ConfigurationError("no trace is given")
    total = len(paths) if ranks is None else ranks
    if len(paths) > 1 and total != len(paths):
        raise ConfigurationError(f"{len(paths)} traces are given for {total} ranks")
    if total < 2:
        raise ConfigurationError("one trace alone does not say how many ranks there are; give it")
    traces = [_Trace(path, total) for path in paths]
    programs = [tuple(trace.program()) for trace in traces]
    alike = all(program == programs[0] for program in programs)
    step = programs[0] if alike else _by_rank(programs)
    return Imported({AXIS: total}, step, tuple(_notes(traces, total)))


def _by_rank(programs: list[tuple[Entry, ...]]) -> tuple[Entry, ...]:
    return tuple(
        {"when": f"rank == {rank}", "do": list(program)} for rank, program in enumerate(programs)
    )


def _notes(traces: list["_Trace"], total: int) -> Iterator[str]:
    if len(traces) == 1:
        yield f"all {total} ranks follow the one trace"
    yield "a collective's size is taken as that of a rank's input"
    left_out: Counter[str] = Counter()
    for trace in traces:
        left_out.update(trace.left_out)
    for why, count in left_out.items():
        yield f"left out: {counted(count, 'node', 'nodes')} ({why})"
    for why, count in (
        ("on nodes that are not in the trace", sum(trace.unresolved for trace in traces)),
        ("in circles", sum(trace.in_circles for trace in traces)),
    ):
        if count:
            yield f"left out: {counted(count, 'dependency', 'dependencies')} {why}"


class _Trace:
    """One trace on its way to a program."""

    def __init__(self, path: Path, ranks: int) -> None:
        self._path, self._ranks = path, ranks
        self._nodes = {node.number: node for node in read_trace(path)}
        self._on_device = any(not node.on_cpu for node in self._nodes.values())
        self.left_out: Counter[str] = Counter()
        self.in_circles = 0
        self.unresolved = sum(
            need not in self._nodes for node in self._nodes.values() for need in node.needs
        )

    def program(self) -> Iterator[Entry]:
        """The entries of a rank, work without communication between being taken together."""
        pending: dict[int, set[str]] = {}  # by node: handles that it, or what it needs, waits for
        running: set[str] = set()
        work_ps = 0
        for node in self._in_order():
            handles = set().union(*(pending.get(need, set()) for need in node.needs)) & running
            if not self._kept(node):
                pending[node.number] = handles
                continue
            if handles or node.kind != COMPUTE:
                yield from compute(work_ps)
                work_ps = 0
                yield from (wait(handle) for handle in sorted(handles))
                running -= handles
            if node.kind == COMPUTE:
                work_ps += node.duration_ps
            else:
                handle = f"n{node.number:06}"
                yield self._communication(node, handle)
                running.add(handle)
                pending[node.number] = {handle}
        yield from compute(work_ps)
        yield from (wait(handle) for handle in sorted(running))

    def _in_order(self) -> Iterator[Node]:
        """Every node after all that it needs; otherwise by start, then by number.

        Recorded traces have circles, since tensors that share memory count as dependencies. Of
        nodes in circles the first in this order goes first.
        """
        left = {node.number: self._known_needs(node) for node in self._nodes.values()}
        users: dict[int, list[int]] = {}
        for number, needs in left.items():
            for need in needs:
                users.setdefault(need, []).append(number)
        ready = [self._place(number) for number, needs in left.items() if not needs]
        heapq.heapify(ready)
        waiting = sorted(map(self._place, left), reverse=True)
        while left:
            if not ready:
                ready.append(self._first_in_circles(left, waiting))
            _, number = heapq.heappop(ready)
            del left[number]
            yield self._nodes[number]
            for user in users.get(number, ()):
                if user in left and number in left[user]:
                    left[user].remove(number)
                    if not left[user]:
                        heapq.heappush(ready, self._place(user))

    def _known_needs(self, node: Node) -> set[int]:
        return set(node.needs) & self._nodes.keys() - {node.number}

    def _first_in_circles(
        self, left: dict[int, set[int]], waiting: list[tuple[int, int]]
    ) -> tuple[int, int]:
        """Free the first node that is left from what it needs, and return its place."""
        while waiting[-1][1] not in left:
            waiting.pop()
        place = waiting.pop()
        self.in_circles += len(left[place[1]])
        left[place[1]].clear()
        return place

    def _place(self, number: int) -> tuple[int, int]:
        return self._nodes[number].start_us, number

    def _kept(self, node: Node) -> bool:
        """Whether the node is part of the step; otherwise count why it is not."""
        why = self._why_not(node)
        if why is not None:
            self.left_out[why] += 1
        return why is None

    def _why_not(self, node: Node) -> str | None:
        if node.kind not in (COMPUTE, SEND, RECEIVE, COLLECTIVE):
            return "neither work nor communication"
        if node.kind == COMPUTE:
            if node.on_cpu and self._on_device:
                return "work of the CPU, beside the device's"
            return None if node.duration_us else "work without a duration"
        if node.whole("comm_type") == _BARRIER and node.kind == COLLECTIVE:
            return None
        if not node.whole("comm_size"):
            return "communication without a size"
        if str(node.attributes.get("pg_name", "")) not in _WORLD:
            return "communication in a group whose members the trace does not name"
        if node.kind == COLLECTIVE and node.whole("comm_type") not in _KINDS:
            return "gathering or scattering at one rank"
        if node.kind != COLLECTIVE and self._peer(node) is None:
            return "sending or receiving without a peer"
        return None

    def _peer(self, node: Node) -> int | None:
        return node.whole("comm_dst" if node.kind == SEND else "comm_src")

    def _communication(self, node: Node, handle: str) -> Entry:
        size = node.whole("comm_size") or 0
        if node.kind == COLLECTIVE:
            if node.whole("comm_type") == _BARRIER:
                return {"barrier": {"over": AXIS, "async": handle}}
            kind = _KINDS[node.whole("comm_type") or 0]
            return collective(
                kind, size * self._ranks if kind == "all_gather" else size, AXIS, handle
            )
        verb, side = ("send", "to") if node.kind == SEND else ("recv", "from")
        return {verb: {side: {AXIS: self._peer(node)}, "size": size, "async": handle}}
