"""The process of a Python switch: `python -m innet.emulator.server`, driven by `talk`.

It is told its settings, then takes commands: add a job, report counters, wipe the registers,
change its state, finish.
"""

import socket
from collections.abc import Callable, Mapping

from innet.emulator.clock import Clock
from innet.emulator.codec import decode
from innet.emulator.jobs import Job
from innet.emulator.loop import Loop
from innet.emulator.server.ports import InterfacePort, Port, UdpPort
from innet.emulator.server.server import PythonSwitch, SwitchServer
from innet.emulator.settings import PortSettings, SwitchSettings
from innet.emulator.talk import Command, Conversation, run_process
from innet.wire.frames import Address


def make_switch(target: str, elements: int) -> PythonSwitch:
    """The soft switch, or the P4 program in Python; each is loaded only when it is wanted."""
    if target == "soft":
        from innet.emulator.soft import SoftSwitch

        return SoftSwitch(elements)
    from innet.emulator.control.local import P4Switch

    return P4Switch(elements)


def make_port(settings: PortSettings, switch: Address) -> Port:
    """A port on an interface, or on inherited UDP sockets."""
    end = settings.end
    if end.interface is not None:
        return InterfacePort(settings.number, end.interface)
    sockets = [socket.socket(fileno=each.descriptor) for each in end.sockets]
    peers = [(each.peer_host, each.peer_port) for each in end.sockets]
    return UdpPort(settings.number, sockets, peers, settings.member, switch)


class SwitchProcess:
    """A server that does what it is told."""

    def __init__(self, talk: Conversation) -> None:
        settings = decode(SwitchSettings, talk.read())
        ports = [make_port(each, settings.switch) for each in settings.ports]
        self._server = SwitchServer(make_switch(settings.target, settings.elements), ports)
        self._talk = talk
        self._is_over = False
        talk.handle = self._obey
        talk.say("ready")

    def run(self) -> None:
        """Serve until told to finish."""
        Loop(Clock(), [self._talk, self._server]).run(lambda: self._is_over)

    def _obey(self, command: Command) -> None:
        commands: Mapping[str, Callable[[], None]] = {
            "add": lambda: self._server.switch.add(decode(Job, command["job"])),
            "wipe": self._server.switch.wipe,
            "state": lambda: self._become(command),
            "counters": lambda: None,
            "finish": self._finish,
        }
        commands[command["kind"]]()
        self._talk.say("done", counters=self._server.counters(), heard=self._server.heard())

    def _become(self, command: Command) -> None:
        self._server.state = command["state"]

    def _finish(self) -> None:
        self._is_over = True


if __name__ == "__main__":
    run_process(lambda talk: SwitchProcess(talk).run())
