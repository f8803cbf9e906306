"""Random packets for switches that must do the same with them, byte for byte.

Most packets are contributions that make progress; the others are repeats, stale or foreign,
damaged, or other traffic. The same seed gives the same packets. Frames have at least an
Ethernet header, as every frame on a medium does.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from innet.emulator.jobs import Job, Member
from innet.wire.frames import Address, FrameWriter, Message
from innet.wire.headers import BASE_PORT, ETHERNET_BYTES, MessageType, internet_checksum

SWITCH = Address(bytes.fromhex("02ff00000001"), bytes([10, 0, 0, 254]), BASE_PORT)
BROADCAST = b"\xff" * 6
POOL_SLOTS = 1024

_EDGES = (0, 1, -1, 2**31 - 1, -(2**31))
_SLOTS_OUTSIDE = (1 << 14, (1 << 15) - 1, 1000)


def worker_address(number: int) -> Address:
    """The address of the host at port `number`, from 1 on."""
    mac = bytes.fromhex("020000000000")[:4] + number.to_bytes(2, "big")
    return Address(mac, bytes([10, 0, number >> 8, number & 0xFF]), 4000 + number)


def star_job(number: int, workers: int, elements: int, **changes: Any) -> Job:  # noqa: ANN401
    """A job of workers at ports 1, 2, ..., that has the first slots; `changes` are its fields."""
    members = tuple(Member(port, worker_address(port)) for port in range(1, workers + 1))
    job = Job(number, members, SWITCH, first_slot=0, slots=8, elements_per_packet=elements)
    return replace(job, **changes)


def three_jobs(elements: int) -> tuple[Job, ...]:
    """Jobs beside each other: guarded with two cores, published, and of one worker."""
    second = SWITCH._replace(port=BASE_PORT + 5)
    third = SWITCH._replace(port=BASE_PORT + 15)
    return (
        star_job(7, 3, elements, cores=2),
        star_job(8, 4, elements, first_slot=8, switch=second, guard=False),
        star_job(255, 1, elements, first_slot=POOL_SLOTS - 4, slots=4, switch=third),
    )


@dataclass(slots=True)
class _Slot:
    """What a slot's workers are at."""

    number: int
    in_set: int = 0
    sent: set[int] = field(default_factory=set)


