"""Layer workloads of ASTRA-sim and SimAI: order, overlap, groups, what is left out, bad files."""

import pytest

from innet.errors import ConfigurationError
from innet.workload.importers.training_loops import import_layers


def written(tmp_path, text):
    path = tmp_path / "workload.txt"
    path.write_text(text)
    return path


def layers(*lines):
    return f"{len(lines)}\n" + "\n".join(lines) + "\n"


def test_data_parallel_sums_weights_beside_the_backward_pass(tmp_path):
    text = "DATA\n" + layers(
        "conv -1 10 NONE 0 20 NONE 0 30 ALLREDUCE 4000 5",
        "fc   -1 11 NONE 0 21 NONE 0 31 ALLREDUCE 8000 6",
    )
    imported = import_layers(written(tmp_path, text), 4, None)
    assert imported.mesh == {"dp": 4}
    assert list(imported.step) == [
        {"compute": "10 ns"},
        {"compute": "11 ns"},
        {"compute": "31 ns"},
        {"all_reduce": {"size": 8000, "over": "dp", "async": "weights1"}},
        {"compute": "21 ns"},
        {"compute": "30 ns"},
        {"all_reduce": {"size": 4000, "over": "dp", "async": "weights0"}},
        {"wait": "weights1"},
        {"wait": "weights0"},
        {"compute": "6 ns"},
    ]
    assert imported.totals() == {("all_reduce", "dp"): (2, 12000)}


def test_a_transformer_waits_for_its_activations_both_ways(tmp_path):
    text = "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 1 all_gpus: 8\n" + (
        layers("block -1 10 ALLREDUCE 64 20 ALLREDUCE 64 30 REDUCESCATTER 900 0")
    )
    imported = import_layers(written(tmp_path, text), None, None)
    assert imported.mesh == {"dp": 4, "tp": 2}
    assert list(imported.step) == [
        {"compute": "10 ns"},
        {"all_reduce": {"size": 64, "over": "tp"}},
        {"compute": "20 ns"},
        {"all_reduce": {"size": 64, "over": "tp"}},
        {"compute": "30 ns"},
        {"reduce_scatter": {"size": 900, "over": "dp", "async": "weights0"}},
        {"wait": "weights0"},
    ]


def test_experts_have_groups_of_their_own(tmp_path):
    first = "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 3 pp: 2 all_gpus: 24\n"
    text = first + layers(
        "moe -1 1 ALLTOALL_EP 9 1 ALLTOALL 8 1 ALLREDUCE_DP_EP 7 0",
        "grad -1 1 NONE 0 1 NONE 0 1 ALLGATHER 6 0",
    )
    imported = import_layers(written(tmp_path, text), None, None)
    assert imported.mesh == {"dp": 2, "ep": 3, "tp": 2}
    assert imported.totals() == {
        ("all_to_all", "ep"): (1, 9),
        ("all_to_all", "tp"): (1, 8),
        ("all_reduce", "dp"): (1, 7),
        ("all_gather", "dp,ep"): (1, 6),
    }
    assert "left out: transfers between 2 pipeline stages; this is one" in imported.notes


def test_hybrid_data_model_overlaps_the_inputs_gradient_with_the_weights(tmp_path):
    text = "HYBRID_DATA_MODEL\n" + layers(
        "a -1 0 ALLGATHER 5 1 ALLREDUCE 5 2 NONE 0 0",
        "b -1 0 ALLGATHER 5 3 ALLREDUCE 6 4 ALLREDUCE 7 0",
    )
    imported = import_layers(written(tmp_path, text), 6, 3)
    assert imported.mesh == {"dp": 2, "tp": 3}
    assert list(imported.step)[2:] == [
        {"compute": "3 ns"},
        {"all_reduce": {"size": 6, "over": "tp", "async": "inputs1"}},
        {"compute": "4 ns"},
        {"all_reduce": {"size": 7, "over": "dp", "async": "weights1"}},
        {"wait": "inputs1"},
        {"compute": "1 ns"},
        {"compute": "2 ns"},
        {"wait": "weights1"},
    ]


