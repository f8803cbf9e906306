"""What is said to limit a step, and the sentences with their numbers."""

from dataclasses import replace

from made_steps import RING, link_record, opened, star, step_trace, work

from innet.metrics.step_summary import summarise_step

BUSY = [link_record(0), link_record(1, bytes=1000, busy_ps=80), link_record(2), link_record(3)]


def limit_of(trace, algorithm="in_network"):
    found = summarise_step(trace, star(), algorithm, "made")
    return found.limited_by, found.because, found.help


def test_compute_limits_and_a_free_network_is_bounded():
    spans = [work(0, 0, 80), work(1, 0, 80), opened(0, 80, 100, 0), opened(1, 80, 100, 0)]
    assert limit_of(step_trace(spans)) == (
        "compute",
        "Rank 0, the last to end, computed 80 % of the step.",
        "A faster device; a network that took no time would make the step at most 1.25 times as "
        "fast (80 ps).",
    )


def test_compute_alone_says_that_the_network_costs_nothing():
    assert limit_of(step_trace([work(0, 0, 80), work(1, 0, 80)]))[2] == (
        "A faster device; the network costs the step nothing."
    )


def test_waiting_limits_a_rank_whose_others_come_late():
    spans = [work(1, 0, 70), opened(0, 0, 100, 0), opened(1, 70, 99, 0)]
    limit, because, helps = limit_of(step_trace(spans))
    assert limit == "waiting"
    assert because == (
        "Rank 0, the last to end, waited 70 % of the step for other ranks to enter operations, "
        "longest in all_reduce over dp."
    )
    assert helps.startswith("Work shared more evenly")


def test_the_operations_that_cost_the_most_limit():
    spans = [
        *(opened(rank, 0, 20, 0) for rank in range(2)),
        *(opened(rank, 20, 100, 1, "all_gather", 1, "tp") for rank in range(2)),
    ]
    assert limit_of(step_trace(spans, links=BUSY, ran=RING)) == (
        "all_gather over tp",
        "Rank 0, the last to end, had all_gather over tp (ring) under way without compute for 80 % "
        "of the step. The busiest link, switch -> worker0 at 10 Gbps, was sending 80 % of the "
        "step.",
        "Faster links or fewer bytes; more of it under compute (async); in-network "
        "aggregation, which did not run it: the switch has no free slots.",
    )


def test_only_what_a_switch_could_do_is_asked_of_it():
    spans = [opened(0, 0, 100, 0, "send"), opened(1, 0, 100, 0, "recv")]
    assert "aggregation" not in limit_of(step_trace(spans, ran=RING))[2]
    spans = [opened(rank, 0, 100, 0) for rank in range(2)]
    assert "aggregation" not in limit_of(step_trace(spans, ran=RING), "ring")[2]


def test_of_several_classes_of_links_the_busiest_is_named():
    graph = star()
    links = (replace(graph.links[0], link_class="spine"), *graph.links[1:])
    trace = step_trace([opened(rank, 0, 100, 0) for rank in range(2)], links=BUSY)
    found = summarise_step(trace, replace(graph, links=links), "ring", "made")
    assert found.help.startswith("Faster links of the class link or fewer bytes")


def test_idle_links_ask_for_fewer_steps_and_hidden_operations_not_for_overlap():
    spans = [work(0, 0, 30), work(1, 0, 30), *(opened(rank, 10, 100, 0) for rank in range(2))]
    limit, _, helps = limit_of(step_trace(spans))
    assert limit == "all_reduce over dp"
    assert helps == "Fewer steps one after another, a larger window or more slots, shorter links."


def test_a_network_that_counts_nothing_is_said_to_carry_nothing():
    spans = [opened(rank, 10, 100, 0) for rank in range(2)]
    assert limit_of(step_trace(spans, links=[]))[1].endswith("No link carried anything.")
