"""What a network does to packets, drawn at random from a seed: loss, doubling, overtaking.

There is no order of time but the one drawn: any packet may come next, any timer may run out
first. That is harsher than links with delays, and needs no clock.
"""

import random
from typing import Any, NamedTuple

from aggregation_net import AggregationNet, IntegerTensor
from stream_net import StreamNet

MOST_STEPS = 60_000
CROWD = 20  # with more packets on their way no timer runs out early, or they would grow in number


class Weather(NamedTuple):
    """Chances of each packet (`loss`, `doubling`) and each step (`early`: a timer runs out).

    `reorders`: any packet of a link may be next. `wipes`: how often a switch loses its state.
    """

    loss: float = 0.0
    doubling: float = 0.0
    early: float = 0.0
    reorders: bool = False
    wipes: int = 0


def fate(link: list[Any], weather: Weather, draws: random.Random) -> int | None:
    """The place of the packet that is delivered next, None when one is lost."""
    index = draws.randrange(len(link)) if weather.reorders else 0
    if draws.random() < weather.loss:
        link.pop(index)
        return None
    if draws.random() < weather.doubling:
        link.insert(index, link[index])
    return index


def early(packets: int, weather: Weather, draws: random.Random) -> bool:
    """Whether a timer runs out now, though `packets` are on their way."""
    return packets == 0 or (packets < CROWD and draws.random() < weather.early)


def play_job(
    net: AggregationNet, rounds: list[list[list[IntegerTensor]]], weather: Weather, seed: int
) -> None:
    """Let every worker w sum its tensors rounds[0][w], rounds[1][w], ..., each at its own pace.

    AssertionError if that takes unreasonably many steps.
    """
    draws = random.Random(seed)
    begun = [0] * net.workers
    wipes = weather.wipes
    for worker in range(net.workers):
        net.done[worker] = net.cores
    for _ in range(MOST_STEPS):
        idle = [worker for worker in range(net.workers) if net.done[worker] == net.cores]
        ready = [worker for worker in idle if begun[worker] < len(rounds)]
        waiting = [worker for worker in range(net.workers) if net.waiting(worker)]
        packets = sum(len(link) for link in (*net.up, *net.down))
        if not ready and len(idle) == net.workers:
            return
        if ready and (not packets or draws.random() < 0.3):
            worker = draws.choice(ready)
            net.all_reduce(worker, rounds[begun[worker]][worker])
            begun[worker] += 1
        elif waiting and early(packets, weather, draws):
            late = 1 if packets else draws.randint(1, len(waiting))
            for worker in draws.sample(waiting, late):
                net.run_out(worker)
        elif wipes and draws.random() < 0.02:
            wipes -= 1
            net.wipe(draws.randrange(1 << 16))
        else:
            step_job(net, weather, draws)
    places = [net.waiting(worker) for worker in range(net.workers)]
    raise AssertionError(f"not finished after {MOST_STEPS} steps; {places}")


def step_job(net: AggregationNet, weather: Weather, draws: random.Random) -> None:
    """Let one packet be lost or arrive."""
    ends = [(net.up, cable) for cable, packets in enumerate(net.up) if packets]
    ends += [(net.down, cable) for cable, packets in enumerate(net.down) if packets]
    links, cable = draws.choice(ends)
    index = fate(links[cable], weather, draws)
    if index is not None:
        (net.to_switch if links is net.up else net.to_worker)(cable, index)


def play_streams(net: StreamNet, weather: Weather, seed: int) -> None:
    """Move packets and timers until every stream's packets have been acknowledged."""
    draws = random.Random(seed)
    for _ in range(MOST_STEPS):
        links = sorted(link for link, packets in net.links.items() if packets)
        busy = [rank for rank, end in enumerate(net.endpoints) if end.unacknowledged()]
        if not busy:
            return
        if early(sum(len(net.links[link]) for link in links), weather, draws):
            net.run_out(draws.choice(busy))
            continue
        link = draws.choice(links)
        index = fate(net.links[link], weather, draws)
        if index is not None:
            net.deliver(link, index)
    raise AssertionError(f"not finished after {MOST_STEPS} steps")
