"""Language models from their shapes: BERT, GPT-2, Llama, Mixtral and mT5.

A layer is the embedding, the attention or the feed-forward half of a block with its
normalisation, or the head, so that tensor parallelism can put a sum behind each half. A sample
is a sequence of `sequence` tokens. Tensors are in the order of Hugging Face's classes.
"""

from dataclasses import dataclass

from innet.workload.model import Layer, Model
from innet.workload.models.parts import (
    attention_flops,
    attention_half,
    feed_forward_half,
    layer,
    matrix,
    norm,
    pre_norm_block,
)


@dataclass(frozen=True, slots=True)
class Decoder:
    """The shape of a Llama-like model: RMS norms, rotary positions, gated feed-forward halves.

    With `experts` above 1 each feed-forward half has so many and a router that sends every token
    to `experts_used` of them (Mixtral). `tied` says that the head shares the embedding.
    """

    layers: int
    hidden: int
    heads: int
    kv_heads: int
    intermediate: int
    vocabulary: int
    head_width: int | None = None
    tied: bool = False
    qkv_bias: bool = False
    output_bias: bool = False
    experts: int = 1
    experts_used: int = 1


def decoder(name: str, shape: Decoder, sequence: int) -> Model:
    """Return a Llama-like model (Touvron et al., 2023; Jiang et al., Mixtral of Experts, 2024)."""
    layers = [layer("embedding", (shape.vocabulary * shape.hidden,))]
    for block in range(shape.layers):
        layers.append(_decoder_attention(f"block{block}.attention", shape, sequence))
        layers.append(_decoder_feed_forward(f"block{block}.feed_forward", shape, sequence))
    weights = shape.hidden * shape.vocabulary
    tensors = norm(shape.hidden, bias=False) + (() if shape.tied else (weights,))
    return Model(name, (*layers, layer("head", tensors, 2 * sequence * weights)))


def _decoder_attention(name: str, shape: Decoder, sequence: int) -> Layer:
    hidden = shape.hidden
    head_width = shape.head_width or hidden // shape.heads
    query, key = shape.heads * head_width, shape.kv_heads * head_width
    weights = hidden * (2 * query + 2 * key)
    tensors = (
        *norm(hidden, bias=False),
        *matrix(hidden, query, shape.qkv_bias),
        *matrix(hidden, key, shape.qkv_bias),
        *matrix(hidden, key, shape.qkv_bias),
        *matrix(query, hidden, shape.output_bias),
    )
    return layer(name, tensors, 2 * sequence * weights + attention_flops(sequence, sequence, query))


def _decoder_feed_forward(name: str, shape: Decoder, sequence: int) -> Layer:
    hidden, expert = shape.hidden, shape.hidden * shape.intermediate
    router = hidden * shape.experts if shape.experts > 1 else 0
    tensors = (
        norm(hidden, bias=False) + ((router,) if router else ()) + 3 * shape.experts * (expert,)
    )
    return layer(name, tensors, 2 * sequence * (router + 3 * shape.experts_used * expert))


def gpt2(
    name: str,
    layers: int,
    hidden: int,
    sequence: int,
    positions: int = 1024,
    vocabulary: int = 50257,
    inner: int | None = None,
) -> Model:
    """Return a GPT-2 (Radford et al., 2019); its head shares the embedding."""
    inner = 4 * hidden if inner is None else inner
    blocks = [layer("embedding", (vocabulary * hidden, positions * hidden))]
    for block in range(layers):
        blocks += pre_norm_block(f"block{block}", sequence, hidden, inner)
    head = layer("head", norm(hidden), 2 * sequence * hidden * vocabulary)
    return Model(name, (*blocks, head))


def bert(
    name: str,
    layers: int,
    hidden: int,
    inner: int,
    sequence: int,
    positions: int = 512,
    vocabulary: int = 30522,
    types: int = 2,
) -> Model:
    """Return a BERT encoder with its pooler (Devlin et al., NAACL 2019), without a task's head."""
    tables = (vocabulary * hidden, positions * hidden, types * hidden)
    blocks = [layer("embedding", tables + norm(hidden))]
    for block in range(layers):
        attention = 4 * matrix(hidden, hidden) + norm(hidden)
        feed_forward = (*matrix(hidden, inner), *matrix(inner, hidden), *norm(hidden))
        blocks += [
            attention_half(f"block{block}.attention", attention, sequence, hidden),
            feed_forward_half(f"block{block}.feed_forward", feed_forward, sequence, hidden, inner),
        ]
    return Model(name, (*blocks, layer("pooler", matrix(hidden, hidden), 2 * hidden * hidden)))


@dataclass(frozen=True, slots=True)
class EncoderDecoder:
    """The shape of an mT5: `layers` on either side, `heads` of `head_width`, gated halves."""

    layers: int
    decoder_layers: int
    hidden: int
    heads: int
    head_width: int
    intermediate: int
    vocabulary: int
    buckets: int = 32
    gated: bool = True
    tied: bool = False


def t5(name: str, shape: EncoderDecoder, sequence: int) -> Model:
    """Return an mT5 or T5 (Raffel et al., JMLR 2020; Xue et al., mT5, NAACL 2021).

    Encoder and decoder see `sequence` tokens each. The first attention of either side has the
    table of relative positions.
    """
    layers = [layer("embedding", (shape.vocabulary * shape.hidden,))]
    for block in range(shape.layers):
        layers.append(_t5_attention(f"encoder{block}.attention", shape, sequence, block == 0))
        layers.append(_t5_feed_forward(f"encoder{block}.feed_forward", shape, sequence))
    layers.append(layer("encoder.norm", norm(shape.hidden, bias=False)))
    for block in range(shape.decoder_layers):
        layers.append(_t5_attention(f"decoder{block}.attention", shape, sequence, block == 0))
        layers.append(_t5_attention(f"decoder{block}.cross_attention", shape, sequence, False))
        layers.append(_t5_feed_forward(f"decoder{block}.feed_forward", shape, sequence))
    weights = shape.hidden * shape.vocabulary
    head = norm(shape.hidden, bias=False) + (() if shape.tied else (weights,))
    return Model(name, (*layers, layer("head", head, 2 * sequence * weights)))


def _t5_attention(name: str, shape: EncoderDecoder, sequence: int, positions: bool) -> Layer:
    inner = shape.heads * shape.head_width
    weights = shape.hidden * inner
    tensors = 4 * (weights,) + ((shape.buckets * shape.heads,) if positions else ())
    flops = 2 * sequence * 4 * weights + attention_flops(sequence, sequence, inner)
    return layer(name, tensors + norm(shape.hidden, bias=False), flops)


def _t5_feed_forward(name: str, shape: EncoderDecoder, sequence: int) -> Layer:
    weights = shape.hidden * shape.intermediate
    matrices = 3 if shape.gated else 2
    tensors = matrices * (weights,) + norm(shape.hidden, bias=False)
    return layer(name, tensors, 2 * sequence * matrices * weights)
