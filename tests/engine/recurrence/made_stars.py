"""Random loss-free stars, by seed, with all that the recurrence takes and some that it cannot."""

import dataclasses
import random
from pathlib import Path

from innet.plan.plan import Rto
from innet.scenario.build import build_plan
from innet.scenario.load import parse_scenario

RATES = ("7 Gbps", "10 Gbps", "25 Gbps", "40 Gbps", "100 Gbps")
DELAYS = ("0 ns", "1 ns", "333 ns", "1 us", "5 us")

# Worker 1's first chunks wait for worker 0, whose link is faster: the sums queue up for worker 1.
SLOW_RECEIVER = "workers: {0: {start: 50 us}, 1: {link: {rate: 1 Gbps}}}"


def plan_of(text):
    scenario = parse_scenario(text, "star.yaml", (), Path("."))
    return build_plan(scenario, "in_network", False, scenario.collective.elements)


def star(more="", workers=2, slots=4, chunks=40, rate="10 Gbps", link="", dtype="int32"):
    """The plan of a star with 204-byte packets, 163.2 ns at 10 Gbps, and 1 us everywhere."""
    return plan_of(f"""
version: 1
name: star
topology: {{workers: {workers}, link: {{rate: {rate}, delay: 1 us{link}}}}}
switch: {{latency: 1 us, slots: {slots}}}
packet: {{elements: 32}}
collective: {{size: {128 * chunks} B, dtype: {dtype}, check: never}}
algorithms: [in_network]
{more}
""")


def random_plan(seed):
    """Workers may differ in everything; some runs have timeouts, drops or no time to finish."""
    draw = random.Random(seed)
    slots = draw.choice([1, 2, 3, 4, 5, 8, 13, 32])
    cores = min(slots, draw.choice([1, 1, 2, 3]))
    costs = cores == 1 and draw.random() < 0.4
    workers = draw.randint(1, 6)
    plan = plan_of(f"""
version: 1
name: star
limit: {draw.choice(["100 s", "100 s", "100 s", "2 ms"])}
topology:
  workers: {workers}
  link: {{rate: {draw.choice(RATES)}, delay: {draw.choice(DELAYS)}, queue: {_queue(draw)}}}
switch: {{latency: {draw.choice(DELAYS)}, slots: {slots}, guard: {draw.choice(["on", "off"])}}}
packet: {{elements: {draw.choice([32, 64, 256])}}}
host: {{{_host(draw, costs)}, cores: {cores}, rto: {draw.choice(["adaptive", "1 ms", "30 us"])}}}
workers: {{{", ".join(_worker(draw, worker, costs) for worker in range(workers))}}}
collective:
  size: {4 * draw.randint(0, draw.choice([100, 3000, 20000]))} B
  dtype: {draw.choice(["int32", "float32"])}
  check: never
algorithms: [in_network]
""")
    if plan.rto.adaptive and draw.random() < 0.3:
        plan = dataclasses.replace(plan, rto=Rto(True, plan.rto.initial_ps, 1, plan.rto.maximum_ps))
    return plan


def _queue(draw):
    return draw.choice(["null", "null", "2 KB", "8 KB", "100 KB"])


def _host(draw, costs):
    send, receive = (draw.choice([0, 20, 200, 400]) if costs else 0 for _ in range(2))
    return f"send: {send} ns, receive: {receive} ns"


def _worker(draw, worker, costs):
    changed = []
    if draw.random() < 0.3:
        changed.append(f"start: {draw.choice([1, 50, 300, 900, 1500])} us")
    if draw.random() < 0.4:
        changed.append(f"link: {{rate: {draw.choice(RATES)}, delay: {draw.choice(DELAYS)}}}")
    if costs and draw.random() < 0.5:
        changed.append(f"host: {{{_host(draw, costs)}}}")
    return f"{worker}: {{{', '.join(changed)}}}"
