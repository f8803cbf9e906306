"""A host's core, which takes time for every packet that it receives and sends."""

from collections import deque
from collections.abc import Callable
from typing import Any

import simpy
from simpy.events import EventPriority

from innet.engine.reference.clock import WORK, Action, call_at, priority
from innet.engine.reference.link import Deliver, LinkDirection

Take = Callable[[Any, int], None]
Gate = Callable[[Action, int], object]


class Core:
    """Work is done one packet after another: receive one, send what it calls for, the next.

    `take` is given a packet when its receive cost is over. A packet leaves for its link when
    its send cost is over. `gate` does what is due, unless the host is paused or down.
    """

    def __init__(
        self,
        env: simpy.Environment,
        node: int,
        place: int,
        receive_ps: int,
        send_ps: int,
        gate: Gate,
    ) -> None:
        self._env = env
        self._gate = gate
        self._received = priority(WORK, node, 2 * place)
        self._sent = priority(WORK, node, 2 * place + 1)
        self._receive_ps, self._send_ps = receive_ps, send_ps
        self._free_at = 0
        self._waiting: deque[tuple[Any, Take]] = deque()
        self._receiving = False
        self._life = 0
        self.busy_ps = 0

    def receive(self, packet: Any, now: int, take: Take) -> None:  # noqa: ANN401
        """Call `take` with the packet when the core has received it."""
        if self._receive_ps == 0 and self._free_at <= now and not self._receiving:
            take(packet, now)
            return
        self._waiting.append((packet, take))
        if not self._receiving:
            self._next(now)

    def _next(self, now: int) -> None:
        self._receiving = True
        life = self._life

        def received(then: int) -> None:
            if life != self._life:
                return
            self._receiving = False
            packet, take = self._waiting.popleft()
            take(packet, then)
            if self._waiting and not self._receiving:
                self._next(then)

        self._later(now, self._receive_ps, self._received, received)

    def sender(self, link: LinkDirection) -> Callable[[Any, int, int, Deliver], None]:
        """What sends packets to `link`, as the link's own `send` would."""
        return lambda packet, size, now, deliver: self.send(link, packet, size, now, deliver)

    def send(
        self,
        link: LinkDirection,
        packet: Any,  # noqa: ANN401
        medium_bytes: int,
        now: int,
        deliver: Deliver,
    ) -> None:
        """Hand a packet to `link` when the core has sent it."""
        if self._send_ps == 0:
            link.send(packet, medium_bytes, now, deliver)
            return
        life = self._life

        def sent(then: int) -> None:
            if life == self._life:
                link.send(packet, medium_bytes, then, deliver)

        self._later(now, self._send_ps, self._sent, sent)

    def _later(self, now: int, cost_ps: int, order: EventPriority, action: Action) -> None:
        self._free_at = max(self._free_at, now) + cost_ps
        self.busy_ps += cost_ps
        call_at(self._env, self._free_at, order, lambda then: self._gate(action, then))

    def reset(self, now: int) -> None:
        """Forget all work, as the host goes down."""
        self._life += 1
        self._waiting.clear()
        self._receiving = False
        self.busy_ps -= max(0, self._free_at - now)
        self._free_at = now
