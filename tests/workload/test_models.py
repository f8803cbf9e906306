"""Layer tables: published parameter counts, published work, PyTorch's buckets, config.json."""

import json

import pytest

from innet.errors import ConfigurationError
from innet.workload.buckets import bucket_sizes
from innet.workload.models.catalogue import MODELS, model_named
from innet.workload.models.huggingface import model_from_config

# What torchvision, Hugging Face and the papers' own code count. BERT has its pooler and no head.
PARAMETERS = {
    "alexnet": 61_100_840,
    "bert_base": 109_482_240,
    "bert_large": 335_141_888,
    "gpt2": 124_439_808,
    "gpt2_medium": 354_823_168,
    "gpt2_large": 774_030_080,
    "gpt2_xl": 1_557_611_200,
    "llama_7b": 6_738_415_616,
    "llama2_7b": 6_738_415_616,
    "llama2_13b": 13_015_864_320,
    "llama2_70b": 68_976_648_192,
    "llama3_8b": 8_030_261_248,
    "llama3_70b": 70_553_706_496,
    "llama3_405b": 405_853_388_800,
    "mixtral_8x7b": 46_702_792_704,
    "mt5_xxl": 12_921_057_280,
    "resnet50": 25_557_032,
    "vgg16": 138_357_544,
    "vgg19": 143_667_240,
    "vit_b_16": 86_567_656,
}
IMAGE_MODELS = ("alexnet", "resnet50", "vgg16", "vgg19", "vit_b_16", "dlrm")


def model(name, sequence=128):
    return model_named(name, None if name in IMAGE_MODELS else sequence)


@pytest.mark.parametrize("name", PARAMETERS)
def test_models_have_the_published_number_of_parameters(name):
    assert model(name).parameters == PARAMETERS[name]


def test_every_model_of_the_catalogue_is_counted_here():
    assert set(PARAMETERS) | {"dlrm"} == set(MODELS)


def test_dlrm_has_its_tables_apart_from_its_replicated_layers():
    dlrm = model("dlrm")
    # 187,767,399 rows of 128 in 26 tables; 13-512-256-128 and 479-1024-1024-512-256-1 beside.
    assert sum(table.parameters for table in dlrm.tables) == 187_767_399 * 128
    bottom = 13 * 512 + 512 + 512 * 256 + 256 + 256 * 128 + 128
    top = 480 * 1024 + 1025 * 1024 + 1025 * 512 + 513 * 256 + 257
    assert sum(layer.parameters for layer in dlrm.layers) == bottom + top


@pytest.mark.parametrize(
    ("name", "giga_macs"),
    # torchvision's documentation gives these for one image (GFLOPS there are multiply-adds).
    [
        ("alexnet", 0.71),
        ("resnet50", 4.09),
        ("vgg16", 15.47),
        ("vgg19", 19.63),
        ("vit_b_16", 17.56),
    ],
)
def test_work_of_image_models_is_torchvisions(name, giga_macs):
    flops = sum(layer.forward_flops for layer in model(name).layers)
    assert flops / 2e9 == pytest.approx(giga_macs, abs=0.006)


def test_work_of_a_language_model_is_two_flops_a_parameter_and_token_and_its_attention():
    llama = model("llama3_8b", 8192)
    embedding = 128256 * 4096
    norms = (2 * 32 + 1) * 4096
    products = 2 * 8192 * (llama.parameters - embedding - norms)
    attention = 32 * 4 * 8192 * 8192 * 4096
    assert sum(layer.forward_flops for layer in llama.layers) == products + attention
    assert all(layer.backward_flops == 2 * layer.forward_flops for layer in llama.layers)


def test_mixtral_works_with_two_experts_of_eight():
    mixtral, mistral_like = model("mixtral_8x7b", 16), model("llama2_7b", 16)
    half = next(layer for layer in mixtral.layers if layer.name == "block0.feed_forward")
    assert half.parameters == 4096 + 8 * 4096 + 8 * 3 * 4096 * 14336
    assert half.forward_flops == 2 * 16 * (8 * 4096 + 2 * 3 * 4096 * 14336)
    assert len(mistral_like.layers) == len(mixtral.layers) == 2 + 2 * 32


