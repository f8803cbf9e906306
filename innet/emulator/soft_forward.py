"""The soft switch's handling of traffic that is no contribution, as the P4 program has it.

The switch answers ARP requests for its jobs' own addresses. Everything else goes by its
destination MAC address to a worker; what is for nobody known goes out at every other port
that a worker is at. Before the first job there is nobody, and everything is dropped.
"""

from innet.emulator.jobs import Job
from innet.wire.headers import ETHERNET_BYTES

_ETHERTYPE_ARP = b"\x08\x06"
_ARP_BYTES = 28
_REQUEST, _ANSWER = b"\x00\x01", b"\x00\x02"


class Forwarding:
    """The tables of ordinary switching, filled from jobs."""

    def __init__(self) -> None:
        self._jobs: dict[int, Job] = {}
        self._floods = False
        self._fill()

    def add(self, job: Job) -> None:
        """Know a job's workers and the address it sends to."""
        self._jobs[job.number] = job
        self._floods = True
        self._fill()

    def remove(self, job: Job) -> None:
        """Forget a job."""
        del self._jobs[job.number]
        self._fill()

    def _fill(self) -> None:
        members = [member for job in self._jobs.values() for member in job.members]
        self._hosts = {member.address.mac: member.port for member in members}
        self._ports = tuple(dict.fromkeys(member.port for member in members))
        self._own = {job.switch.ip: job.switch.mac for job in self._jobs.values()}

    def process(self, port: int, frame: bytes) -> list[tuple[int, bytes]] | None:
        """Where a frame goes; None when it is dropped."""
        if _is_arp_request(frame):
            answer = self._answer_arp(frame)
            if answer is not None:
                return [(port, answer)]
        known = self._hosts.get(frame[:6]) if len(frame) >= ETHERNET_BYTES else None
        if known is not None:
            return [(known, frame)]
        if not self._floods:
            return None
        return [(other, frame) for other in self._ports if other != port]

    def _answer_arp(self, frame: bytes) -> bytes | None:
        arp = frame[ETHERNET_BYTES : ETHERNET_BYTES + _ARP_BYTES]
        asker, asked = arp[8:18], arp[24:28]  # the asker's MAC and IP, the IP it asks for
        own = self._own.get(asked)
        if own is None:
            return None
        answered = arp[:6] + _ANSWER + own + asked + asker
        after = frame[ETHERNET_BYTES + _ARP_BYTES :]
        return frame[6:12] + own + _ETHERTYPE_ARP + answered + after


def _is_arp_request(frame: bytes) -> bool:
    start = ETHERNET_BYTES
    return (
        len(frame) >= start + _ARP_BYTES
        and frame[12:start] == _ETHERTYPE_ARP
        and frame[start + 6 : start + 8] == _REQUEST
    )
