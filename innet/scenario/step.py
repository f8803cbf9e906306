"""From the section `training` of a scenario to the workload that every rank runs."""

from collections.abc import Iterator
from fractions import Fraction
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

from innet.errors import ConfigurationError, unreadable
from innet.scenario.training import DeviceSection, ModelFile, TrainingSection
from innet.tensors.safetensors import read_header
from innet.units import PS_PER_SECOND, divide_half_even
from innet.wire.dtypes import ITEMSIZE
from innet.workload.actions import Action, TimedLayer
from innet.workload.expression import parse_expression
from innet.workload.mesh import Mesh
from innet.workload.model import Layer, Model
from innet.workload.models.catalogue import model_named
from innet.workload.models.huggingface import model_from_config
from innet.workload.models.tensors import model_of_tensors
from innet.workload.parse import Path as StatementPath
from innet.workload.parse import parse_let, parse_step
from innet.workload.program import Workload
from innet.workload.statements import Definition, Place

if TYPE_CHECKING:
    from innet.scenario.schema import Scenario


def workload_of(scenario: "Scenario") -> Workload:
    """Return what the ranks of a training scenario run.

    ConfigurationError, with file, line and key, for a statement, a name of `let` or a model that
    is not right.
    """
    training = _training(scenario)

    def locate(path: StatementPath) -> Place:
        return Place(*scenario.origin.place(("training", *path)))

    axes = tuple(training.mesh)
    given = {"batch": training.batch, "sequence": training.sequence}
    try:
        step = parse_step(training.step, training.blocks, axes, locate)
        own = parse_let(training.let, axes, locate)
    except ConfigurationError as error:
        key = None if error.key is None else f"training.{error.key}"
        raise _at_point(scenario, error, key) from None
    known = {
        name: Definition(parse_expression(value), locate((name,)))
        for name, value in given.items()
        if value is not None
    }
    return Workload(Mesh(training.mesh), step, known | own, timed_layers(scenario))


def actions_of(scenario: "Scenario", workload: Workload, rank: int) -> Iterator[Action]:
    """Yield what a rank does in order; ConfigurationError names rank, line and operation."""
    try:
        yield from workload.program(rank)
    except ConfigurationError as error:
        raise _at_point(scenario, error, error.key) from None


def _training(scenario: "Scenario") -> TrainingSection:
    assert scenario.training is not None
    return scenario.training


def _at_point(
    scenario: "Scenario", error: ConfigurationError, key: str | None
) -> ConfigurationError:
    """Return an error with a key, and with the point of the sweep where it is met."""
    point = scenario.origin.point
    told = f"{error.message} (at the point {point} of the sweep)" if point else error.message
    return ConfigurationError(told, file=error.file, line=error.line, key=key)


def timed_layers(scenario: "Scenario") -> tuple[TimedLayer, ...]:
    """Return the layers of a training scenario as a rank sees them, in the forward order."""
    training = _training(scenario)
    item = ITEMSIZE[training.dtype]
    if training.model is None:
        return tuple(
            TimedLayer(
                layer.name,
                layer.forward,
                layer.backward,
                (layer.parameters * item,) if layer.parameters else (),
                layer.parameters,
            )
            for layer in training.layers
        )
    layers = model_of(scenario).layers
    return tuple(_timed(layer, training.batch, training.device, item) for layer in layers)


def model_of(scenario: "Scenario") -> Model:
    """Return the model that a training scenario names; ConfigurationError if there is none."""
    training = _training(scenario)
    given, sequence = training.model, training.sequence
    path = ("training", "model")
    if isinstance(given, ModelFile):
        if given.form == "config" and sequence is None:
            told = "needs training.sequence, the tokens of a sample"
            raise scenario.origin.error(path, told)
        try:
            return _model_in(scenario.folder / given.path, given.form, sequence)
        except ConfigurationError as error:
            raise scenario.origin.error(path, str(error)) from None
    assert given is not None
    try:
        return model_named(given, sequence)
    except ConfigurationError as error:
        raise scenario.origin.error(path, error.message) from None


def _model_in(path: Path, form: str, sequence: int | None) -> Model:
    """Return the model of a config.json, for samples of `sequence` tokens, or of tensors."""
    if form == "config":
        assert sequence is not None
        return model_from_config(path, sequence)
    try:
        entries, _ = read_header(path)
    except OSError as error:
        raise unreadable(path, error) from None
    return model_of_tensors(path.name, {entry.name: prod(entry.shape) for entry in entries})


def _timed(layer: Layer, batch: int, device: DeviceSection | None, item: int) -> TimedLayer:
    return TimedLayer(
        layer.name,
        0 if device is None else _work_ps(batch * layer.forward_flops, device),
        0 if device is None else _work_ps(batch * layer.backward_flops, device),
        tuple(elements * item for elements in layer.tensors),
        layer.parameters,
    )


def _work_ps(flops: int, device: DeviceSection) -> int:
    """Return how long some work takes, rounded half to even to a picosecond."""
    rate = device.rate * Fraction(str(device.efficiency))
    return divide_half_even(flops * PS_PER_SECOND * rate.denominator, rate.numerator)
