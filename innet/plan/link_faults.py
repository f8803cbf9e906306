"""Which packets of one link direction a plan's faults meet, the same for engine and emulator.

Every packet that is sent on the link is shown once, in order, whether or not it is lost; the
draws are by counter, a stream for each fault, so one fault does not shift another's.
"""

from typing import NamedTuple

from innet.draws import FAULT, draw, stream_key, threshold
from innet.plan.plan import Fabric, PacketFault


class Verdict(NamedTuple):
    """What becomes of a packet: lost or corrupted, else delayed, overtaken, copied.

    `held_ps`: it arrives later and holds up those behind it. `late_ps`: it arrives later and is
    overtaken. `copies_ps`: for each copy, how much after the packet it arrives.
    """

    drop: bool = False
    corrupt: bool = False
    held_ps: int = 0
    late_ps: int = 0
    copies_ps: tuple[int, ...] = ()


UNTOUCHED = Verdict()


class LinkFaults:
    """The packet faults of one link direction, with what they have seen."""

    def __init__(self, plan: Fabric, link: int) -> None:
        self._faults = [
            (place, fault) for place, fault in enumerate(plan.packet_faults) if fault.link == link
        ]
        self._seen = [0] * len(self._faults)
        self._keys = [stream_key(plan.seed, link, FAULT + place) for place, _ in self._faults]

    def __bool__(self) -> bool:
        """Whether there is any fault on the link."""
        return bool(self._faults)

    def meet(self, kind: str, number: int, now: int) -> Verdict:
        """Count a packet of `kind` and sequence `number`, sent at `now`; return its fate."""
        hits = [
            fault
            for place, (_, fault) in enumerate(self._faults)
            if self._matches(fault, kind, number, now) and self._chosen(place, fault)
        ]
        if not hits:
            return UNTOUCHED
        verbs = {fault.verb for fault in hits}
        return Verdict(
            "drop" in verbs,
            "corrupt" in verbs,
            sum(fault.by_ps for fault in hits if fault.verb == "delay"),
            sum(fault.by_ps for fault in hits if fault.verb == "reorder"),
            tuple(fault.by_ps for fault in hits if fault.verb == "duplicate"),
        )

    def _matches(self, fault: PacketFault, kind: str, number: int, now: int) -> bool:
        return (
            fault.kind in (None, kind)
            and fault.chunk in (None, number)
            and now >= fault.after_ps
            and (fault.until_ps is None or now < fault.until_ps)
        )

    def _chosen(self, place: int, fault: PacketFault) -> bool:
        self._seen[place] += 1
        ordinal = self._seen[place]
        if fault.packets is not None and ordinal not in fault.packets:
            return False
        certain = fault.probability >= 1
        return certain or draw(self._keys[place], ordinal) < threshold(fault.probability)
