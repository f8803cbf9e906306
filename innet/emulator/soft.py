"""The soft switch: the protocol's switch machine behind frames.

It does to a frame what the P4 program (p4/README.md) does, to the byte: the same checks in
the same order, the same counters, answers made of the packet that caused them. Traffic that
is no contribution is switched by `soft_forward`.
"""

from collections import Counter
from collections.abc import Mapping

import numpy as np

from innet.emulator.job_checks import require_apart
from innet.emulator.jobs import Job
from innet.emulator.soft_answers import Answer, Receiver
from innet.emulator.soft_forward import Forwarding
from innet.protocol.endpoint import TO_ALL, UPDATE, AggregationPacket
from innet.protocol.switch import AggregationSwitch
from innet.wire.frames import WIRE_INTEGER
from innet.wire.headers import (
    ASKS_HELP_BIT,
    BASE_PORT,
    ELEMENT_BYTES,
    ETHERNET_BYTES,
    ETHERTYPE_IPV4,
    FRAGMENT_MASK,
    HEAD_BYTES,
    IPV4_BYTES,
    MESSAGE_HEAD_BYTES,
    PORT_MASK,
    PROTOCOL_UDP,
    UDP_BYTES,
    VERSION_AND_LENGTH,
    MessageType,
    RawFrame,
    internet_checksum,
    type_and_size,
)

POOL_SLOTS = 1024
"""Slots that all jobs share, as many as the P4 program's registers have."""

_UDP_START = ETHERNET_BYTES + IPV4_BYTES
_UDP_END = _UDP_START + UDP_BYTES
_IP_CHECKSUM = slice(ETHERNET_BYTES + 10, ETHERNET_BYTES + 12)
_IPS = slice(_IP_CHECKSUM.stop, _UDP_START)
_SLOT_BITS = 0x7FFF  # the P4 program looks at all 15, wire allows 14
_LAST_COUNTERS = ("completed", "unicasts", "repeats_dropped", "stale_dropped", "helps_sent")
_COUNTERS = (
    "malformed_dropped",
    "unknown_dropped",
    "other_job_dropped",
    "out_of_pool_dropped",
    "absorbed",
    *_LAST_COUNTERS,
    "no_receiver_dropped",
    "forward_dropped",
)

_Contributor = tuple[int, bytes, bytes, int]  # ingress port, MAC, IP, the switch's UDP port


