"""Training scenarios for tests."""

import json

from innet.scenario.load import parse_scenario

NETWORK = "topology: {kind: star, workers: 4, link: {rate: 10 Gbps, delay: 1 us}}\n"


def step_text(step, network=NETWORK, algorithms="[in_network, ring]", **training):
    """The text of a scenario: a line for each statement, and JSON for the keys of training."""
    keys = {"mesh": {"dp": 4}, "dtype": "int32", **training}
    lines = [
        "version: 1",
        "name: made",
        network.rstrip("\n"),
        f"algorithms: {algorithms}",
        "training:",
        *(f"  {key}: {json.dumps(value)}" for key, value in keys.items()),
        "  step:",
        *(f"   - {json.dumps(statement)}" for statement in step),
    ]
    return "\n".join(lines) + "\n"


def step_scenario(step, folder=None, more="", **keys):
    """The scenario of such a text."""
    text = step_text(step, **keys) + more
    return parse_scenario(text, "made.yaml", **({} if folder is None else {"folder": folder}))
