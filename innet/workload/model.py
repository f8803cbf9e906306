"""A model as training sees it: layers in the order of the forward pass.

A layer's parameters are given tensor by tensor, since gradients are summed in buckets of whole
tensors. Work is in floating-point operations a sample, a multiplication and an addition counting
as two.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Layer:
    """`tensors` are the elements of each parameter tensor, in the order of registration."""

    name: str
    tensors: tuple[int, ...]
    forward_flops: int
    backward_flops: int

    @property
    def parameters(self) -> int:
        """The elements of all tensors."""
        return sum(self.tensors)


@dataclass(frozen=True, slots=True)
class Model:
    """`tables` are embedding tables that are sharded over the ranks instead of replicated."""

    name: str
    layers: tuple[Layer, ...]
    tables: tuple[Layer, ...] = ()

    @property
    def parameters(self) -> int:
        """The elements of all layers and tables."""
        return sum(layer.parameters for layer in (*self.layers, *self.tables))

    @property
    def gradients(self) -> tuple[int, ...]:
        """The elements of every replicated tensor, in the order in which backward makes them.

        That is the reverse order of registration, as PyTorch assumes.
        """
        return tuple(size for layer in reversed(self.layers) for size in reversed(layer.tensors))