class _Installed:
    """A job with its machine, and how many packets the machine has taken."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.machine = AggregationSwitch(len(job.members), job.slots, job.guard, job.number)
        self.taken = 0
        self._receivers = [
            [Receiver(member, job.switch, core) for member in job.members]
            for core in range(job.cores)
        ]

    def contributors(self) -> dict[_Contributor, tuple["_Installed", int]]:
        """The rows of the table that tells who may contribute."""
        first = self.job.switch.port
        return {
            (member.port, member.address.mac, member.address.ip, first + core): (self, worker)
            for worker, member in enumerate(self.job.members)
            for core in range(self.job.cores)
        }

    def answers(self, frame: bytes, udp_port: int) -> list[tuple[int, bytes]]:
        """What the machine sends because of `frame`, which came to `udp_port`."""
        receivers = self._receivers[udp_port - self.job.switch.port]
        sent: list[tuple[int, bytes]] = []
        for destination, packet in self.machine.packets_to_send():
            answer = Answer(frame, packet)
            chosen = receivers if destination == TO_ALL else (receivers[destination],)
            sent += map(answer.to, chosen)
        return sent

    def counted(self) -> Counter[str]:
        """What the machine did with the packets that it took."""
        found = Counter({name: getattr(self.machine, name) for name in _LAST_COUNTERS})
        found["absorbed"] = self.taken - found.total()
        return found


class SoftSwitch:
    """A switch for packets of `elements` values: control plane and data plane in one.

    Unlike the P4 program it does not route (table `routes`); everything else is the same.
    """

    def __init__(self, elements: int, slots: int = POOL_SLOTS) -> None:
        self.elements = elements
        self.slots = slots
        self._type_and_size = type_and_size(MessageType.UPDATE, elements)
        self._udp_length = UDP_BYTES + MESSAGE_HEAD_BYTES + ELEMENT_BYTES * elements
        self.load()

    # --- control plane -------------------------------------------------------------------

    def load(self) -> None:
        """Start afresh: no jobs, no counts."""
        self._jobs: dict[int, _Installed] = {}
        self._contributors: dict[_Contributor, tuple[_Installed, int]] = {}
        self._counted = Counter(dict.fromkeys(_COUNTERS, 0))
        self._forwarding = Forwarding()

    def add(self, job: Job) -> None:
        """Install a job. Raises ConfigurationError where it clashes with another or the pool."""
        known = self._jobs.get(job.number)
        if known is not None and known.job == job:
            return
        others = [other.job for other in self._jobs.values() if other.job.number != job.number]
        require_apart(job, others, self.elements, self.slots)
        self.remove(job.number)
        installed = self._jobs[job.number] = _Installed(job)
        self._contributors |= installed.contributors()
        self._forwarding.add(job)

    def remove(self, number: int) -> None:
        """Take a job away; its counts stay."""
        installed = self._jobs.pop(number, None)
        if installed is None:
            return
        for row in installed.contributors():
            del self._contributors[row]
        self._counted += installed.counted()
        self._forwarding.remove(installed.job)

    def counters(self) -> Mapping[str, int]:
        """Packets by the P4 program's counters, summed over jobs."""
        total = dict.fromkeys(_COUNTERS, 0)
        for part in (self._counted, *(job.counted() for job in self._jobs.values())):
            for name, count in part.items():
                total[name] += count
        return total

    def wipe(self) -> None:
        """Lose all registers; the tables stay."""
        for installed in self._jobs.values():
            installed.machine.wipe()

    # --- data plane ----------------------------------------------------------------------

    def process(self, port: int, frame: bytes) -> list[tuple[int, bytes]]:
        """Take a frame that came in at `port`; return (port, frame) to send, in order."""
        if not _is_contribution(frame):
            sent = self._forwarding.process(port, frame)
            if sent is None:
                self._counted["forward_dropped"] += 1
                return []
            return sent
        return self._contribution(port, frame)

    def _contribution(self, port: int, frame: bytes) -> list[tuple[int, bytes]]:
        if not self._is_whole(frame):
            return self._drop("malformed_dropped")
        raw = RawFrame.view(frame)
        found = self._contributors.get((port, raw.source_mac, raw.source_ip, raw.target_port))
        if found is None:
            return self._drop("unknown_dropped")
        installed, worker = found
        if raw.job != installed.job.number:
            return self._drop("other_job_dropped")
        slot = raw.pool_index & _SLOT_BITS
        if slot >= installed.job.slots:
            return self._drop("out_of_pool_dropped")
        installed.taken += 1
        packet = AggregationPacket(
            UPDATE,
            raw.job,
            worker,
            slot,
            raw.pool_index >> 15,
            raw.number,
            bool(raw.type_and_size & ASKS_HELP_BIT),
            raw.exponent,
            np.frombuffer(frame, WIRE_INTEGER, offset=HEAD_BYTES).astype(np.int32),
        )
        installed.machine.receive(packet, 0)
        while installed.machine.next_event() is not None:
            pass  # what they tell is counted
        return installed.answers(frame, raw.target_port)

    def _is_whole(self, frame: bytes) -> bool:
        if len(frame) != _UDP_START + self._udp_length:
            return False
        raw = RawFrame.view(frame)
        # The field is compared, as the P4 program does: 0 and 65535 are not the same here.
        covered = frame[ETHERNET_BYTES : _IP_CHECKSUM.start] + frame[_IPS]
        return (
            raw.type_and_size & ~ASKS_HELP_BIT == self._type_and_size
            and raw.total_length == IPV4_BYTES + self._udp_length
            and raw.udp_length == self._udp_length
            and internet_checksum(covered) == raw.ip_checksum
        )

    def _drop(self, counter: str) -> list[tuple[int, bytes]]:
        self._counted[counter] += 1
        return []


def _is_contribution(frame: bytes) -> bool:
    """Whether it is a UDP datagram, whole and without options, to one of the switch's ports."""
    if len(frame) < HEAD_BYTES:
        if len(frame) < _UDP_END:
            return False
        frame = frame.ljust(HEAD_BYTES, b"\0")
    raw = RawFrame.view(frame)
    return (
        raw.ethertype == ETHERTYPE_IPV4
        and raw.version_and_length == VERSION_AND_LENGTH
        and raw.fragment & FRAGMENT_MASK == 0
        and raw.protocol == PROTOCOL_UDP
        and raw.target_port & PORT_MASK == BASE_PORT
    )
