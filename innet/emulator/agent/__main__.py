"""The process of one worker: `python -m innet.emulator.agent`, driven by `talk`.

It is told its settings, says that it is ready, starts when it is told to, and reports its
progress and that it has its result. It goes on helping the others until it is told to finish.
"""

import gc
import socket
from pathlib import Path as FilePath

import numpy as np

from innet.emulator.agent.agent import Agent
from innet.emulator.agent.paths import Path, RawPath, Tap, UdpPath
from innet.emulator.capture import Writer
from innet.emulator.clock import PS_PER_SECOND, Clock
from innet.emulator.codec import decode, encode
from innet.emulator.loop import Loop
from innet.emulator.settings import AgentSettings
from innet.emulator.talk import Command, Conversation, run_process

_REPORT_EVERY_PS = PS_PER_SECOND // 10


def make_path(settings: AgentSettings, tap: Tap | None) -> Path:
    """The worker's path: an interface, or inherited UDP sockets."""
    end, plan, own, switch = settings.end, settings.plan, settings.own, settings.switch
    assert plan.aggregation is not None
    elements = plan.aggregation.elements_per_packet
    if end.interface is not None:
        cores = plan.hosts[settings.worker].cores
        return RawPath(end.interface, own, switch, elements, cores, tap)
    sockets = [socket.socket(fileno=each.descriptor) for each in end.sockets]
    peers = [(each.peer_host, each.peer_port) for each in end.sockets]
    return UdpPath(sockets, peers, elements, own=own, peer=switch, tap=tap)


def _open_tap(settings: AgentSettings) -> Tap | None:
    """What writes the worker's packets to its capture file, if there is to be one."""
    if settings.capture is None:
        return None
    file = FilePath(settings.capture).open("wb", buffering=0)  # noqa: SIM115 - until the end
    return Writer(file, [f"worker{settings.worker}"]).tap


class AgentProcess:
    """An agent that tells how it goes. A participant of its own loop, for regular reports."""

    def __init__(self, talk: Conversation) -> None:
        settings = decode(AgentSettings, talk.read())
        path = make_path(settings, _open_tap(settings))
        vector = np.load(settings.tensor)
        self._agent = Agent(settings.plan, settings.worker, vector, path, settings.job)
        self._result = FilePath(settings.result)
        self._talk = talk
        self._next_report = 0
        self._clock = Clock()
        self._is_done = self._is_over = False
        talk.handle = self._obey
        talk.say("ready")

    def run(self) -> None:
        """Wait for the start, then run until told to finish."""
        self._talk.read()
        self._clock = Clock()
        gc.freeze()  # nothing that is there now will ever be garbage
        loop = Loop(self._clock, [self._talk, self._agent, self], self._agent.rest_ps)
        loop.run(self._look)

    def _look(self) -> bool:
        if self._agent.finished and not self._is_done:
            self._is_done = True
            np.save(self._result, self._agent.result(), allow_pickle=False)
            self._report("done")
        return self._is_over

    def _obey(self, command: Command) -> None:
        self._is_over = command["kind"] == "finish"
        self._report("record")

    def _report(self, kind: str) -> None:
        agent = self._agent
        done, chunks = agent.progress()
        self._talk.say(
            kind,
            done=done,
            chunks=chunks,
            state=agent.state,
            waiting=agent.waiting() if kind == "record" else [],
            finished=self._is_done,
            silent_ps=self._clock.now() - agent.heard_at,
            record=encode(agent.record()),
            links=encode(agent.links()),
            dropped=agent.dropped(),
        )

    def descriptors(self) -> tuple[int, ...]:
        """None."""
        return ()

    def next_time(self) -> int | None:
        """When to report next; not after the result."""
        return None if self._is_done else self._next_report

    def on_time(self, now: int) -> None:
        """Report how far it is."""
        self._next_report = now + _REPORT_EVERY_PS
        self._report("progress")

    def on_readable(self, now: int) -> None:
        """Do nothing: it has no descriptors."""


if __name__ == "__main__":
    run_process(lambda talk: AgentProcess(talk).run())
