"""How a plan's packet faults become the rules of a run, and entries to the links that have any."""

import dataclasses

import numpy as np

from innet.draws import threshold
from innet.engine.compiled.state import FAULTY, LINK, Faults, Ints, Records
from innet.plan.link_faults import DUPLICATE, RULE_WORDS, VERB, rules_of
from innet.plan.plan import PacketFault, Plan

_ALL_DRAWS = (1 << 64) - 1


def with_certain_losses(plan: Plan) -> Plan:
    """Return the plan with the loss of links that lose everything as one more fault of each.

    So the losses that are drawn are below 64 bits.
    """
    certain = [index for index, link in enumerate(plan.graph.links) if is_certain(link.loss)]
    faults = tuple(PacketFault("drop", index) for index in certain)
    return dataclasses.replace(plan, packet_faults=plan.packet_faults + faults)


def is_certain(loss: float) -> bool:
    """Whether a link with this loss loses everything."""
    return threshold(loss) > _ALL_DRAWS


def lower_faults(plan: Plan) -> Faults:
    """Return the links with packet faults, whose entries stand behind the links, and the rules."""
    indices = sorted({fault.link for fault in plan.packet_faults})
    links = np.zeros(len(indices), FAULTY)
    words: list[int] = []
    for place, index in enumerate(indices):
        rules, ordinals = rules_of(plan, index, len(words))
        row = links[place]
        row["link"], row["entry"] = index, len(plan.graph.links) + place
        row["first_rule"], row["end_rule"] = len(words), len(words) + len(rules)
        row["copies"] = rules[VERB::RULE_WORDS].count(DUPLICATE)
        words += rules + ordinals
    draws = np.array([word & _ALL_DRAWS for word in words], np.uint64)
    return Faults(links, draws.view(np.int64))


def lower_entries(plan: Plan, faults: Faults) -> Records:
    """Return the entries, rows of LINK that take no time.

    An entry keeps the time at which a packet was sent as that of its arrival, at its sender.
    """
    entries = np.zeros(len(faults.links), LINK)
    entries["limit"], entries["first_sent"] = -1, -1
    entries["target"] = [plan.graph.links[index].source for index in faults.links["link"]]
    return entries


def entry_of(plan: Plan, faults: Faults) -> Ints:
    """Return for every link the row of LINK to which its senders send."""
    entries = np.arange(len(plan.graph.links))
    entries[faults.links["link"]] = faults.links["entry"]
    return entries
