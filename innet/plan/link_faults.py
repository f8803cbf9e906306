"""Which packets of one link direction a plan's faults meet, the same for engines and emulator.

Every packet that is sent on the link is shown once, in order, whether or not it is lost; the
draws are by counter, a stream for each fault, so one fault does not shift another's.

What a fault meets is written as plain functions over flat sequences of integers, a row of
RULE_WORDS for each fault, so that they run on lists and, compiled by Numba, on arrays.
"""

from collections.abc import MutableSequence, Sequence
from typing import NamedTuple

from innet.draws import FAULT, draw, stream_key, threshold
from innet.plan.plan import Fabric, PacketFault

VERBS = ("drop", "corrupt", "delay", "reorder", "duplicate")
DROP, CORRUPT, DELAY, REORDER, DUPLICATE = range(len(VERBS))
KINDS = ("update", "result", "help", "data", "ack")
ANY = -1
_NO_END = 1 << 62

# The words of a rule. What its fault does, and to which packets; the places, from NEXT to before
# END in the same sequence, of the ordinals that it chooses (NEXT is ANY if it chooses all); the
# start of its draws and the largest of them by which it meets a packet, 64 bits each; how many
# packets it has counted, and whether it meets the one that was shown last.
VERB, KIND, CHUNK, AFTER, UNTIL, BY, NEXT, END, KEY, LAST, COUNTED, MEETS = range(12)
RULE_WORDS = 12

Ints = MutableSequence[int]


def choose(rules: Ints, at: int, kind: int, number: int, now: int) -> int:
    """Show a packet to the rule at `at`, whose fault may be for it.

    `kind` is the place in KINDS of the packet's kind, `number` its sequence number, `now` when
    it is sent. Returns its ordinal from 1 among those that the rule counts, if the rule chooses
    it, else 0. MEETS is left for the caller to set, by the draw of that ordinal.
    """
    if rules[at + KIND] != ANY and rules[at + KIND] != kind:
        return 0
    if rules[at + CHUNK] != ANY and rules[at + CHUNK] != number:
        return 0
    if now < rules[at + AFTER] or now >= rules[at + UNTIL]:
        return 0
    rules[at + COUNTED] += 1
    ordinal = rules[at + COUNTED]
    place = rules[at + NEXT]
    if place == ANY:
        return ordinal
    if place == rules[at + END] or rules[place] != ordinal:
        return 0
    rules[at + NEXT] += 1
    return ordinal


def is_met(rules: Sequence[int], first: int, end: int, verb: int) -> bool:
    """Whether a rule of this verb, of those from `first` to before `end`, meets the packet."""
    for at in range(first, end, RULE_WORDS):
        if rules[at + VERB] == verb and rules[at + MEETS]:
            return True
    return False


def total_by(rules: Sequence[int], first: int, end: int, verb: int) -> int:
    """By how much the rules of this verb that meet the packet make it later, in picoseconds."""
    total = 0
    for at in range(first, end, RULE_WORDS):
        if rules[at + VERB] == verb and rules[at + MEETS]:
            total += rules[at + BY]
    return total


def rules_of(plan: Fabric, link: int, start: int = 0) -> tuple[list[int], list[int]]:
    """Return the rules of a link direction's packet faults, and the ordinals that they choose.

    Both stand one behind the other in a sequence, from the place `start` on. A fault that is so
    unlikely that no draw is small enough has no rule.
    """
    faults = [
        (place, fault)
        for place, fault in enumerate(plan.packet_faults)
        if fault.link == link and threshold(fault.probability) > 0
    ]
    rules: list[int] = []
    ordinals: list[int] = []
    first = start + len(faults) * RULE_WORDS
    for place, fault in faults:
        key = stream_key(plan.seed, link, FAULT + place)
        rules.extend(_rule(fault, key, first + len(ordinals)))
        ordinals.extend(_chosen(fault))
    return rules, ordinals


def _chosen(fault: PacketFault) -> list[int]:
    return sorted(set(fault.packets or ()))


def _rule(fault: PacketFault, key: int, place: int) -> list[int]:
    """The words of a fault's rule, whose ordinals stand from `place` on."""
    return [
        VERBS.index(fault.verb),
        ANY if fault.kind is None else KINDS.index(fault.kind),
        ANY if fault.chunk is None else fault.chunk,
        fault.after_ps,
        _NO_END if fault.until_ps is None else fault.until_ps,
        fault.by_ps,
        ANY if fault.packets is None else place,
        place + len(_chosen(fault)),
        key,
        threshold(fault.probability) - 1,
        0,
        0,
    ]


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
        rules, ordinals = rules_of(plan, link)
        self._rules, self._end = rules + ordinals, len(rules)

    def __bool__(self) -> bool:
        """Whether there is any fault on the link."""
        return self._end > 0

    def meet(self, kind: str, number: int, now: int) -> Verdict:
        """Count a packet of `kind` and sequence `number`, sent at `now`; return its fate."""
        rules, end, code = self._rules, self._end, KINDS.index(kind)
        met = False
        for at in range(0, end, RULE_WORDS):
            ordinal = choose(rules, at, code, number, now)
            meets = ordinal > 0 and draw(rules[at + KEY], ordinal) <= rules[at + LAST]
            rules[at + MEETS] = int(meets)
            met = met or meets
        if not met:
            return UNTOUCHED
        return Verdict(
            is_met(rules, 0, end, DROP),
            is_met(rules, 0, end, CORRUPT),
            total_by(rules, 0, end, DELAY),
            total_by(rules, 0, end, REORDER),
            tuple(
                rules[at + BY]
                for at in range(0, end, RULE_WORDS)
                if rules[at + VERB] == DUPLICATE and rules[at + MEETS]
            ),
        )
