"""How operations on a network become the flat arrays of a run, and how these grow."""

from typing import Any

import numpy as np

from innet.collectives.progress import Steps, steps_of
from innet.collectives.schedule import Schedule, block_bounds
from innet.draws import LOSS, stream_key, threshold
from innet.engine.compiled.messages.state import (
    APART,
    HOST,
    HOSTS_TOGETHER,
    LANE,
    LINK,
    MEMBER,
    MESSAGE,
    NODE,
    OPERATION,
    PACKET,
    PLACE,
    POOL,
    STEP_MEMBER,
    STEP_MESSAGE,
    STREAM_STATE,
    TOGETHER,
    WORK,
    Net,
    Settings,
    State,
    Streams,
)
from innet.engine.compiled.state import DIGITS, Ints, Records
from innet.plan.plan import Plan, Rto, Stream
from innet.protocol.machine import NEVER
from innet.protocol.stream_transitions import room_of
from innet.protocol.transitions import NEW_TIMER
from innet.topology.graph import Graph
from innet.units import serialisation_ps
from innet.wire.dtypes import ITEMSIZE

_PACKETS_AT_FIRST = 1024


def lower(plan: Plan) -> State:
    """Return the state at the start of a point-to-point plan; members are its ranks."""
    stream, schedule = plan.stream, plan.schedule
    assert stream is not None
    assert schedule is not None
    steps: Any = steps_in_arrays(schedule)
    ends = steps.messages["source"] * schedule.ranks + steps.messages["target"]
    pairs = np.unique(ends)
    streams = _streams(schedule, stream, pairs)
    sources = streams.rows["source"]
    settings = _settings(plan.graph, stream, schedule, sources)
    hosts, members = _hosts(plan, sources)
    nodes, links, lanes = graph_rows(plan.graph, plan.seed, 1 if stream.ack_bytes else 2)
    nodes["host"][hosts["node"]] = np.arange(len(hosts))
    due = filled(len(nodes), NEVER)
    due[hosts["node"]] = members["start_ps"]
    packets, pool = free_packets(max(_PACKETS_AT_FIRST, 2 * settings.need))
    room = len(packets)
    sorting = zeros(room), zeros(room), zeros(DIGITS)
    net = Net(links, lanes, _paths(plan, streams.rows), packets, pool, due, *sorting)
    return State(
        settings,
        net,
        nodes,
        hosts,
        members,
        _operation(stream, plan.rto, schedule.in_turn),
        streams,
        _messages(plan, schedule, stream, np.searchsorted(pairs, ends)),
        steps,
        None,
        np.zeros(1, WORK),
    )


def _settings(graph: Graph, stream: Stream, schedule: Schedule, sources: Ints) -> Settings:
    least_ps = lookahead_ps(graph, min(stream.ack_bytes, stream.overhead_bytes + 1))
    order = APART
    if schedule.sending == "rendezvous":
        order = HOSTS_TOGETHER
    if least_ps == 0:
        order = TOGETHER
    # An event sends at most an acknowledgement and the windows of all streams of a member or,
    # where others may send at once, of all. What waits for a limited link is noted besides.
    streams = len(sources)
    if schedule.sending != "rendezvous" and streams:
        streams = int(np.bincount(sources).max())
    need = 2 * (streams * stream.window + 1)
    return Settings(least_ps, order, need, room_of(stream.window), 1)


def lookahead_ps(graph: Graph, least_bytes: int) -> int:
    """The shortest time from an event at a node to the arrival of what it sends."""
    return min(
        graph.nodes[link.source].latency_ps
        + serialisation_ps(least_bytes, link.rate_bps)
        + link.delay_ps
        for link in graph.links
    )


def graph_rows(graph: Graph, seed: int, lanes_a_link: int) -> tuple[Records, Records, Records]:
    """Return the nodes, the links and the lanes of a graph."""
    nodes, links = np.zeros(len(graph.nodes), NODE), np.zeros(len(graph.links), LINK)
    lanes = np.zeros(lanes_a_link * len(links), LANE)
    lanes["head"], lanes["arrival"] = -1, NEVER
    lane = 0
    for number, node in enumerate(graph.nodes):
        row = nodes[number]
        row["host"], row["latency_ps"], row["first_lane"] = -1, node.latency_ps, lane
        for index in graph.links_into[number]:
            links[index]["lane"] = lane
            lanes[lane : lane + lanes_a_link]["node"] = number
            lane += lanes_a_link
        row["end_lane"] = lane
    for index, link in enumerate(graph.links):
        row = links[index]
        row["delay_ps"], row["rate_bps"], row["first_sent"] = link.delay_ps, link.rate_bps, -1
        row["limit"] = -1 if link.queue_bytes is None else link.queue_bytes
        row["loss"], row["key"] = threshold(link.loss), stream_key(seed, index, LOSS)
    links["wait_head"], links["ack_bytes"], links["data_bytes"] = -1, -1, -1
    return nodes, links, lanes


