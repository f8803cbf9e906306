"""What all runs on SimPy share: links, nodes, starts, the end, and who is stuck."""

import contextlib
import gc
from collections.abc import Callable
from typing import Any

from innet.engine.reference.clock import START, WATCH, Action, Clock, call_at, priority
from innet.engine.reference.core import Core
from innet.engine.reference.faulty_lane import FaultyLane, cut
from innet.engine.reference.link import Deliver, Lane, LinkDirection
from innet.engine.reference.node import Node
from innet.errors import UnfinishedError
from innet.plan.link_faults import LinkFaults
from innet.plan.plan import Plan
from innet.trace.records import RankRecord, SwitchRecord, Trace
from innet.units import format_duration

_EVENTS_BETWEEN_REPORTS = 20_000


class _QuietError(Exception):
    """Nothing that matters is left to happen."""


class Run:
    """A plan on its way; the two kinds of program fill in what hosts and switches do.

    `finish[rank]` is when the rank was done, -1 before.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.env = Clock()
        self.finish = [-1] * len(plan.hosts)
        self.links: list[LinkDirection] = []
        self.rank_of_node = {host.node: rank for rank, host in enumerate(plan.hosts)}
        faulty = {fault.node for fault in plan.node_faults}
        self._nodes = {node: self._node(node) for node in sorted(faulty)}

    # --- what a kind of run fills in -----------------------------------------------------

    def receiver(self, node: int) -> Deliver:
        """What takes the packets that arrive at a node."""
        raise NotImplementedError

    def start(self, rank: int, now: int) -> None:
        """A rank starts, or starts again after it has lost its state."""
        raise NotImplementedError

    def lose_state(self, node: int, now: int) -> None:
        """A node goes down and loses its state."""
        raise NotImplementedError

    def progress_made(self) -> int:
        """A number that grows as long as something is moving."""
        raise NotImplementedError

    def waiting(self) -> list[str]:
        """Who waits for what."""
        raise NotImplementedError

    def fraction_done(self) -> float:
        """How much is done, 0 to 1."""
        raise NotImplementedError

    def ranks(self) -> tuple[RankRecord, ...]:
        """What the ranks counted."""
        raise NotImplementedError

    def switches(self) -> tuple[SwitchRecord, ...]:
        """What the switches counted."""
        return ()

    def results(self) -> tuple[Any, ...] | None:
        """Every worker's vector."""
        raise NotImplementedError

    # --- the network ---------------------------------------------------------------------

    def build_links(self) -> list[LinkDirection]:
        """All link directions of the graph; what receives at their ends must be there."""
        return [self._link(index) for index in range(len(self.plan.graph.links))]

    def _link(self, index: int) -> LinkDirection:
        plan, ends = self.plan, self.plan.graph.links[index]
        faults = LinkFaults(plan, index)
        lost: list[LinkDirection] = []
        deliver = self._gated_receiver(ends.target, lost)
        kind = FaultyLane if faults or ends.source in self._nodes else Lane
        lanes = [kind(self.env, plan, index, place, deliver) for place in range(2)]
        link = LinkDirection(plan, index, *lanes)
        lost.append(link)
        for lane in lanes:
            if isinstance(lane, FaultyLane):
                lane.prepare(link, faults)
        return link

    def _gated_receiver(self, target: int, link: list[LinkDirection]) -> Deliver:
        """The node's receiver; what reaches a node that is down is lost on its link."""
        receive = self.receiver(target)
        node = self._nodes.get(target)
        if node is None:
            return receive

        def deliver(packet: Any, medium_bytes: int, now: int) -> None:  # noqa: ANN401
            if not node.do(lambda then: receive(packet, medium_bytes, then), now):
                link[0].lost += 1

        return deliver

    def _node(self, number: int) -> Node:
        faults = [fault for fault in self.plan.node_faults if fault.node == number]
        rank = self.rank_of_node.get(number)

        def goes_down(now: int) -> None:
            for index in self.plan.graph.links_out[number]:
                cut(self.links[index], now)
            self.lose_state(number, now)

        def comes_back(now: int) -> None:
            if rank is not None and now >= self.plan.hosts[rank].start_ps:
                self.start(rank, now)

        return Node(self.env, number, faults, goes_down, comes_back)

    def gate(self, node: int) -> Callable[[Action, int], object]:
        """What does an action unless the node is paused or down."""
        gated = self._nodes.get(node)
        return gated.do if gated is not None else lambda action, now: action(now)

    def cores_of(self, rank: int) -> list[Core] | None:
        """A host's cores, None where packets cost it nothing."""
        host = self.plan.hosts[rank]
        if not host.send_ps and not host.receive_ps:
            return None
        gate = self.gate(host.node)
        return [
            Core(self.env, host.node, place, host.receive_ps, host.send_ps, gate)
            for place in range(host.cores)
        ]

    # --- time ----------------------------------------------------------------------------

    def run(self, progress: Callable[[float], None] | None) -> Trace:
        """Run until the network is quiet; raise UnfinishedError when nobody can go on."""
        for rank in range(len(self.plan.hosts)):
            self._start_later(rank)
        self._watch(-1, 0)
        self._run_events(progress)
        return Trace(
            "reference",
            self.ranks(),
            tuple(link.record() for link in self.links),
            self.switches(),
            sum(link.packets for link in self.links),
            self.results(),
        )

    def _run_events(self, progress: Callable[[float], None] | None) -> None:
        # Packets are no part of cycles, and what the program has loaded need not be searched.
        gc.freeze()
        try:
            with contextlib.suppress(_QuietError):
                while self.env.run_events(_EVENTS_BETWEEN_REPORTS):
                    if progress is not None:
                        progress(self.fraction_done())
        finally:
            gc.unfreeze()

    def _start_later(self, rank: int) -> None:
        host = self.plan.hosts[rank]
        gate = self.gate(host.node)

        def start(now: int) -> None:
            gate(lambda then: self.start(rank, then), now)

        call_at(self.env, host.start_ps, priority(START, host.node, 0), start)

    def _watch(self, progress_before: int, now: int) -> None:
        """End a run in which nothing has moved for the plan's patience, or that is too long.

        A run in which everybody is done goes on while packets are on their way, unless all
        that moves is sent again in vain: its answers may be lost for ever.
        """
        plan = self.plan

        def look(then: int) -> None:
            done = all(time >= 0 for time in self.finish)
            if done and self.env.peek() == float("inf"):
                return
            if then >= plan.maximum_time_ps:
                self._end(done, "reached the simulated time limit", then)
            if self.progress_made() == progress_before and then >= plan.patience_ps:
                waited = format_duration(plan.patience_ps)
                self._end(done, f"nothing has moved for {waited}", then)
            self._watch(self.progress_made(), then)

        wait = min(plan.patience_ps, max(1, plan.maximum_time_ps - now))
        call_at(self.env, now + wait, priority(WATCH, 0, 0), look)

    def _end(self, done: bool, why: str, now: int) -> None:
        if done:
            raise _QuietError
        self.give_up(why, now)

    def give_up(self, why: str, now: int) -> None:
        """Raise UnfinishedError, naming who waits for what."""
        raise UnfinishedError(
            f"{why} (at {format_duration(now)})"
            + "".join("\n  " + line for line in self.waiting()[:10])
        )
