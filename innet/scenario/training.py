"""The section `training` of a scenario: a step of training on a mesh of ranks.

Statements, blocks and expressions stay as they were written: innet.workload parses them, and
innet.scenario.step says where in the file an error is.
"""

from collections.abc import Iterator, Mapping
from math import prod
from pathlib import Path
from typing import Annotated, Any, NamedTuple, Self

from pydantic import Field, model_validator

from innet import units
from innet.collectives.algorithms import ALGORITHMS
from innet.plan.plan import DType
from innet.scenario.located import Problem, located_error
from innet.scenario.quantities import (
    Duration,
    Name,
    Parsed,
    is_name,
    one_of,
    shown,
    whole_number,
)
from innet.scenario.section import Section
from innet.scenario.topologies import MAXIMUM_WORKERS
from innet.wire.dtypes import ITEMSIZE
from innet.workload.models.catalogue import MODELS
from innet.workload.parse import STATEMENT_KEYS

# What expressions know without `let`, beside the axes and their lengths.
GIVEN_NAMES = ("batch", "sequence")
_TAKEN_NAMES = ("rank", "ranks", "i", "n", "layer", *GIVEN_NAMES)
_FALLBACKS = tuple(name for name in ALGORITHMS if not ALGORITHMS[name].helpers)


def _parse_efficiency(value: object) -> float:
    known = isinstance(value, int | float) and not isinstance(value, bool)
    if known and 0 < float(str(value)) <= 1:
        return float(str(value))
    raise ValueError(f"{shown(value)} is no efficiency; write a number above 0, at most 1")


def _parse_work_rate(value: object) -> int:
    rate = units.parse_work_rate(value)
    if rate == 0:
        raise ValueError(f"{shown(value)}: this rate must be above 0")
    return rate


class DeviceSection(Section):
    """What computes: its rate, and the share of it that a model reaches."""

    rate: Annotated[
        int,
        Parsed(
            _parse_work_rate,
            {
                "type": "string",
                "pattern": f"^ *{units.NUMBER_PATTERN} *({'|'.join(units.WORK_RATE_UNITS)}) *$",
                "examples": ["100 TFLOPS"],
            },
            units.format_work_rate,
        ),
    ] = Field(description="Floating-point operations a second, such as 100 TFLOPS.")
    efficiency: Annotated[
        float,
        Parsed(_parse_efficiency, {"type": "number", "exclusiveMinimum": 0, "maximum": 1}),
    ] = Field(default=1.0, description="Share of the rate that is reached.")


class LayerSection(Section):
    """A layer with its measured times."""

    name: Name = Field(description="What the layer is called.")
    forward: Duration = Field(default=0, description="Time of the forward pass on a rank.")
    backward: Duration = Field(default=0, description="Time of the backward pass on a rank.")
    parameters: Annotated[int, whole_number(0, 10**13)] = Field(
        default=0, description="Parameters, all in one tensor."
    )


class ModelFile(NamedTuple):
    """A file that describes a model: `form` is config (Hugging Face) or safetensors."""

    form: str
    path: Path


_MODEL_FORMS = ("config", "safetensors")


def _parse_model(value: object) -> str | ModelFile:
    if isinstance(value, Mapping):
        form, file = next(iter(value.items()), ("", None))
        right = isinstance(file, str) and file and "\0" not in file
        if len(value) == 1 and form in _MODEL_FORMS and right:
            return ModelFile(form, Path(str(file)))
        raise ValueError(
            "write {config: FILE}, a Hugging Face config.json, or {safetensors: FILE}; relative "
            "to the scenario file"
        )
    if isinstance(value, str) and value in MODELS:
        return value
    raise ValueError(
        f"{shown(value)} is not a model; write {{config: FILE}}, {{safetensors: FILE}} or one of "
        f"{', '.join(MODELS)}"
    )


def _write_model(value: str | ModelFile) -> object:
    return {value.form: str(value.path)} if isinstance(value, ModelFile) else value


def _parse_mesh(value: object) -> dict[str, int]:
    if not isinstance(value, Mapping) or not value:
        raise ValueError("must be a mapping of axes to their lengths, such as {dp: 8}")
    problems: list[Problem] = []
    for axis, length in value.items():
        if not isinstance(axis, str) or not axis.isidentifier() or axis in _TAKEN_NAMES:
            problems.append(((axis,), f"{shown(axis)} cannot name an axis; write such as dp or tp"))
        elif isinstance(length, bool) or not isinstance(length, int) or length < 1:
            problems.append(((axis,), f"{shown(length)} is not a whole number of at least 1"))
    if not problems and prod(value.values()) > MAXIMUM_WORKERS:
        problems.append(((), f"more than {MAXIMUM_WORKERS} ranks"))
    if problems:
        raise located_error(problems)
    return dict(value)


def _parse_placement(value: object) -> str | tuple[int, ...]:
    if value in ("packed", "spread"):
        return str(value)
    if isinstance(value, list | tuple) and all(type(worker) is int for worker in value):
        return tuple(value)
    raise ValueError(
        f"{shown(value)} is no placement; write packed, spread, or the list of every rank's worker"
    )