def _hosts(plan: Plan, sources: Ints) -> tuple[Records, Records]:
    """Return the hosts and the members of a plan, one at each."""
    count = len(plan.hosts)
    hosts, members = np.zeros(count, HOST), np.zeros(count, MEMBER)
    hosts["node"] = [host.node for host in plan.hosts]
    hosts["timer"], hosts["begin"], hosts["members"] = NEVER, np.arange(count), np.arange(count)
    members["host"], members["worker"] = np.arange(count), -1
    members["first_stream"] = np.searchsorted(sources, np.arange(count))
    members["earliest"], members["full_since"], members["finish"] = NEVER, NEVER, -1
    members["start_ps"] = [host.start_ps for host in plan.hosts]
    members["next_to_begin"], members["next_on_host"] = -1, -1
    return hosts, members


def _operation(stream: Stream, rto: Rto, in_turn: bool) -> Records:
    operations = np.zeros(1, OPERATION)
    row = operations[0]
    row["window"], row["payload_bytes"] = stream.window, stream.payload_bytes
    row["overhead_bytes"], row["ack_bytes"] = stream.overhead_bytes, stream.ack_bytes
    row["in_turn"], row["go_back_n"] = in_turn, stream.recovery == "go_back_n"
    row["adaptive"], row["initial_ps"] = rto.adaptive, rto.initial_ps
    row["minimum_ps"], row["maximum_ps"] = rto.minimum_ps, rto.maximum_ps
    return operations


def _streams(schedule: Schedule, stream: Stream, pairs: Ints) -> Streams:
    """Return the streams of `pairs`, source * ranks + target each, ascending."""
    rows, room = np.zeros(len(pairs), STREAM_STATE), room_of(stream.window)
    source, target = np.divmod(pairs, schedule.ranks)
    rows["source"], rows["target"] = source, target
    rows["queue"] = np.searchsorted(source, source) if schedule.in_turn else np.arange(len(pairs))
    rows["sending"], rows["waiting"], rows["last"] = -1, -1, -1
    rows["deadlines"] = NEVER
    timers = np.tile(integers(NEW_TIMER), len(pairs))
    return Streams(rows, timers, np.zeros(len(pairs) * room, PLACE))


def no_streams() -> Streams:
    """Return the state of a network without point-to-point operations."""
    return Streams(np.zeros(0, STREAM_STATE), zeros(0), np.zeros(0, PLACE))


def _paths(plan: Plan, streams: Records) -> Ints:
    """Note where the paths of streams and of their acknowledgements begin; return all paths."""
    path: list[int] = []
    for row in streams:
        source, target = int(row["source"]), int(row["target"])
        row["way"] = len(path)
        path.extend(plan.routes.path(source, target))
        row["way_back"] = len(path)
        path.extend(plan.routes.path(target, source))
    return integers(path)


def _messages(plan: Plan, schedule: Schedule, stream: Stream, stream_of: Ints) -> Records:
    bounds = integers(block_bounds(plan.elements, schedule.blocks))
    first = integers([message.first for message in schedule.messages])
    count = integers([message.count for message in schedule.messages])
    messages = np.zeros(len(first), MESSAGE)
    messages["stream"], messages["next"] = stream_of, -1
    messages["bytes"] = (bounds[first + count] - bounds[first]) * ITEMSIZE[plan.dtype]
    messages["packets"] = messages["missing"] = -(-messages["bytes"] // stream.payload_bytes)
    return messages


def steps_in_arrays(schedule: Schedule) -> Steps:
    """Return the steps of a schedule in arrays."""
    lists = steps_of(schedule)
    columns: Any = [
        _rows(STEP_MESSAGE, lists.messages),
        _rows(STEP_MEMBER, lists.members),
        *(integers(column) for column in lists[2:]),
    ]
    return Steps(*columns)


def _rows(kind: Any, columns: Any) -> Records:  # noqa: ANN401
    rows = np.zeros(len(columns[0]), kind)
    for name, column in zip(columns._fields, columns, strict=True):
        rows[name] = column
    return rows


def free_packets(count: int) -> tuple[Records, Records]:
    """Return `count` packets, all of them free."""
    packets, pool = np.zeros(count, PACKET), np.zeros(1, POOL)
    packets["next"] = np.arange(1, count + 1)
    pool["count"] = count
    return packets, pool


def grown(state: State) -> State:
    """Return the state with room for twice as many packets."""
    net = state.net
    old = len(net.packets)
    packets, pool = free_packets(2 * old)
    packets[:old] = net.packets
    # The new ones are free, and the old free ones follow them.
    packets[-1]["next"] = net.pool[0]["free"]
    pool["free"], pool["count"] = old, old + net.pool[0]["count"]
    pool["finished"] = net.pool["finished"]
    room = len(packets)
    return state._replace(
        net=net._replace(packets=packets, pool=pool, order=zeros(room), scratch=zeros(room))
    )


def integers(values: Any) -> Ints:  # noqa: ANN401
    """Return an array of 64-bit integers."""
    return np.array(values, np.int64)


def zeros(count: int) -> Ints:
    """Return `count` zeros."""
    return np.zeros(count, np.int64)


def filled(count: int, value: int) -> Ints:
    """Return `count` times a value."""
    return np.full(count, value, np.int64)
