"""`innet import`: what it writes, what it says, what it refuses."""

import pytest

from innet.scenario.document import read_document
from innet.workload.importers.training_loops import import_layers
from tests.workload.made_steps import programs

LAYERS = """\
HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 1 all_gpus: 8 pp: 2
2
block -1 10 ALLREDUCE 64 20 ALLREDUCE 64 30 REDUCESCATTER 900 0
block -1 10 ALLREDUCE 64 20 ALLREDUCE 64 30 REDUCESCATTER 900 7
"""


@pytest.fixture
def workload(tmp_path):
    path = tmp_path / "llama.txt"
    path.write_text(LAYERS)
    return path


def test_a_scenario_is_written_that_reads_as_the_same_step(innet, workload):
    code, out, err = innet("import", workload, "--format", "simai", "-o", "scenario.yaml")
    assert (code, out) == (0, "wrote scenario.yaml; next: innet check scenario.yaml\n")
    notes = err.splitlines()
    assert "left out: transfers between 2 pipeline stages; this is one" in notes
    text = workload.with_name("scenario.yaml").read_text()
    assert all(f"# - {note}\n" in text for note in notes)
    written = read_document(text, "scenario.yaml").value
    imported = import_layers(workload, None, None)
    assert written["topology"]["workers"] == 4
    assert written["training"]["mesh"] == {"dp": 2, "tp": 2}
    assert written["training"]["step"][:2] == [
        {"repeat": 2, "do": [{"compute": "10 ns"}, {"all_reduce": {"size": 64, "over": "tp"}}]},
        {"compute": "20 ns"},
    ]
    found = programs(written["training"]["mesh"], written["training"]["step"])
    assert found == programs(imported.mesh, imported.step)
    assert len(found) == 4


def test_what_was_written_is_checked_without_a_complaint(innet, workload):
    assert innet("import", workload, "--format", "simai", "-o", "scenario.yaml")[0] == 0
    code, out, err = innet("check", "scenario.yaml")
    assert (code, err) == (0, "")
    assert "dp 2, tp 2" in out


def test_elements_have_half_the_bytes_where_sums_need_it(innet, workload):
    workload.write_text(LAYERS.replace("900", "902"))
    assert innet("import", workload, "--format", "simai", "-o", "s.yaml")[0] == 0
    written = read_document(workload.with_name("s.yaml").read_text(), "s.yaml").value
    assert written["training"]["dtype"] == "float16"
    assert innet("check", "s.yaml")[0] == 0


def test_a_step_that_is_no_scenario_is_refused(innet, workload):
    workload.write_text(LAYERS.replace("900", "901"))
    code, _, err = innet("import", workload, "--format", "simai", "-o", "s.yaml")
    assert code == 2
    assert err.startswith(f"{workload}: holds a step that is no scenario: rank 0: reduce_scatter: ")
    assert "901 B is not a whole number of float16 elements" in err
    assert not workload.with_name("s.yaml").exists()


def test_options_give_what_a_file_does_not_say(innet, workload):
    workload.write_text(LAYERS.partition(" ")[0] + "\n" + LAYERS.partition("\n")[2])
    options = ("--format", "astra-sim", "--output", "s.yaml")
    code, out, err = innet("import", workload, *options)
    assert (code, out) == (2, "")
    assert "does not say how many ranks there are" in err
    assert innet("import", workload, *options, "--ranks", 6, "--model-parallel", 3)[0] == 0
    written = read_document(workload.with_name("s.yaml").read_text(), "s.yaml").value
    assert written["training"]["mesh"] == {"dp": 2, "tp": 3}


def test_a_file_is_replaced_only_on_demand(innet, workload):
    target = workload.with_name("s.yaml")
    target.write_text("mine")
    options = ("--format", "simai", "-o", target)
    code, out, err = innet("import", workload, *options)
    assert (code, out) == (2, "")
    assert err == f"{target}: exists already; --force replaces it\n"
    assert target.read_text() == "mine"
    assert innet("import", workload, *options, "--force")[0] == 0
    assert target.read_text().startswith("# yaml-language-server")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nowhere.txt", "--format", "simai"), "nowhere.txt: cannot be read: No such file"),
        (("llama.txt", "--format", "chakra", "--ranks", "2"), "llama.txt: is no Chakra trace: "),
        (("llama.txt", "llama.txt", "--format", "simai"), "2 files are given; a layer workload"),
        (("llama.txt", "--format", "chakra", "--model-parallel", "2"), "leave out --model-parall"),
        (("llama.txt", "--format", "onnx"), "'onnx' is not one of"),
        (("--format", "simai"), "Missing argument 'FILE...'"),
    ],
)
@pytest.mark.usefixtures("workload")
def test_what_cannot_be_imported_is_refused_and_nothing_is_written(
    innet, tmp_path, arguments, message
):
    before = sorted(tmp_path.iterdir())
    code, out, err = innet("import", *arguments, "-o", "s.yaml")
    assert (code, out) == (2, "")
    assert message in err
    assert "Traceback" not in err
    assert sorted(tmp_path.iterdir()) == before


def test_a_broken_line_has_its_place(innet, workload):
    workload.write_text(LAYERS.replace("REDUCESCATTER 900 7", "SCATTER 900 7"))
    code, _, err = innet("import", workload, "--format", "simai", "-o", "s.yaml")
    assert code == 2
    assert err.startswith(f"{workload}:4: the weight gradient collective is 'SCATTER'")