def _write_placement(value: str | tuple[int, ...]) -> object:
    return value if isinstance(value, str) else list(value)


def _parse_let(value: object) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise ValueError("must be a mapping of names to expressions, such as {act: 2*batch*1024}")
    problems: list[Problem] = [
        ((name,), f"{name} is given already, by the key training.{name}; choose another")
        for name in GIVEN_NAMES
        if name in value
    ]
    if problems:
        raise located_error(problems)
    return dict(value)


def _parse_statements(value: object) -> list[Any]:
    if not isinstance(value, list | tuple):
        raise ValueError("must be a list of statements")
    return list(value)


def _parse_blocks(value: object) -> dict[str, list[Any]]:
    if not isinstance(value, Mapping):
        raise ValueError("must be a mapping of names to lists of statements")
    problems: list[Problem] = []
    for name, body in value.items():
        if not is_name(name):
            problems.append(((name,), f"{shown(name)} cannot name a block"))
        elif not isinstance(body, list | tuple):
            problems.append(((name,), "must be a list of statements"))
    if problems:
        raise located_error(problems)
    return {name: list(body) for name, body in value.items()}


_STATEMENTS = {
    "type": "array",
    "items": {
        "anyOf": [
            {"type": "string"},
            {"type": "object", "propertyNames": {"enum": list(STATEMENT_KEYS)}},
        ]
    },
}
_EXPRESSION = {"type": ["string", "number"]}
_INDICES = {"type": "array", "items": {"type": "integer", "minimum": 0}}


class TrainingSection(Section):
    """A step of training: which ranks there are, what they compute, and what they exchange."""

    mesh: Annotated[
        dict[str, int],
        Parsed(
            _parse_mesh,
            {
                "type": "object",
                "minProperties": 1,
                "additionalProperties": {"type": "integer", "minimum": 1},
            },
        ),
    ] = Field(description="Axes with their lengths; their product is the number of workers.")
    placement: Annotated[
        str | tuple[int, ...],
        Parsed(
            _parse_placement,
            {"anyOf": [{"enum": ["packed", "spread"]}, _INDICES]},
            _write_placement,
        ),
    ] = Field(
        default="packed",
        description="packed: neighbours along the last axis share a rack; spread: they do not; "
        "or the worker of every rank.",
    )
    model: (
        Annotated[
            str | ModelFile,
            Parsed(
                _parse_model,
                {
                    "anyOf": [
                        {"enum": list(MODELS)},
                        {
                            "type": "object",
                            "properties": {form: {"type": "string"} for form in _MODEL_FORMS},
                            "minProperties": 1,
                            "maxProperties": 1,
                            "additionalProperties": False,
                        },
                    ]
                },
                _write_model,
            ),
        ]
        | None
    ) = Field(
        default=None,
        description="A model's name, {config: FILE} of Hugging Face, or {safetensors: FILE}.",
    )
    batch: Annotated[int, whole_number(1, 10**9)] = Field(
        default=1, description="Samples a rank; expressions know it as batch."
    )
    sequence: Annotated[int, whole_number(1, 10**9)] | None = Field(
        default=None, description="Tokens a sample; expressions know it as sequence."
    )
    device: DeviceSection | None = None
    layers: tuple[LayerSection, ...] = Field(
        default=(), description="Layers with measured times, instead of a model."
    )
    dtype: Annotated[DType, one_of("a data type", *ITEMSIZE)] = Field(
        default="float32", description="Type of gradients and of all that is summed."
    )
    fallback: Annotated[str, one_of("a point-to-point algorithm", *_FALLBACKS)] = Field(
        default="ring", description="What runs, with in_network, where no switch can take part."
    )
    let: Annotated[
        dict[str, Any],
        Parsed(_parse_let, {"type": "object", "additionalProperties": _EXPRESSION}),
    ] = Field(default={}, description="Names for expressions, each from those before it.")
    blocks: Annotated[
        dict[str, list[Any]],
        Parsed(_parse_blocks, {"type": "object", "additionalProperties": _STATEMENTS}),
    ] = Field(default={}, description="Lists of statements with names.")
    step: Annotated[list[Any], Parsed(_parse_statements, _STATEMENTS)] = Field(
        description="What every rank does, in order."
    )

    @property
    def ranks(self) -> int:
        """The number of ranks."""
        return prod(self.mesh.values())

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        problems = list(self._problems())
        if problems:
            raise located_error(problems)
        return self

    def _problems(self) -> Iterator[Problem]:
        if self.model is not None and self.layers:
            yield ("layers",), "model gives the layers already; write one of the two"
        tensors = isinstance(self.model, ModelFile) and self.model.form == "safetensors"
        if tensors and self.device is not None:
            yield ("device",), "a safetensors file says nothing of work; leave the device out"
        if self.model is not None and self.device is None and not tensors:
            told = "a model's times need the device, such as {rate: 100 TFLOPS, efficiency: 0.4}"
            yield ("model",), told
        if self.model is None and self.device is not None:
            yield ("device",), "only a model's layers are computed from the device; leave it out"
