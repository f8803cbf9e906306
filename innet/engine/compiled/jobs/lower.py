"""How an in-network plan becomes the flat arrays of a run on a network."""

from typing import NamedTuple

import numpy as np

from innet.collectives.schedule import Schedule, block_bounds
from innet.engine.compiled.jobs.state import (
    EDGE,
    JOB,
    SHARD,
    SWITCH,
    WORKER,
    Jobs,
    Pool,
    Registers,
)
from innet.engine.compiled.messages.lower import (
    filled,
    free_packets,
    graph_rows,
    integers,
    lookahead_ps,
    no_streams,
    steps_in_arrays,
    zeros,
)
from innet.engine.compiled.messages.state import (
    APART,
    HOST,
    MEMBER,
    MESSAGE,
    OPERATION,
    TOGETHER,
    WORK,
    Net,
    Settings,
    State,
)
from innet.engine.compiled.state import DIGITS, Ints, Records
from innet.plan.plan import Aggregation, Plan, Rto
from innet.protocol.machine import NEVER
from innet.protocol.transitions import IDLE, NEW_TIMER, rto_interval, words_per_set

_NO_SCHEDULE = Schedule("in_network", 0, 0, 0, ())
_PACKETS_AT_FIRST = 1024


def lower_job(plan: Plan) -> State:
    """Return the state at the start of an in-network plan; members are its workers.

    A member begins its operation and holds its worker's timers.
    """
    format_ = plan.aggregation
    assert format_ is not None
    tree = _tree(plan, format_)
    nodes, links, lanes = graph_rows(plan.graph, plan.seed, 1)
    hosts, members = _hosts(plan)
    nodes["host"][hosts["node"]] = np.arange(len(hosts))
    due = filled(len(nodes), NEVER)
    due[hosts["node"]] = members["start_ps"]
    settings = _settings(plan, format_, tree)
    packets, pool = free_packets(max(_PACKETS_AT_FIRST, 2 * settings.need))
    room = len(packets)
    net = Net(links, lanes, tree.path, packets, pool, due, zeros(room), zeros(room), zeros(DIGITS))
    workers, shards = _workers(plan, format_, tree.edges)
    return State(
        settings,
        net,
        nodes,
        hosts,
        members,
        np.zeros(1, OPERATION),
        no_streams(),
        np.zeros(0, MESSAGE),
        steps_in_arrays(_NO_SCHEDULE),
        Jobs(
            _job(format_, plan.rto),
            tree.edges,
            tree.switches,
            workers,
            shards,
            _pool(format_, shards),
            _registers(plan, format_),
            shards["blocks"].copy(),
        ),
        np.zeros(1, WORK),
    )


class _Tree(NamedTuple):
    switches: Records
    edges: Records
    path: Ints


def _tree(plan: Plan, format_: Aggregation) -> _Tree:
    """Return the switches, the edges below each of them in order of child, and the paths."""
    tree = format_.tree
    path: list[int] = []
    switches = np.zeros(len(tree), SWITCH)
    edges = np.zeros(sum(switch.children for switch in tree), EDGE)
    switches["up"], edges["below"], edges["worker"] = -1, -1, -1
    first = 0
    for place, switch in enumerate(tree):
        row = switches[place]
        row["node"], row["first_set"] = switch.node, 2 * format_.slots * place
        row["first_edge"], row["end_edge"] = first, first + switch.children
        below = [plan.hosts[worker].node for worker in switch.workers]
        below += [tree[lower].node for lower in switch.switches]
        for child, node in enumerate(below):
            edge = edges[first + child]
            edge["above"], edge["child"], edge["way"] = place, child, len(path)
            path += plan.routes.path_between(node, switch.node)
            edge["hops"], edge["way_back"] = len(path) - edge["way"], len(path)
            path += plan.routes.path_between(switch.node, node)
            edge["hops_back"] = len(path) - edge["way_back"]
        workers = len(switch.workers)
        edges["worker"][first : first + workers] = switch.workers
        edges["below"][first + workers : first + switch.children] = switch.switches
        for child, lower in enumerate(switch.switches, first + workers):
            switches[lower]["up"] = child
        first += switch.children
    return _Tree(switches, edges, integers(path))