def test_dlrm_exchanges_embeddings_beside_its_bottom_layers(tmp_path):
    text = "HYBRID_DLRM\t1\n" + layers(
        "embedding -1 1 ALLTOALL 50 1 ALLTOALL 60 0 NONE 0 0",
        "bottom -1 2 NONE 0 3 NONE 0 4 ALLREDUCE 70 0",
        "top -1 5 NONE 0 6 NONE 0 7 ALLREDUCE 80 0",
    )
    imported = import_layers(written(tmp_path, text), 2, None)
    assert list(imported.step) == [
        {"compute": "1 ns"},
        {"all_to_all": {"size": 50, "over": "dp", "async": "exchange0"}},
        {"compute": "2 ns"},
        {"wait": "exchange0"},
        {"compute": "5 ns"},
        {"compute": "7 ns"},
        {"all_reduce": {"size": 80, "over": "dp", "async": "weights2"}},
        {"compute": "6 ns"},
        {"all_to_all": {"size": 60, "over": "dp", "async": "exchange_back"}},
        {"compute": "4 ns"},
        {"all_reduce": {"size": 70, "over": "dp", "async": "weights1"}},
        {"compute": "3 ns"},
        {"wait": "exchange_back"},
        {"wait": "weights2"},
        {"wait": "weights1"},
    ]


def test_customised_layers_say_themselves_whether_they_are_data_or_model_parallel(tmp_path):
    text = "HYBRID_CUSTOMIZED\n" + layers(
        "a -1 0 ALLREDUCE 5 0 NONE 0 0 ALLREDUCE 6 0 DATA",
        "b -1 0 ALLREDUCE 7 0 NONE 0 0 ALLREDUCE 8 0 MODEL",
        "c -1 0 ALLREDUCE 9 0 NONE 0 0 ALLREDUCE 10 0 HYBRID_DATA_MODEL",
    )
    imported = import_layers(written(tmp_path, text), 4, 2)
    assert imported.totals() == {
        ("all_reduce", "dp,tp"): (2, 7 + 6),
        ("all_reduce", "tp"): (1, 9),
        ("all_reduce", "dp"): (1, 10),
    }
    assert any(note.startswith("left out: 2 collectives in columns") for note in imported.notes)


def test_what_one_rank_does_alone_and_what_data_parallelism_never_runs_is_told(tmp_path):
    alone = "HYBRID_TRANSFORMER model_parallel_NPU_group: 1\n" + layers(
        "a -1 1 ALLREDUCE 5 1 NONE 0 1 NONE 0 0"
    )
    imported = import_layers(written(tmp_path, alone), 2, None)
    assert imported.totals() == {}
    assert "left out: 1 collective of one rank alone" in imported.notes
    data = "DATA\n" + layers("a -1 1 ALLREDUCE 5 1 NONE 0 1 NONE 0 0")
    notes = import_layers(written(tmp_path, data), 2, None).notes
    assert "left out: 1 collective in columns that DATA does not run" in notes


GOOD = "a -1 1 NONE 0 1 NONE 0 1 ALLREDUCE 8 0"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r":1: the file ends where the way to train in parallel should be"),
        ("DATA\n", r":2: the file ends where the number of layers should be"),
        ("DATA\nmany\n", r":2: the number of layers is 'many'; it must be a whole number"),
        (f"DATA\n2\n{GOOD}\n", r":4: the file ends where a layer's line should be"),
        (f"DATA\n1\n{GOOD}\n\n{GOOD}\n", r":5: there are more than the 1 layers that line 2"),
        (f"DATA\n1\n{GOOD} 7\n", r":3: a layer has 12 fields; this line has 13"),
        (f"DATA\n1\n{GOOD.replace('8', '-8')}\n", r":3: the weight gradient size is '-8'"),
        (f"DATA\n1\n{GOOD.replace('ALL', 'SOME')}\n", r":3: the weight .* is 'SOMEREDUCE'"),
        (f"SPATIAL\n1\n{GOOD}\n", r":1: 'SPATIAL' is not supported; the first line must begin"),
    ],
)
def test_a_broken_file_is_refused_with_its_line(tmp_path, text, message):
    with pytest.raises(ConfigurationError, match=message):
        import_layers(written(tmp_path, text), 4, None)


@pytest.mark.parametrize(
    ("first", "ranks", "model_parallel", "message"),
    [
        ("DATA", None, None, "does not say how many ranks"),
        ("HYBRID_DATA_MODEL", 4, None, "needs the number of model-parallel ranks"),
        ("HYBRID_DATA_MODEL", 4, 3, "4 ranks are no multiple of 3 model-parallel ranks"),
    ],
)
def test_numbers_of_ranks_must_be_there_and_fit(tmp_path, first, ranks, model_parallel, message):
    with pytest.raises(ConfigurationError, match=message):
        import_layers(written(tmp_path, f"{first}\n1\n{GOOD}\n"), ranks, model_parallel)


def test_a_file_that_is_not_there_or_no_text_is_refused(tmp_path):
    with pytest.raises(ConfigurationError, match="cannot be read"):
        import_layers(tmp_path / "nowhere.txt", 2, None)
    path = tmp_path / "binary.txt"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigurationError, match="is no text file"):
        import_layers(path, 2, None)
