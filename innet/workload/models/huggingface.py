"""Models from the `config.json` that Hugging Face's transformers keep beside the weights.

Keys and their defaults differ by family; a missing key means the default of the family's class.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from innet.errors import ConfigurationError, unreadable
from innet.workload.model import Model
from innet.workload.models.transformers import Decoder, EncoderDecoder, bert, decoder, gpt2, t5

_NOT_THERE = object()


class _Config:
    """A parsed file whose values are asked for with the class's defaults."""

    def __init__(self, path: Path, values: Mapping[str, Any]) -> None:
        self._path, self._values = path, values

    def number(self, key: str, default: int) -> int:
        """A positive integer."""
        value = self._values.get(key, default)
        if type(value) is not int or value < 1:
            raise self.error(key, f"{value!r} is not a whole number of at least 1")
        return value

    def number_or_none(self, key: str) -> int | None:
        """A positive integer, or None where it is null or missing."""
        return None if self._values.get(key) is None else self.number(key, 1)

    def flag(self, key: str, default: bool) -> bool:
        """A boolean."""
        value = self._values.get(key, default)
        if type(value) is not bool:
            raise self.error(key, f"{value!r} is neither true nor false")
        return value

    def text(self, key: str, default: object = _NOT_THERE) -> str:
        """A string."""
        value = self._values.get(key, default)
        if not isinstance(value, str):
            raise self.error(key, "a text is needed here")
        return value

    def error(self, key: str, message: str) -> ConfigurationError:
        """What is wrong with a key."""
        return ConfigurationError(message, file=str(self._path), key=key)


def model_from_config(path: Path, sequence: int) -> Model:
    """Return the model of a `config.json` for samples of `sequence` tokens.

    ConfigurationError, with the file and the key, for a family or a value that is not supported.
    """
    config = _Config(path, _read(path))
    family = config.text("model_type")
    build = _FAMILIES.get(family)
    if build is None:
        known = ", ".join(_FAMILIES)
        raise config.error("model_type", f"'{family}' is not supported; these are: {known}")
    return build(config, config.text("_name_or_path", family) or family, sequence)


def _read(path: Path) -> Mapping[str, Any]:
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise unreadable(path, error) from None
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(f"no JSON: {error}", file=str(path)) from None
    if not isinstance(values, dict):
        raise ConfigurationError("no JSON object", file=str(path))
    return values


def _llama(
    config: _Config,
    name: str,
    sequence: int,
    vocabulary: int = 32000,
    intermediate: int = 11008,
    kv_heads: int | None = None,
    experts: tuple[int, int] = (1, 1),
) -> Model:
    heads = config.number("num_attention_heads", 32)
    hidden = config.number("hidden_size", 4096)
    head_width = config.number_or_none("head_dim")
    if head_width is None and hidden % heads:
        raise config.error("hidden_size", f"{hidden} cannot be split over {heads} heads")
    if config.flag("mlp_bias", False):
        raise config.error("mlp_bias", "biases of feed-forward halves are not supported")
    bias = config.flag("attention_bias", False)
    shape = Decoder(
        layers=config.number("num_hidden_layers", 32),
        hidden=hidden,
        heads=heads,
        kv_heads=config.number_or_none("num_key_value_heads") or kv_heads or heads,
        intermediate=config.number("intermediate_size", intermediate),
        vocabulary=config.number("vocab_size", vocabulary),
        head_width=head_width,
        tied=config.flag("tie_word_embeddings", False),
        qkv_bias=bias,
        output_bias=bias,
        experts=experts[0],
        experts_used=experts[1],
    )
    return decoder(name, shape, sequence)


def _mistral(config: _Config, name: str, sequence: int) -> Model:
    return _llama(config, name, sequence, intermediate=14336, kv_heads=8)


def _mixtral(config: _Config, name: str, sequence: int) -> Model:
    experts = config.number("num_local_experts", 8)
    used = config.number("num_experts_per_tok", 2)
    if used > experts:
        raise config.error("num_experts_per_tok", f"{used} of {experts} experts")
    return _llama(config, name, sequence, intermediate=14336, kv_heads=8, experts=(experts, used))


def _gpt2(config: _Config, name: str, sequence: int) -> Model:
    return gpt2(
        name,
        config.number("n_layer", 12),
        config.number("n_embd", 768),
        sequence,
        config.number("n_positions", 1024),
        config.number("vocab_size", 50257),
        config.number_or_none("n_inner"),
    )


def _bert(config: _Config, name: str, sequence: int) -> Model:
    return bert(
        name,
        config.number("num_hidden_layers", 12),
        config.number("hidden_size", 768),
        config.number("intermediate_size", 3072),
        sequence,
        config.number("max_position_embeddings", 512),
        config.number("vocab_size", 30522),
        config.number("type_vocab_size", 2),
    )


def _t5(config: _Config, name: str, sequence: int) -> Model:
    return _encoder_decoder(config, name, sequence, (6, 8, 2048, 32128), "relu", tied=True)


def _mt5(config: _Config, name: str, sequence: int) -> Model:
    return _encoder_decoder(config, name, sequence, (8, 6, 1024, 250112), "gated-gelu", tied=False)


def _encoder_decoder(
    config: _Config,
    name: str,
    sequence: int,
    defaults: tuple[int, int, int, int],
    activation: str,
    tied: bool,
) -> Model:
    default_layers, heads, intermediate, vocabulary = defaults
    layers = config.number("num_layers", default_layers)
    shape = EncoderDecoder(
        layers=layers,
        decoder_layers=config.number_or_none("num_decoder_layers") or layers,
        hidden=config.number("d_model", 512),
        heads=config.number("num_heads", heads),
        head_width=config.number("d_kv", 64),
        intermediate=config.number("d_ff", intermediate),
        vocabulary=config.number("vocab_size", vocabulary),
        buckets=config.number("relative_attention_num_buckets", 32),
        gated=config.text("feed_forward_proj", activation).startswith("gated-"),
        tied=config.flag("tie_word_embeddings", tied),
    )
    return t5(name, shape, sequence)


_FAMILIES: Mapping[str, Callable[[_Config, str, int], Model]] = {
    "bert": _bert,
    "gpt2": _gpt2,
    "llama": _llama,
    "mistral": _mistral,
    "mixtral": _mixtral,
    "mt5": _mt5,
    "t5": _t5,
}