def _settings(plan: Plan, format_: Aggregation, tree: _Tree) -> Settings:
    least = lookahead_ps(plan.graph, min(format_.help_bytes, format_.packet_bytes))
    most = int((tree.switches["end_edge"] - tree.switches["first_edge"]).max())
    # An event sends to all children or from all slots; what waits for a link is noted besides.
    need = 2 * max(most, format_.slots)
    words = words_per_set(most)
    return Settings(least, APART if least else TOGETHER, need, 1, words)


def _hosts(plan: Plan) -> tuple[Records, Records]:
    """Return the hosts and the members of a plan, one at each."""
    count = plan.workers
    hosts, members = np.zeros(count, HOST), np.zeros(count, MEMBER)
    hosts["node"] = [host.node for host in plan.hosts]
    hosts["timer"], hosts["begin"], hosts["members"] = NEVER, np.arange(count), np.arange(count)
    members["host"] = members["worker"] = np.arange(count)
    cores = [host.cores for host in plan.hosts]
    members["first_blocks"] = np.cumsum(cores) - cores
    members["earliest"], members["full_since"], members["finish"] = NEVER, NEVER, -1
    members["start_ps"] = [host.start_ps for host in plan.hosts]
    members["next_to_begin"], members["next_on_host"] = -1, -1
    return hosts, members


def _job(format_: Aggregation, rto: Rto) -> Records:
    jobs = np.zeros(1, JOB)
    row = jobs[0]
    row["slots"], row["guard"] = format_.slots, format_.guard
    row["packet_bytes"], row["help_bytes"] = format_.packet_bytes, format_.help_bytes
    row["exponents"] = format_.exponent_round
    row["adaptive"], row["initial_ps"] = rto.adaptive, rto.initial_ps
    row["minimum_ps"], row["maximum_ps"] = rto.minimum_ps, rto.maximum_ps
    return jobs


def _workers(plan: Plan, format_: Aggregation, edges: Records) -> tuple[Records, Records]:
    workers = np.zeros(plan.workers, WORKER)
    workers["host"] = workers["holder"] = np.arange(plan.workers)
    own = np.flatnonzero(edges["worker"] >= 0)
    workers["edge"][edges["worker"][own]] = own
    workers["member"] = -1
    rows: list[tuple[int, ...]] = []
    for number, host in enumerate(plan.hosts):
        workers[number]["first_shard"] = len(rows)
        slots = block_bounds(format_.slots, host.cores)
        elements = block_bounds(plan.elements, host.cores)
        for core in range(host.cores):
            blocks = -(-(elements[core + 1] - elements[core]) // format_.elements_per_packet)
            rows.append((number, slots[core], slots[core + 1] - slots[core], blocks))
        workers[number]["end_shard"] = len(rows)
    shards = np.zeros(len(rows), SHARD)
    columns = np.array(rows).T
    shards["worker"], shards["first_slot"], shards["slots"], shards["blocks"] = columns
    shards["place"] = np.cumsum(shards["slots"]) - shards["slots"]
    shards["next_number"] = format_.first_number
    shards["next_slot"] = format_.first_number % shards["slots"]
    rto = plan.rto
    shards["interval"] = rto_interval(
        NEW_TIMER, 0, rto.adaptive, rto.initial_ps, rto.minimum_ps, rto.maximum_ps, 0
    )
    shards["earliest"] = NEVER
    return workers, shards


def _pool(format_: Aggregation, shards: Records) -> Pool:
    count = int(shards["slots"].sum())
    sets = [
        (turns + (slot < extra)) % 2
        for slots in shards["slots"].tolist()
        for turns, extra in [divmod(format_.first_number, slots)]
        for slot in range(slots)
    ]
    return Pool(
        filled(count, IDLE),
        zeros(count),
        integers(sets),
        zeros(count),
        filled(count, NEVER),
        filled(count, IDLE),
        zeros(count),
        np.tile(integers(NEW_TIMER), len(shards)),
    )


def _registers(plan: Plan, format_: Aggregation) -> Registers:
    sets = 2 * format_.slots * len(format_.tree)
    words = words_per_set(max(switch.children for switch in format_.tree))
    return Registers(zeros(sets * words), zeros(sets), zeros(sets))
