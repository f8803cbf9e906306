"""Training scenarios: what is read, what is refused with file and line, and what it becomes."""

import json
from math import prod

import pytest

from innet.errors import ConfigurationError
from innet.scenario.asked import requests_of
from innet.scenario.build_step import build_step_plan
from innet.scenario.load import expand, parse_scenario
from innet.scenario.step import workload_of
from tests.scenario.made_steps import step_scenario, step_text

ALL_REDUCE = {"all_reduce": {"size": "1 KiB", "over": "dp"}}


@pytest.mark.parametrize(
    ("line", "key", "told", "changes"),
    [
        (9, "training.step.0.all_reduce.ovr", "unknown key 'ovr'", {"step": [
            {"all_reduce": {"size": 4, "ovr": "dp"}}]}),
        (11, "training.step.2", "unknown block 'fwd'", {"step": [ALL_REDUCE, ALL_REDUCE, "fwd"]}),
        (6, "training.mesh", "3 ranks do not run on 4 workers", {"mesh": {"dp": 3}}),
        (6, "training.mesh.rank", "cannot name an axis", {"mesh": {"rank": 4}}),
        (8, "rank 0", "let h: unknown name 'k'", {"let": {"h": "2*k"}}),
        (8, "training.let.batch", "given already, by the key training.b", {"let": {"batch": 2}}),
        (8, "training.model", "'resnet51' is not a model", {"model": "resnet51"}),
        (8, "training.model", "need the device", {"model": "resnet50"}),
        (8, "training.model", "gpt2 needs a sequence length", {"model": "gpt2", "device": {
            "rate": "1 TFLOPS"}}),
        (8, "training.device.rate", "'1 Tbps'", {"device": {"rate": "1 Tbps"}}),
        (8, "training.placement", "once", {"placement": [0, 1, 2, 2]}),
        (8, "training.fallback", "parameter_server", {"fallback": "parameter_server"}),
        (8, "training.blocks.fwd", "must be a list", {"blocks": {"fwd": 3}}),
        (8, "training.layers.0.name", "missing", {"layers": [{"forward": "1 ms"}]}),
        (4, "algorithms.1", "needs a host beside the workers", {
            "algorithms": "[ring, parameter_server]"}),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_with_file_line_and_key(line, key, told, changes):
    with pytest.raises(ConfigurationError) as caught:
        step_scenario(**{"step": [ALL_REDUCE], **changes})
    assert str(caught.value).startswith(f"made.yaml:{line}: {key}: ")
    assert told in str(caught.value)


@pytest.mark.parametrize("more", ["collective: {size: 1 KiB}\n", None])
def test_a_scenario_has_either_a_collective_or_a_training_step(more):
    text = step_text([ALL_REDUCE])
    text = text.partition("training:")[0] if more is None else text + more
    with pytest.raises(ConfigurationError, match="exactly one of collective and training"):
        parse_scenario(text)


def test_a_sum_of_a_part_of_an_element_is_told_with_rank_and_line():
    scenario = step_scenario([ALL_REDUCE, {"all_reduce": {"size": "6+rank", "over": "dp"}}])
    told = r"^made.yaml:10: rank 0: all_reduce: 6 B is not a whole number of int32 elements of 4 B$"
    with pytest.raises(ConfigurationError, match=told):
        requests_of(scenario)


def test_options_and_sweeps_reach_into_the_section():
    more = "sweep: {training.batch: [1, 2], training.let.h: [4, '8*rank+4*batch']}\n"
    step = [{"all_reduce": {"size": "batch*h", "over": "dp"}}]
    text = step_text(step, let={"h": 1}) + more
    swept = [requests_of(point.scenario).requests for point in expand(parse_scenario(text))[::2]]
    assert [[request.size for request in requests] for requests in swept] == [[4], [8]]
    with pytest.raises(ConfigurationError, match=r"^--set training.batch: '0'.*whole number"):
        parse_scenario(text, overrides=["training.batch='0'"])
    bad = "sweep: {training.let.h: [4, k]}\n"
    with pytest.raises(ConfigurationError) as caught:
        parse_scenario(step_text(step, let={"h": 1}) + bad, "made.yaml")
    told = "made.yaml:11: rank 0: let h: unknown name 'k'"
    assert str(caught.value).startswith(told)
    assert str(caught.value).endswith("(at the point training.let.h=k of the sweep)")


def test_the_resolved_form_is_the_same_scenario():
    step = ["work", {"repeat": "dp_n", "do": [ALL_REDUCE]}]
    scenario = step_scenario(
        step, model={"config": "model.json"}, device={"rate": "312 TFLOPS", "efficiency": 0.5},
        blocks={"work": [{"compute": "1 ms"}]}, placement=[3, 2, 1, 0], sequence=8,
        more="sweep: {training.model: [resnet50], training.sequence: [null]}\n",
    )  # fmt: skip
    resolved = scenario.resolved()
    again = parse_scenario(json.dumps(resolved))
    assert again.resolved() == resolved
    assert resolved["training"]["device"] == {"rate": "312 TFLOPS", "efficiency": 0.5}
    assert resolved["training"]["model"] == {"config": "model.json"}
    assert resolved["training"]["step"] == step


def test_a_models_layers_take_their_operations_over_the_rate_that_is_reached():
    scenario = step_scenario(
        [ALL_REDUCE], model="alexnet", batch=3, device={"rate": "2 TFLOPS", "efficiency": 0.25}
    )
    layers = workload_of(scenario).layers
    assert sum(layer.parameters for layer in layers) == 61_100_840
    assert sum(sum(layer.gradients) for layer in layers) == 4 * 61_100_840
    # The last layer multiplies 4096 by 1000: 2 operations a weight, at 0.5 per ps.
    assert layers[-1].forward_ps == 3 * 2 * 4096 * 1000 * 2
    assert layers[-1].backward_ps == 2 * layers[-1].forward_ps


def test_a_config_is_read_from_the_scenarios_folder(tmp_path):
    config = {"model_type": "gpt2", "n_layer": 1, "n_embd": 8, "n_head": 2, "vocab_size": 16}
    (tmp_path / "config.json").write_text(json.dumps(config))
    keys = {"model": {"config": "config.json"}, "device": {"rate": "1 GFLOPS"}}
    scenario = step_scenario([ALL_REDUCE], tmp_path, sequence=4, **keys)
    assert workload_of(scenario).layers
    with pytest.raises(ConfigurationError, match=r"made.yaml:9: training.model: .*cannot be read"):
        step_scenario([ALL_REDUCE], tmp_path / "other", sequence=4, **keys)
    with pytest.raises(ConfigurationError, match=r"made.yaml:8: .* needs training.sequence"):
        step_scenario([ALL_REDUCE], tmp_path, **keys)


def test_gradients_are_those_of_a_safetensors_header(tmp_path):
    shapes = {"h.10.w": [2, 3], "h.2.w": [5], "h.2.b": [5], "head": [7]}
    header, at = {}, 0
    for name, shape in shapes.items():
        size = 2 * prod(shape)
        header[name] = {"dtype": "F16", "shape": shape, "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header).encode()
    (tmp_path / "m.safetensors").write_bytes(len(text).to_bytes(8, "little") + text + bytes(at))
    model = {"safetensors": "m.safetensors"}
    scenario = step_scenario([ALL_REDUCE], tmp_path, model=model)
    layers = workload_of(scenario).layers
    assert [layer.name for layer in layers] == ["h.2", "h.10", "head"]
    assert [layer.gradients for layer in layers] == [(20, 20), (24,), (28,)]
    assert {layer.forward_ps + layer.backward_ps for layer in layers} == {0}
    assert scenario.resolved()["training"]["model"] == model
    with pytest.raises(ConfigurationError, match=r"made.yaml:9: training.device: .*no.* of work"):
        step_scenario([ALL_REDUCE], tmp_path, model=model, device={"rate": "1 TFLOPS"})
    with pytest.raises(ConfigurationError, match=r"made.yaml:8: training.model: .*cannot be read"):
        step_scenario([ALL_REDUCE], tmp_path / "other", model=model)


RACKS = (
    "topology: {kind: leaf_spine, racks: 2, hosts: 2, spines: 1, ranks: 2, "
    "link: {rate: 10 Gbps}, fast_link: {rate: 100 Gbps}}\n"
)


@pytest.mark.parametrize(
    ("placement", "workers"),
    [
        ("packed", [0, 1, 2, 3, 4, 5, 6, 7]),
        # Worker 4 is the first of the second rack, worker 2 of the first rack's second host.
        ("spread", [0, 4, 2, 6, 1, 5, 3, 7]),
        ([7, 6, 5, 4, 3, 2, 1, 0], [7, 6, 5, 4, 3, 2, 1, 0]),
    ],
)
def test_ranks_are_placed_on_workers(placement, workers):
    scenario = step_scenario([ALL_REDUCE], network=RACKS, mesh={"dp": 8}, placement=placement)
    plan = build_step_plan(scenario, "ring", requests_of(scenario))
    assert [host.node for host in plan.hosts] == workers


def test_gradients_are_summed_in_pytorchs_buckets():
    """PyTorch issue 48880: ready order 4000, 2048000, 3 x 9437184, 5 x 2359296 bytes."""
    sizes = [4000, 2048000, *[9437184] * 3, *[2359296] * 5]
    layers = [{"name": f"l{at}", "parameters": size // 4} for at, size in enumerate(sizes[::-1])]
    backward = {"all_reduce": {"size": "layer.grad", "over": "dp", "bucket": "25 MiB"}}
    scenario = step_scenario([{"each": "layer reversed", "do": [backward]}], layers=layers)
    asked = requests_of(scenario)
    assert [request.size for request in asked.requests] == [2052000, 28311552, 11796480]
    assert asked.calls == 4 * 3
