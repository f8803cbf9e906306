"""Building blocks of layer tables: what a matrix, a convolution or a normalisation costs.

Only matrix products are counted as work; activations, normalisations and look-ups are bound by
memory and left out. The backward pass costs twice the forward pass: one product for the gradient
of the inputs and one for that of the weights.
"""

from itertools import pairwise

from innet.workload.model import Layer


def layer(name: str, tensors: tuple[int, ...], forward_flops: int = 0) -> Layer:
    """Return a layer whose backward pass costs twice its forward pass."""
    return Layer(name, tensors, forward_flops, 2 * forward_flops)


def matrix(inputs: int, outputs: int, bias: bool = True) -> tuple[int, ...]:
    """Return the tensors of a fully connected part."""
    return (inputs * outputs, outputs) if bias else (inputs * outputs,)


def norm(width: int, bias: bool = True) -> tuple[int, ...]:
    """Return the tensors of a normalisation: scale and, with `bias`, shift."""
    return (width, width) if bias else (width,)


def stack(name: str, widths: tuple[int, ...]) -> tuple[Layer, ...]:
    """Return fully connected layers from each width to the next, applied once a sample."""
    return tuple(
        layer(f"{name}{place}", matrix(inputs, outputs), 2 * inputs * outputs)
        for place, (inputs, outputs) in enumerate(pairwise(widths), start=1)
    )


def attention_flops(length: int, keys: int, width: int) -> int:
    """Return the work of scores and weighted sums of `length` queries over `keys` keys.

    Nothing is saved for a causal mask, as in the usual counts of Megatron-LM.
    """
    return 2 * (2 * length * keys * width)
