"""In-network operations on any network: as the reference engine has them, packet for packet."""

from dataclasses import replace

import pytest

from innet.engine.compiled.messages.network import CompiledNetwork
from innet.engine.compiled.run import run_compiled
from innet.engine.reference.network import ReferenceNetwork
from innet.engine.reference.run import run_reference
from innet.engine.refused import RefusedError
from innet.errors import UnfinishedError
from innet.plan.plan import PacketFault
from innet.protocol.machine import NEVER
from tests.engine.compiled.made_jobs import job_mix, lossy_tree
from tests.engine.compiled.made_mixes import outcome
from tests.engine.made_networks import SHORT_RTO, US, Tiers, begun_at_once, completions, star_tree


def traced(run, plan):
    """The trace of a run under one name, or why it cannot go on and who waits."""
    try:
        return replace(run(plan), engine="any")
    except UnfinishedError as error:
        return str(error)


@pytest.mark.parametrize("batch", range(4))
def test_random_lossy_trees_are_the_same_packet_for_packet(batch):
    for seed in range(25 * batch, 25 * (batch + 1)):
        plan = lossy_tree(seed)
        assert traced(run_compiled, plan) == traced(run_reference, plan), seed


@pytest.mark.parametrize("batch", range(4))
def test_random_mixes_with_jobs_are_the_same_packet_for_packet(batch):
    for seed in range(10 * batch, 10 * (batch + 1)):
        mix, found = job_mix(seed), []
        for kind in (ReferenceNetwork, CompiledNetwork):
            networks = []

            def network_of(fabric, kind=kind, networks=networks):
                networks.append(kind(fabric))
                return networks[0]

            found.append((outcome(mix, network_of), networks[0].switches()))
        assert found[0] == found[1], seed


def test_switches_that_only_forward_carry_every_worker():
    tiers = Tiers((2, 4))
    plan = tiers.plan(chunks=50, tree=star_tree(tiers.workers, tiers.workers))
    assert traced(run_compiled, plan) == traced(run_reference, plan)


def test_a_job_that_is_wider_than_the_one_before_keeps_what_that_has_counted():
    """40 children need two words a set; the first job, of 3, is in the middle of its sums."""
    tiers, found = Tiers((1, 40)), []
    narrow = tiers.aggregated(200, workers=[0, 1, 2], slots=4, job=0, rto=SHORT_RTO)
    wide = tiers.aggregated(20, slots=4, job=1, rto=SHORT_RTO)
    for kind in (ReferenceNetwork, CompiledNetwork):
        network = kind(replace(tiers, loss=0.02).fabric())
        begun_at_once(network, [network.add(narrow)])
        assert network.advance(20 * US) == ()
        begun_at_once(network, [network.add(wide)], 20 * US)
        found.append((sorted(completions(network)), network.links(), network.switches()))
    assert found[0] == found[1]


def test_a_rank_may_enter_the_next_operation_of_a_job_early():
    tiers, found = Tiers((2, 2)), []
    for kind in (ReferenceNetwork, CompiledNetwork):
        network = kind(tiers.fabric())
        begun_at_once(network, [network.add(tiers.aggregated(30)) for _ in range(3)])
        found.append(sorted(completions(network)))
    assert found[0] == found[1]
    assert len(found[0]) == 12


def test_operations_of_one_job_are_alike():
    network = CompiledNetwork(Tiers((2, 2)).fabric())
    network.add(Tiers((2, 2)).aggregated(3))
    with pytest.raises(ValueError, match="job 0 has another group or aggregation"):
        network.add(Tiers((2, 2)).aggregated(3, workers=[0, 1]))


def test_a_worker_that_is_cut_off_is_named():
    graph = Tiers((2, 2)).graph()
    up = Tiers((2, 2)).link(3, 6)
    links = [replace(link, loss=0.999999 if n == up else 0) for n, link in enumerate(graph.links)]
    fabric = Tiers((2, 2)).fabric(graph=replace(graph, links=tuple(links)), patience_ps=10**10)
    network = CompiledNetwork(fabric)
    begun_at_once(network, [network.add(Tiers((2, 2)).aggregated(1, rto=SHORT_RTO))])
    with pytest.raises(UnfinishedError, match=r"lacks the contribution of worker 3$"):
        network.advance(NEVER)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"kind": "broadcast"}, "broadcast in the network"),
        ({"slots": 1 << 21}, "slots"),
    ],
)
def test_operations_that_are_not_simulated_are_named(changes, why):
    network = CompiledNetwork(Tiers((2, 2)).fabric())
    with pytest.raises(RefusedError, match=why):
        network.add(Tiers((2, 2)).aggregated(3, **changes))


def test_trees_with_faults_are_left_to_the_reference_engine():
    plan = replace(Tiers((2, 2)).plan(), packet_faults=(PacketFault("drop", 0),))
    with pytest.raises(RefusedError, match="packets meet the fault drop"):
        run_compiled(plan)
