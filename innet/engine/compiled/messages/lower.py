"""How a network without operations becomes the flat arrays of a run, and how packets get room."""

from typing import Any

import numpy as np

from innet.collectives.progress import Steps
from innet.draws import LOSS, stream_key, threshold
from innet.engine.compiled.messages.state import (
    APART,
    HOST,
    LANE,
    LINK,
    MEMBER,
    MESSAGE,
    NEED,
    NODE,
    OPERATION,
    PACKET,
    PLACE,
    POOL,
    STEP_MEMBER,
    STEP_MESSAGE,
    STREAM_STATE,
    WORK,
    Net,
    Settings,
    State,
    Streams,
)
from innet.engine.compiled.state import DIGITS, Ints, Records
from innet.plan.plan import Fabric
from innet.protocol.machine import NEVER

_PACKETS_AT_FIRST = 1024
_LANES_A_LINK = 2  # the second one is for packets of 0 bytes


def lower(fabric: Fabric) -> State:
    """Return the state of a network on which nobody does anything; store.py adds operations."""
    nodes, links, lanes = _graph(fabric)
    hosts = np.zeros(len(fabric.hosts), HOST)
    hosts["node"] = [host.node for host in fabric.hosts]
    hosts["timer"], hosts["stopped_at"] = NEVER, NEVER
    hosts["timed"], hosts["begin"] = -1, -1
    nodes["host"][hosts["node"]] = np.arange(len(hosts))
    packets, pool = _pool(_PACKETS_AT_FIRST)
    due = np.full(len(nodes), NEVER, np.int64)
    sorting = _zeros(_PACKETS_AT_FIRST), _zeros(_PACKETS_AT_FIRST), _zeros(DIGITS)
    net = Net(links, lanes, _zeros(0), packets, pool, due, *sorting)
    work = np.zeros(1, WORK)
    work["broken_off"] = -1
    steps: Any = (np.zeros(0, STEP_MESSAGE), np.zeros(0, STEP_MEMBER), *(_zeros(0),) * 5, _zeros(2))
    return State(
        Settings(NEVER, APART, 1, 1, NEED),
        net,
        nodes,
        hosts,
        np.zeros(0, MEMBER),
        np.zeros(0, OPERATION),
        Streams(np.zeros(0, STREAM_STATE), _zeros(0), np.zeros(0, PLACE)),
        np.zeros(0, MESSAGE),
        Steps(*steps),
        None,
        work,
        _zeros(0),
    )


def _graph(fabric: Fabric) -> tuple[Records, Records, Records]:
    """Return the nodes, the links and the lanes of a graph."""
    graph = fabric.graph
    nodes, links = np.zeros(len(graph.nodes), NODE), np.zeros(len(graph.links), LINK)
    lanes = np.zeros(_LANES_A_LINK * len(links), LANE)
    lanes["head"], lanes["arrival"] = -1, NEVER
    lane = 0
    for number, node in enumerate(graph.nodes):
        row = nodes[number]
        row["host"], row["latency_ps"], row["first_lane"] = -1, node.latency_ps, lane
        for index in graph.links_into[number]:
            links[index]["lane"] = lane
            lanes[lane : lane + _LANES_A_LINK]["node"] = number
            lane += _LANES_A_LINK
        row["end_lane"] = lane
    for index, link in enumerate(graph.links):
        row = links[index]
        row["delay_ps"], row["rate_bps"], row["first_sent"] = link.delay_ps, link.rate_bps, -1
        row["limit"] = -1 if link.queue_bytes is None else link.queue_bytes
        row["loss"], row["key"] = threshold(link.loss), stream_key(fabric.seed, index, LOSS)
    links["wait_head"], links["ack_bytes"], links["data_bytes"] = -1, -1, -1
    return nodes, links, lanes


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
    pool[0] = net.pool[0]
    pool["free"], pool["count"] = old, old + net.pool[0]["count"]
    room = len(packets)
    return state._replace(
        net=net._replace(packets=packets, pool=pool, order=_zeros(room), scratch=_zeros(room))
    )


def _zeros(count: int) -> Ints:
    return np.zeros(count, np.int64)
