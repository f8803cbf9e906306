"""Plans of a small scenario, to which tests add lines or in which they replace texts."""

from innet.plan.plan import Plan
from innet.scenario.build import build_plan
from innet.scenario.load import parse_scenario
from innet.scenario.schema import Scenario

BASE = """\
version: 1
name: base
seed: 9
topology: {workers: 4, link: {rate: 10 Gbps, loss: 0.01, queue: 1 MiB}}
switch: {latency: 1 us, slots: 128}
packet: {elements: 32}
collective: {size: 1 MiB, dtype: int32}
algorithms: [in_network, ring, parameter_server]
"""


def scenario(*added: str, **replaced: str) -> Scenario:
    text = BASE + "\n".join(added)
    for old, new in replaced.items():
        text = text.replace(old, new)
    return parse_scenario(text)


def plan(source: Scenario, algorithm: str = "in_network") -> Plan:
    return build_plan(source, algorithm, True, source.collective.elements or 0)
