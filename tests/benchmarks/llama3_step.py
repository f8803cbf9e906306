"""Time a step of Llama 3 8B on 64 hosts with tensor, pipeline and data parallelism, every packet.

Run with `python tests/benchmarks/llama3_step.py`. Each rack of eight hosts is a tensor-parallel
group; four stages of eight layers take eight micro-batches of 2,048 tokens in bfloat16. Compute
(10 ms forward a stage, 20 ms backward) is assumed. Both kinds of packets fill jumbo frames;
in the network a bfloat16 value takes the 4 bytes of a slot.
"""

import time

from innet.engine.simulate import simulate_step
from innet.scenario.asked import requests_of
from innet.scenario.build_step import build_step_plan
from innet.scenario.load import parse_scenario

SCENARIO = """\
version: 1
name: llama3_8b
topology:
  {kind: leaf_spine, racks: 8, hosts: 8, spines: 4, link: {rate: 400 Gbps, delay: 1 us}}
message: {payload: 8960 B}
packet: {elements: 2048, overhead: 86 B}
algorithms: [in_network, ring]
training:
  mesh: {pp: 4, dp: 2, tp: 8}
  dtype: bfloat16
  let: {m: 8, layers: 8, act: 2*2048*4096, f: 10 ms, w: 20 ms, shard: 2*8030261248/32}
  blocks:
    layer_fwd:
      - {compute: f/layers}
      - {repeat: 2, do: [{all_reduce: {size: act, over: tp}}]}
    layer_bwd:
      - {compute: w/layers}
      - {repeat: 2, do: [{all_reduce: {size: act, over: tp}}]}
    fwd:
      - {recv: {from: {pp: pp-1}, size: act}}
      - {repeat: layers, do: [layer_fwd]}
      - {send: {to: {pp: pp+1}, size: act, async: sent}}
    bwd:
      - {recv: {from: {pp: pp+1}, size: act}}
      - {repeat: layers, do: [layer_bwd]}
      - {send: {to: {pp: pp-1}, size: act, async: sent}}
  step:
    - {repeat: "min(m, pp_n-1-pp)", do: [fwd]}
    - {repeat: "m-min(m, pp_n-1-pp)", do: [fwd, bwd]}
    - {repeat: "min(m, pp_n-1-pp)", do: [bwd]}
    - {all_reduce: {size: shard, over: dp}}
"""


def main() -> None:
    """Run the step by each algorithm; print its simulated time, its hops and how long both took."""
    scenario = parse_scenario(SCENARIO)
    for algorithm in scenario.algorithms:
        began = time.perf_counter()
        plan = build_step_plan(scenario, algorithm, requests_of(scenario))
        planned = time.perf_counter()
        engine, trace = simulate_step(plan)
        simulated = time.perf_counter()
        hops, step_ms = sum(link.packets for link in trace.links), max(trace.finish_ps) / 1e9
        print(f"{algorithm}, {engine} engine: a step of {step_ms:.3f} ms, {hops:,} hops")
        print(f"  planned in {planned - began:.1f} s, simulated in {simulated - planned:.1f} s")


if __name__ == "__main__":
    main()
