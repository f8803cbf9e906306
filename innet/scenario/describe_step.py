"""What a training scenario will run, in words and numbers."""

from collections import Counter
from collections.abc import Iterator

from innet.plan.step import StepPlan
from innet.scenario.asked import requests_of
from innet.scenario.build_step import build_step_plan
from innet.scenario.schema import Scenario
from innet.scenario.training import TrainingSection
from innet.units import format_duration, format_size, noun_for
from innet.workload.actions import TimedLayer


def step_facts(scenario: Scenario) -> Iterator[tuple[str, str]]:
    """Yield the facts of a training step: ranks, layers, and how its operations run.

    Raises ConfigurationError for an expression that has no right value at some rank.
    """
    training = scenario.training
    assert training is not None
    asked = requests_of(scenario)
    yield "ranks", _ranks(training)
    if asked.workload.layers:
        yield "layers", _layers(training, asked.workload.layers)
    first = next((x for x in scenario.algorithms if x == "in_network"), scenario.algorithms[0])
    plan = build_step_plan(scenario, first, asked)
    if first == "in_network":
        yield "packets", f"of in_network with {wire_type(scenario)}"
    told = list(_operations(plan))
    for place, text in enumerate(told):
        yield first if place == 0 else "", text


def wire_type(scenario: Scenario) -> str:
    """Return the values of a packet of in-network aggregation, and how a switch takes them."""
    switch, elements = scenario.switch, scenario.packet.elements
    told = f"{elements} values of {switch.wire}"
    if switch.elements_per_pass is None or elements <= switch.elements_per_pass:
        return told
    return f"{told} in {-(-elements // switch.elements_per_pass)} passes"


def _ranks(training: TrainingSection) -> str:
    axes = ", ".join(f"{axis} {length}" for axis, length in training.mesh.items())
    placement = training.placement if isinstance(training.placement, str) else "by list"
    return f"{training.ranks}: {axes}; placed {placement}"


def _layers(training: TrainingSection, layers: tuple[TimedLayer, ...]) -> str:
    parameters = sum(layer.parameters for layer in layers)
    gradients = sum(sum(layer.gradients) for layer in layers)
    forward = format_duration(sum(layer.forward_ps for layer in layers), 4)
    backward = format_duration(sum(layer.backward_ps for layer in layers), 4)
    told = f"{len(layers)}, {parameters} parameters, gradients of {format_size(gradients)}"
    told += f"; forward {forward}, backward {backward}"
    return told if training.model is None else f"{told} for a batch of {training.batch}"


def _operations(plan: StepPlan) -> Iterator[str]:
    """Yield how operations run that differ in kind, group size or decision; each counts once."""
    alike = Counter(
        (request.kind, len(request.group), lowered.how, lowered.why)
        for request, lowered in plan.operations.items()
    )
    for (kind, ranks, how, why), count in alike.items():
        told = f"{kind} of {ranks} ranks ({count} different {noun_for(count, 'call')}): {how}"
        yield f"{told}, since {why}" if why else told
