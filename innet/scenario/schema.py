"""The scenario: a frozen model of a whole file, with what it was made from."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import (
    Field,
    ModelWrapValidatorHandler,
    PrivateAttr,
    ValidationInfo,
    model_validator,
)

from innet.scenario.checks import inconsistencies
from innet.scenario.faults import Fault
from innet.scenario.located import located_error
from innet.scenario.problems import Origin
from innet.scenario.quantities import Name, PositiveDuration, whole_number
from innet.scenario.section import Section
from innet.scenario.sections import (
    Algorithms,
    CollectiveSection,
    HostSection,
    MessageSection,
    PacketSection,
    SwitchSection,
    WorkerSection,
)
from innet.scenario.sweep import SWEEP_FIELD, Sweep
from innet.scenario.topologies import MAXIMUM_WORKERS, TopologySection
from innet.scenario.training import TrainingSection


class Scenario(Section):
    """A validated scenario: of one collective, or of a whole training step.

    `source` is what it was made from, before any parsing.
    """

    version: Annotated[int, whole_number(1, 1)] = Field(description="Version of this format: 1.")
    name: Name = Field(description="Name of the run and of its folder.")
    seed: Annotated[int, whole_number(0, 2**64 - 1)] = Field(
        default=1, description="Decides every random draw and the generated tensors."
    )
    limit: PositiveDuration = Field(
        default=3600 * 10**12, description="Longest simulated time of a run."
    )
    topology: TopologySection
    switch: SwitchSection = SwitchSection()
    packet: PacketSection = PacketSection()
    host: HostSection = HostSection()
    message: MessageSection = MessageSection()
    collective_: CollectiveSection | None = Field(default=None, alias="collective")
    training: TrainingSection | None = None
    algorithms: Algorithms = Field(description="Algorithms to run, in this order.")
    workers: dict[Annotated[int, whole_number(0, MAXIMUM_WORKERS - 1)], WorkerSection] = Field(
        default={}, description="What differs, by worker index from 0."
    )
    faults: tuple[Fault, ...] = Field(default=(), description="Faults, each with one verb.")
    sweep: Annotated[Sweep | None, SWEEP_FIELD] = Field(
        default=None, description="Lists of values by dotted key: a grid, or zip."
    )
    _source: Mapping[str | int, Any] = PrivateAttr(default={})
    _origin: Origin = PrivateAttr(default=Origin({}))
    _folder: Path = PrivateAttr(default=Path())

    @model_validator(mode="after")
    def _one_workload(self) -> Self:
        if (self.collective_ is None) == (self.training is None):
            raise ValueError("give exactly one of collective and training")
        return self

    @model_validator(mode="after")
    def _consistent(self, info: ValidationInfo) -> Self:
        # With a sweep, the points are checked, not the values that they replace. Where a sweep
        # changes the number of workers, the context is the largest: an index must be below it.
        problems = [] if self.sweep else list(inconsistencies(self, info.context))
        if problems:
            raise located_error(problems)
        return self

    @model_validator(mode="wrap")
    @classmethod
    def _keep_source(cls, data: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:  # noqa: ANN401
        scenario = handler(data)
        if isinstance(data, Mapping):
            scenario._source = data
        return scenario

    @property
    def collective(self) -> CollectiveSection:
        """The collective, where the scenario is one of a collective."""
        assert self.collective_ is not None
        return self.collective_

    @property
    def source(self) -> Mapping[str | int, Any]:
        """The mapping that the scenario was validated from."""
        return self._source

    @property
    def origin(self) -> Origin:
        """Where the values came from, for errors that are found later."""
        return self._origin

    @property
    def folder(self) -> Path:
        """The scenario file's folder, to which the paths of tensors are relative."""
        return self._folder

    @property
    def tensor_files(self) -> tuple[Path, ...]:
        """The files of `collective.tensors`, found from the scenario's folder; may be empty."""
        files = self.collective_.tensors if self.collective_ is not None else None
        return tuple(self._folder / path for path in files or ())

    def remember(self, origin: Origin, folder: Path) -> None:
        """Note where the values came from; the loader's part of making a scenario."""
        self._origin = origin
        self._folder = folder

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """Return the JSON Schema of a scenario file, which editors check against."""
        return {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            **cls.model_json_schema(by_alias=True),
            "oneOf": [{"required": ["collective"]}, {"required": ["training"]}],
        }

    def resolved(self) -> dict[str, Any]:
        """Return every key with its value, defaults too, as a scenario file would hold them."""
        resolved = self.model_dump(mode="json", by_alias=True, exclude_none=True)
        resolved["workers"] = {index: _changed(worker) for index, worker in self.workers.items()}
        return resolved


def _changed(section: Section) -> dict[str, Any]:
    """Return what one worker changes; here null means something (`queue: null`)."""
    return section.model_dump(mode="json", by_alias=True, exclude_unset=True)
