"""Write a training scenario from files that record or describe a training step elsewhere."""

from collections.abc import Callable, Mapping, Sequence
from math import prod
from pathlib import Path
from typing import Literal, get_args

import yaml

from innet.errors import ConfigurationError
from innet.files import write_whole
from innet.scenario.asked import requests_of
from innet.scenario.load import parse_scenario
from innet.scenario.quantities import is_name
from innet.workload.importers.chakra_step import import_chakra
from innet.workload.importers.folding import folded
from innet.workload.importers.imported import Imported
from innet.workload.importers.training_loops import import_layers

Format = Literal["chakra", "astra-sim", "simai"]
FORMATS: tuple[Format, ...] = get_args(Format)

_SCENARIO = """\
# yaml-language-server: $schema=innet.schema.json
# Imported from {files} ({format}).
{notes}
# The network is made up, since such files do not describe one.
version: 1
name: {name}
seed: 1
topology: {{kind: star, workers: {workers}, link: {{rate: 100 Gbps, delay: 1 us}}}}
switch: {{latency: 400 ns, slots: 512}}
algorithms: [in_network, ring]
training:
  mesh: {mesh}
  dtype: {dtype}
  step:
{step}"""


def import_scenario(
    files: Sequence[Path],
    format: Format,
    output: Path,
    *,
    ranks: int | None = None,
    model_parallel: int | None = None,
    force: bool = False,
) -> tuple[str, ...]:
    """Write a training scenario with the step of `files`; return notes on what was left out.

    `ranks` and `model_parallel` are needed where the files do not say them. ConfigurationError,
    located in the file read, for what cannot be imported; also when `output` exists, unless
    `force`, or cannot be written.
    """
    if output.exists() and not force:
        raise ConfigurationError("exists already; --force replaces it", file=str(output))
    imported = _READERS[format](files, ranks, model_parallel)
    text = scenario_text(imported, files, format, output.stem)
    _check(text, files)
    write_whole(output, text.encode())
    return imported.notes


def _check(text: str, files: Sequence[Path]) -> None:
    """Refuse a step that `innet check` would refuse, before anything is written."""
    try:
        requests_of(parse_scenario(text))
    except ConfigurationError as error:
        told = f"holds a step that is no scenario: {error.message}"
        raise ConfigurationError(told, file=str(files[0])) from None


def scenario_text(imported: Imported, files: Sequence[Path], format: str, name: str) -> str:
    """Return the scenario file of an imported step on a star of its ranks.

    Such files give bytes and no types, so that elements have 4 bytes where all sums allow it,
    else 2.
    """
    halves = any(size % 4 for size in imported.summed_sizes())
    return _SCENARIO.format(
        files=", ".join(" ".join(file.name.split()) for file in files),
        format=format,
        notes="\n".join(f"# - {note}" for note in imported.notes),
        name=name if is_name(name) else "imported",
        workers=prod(imported.mesh.values()),
        mesh=_written(dict(imported.mesh), flow=True),
        dtype="float16" if halves else "float32",
        step=_indented(_written(folded(imported.step)), 4),
    )


class _Plain(yaml.SafeDumper):
    """Writes equal entries out, since scenario files have no aliases."""

    def ignore_aliases(self, data: object) -> bool:
        return True


def _written(value: object, flow: bool | None = None) -> str:
    """Return YAML; without `flow`, a collection of scalars takes one line."""
    text = yaml.dump(value, Dumper=_Plain, default_flow_style=flow, sort_keys=False, width=200)
    return str(text).rstrip("\n")


def _indented(text: str, by: int) -> str:
    return "".join(f"{' ' * by}{line}\n" for line in text.splitlines())


def _read_chakra(files: Sequence[Path], ranks: int | None, model_parallel: int | None) -> Imported:
    if model_parallel is not None:
        raise ConfigurationError("a Chakra trace names its groups; leave out --model-parallel")
    return import_chakra(files, ranks)


def _read_layers(files: Sequence[Path], ranks: int | None, model_parallel: int | None) -> Imported:
    if len(files) != 1:
        raise ConfigurationError(f"{len(files)} files are given; a layer workload is one")
    return import_layers(files[0], ranks, model_parallel)


_READERS: Mapping[Format, Callable[[Sequence[Path], int | None, int | None], Imported]] = {
    "chakra": _read_chakra,
    "astra-sim": _read_layers,
    "simai": _read_layers,
}
