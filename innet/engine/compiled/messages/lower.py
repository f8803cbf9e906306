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
    NODE,
    OPERATION,
    PACKET,
    POOL,
    TOGETHER,
    WORK,
    Messages,
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
    lists: Any = steps_of(schedule)
    steps = Steps(*(_ints(column) for column in lists))
    ends = _ints(lists.source) * schedule.ranks + _ints(lists.target)
    pairs = np.unique(ends)
    streams = _streams(plan, schedule, stream, pairs)
    settings = _settings(plan.graph, stream, schedule, streams.source)
    hosts, members = _hosts(plan, streams.source)
    nodes, links, lanes = _graph(plan, 1 if stream.ack_bytes else 2)
    nodes["host"][hosts["node"]] = np.arange(len(hosts))
    due = _filled(len(nodes), NEVER)
    due[hosts["node"]] = members["start_ps"]
    packets, pool = _pool(max(_PACKETS_AT_FIRST, 2 * settings.need))
    room = len(packets)
    net = Net(links, lanes, packets, pool, due, _zeros(room), _zeros(room), _zeros(DIGITS))
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
        np.zeros(1, WORK),
    )


def _settings(graph: Graph, stream: Stream, schedule: Schedule, sources: Ints) -> Settings:
    lookahead_ps = _lookahead_ps(graph, min(stream.ack_bytes, stream.overhead_bytes + 1))
    order = APART
    if schedule.sending == "rendezvous":
        order = HOSTS_TOGETHER
    if lookahead_ps == 0:
        order = TOGETHER
    # An event sends at most an acknowledgement and the windows of all streams of a member or,
    # where others may send at once, of all. What waits for a limited link is noted besides.
    streams = len(sources)
    if schedule.sending != "rendezvous" and streams:
        streams = int(np.bincount(sources).max())
    need = 2 * (streams * stream.window + 1)
    return Settings(lookahead_ps, order, need, room_of(stream.window))


def _lookahead_ps(graph: Graph, least_bytes: int) -> int:
    """The shortest time from an event at a node to the arrival of what it sends."""
    return min(
        graph.nodes[link.source].latency_ps
        + serialisation_ps(least_bytes, link.rate_bps)
        + link.delay_ps
        for link in graph.links
    )


def _graph(plan: Plan, lanes_a_link: int) -> tuple[Records, Records, Records]:
    """Return the nodes, the links and the lanes of a plan's graph."""
    graph = plan.graph
    nodes, links = np.zeros(len(graph.nodes), NODE), np.zeros(len(graph.links), LINK)
    lanes = np.zeros(lanes_a_link * len(links), LANE)
    lanes["head"], lanes["arrival"] = -1, NEVER
    lane = 0
    for number, node in enumerate(graph.nodes):
        row = nodes[number]
        row["host"], row["latency_ps"], row["first_lane"] = -1, node.latency_ps, lane
        for link in graph.links_into[number]:
            links[link]["lane"] = lane
            lanes[lane : lane + lanes_a_link]["node"] = number
            lane += lanes_a_link
        row["end_lane"] = lane
    for index, link in enumerate(graph.links):
        row = links[index]
        row["delay_ps"], row["rate_bps"], row["first_sent"] = link.delay_ps, link.rate_bps, -1
        row["limit"] = -1 if link.queue_bytes is None else link.queue_bytes
        row["loss"], row["key"] = threshold(link.loss), stream_key(plan.seed, index, LOSS)
    links["wait_head"], links["ack_bytes"], links["data_bytes"] = -1, -1, -1
    return nodes, links, lanes


def _hosts(plan: Plan, sources: Ints) -> tuple[Records, Records]:
    """Return the hosts and the members of a plan, one at each."""
    count = len(plan.hosts)
    hosts, members = np.zeros(count, HOST), np.zeros(count, MEMBER)
    hosts["node"] = [host.node for host in plan.hosts]
    hosts["timer"], hosts["begin"], hosts["members"] = NEVER, np.arange(count), np.arange(count)
    members["host"] = np.arange(count)
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


def _streams(plan: Plan, schedule: Schedule, stream: Stream, pairs: Ints) -> Streams:
    """Return the streams of `pairs`, source * ranks + target each, ascending."""
    count, places = len(pairs), len(pairs) * room_of(stream.window)
    source, target = np.divmod(pairs, schedule.ranks)
    own = np.arange(count)
    way, path = _paths(plan, source, target)
    return Streams(
        source,
        target,
        np.searchsorted(source, source) if schedule.in_turn else own,
        way,
        path,
        opened=_zeros(count),
        is_open=_zeros(count),
        sending=_filled(count, -1),
        waiting=_filled(count, -1),
        last=_filled(count, -1),
        current=_zeros(count),
        base=_zeros(count),
        following=_zeros(count),
        highest=_zeros(count),
        lost=_zeros(count),
        end=_zeros(count),
        tries=_zeros(count),
        armed_at=_zeros(count),
        deadlines=_filled(count, NEVER),
        timers=np.tile(_ints(NEW_TIMER), count),
        expected=_zeros(count),
        complained=_zeros(count),
        state=_zeros(places),
        sent_at=_zeros(places),
        repeated=_zeros(places),
        content=_zeros(places),
        received=_zeros(places),
    )


def _paths(plan: Plan, source: Ints, target: Ints) -> tuple[Ints, Ints]:
    """Return where the paths of streams and of their acknowledgements begin, and all paths."""
    way: list[int] = []
    path: list[int] = []
    for a, b in zip(source.tolist(), target.tolist(), strict=True):
        for ends in ((a, b), (b, a)):
            way.append(len(path))
            path.extend(plan.routes.path(*ends))
    return _ints(way), _ints(path)


def _messages(plan: Plan, schedule: Schedule, stream: Stream, stream_of: Ints) -> Messages:
    bounds = _ints(block_bounds(plan.elements, schedule.blocks))
    first = _ints([message.first for message in schedule.messages])
    count = _ints([message.count for message in schedule.messages])
    size = (bounds[first + count] - bounds[first]) * ITEMSIZE[plan.dtype]
    packets = -(-size // stream.payload_bytes)
    return Messages(
        stream_of,
        size,
        packets,
        _zeros(len(size)),
        packets.copy(),
        _filled(len(size), -1),
    )


def _pool(count: int) -> tuple[Records, Records]:
    """Return `count` packets, all of them free."""
    packets, pool = np.zeros(count, PACKET), np.zeros(1, POOL)
    packets["next"] = np.arange(1, count + 1)
    pool["count"] = count
    return packets, pool


def grown(state: State) -> State:
    """Return the state with room for twice as many packets."""
    net = state.net
    old = len(net.packets)
    packets, pool = _pool(2 * old)
    packets[:old] = net.packets
    # The new ones are free, and the old free ones follow them.
    packets[-1]["next"] = net.pool[0]["free"]
    pool["free"], pool["count"] = old, old + net.pool[0]["count"]
    pool["finished"] = net.pool["finished"]
    room = len(packets)
    return state._replace(
        net=net._replace(packets=packets, pool=pool, order=_zeros(room), scratch=_zeros(room))
    )


def _ints(values: Any) -> Ints:  # noqa: ANN401
    return np.array(values, np.int64)


def _zeros(count: int) -> Ints:
    return np.zeros(count, np.int64)


def _filled(count: int, value: int) -> Ints:
    return np.full(count, value, np.int64)