class PacketMaker:
    """Packets for the jobs that a switch has."""

    def __init__(self, seed: int, jobs: tuple[Job, ...]) -> None:
        self._random = random.Random(seed)
        self._jobs = jobs
        self._slots = {
            (job.number, slot): _Slot(self._random.choice((0, 5, 2**31 - 2, 2**32 - 2)))
            for job in jobs
            for slot in range(min(job.slots, 3))
        }

    def packets(self, count: int) -> Iterator[tuple[int, bytes]]:
        """`count` packets as (ingress port, frame)."""
        for _ in range(count):
            yield self.packet()

    def packet(self) -> tuple[int, bytes]:
        """The next packet."""
        kinds = (self._contribution, self._damaged, self._elsewhere, self._other)
        make = self._random.choices(kinds, (80, 10, 4, 6))[0]
        return make()

    def _contribution(self) -> tuple[int, bytes]:
        job = self._random.choice(self._jobs)
        member, message, core = self._message(job)
        source = member.address._replace(port=member.address.port + core)
        target = job.switch._replace(port=job.switch.port + core)
        checked = self._random.random() < 0.3
        return member.port, FrameWriter(source, target, with_udp_checksum=checked).pack(message)

    def _message(self, job: Job) -> tuple[Member, Message, int]:
        choice = self._random
        number_in_pool = choice.randrange(min(job.slots, 3))
        slot = self._slots[job.number, number_in_pool]
        workers = len(job.members)
        if len(slot.sent) == workers and choice.random() < 0.6:
            slot.sent = set()
            slot.in_set ^= 1
            slot.number = (slot.number + 3) % 2**32
        missing = [worker for worker in range(workers) if worker not in slot.sent]
        worker = choice.choice(missing if missing and choice.random() < 0.7 else range(workers))
        if choice.random() < 0.05:  # everybody else finds the slot at a newer number
            slot.number = (slot.number + choice.choice((6, 6, 6, 6, 6, 2**31 - 1))) % 2**32
            slot.sent = set()
        slot.sent.add(worker)
        number, in_set = slot.number, slot.in_set
        if choice.random() < 0.08:
            number += choice.choice((-3, -6, -(2**31)))
        if choice.random() < 0.04:
            in_set ^= 1
        message = Message(
            type=MessageType.UPDATE,
            asks_help=choice.random() < 0.4,
            elements=job.elements_per_packet,
            job=job.number,
            number=number % 2**32,
            slot=number_in_pool,
            pool_set=in_set,
            exponent=choice.randrange(-128, 128),
            second_exponent=choice.randrange(-128, 128),
            payload=self._payload(job.elements_per_packet),
        )
        return job.members[worker], message, choice.randrange(job.cores)

    def _payload(self, elements: int) -> bytes:
        if self._random.random() < 0.5:
            return self._random.randbytes(4 * elements)
        value = self._random.choice(_EDGES)
        return value.to_bytes(4, "big", signed=True) * elements

    def _damaged(self) -> tuple[int, bytes]:
        """A contribution with one thing wrong; the IPv4 checksum is right in most."""
        port, whole = self._contribution()
        frame = bytearray(whole)
        choice = self._random
        match choice.randrange(10):
            case 0:  # truncated, or a header of it
                length = choice.choice((14, 33, 34, 41, 42, 49, 50, 51, 52, len(frame) - 1))
                del frame[length:]
            case 1:
                frame += choice.randbytes(choice.randrange(1, 40))
            case 2:  # type, flag and size
                frame[42] = choice.randrange(256)
            case 3:  # job
                frame[43] = choice.randrange(256)
            case 4:  # slot and set
                outside = choice.choice(_SLOTS_OUTSIDE) | choice.randrange(2) << 15
                pool_index = choice.choice((0xFFFF, 0x0008, 0x8008, outside & 0xFFFF))
                frame[48:50] = pool_index.to_bytes(2, "big")
            case 5:  # IPv4's or UDP's length
                place = choice.choice((16, 17, 38, 39))
                frame[place] ^= 1 << choice.randrange(8)
            case 6:  # version, options, fragments, protocol
                place = choice.choice((14, 20, 21, 23))
                frame[place] ^= 1 << choice.randrange(8)
            case 7:  # anything in the headers, and the checksum is wrong
                frame[choice.randrange(min(52, len(frame)))] ^= 1 << choice.randrange(8)
                return port, bytes(frame)
            case 8:  # what a switch does not look at
                frame[15] = choice.randrange(256)
                frame[18:20] = choice.randbytes(2)
                frame[20] = choice.choice((0, 0x40, 0x80))
                frame[22] = choice.randrange(256)
            case _:  # everything behind Ethernet
                frame[14:] = choice.randbytes(len(frame) - 14)
                return port, bytes(frame)
        return port, self._with_checksum(frame)

    def _with_checksum(self, frame: bytearray) -> bytes:
        if len(frame) >= 34 and self._random.random() < 0.9:
            frame[24:26] = bytes(2)
            frame[24:26] = internet_checksum(bytes(frame[14:34])).to_bytes(2, "big")
        return bytes(frame)

    def _elsewhere(self) -> tuple[int, bytes]:
        """A contribution at another port, or from or to somebody else."""
        port, whole = self._contribution()
        frame = bytearray(whole)
        match self._random.randrange(4):
            case 0:
                port = self._random.randrange(1, 6)
            case 1:
                frame[6:12] = worker_address(self._random.randrange(1, 6)).mac
            case 2:
                frame[26:30] = worker_address(self._random.randrange(1, 6)).ip
            case _:
                udp_port = self._random.choice((BASE_PORT + self._random.randrange(16), 0xBEDF, 7))
                frame[36:38] = udp_port.to_bytes(2, "big")
        return port, self._with_checksum(frame)

    def _other(self) -> tuple[int, bytes]:
        """ARP and other traffic between hosts, to all, and to the switch."""
        choice = self._random
        port = choice.randrange(1, 5)
        source = worker_address(port)
        hosts = [worker_address(number) for number in range(1, 6)]
        target = choice.choice([*hosts, SWITCH, Address(BROADCAST, b"\xff" * 4, 0)])
        if choice.random() < 0.5:
            return port, self._arp(source, target)
        kind = choice.choice((b"\x08\x00", b"\x86\xdd", b"\x88\xcc"))
        body = choice.randbytes(choice.randrange(0, 80))
        frame = (target.mac + source.mac + kind + body)[: choice.randrange(ETHERNET_BYTES, 100)]
        return port, frame

    def _arp(self, source: Address, target: Address) -> bytes:
        operation = self._random.choice((b"\0\1", b"\0\1", b"\0\2"))
        head = BROADCAST + source.mac + b"\x08\x06" + b"\0\1\x08\0\6\4" + operation
        frame = head + source.mac + source.ip + bytes(6) + target.ip
        return frame[: self._random.choice((30, 42, 42))] + bytes(self._random.choice((0, 18)))


def by_port(sent: list[tuple[int, bytes]]) -> dict[int, list[bytes]]:
    """What left each port, in order. There is no order between ports."""
    found: dict[int, list[bytes]] = {}
    for port, frame in sent:
        found.setdefault(port, []).append(frame)
    return found
