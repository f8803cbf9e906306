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


def attention_half(name: str, tensors: tuple[int, ...], length: int, width: int) -> Layer:
    """Return self-attention of `length` tokens with four square matrices among its tensors."""
    flops = 2 * length * 4 * width * width + attention_flops(length, length, width)
    return layer(name, tensors, flops)


def feed_forward_half(
    name: str, tensors: tuple[int, ...], length: int, width: int, inner: int
) -> Layer:
    """Return a feed-forward half of two matrices, to `inner` and back, for `length` tokens."""
    return layer(name, tensors, 2 * length * 2 * width * inner)


def pre_norm_block(name: str, length: int, width: int, inner: int) -> tuple[Layer, Layer]:
    """Return both halves of a block that normalises first and has one matrix for q, k and v."""
    attention = (*norm(width), *matrix(width, 3 * width), *matrix(width, width))
    feed_forward = (*norm(width), *matrix(width, inner), *matrix(inner, width))
    return (
        attention_half(f"{name}.attention", attention, length, width),
        feed_forward_half(f"{name}.feed_forward", feed_forward, length, width, inner),
    )
