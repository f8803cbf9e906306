"""Random stars, by seed, with all that the compiled engine takes."""

import dataclasses
import random
from pathlib import Path

from innet.engine.compiled.run import run_compiled
from innet.engine.simulate import simulate
from innet.errors import UnfinishedError
from innet.scenario.build import build_plan
from innet.scenario.load import parse_scenario

RATES = (1, 7, 10, 25, 100)  # Gbps
DELAYS = (0, 1, 333, 1000, 20_000)  # ns


def lossy_star(seed, most_chunks=60):
    """A plan: losses up to 40 %, timeouts below the round trip, stragglers, short queues."""
    draw = random.Random(seed)
    workers = draw.choice([1, 2, 3, 4, 5, 8, 17, 33])
    slots = draw.choice([1, 2, 4, 7, 16, 64])
    elements = draw.choice([32, 64, 256])
    chunks = draw.choice([0, 1, 3, 10, most_chunks // 2, most_chunks])
    text = f"""
version: 1
name: star
seed: {draw.randrange(10**6)}
limit: {draw.choice(["100 s", "100 s", "100 s", "2 ms"])}
topology:
  workers: {workers}
  link:
    rate: {draw.choice(RATES)} Gbps
    delay: {draw.choice(DELAYS)} ns
    loss: {draw.choice([0, 0, 0.001, 0.02, 0.1, 0.4])}
    queue: {draw.choice(["null", "null", "2 KB", "10 KB", "1 MB"])}
switch: {{latency: {draw.choice(DELAYS)} ns, slots: {slots}, guard: {draw.choice(["on", "off"])}}}
packet: {{elements: {elements}}}
host: {{{_host(draw, slots)}}}
workers: {{{", ".join(filter(None, (_worker(draw, worker) for worker in range(workers))))}}}
collective:
  size: {4 * max(0, chunks * elements - draw.choice([0, 5]))} B
  dtype: {draw.choice(["int32", "float32"])}
  check: never
algorithms: [in_network]
faults: [{", ".join(_fault(draw, workers) for _ in range(draw.choice([0, 0, 1, 2, 4])))}]
"""
    scenario = parse_scenario(text, "star.yaml", (), Path("."))
    return build_plan(scenario, "in_network", False, scenario.collective.elements)


def _host(draw, slots):
    cores = min(slots, draw.choice([1, 1, 1, 2, 3]))
    rto = draw.choice(["adaptive", "adaptive", "3 us", "20 us", "500 us"])
    costs = [draw.choice([0, 0, 0, 1, 150, 2_000]) for _ in range(2)]
    return f"rto: {rto}, cores: {cores}, send: {costs[0]} ns, receive: {costs[1]} ns"


def _worker(draw, worker):
    if draw.random() < 0.7:
        return ""
    start = draw.choice([1, 777, 50_000, 400_000])
    host = draw.choice(["", "", ", host: {send: 333 ns}", ", host: {send: 0 ns, receive: 1 us}"])
    return f"{worker}: {{start: {start} ns, link: {{rate: {draw.choice(RATES)} Gbps}}{host}}}"


def _fault(draw, workers):
    """A fault of links: some packets of one worker or of all, or of one that is cut off."""
    verb = draw.choice(["drop", "corrupt", "duplicate", "reorder", "delay", "partition"])
    place = draw.randrange(workers)
    times = [draw.choice([0, 1, 2_500, 90_000]), draw.choice([1, 3_000, 100_000])]
    if verb == "partition":
        return f"{{partition: {{node: {place}, at: {times[0]} ns, for: {times[1]} ns}}}}"
    ends = [draw.choice([str(place), "all"]), "switch"]
    draw.shuffle(ends)
    keys = [f"from: {ends[0]}, to: {ends[1]}"]
    keys.append(draw.choice(["packet: all", "packet: all", "packet: first", "packet: [2, 3, 40]"]))
    keys.append(f"probability: {draw.choice([0, 0.01, 0.1, 0.5, 1])}")
    keys.append(draw.choice(["", "", "kind: update", "kind: result", "kind: help", "chunk: 3"]))
    keys.append(draw.choice(["", f"after: {times[0]} ns", f"until: {sum(times)} ns"]))
    if verb in ("duplicate", "reorder", "delay"):
        keys.append(f"by: {draw.choice([1, 160, 7_000, 200_000])} ns")
    return f"{{{verb}: {{{', '.join(filter(None, keys))}}}}}"


def both(plan):
    """What the reference and the compiled engine say: a trace, or why there is none."""
    return _outcome(plan, simulate), _outcome(plan, run_compiled)


def _outcome(plan, engine):
    try:
        return dataclasses.replace(engine(plan), engine="")
    except UnfinishedError as error:
        return str(error)
