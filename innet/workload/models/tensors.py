"""Models of which only the tensors are known, as in the header of a safetensors file.

Tensors of one module are a layer: `h.0.mlp.c_fc.weight` and `.bias` are those of `h.0.mlp.c_fc`.
Such a file keeps no order of layers, so that their names order them, numbers by value; and it
says nothing of work, so that a layer takes no time.
"""

import re
from collections.abc import Mapping

from innet.workload.model import Layer, Model

_NUMBER = re.compile(r"(\d+)")


def model_of_tensors(name: str, elements: Mapping[str, int]) -> Model:
    """Return the model whose tensors have so many elements, by the tensor's full name."""
    modules: dict[str, list[str]] = {}
    for tensor in sorted(elements, key=_natural):
        modules.setdefault(tensor.rpartition(".")[0] or tensor, []).append(tensor)
    layers = (
        Layer(module, tuple(elements[tensor] for tensor in tensors), 0, 0)
        for module, tensors in modules.items()
    )
    return Model(name, tuple(layers))


def _natural(name: str) -> list[tuple[int, str]]:
    """Order by the parts of a name, those of digits by their value."""
    parts = _NUMBER.split(name)
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in parts]
