"""How a plan's packet faults become the rules of a run, and entries to the links that have any."""

import dataclasses

import numpy as np

from innet.draws import threshold
from innet.engine.compiled.state import LINK, Ints, Net, Records
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


def lower_rules(plan: Plan, links: Records) -> Ints:
    """Return the rules of all links, and note in the records of `links` which are whose."""
    words: list[int] = []
    for index in sorted({fault.link for fault in plan.packet_faults}):
        rules, ordinals = rules_of(plan, index, len(words))
        row = links[index]
        row["first_rule"], row["end_rule"] = len(words), len(words) + len(rules)
        row["copies"] = rules[VERB::RULE_WORDS].count(DUPLICATE)
        words += rules + ordinals
    return np.array([word & _ALL_DRAWS for word in words], np.uint64).view(np.int64)


def lower_entries(plan: Plan, links: Records) -> Records:
    """Return an entry to each link that has rules, a row of LINK that takes no time.

    It keeps the time at which a packet was sent as that of its arrival, at its sender.
    """
    faulty = np.flatnonzero(links["end_rule"] > links["first_rule"])
    entries = np.zeros(len(faulty), LINK)
    entries["leads_to"], entries["limit"], entries["first_sent"] = faulty, -1, -1
    entries["target"] = [plan.graph.links[index].source for index in faulty]
    return entries


def entry_of(net: Net) -> Ints:
    """Return for every link the row of LINK on which its senders send."""
    entries = np.arange(net.first_entry)
    entries[net.links["leads_to"][net.first_entry :]] = np.arange(net.first_entry, len(net.links))
    return entries