def test_resnet50_in_pytorchs_buckets_gives_the_all_reduces_of_a_recorded_run():
    # Sizes in bytes recorded in an execution trace of distributed ResNet-50 in float32.
    recorded = [8_196_000, 31_502_336, 26_255_360, 26_550_272, 9_724_160]
    assert bucket_sizes([4 * size for size in model("resnet50").gradients]) == recorded


def test_resnet50_has_the_layers_of_astra_sims_workload():
    """ResNet50_DataParallel: 54 layers, 102,011,648 bytes, without biases and normalisations."""
    layers = model_named("resnet50").layers
    assert len(layers) == 54
    assert sum(4 * layer.tensors[0] for layer in layers) == 102_011_648


def test_names_and_sequences_that_make_no_sense_are_refused():
    with pytest.raises(ConfigurationError, match="'gpt5' is not a model; use alexnet, "):
        model_named("gpt5")
    with pytest.raises(ConfigurationError, match="leave out the sequence"):
        model_named("vgg16", 128)
    for sequence in (None, 0, -1):
        with pytest.raises(ConfigurationError, match="at least 1 token"):
            model_named("gpt2", sequence)


# --- config.json ----------------------------------------------------------------------------


def config(tmp_path, **values):
    path = tmp_path / "config.json"
    path.write_text(json.dumps(values))
    return path


LLAMA3 = {
    "model_type": "llama",
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_attention_heads": 32,
    "num_hidden_layers": 32,
    "num_key_value_heads": 8,
    "vocab_size": 128256,
    "tie_word_embeddings": False,
    "torch_dtype": "bfloat16",
}


def test_a_config_gives_the_model_of_the_catalogue(tmp_path):
    read = model_from_config(config(tmp_path, **LLAMA3), 64)
    assert read.layers == model("llama3_8b", 64).layers


@pytest.mark.parametrize(
    ("family", "parameters"),
    # What the classes count when made of their own defaults.
    [
        ("llama", 6_738_415_616),
        ("mistral", 7_241_732_096),
        ("mixtral", 46_702_792_704),
        ("gpt2", 124_439_808),
        ("bert", 109_482_240),
        ("t5", 60_506_624),
        ("mt5", 300_176_768),
    ],
)
def test_missing_keys_mean_the_defaults_of_the_class(tmp_path, family, parameters):
    assert model_from_config(config(tmp_path, model_type=family), 32).parameters == parameters


def test_tied_heads_biases_and_wide_heads_count(tmp_path):
    plain = model_from_config(config(tmp_path, **LLAMA3), 8).parameters
    tied = model_from_config(config(tmp_path, **LLAMA3 | {"tie_word_embeddings": True}), 8)
    assert plain - tied.parameters == 128256 * 4096
    biased = model_from_config(config(tmp_path, **LLAMA3 | {"attention_bias": True}), 8)
    assert biased.parameters - plain == 32 * (4096 + 2 * 1024 + 4096)
    wide = model_from_config(config(tmp_path, **LLAMA3 | {"head_dim": 256}), 8)
    assert wide.parameters - plain == 32 * 4096 * (2 * 4096 + 2 * 1024)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model_type": "mamba"}, r"config.json: model_type: 'mamba' is not supported; these are"),
        ({"hidden_size": "big"}, r"hidden_size: 'big' is not a whole number of at least 1"),
        ({"num_hidden_layers": 0}, r"num_hidden_layers: 0 is not a whole number"),
        ({"num_attention_heads": True}, r"num_attention_heads: True is not a whole number"),
        ({"hidden_size": 4097}, r"hidden_size: 4097 cannot be split over 32 heads"),
        ({"tie_word_embeddings": "no"}, r"tie_word_embeddings: 'no' is neither true nor false"),
        ({"mlp_bias": True}, r"mlp_bias: biases of feed-forward halves are not supported"),
    ],
)
def test_a_wrong_config_is_refused_with_its_key(tmp_path, change, message):
    with pytest.raises(ConfigurationError, match=message):
        model_from_config(config(tmp_path, **LLAMA3 | change), 8)


@pytest.mark.parametrize(("text", "message"), [("{", "no JSON"), ("[1]", "no JSON object")])
def test_what_is_no_config_is_refused(tmp_path, text, message):
    path = tmp_path / "config.json"
    path.write_text(text)
    with pytest.raises(ConfigurationError, match=message):
        model_from_config(path, 8)
    with pytest.raises(ConfigurationError, match="cannot be read"):
        model_from_config(tmp_path / "nowhere.json", 8)
