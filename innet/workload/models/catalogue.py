"""The models that innet knows by name."""

from collections.abc import Callable, Mapping

from innet.errors import ConfigurationError
from innet.workload.model import Model
from innet.workload.models import recommendation, vision
from innet.workload.models.transformers import Decoder, EncoderDecoder, bert, decoder, gpt2, t5

_WITHOUT_SEQUENCE: Mapping[str, Callable[[], Model]] = {
    "alexnet": vision.alexnet,
    "dlrm": recommendation.dlrm,
    "resnet50": vision.resnet50,
    "vgg16": vision.vgg16,
    "vgg19": vision.vgg19,
    "vit_b_16": vision.vit_b_16,
}

# Layers, hidden, heads, heads of keys and values, intermediate, vocabulary.
_DECODERS: Mapping[str, Decoder] = {
    "llama_7b": Decoder(32, 4096, 32, 32, 11008, 32000),
    "llama2_7b": Decoder(32, 4096, 32, 32, 11008, 32000),
    "llama2_13b": Decoder(40, 5120, 40, 40, 13824, 32000),
    "llama2_70b": Decoder(80, 8192, 64, 8, 28672, 32000),
    "llama3_8b": Decoder(32, 4096, 32, 8, 14336, 128256),
    "llama3_70b": Decoder(80, 8192, 64, 8, 28672, 128256),
    "llama3_405b": Decoder(126, 16384, 128, 8, 53248, 128256),
    "mixtral_8x7b": Decoder(32, 4096, 32, 8, 14336, 32000, experts=8, experts_used=2),
}

_GPT2: Mapping[str, tuple[int, int]] = {  # layers, hidden
    "gpt2": (12, 768),
    "gpt2_medium": (24, 1024),
    "gpt2_large": (36, 1280),
    "gpt2_xl": (48, 1600),
}

_BERT: Mapping[str, tuple[int, int, int]] = {  # layers, hidden, inner
    "bert_base": (12, 768, 3072),
    "bert_large": (24, 1024, 4096),
}

_ENCODER_DECODERS: Mapping[str, EncoderDecoder] = {
    "mt5_xxl": EncoderDecoder(24, 24, 4096, 64, 64, 10240, 250112),
}

MODELS = tuple(sorted((*_WITHOUT_SEQUENCE, *_DECODERS, *_GPT2, *_BERT, *_ENCODER_DECODERS)))


def model_named(name: str, sequence: int | None = None) -> Model:
    """Return a model by name; `sequence` is the tokens of a sample, for language models only.

    ConfigurationError for an unknown name, a missing sequence, or one that has no meaning.
    """
    if name not in MODELS:
        raise ConfigurationError(f"'{name}' is not a model; use {', '.join(MODELS)}")
    plain = _WITHOUT_SEQUENCE.get(name)
    if plain is not None:
        if sequence is not None:
            raise ConfigurationError(f"{name} has samples of one size; leave out the sequence")
        return plain()
    if sequence is None or sequence < 1:
        raise ConfigurationError(f"{name} needs a sequence length of at least 1 token")
    return _language_model(name, sequence)


def _language_model(name: str, sequence: int) -> Model:
    if name in _DECODERS:
        return decoder(name, _DECODERS[name], sequence)
    if name in _GPT2:
        return gpt2(name, *_GPT2[name], sequence)
    if name in _BERT:
        return bert(name, *_BERT[name], sequence)
    return t5(name, _ENCODER_DECODERS[name], sequence)
