"""Steps from plain data to the actions of a rank, and the errors on the way."""

import pytest

from innet.errors import ConfigurationError
from innet.workload.expression import parse_expression
from innet.workload.mesh import Mesh
from innet.workload.parse import parse_step
from innet.workload.program import Await, Call, Exchange, TimedLayer, Work, Workload
from innet.workload.statements import Place

MESH = {"pp": 2, "dp": 3, "tp": 4}


def locate(path):
    """Give every path a line: 10 for the step, 100 for blocks, plus its first whole number."""
    first = next((part for part in path if isinstance(part, int)), 0)
    return Place("s.yaml", (100 if path[0] == "blocks" else 10) + first)


def program(step, rank=0, blocks=None, let=None, layers=()):
    parsed = parse_step(step, blocks or {}, tuple(MESH), locate)
    names = {name: parse_expression(value) for name, value in (let or {}).items()}
    return list(Workload(Mesh(MESH), parsed, names, tuple(layers)).program(rank))


def test_coordinates_count_with_the_last_axis_fastest():
    mesh = Mesh(MESH)
    assert mesh.ranks == 24
    assert mesh.coordinates(17) == {"pp": 1, "dp": 1, "tp": 1}
    assert all(mesh.rank(mesh.coordinates(rank)) == rank for rank in range(24))
    assert mesh.rank({"pp": 1, "dp": 3, "tp": 0}) is None


def test_a_group_holds_the_ranks_that_differ_along_its_axes_only():
    mesh = Mesh(MESH)
    assert mesh.group(17, ("tp",)) == (16, 17, 18, 19)
    assert mesh.group(17, ("dp",)) == (13, 17, 21)
    assert mesh.group(17, ("pp",)) == (5, 17)
    assert mesh.group(17, ("pp", "tp")) == (4, 5, 6, 7, 16, 17, 18, 19)
    for rank in range(24):
        expected = tuple(
            other
            for other in range(24)
            if mesh.coordinates(other)["dp"] == mesh.coordinates(rank)["dp"]
        )
        assert mesh.group(rank, ("tp", "pp")) == expected


def test_a_repeat_counts_and_a_block_stands_for_its_list():
    found = program(
        [{"repeat": "pp_n", "do": ["work", {"when": "i == 1", "do": [{"wait": "g"}]}]}],
        blocks={"work": [{"compute": "(i+1)*t"}]},
        let={"t": "4 ns"},
    )
    assert found == [
        Work(4000, Place("s.yaml", 100)),
        Work(8000, Place("s.yaml", 100)),
        Await("g", Place("s.yaml", 10)),
    ]


def test_a_collective_knows_its_group_and_its_options():
    step = [{"reduce": {"size": "n*8", "over": "tp, pp", "op": "min", "root": "n-1", "async": "g"}}]
    (call,) = program(step, rank=17)
    group = (4, 5, 6, 7, 16, 17, 18, 19)
    assert call == Call("reduce", ("pp", "tp"), group, 64, "min", 7, "g", Place("s.yaml", 10))


def test_a_neighbour_outside_the_mesh_is_no_operation():
    step = [
        {"recv": {"from": {"pp": "pp-1"}, "size": 8}},
        {"send": {"to": {"pp": "pp+1", "tp": 0}, "size": 8}},
    ]
    place = Place("s.yaml", 11)
    assert program(step, 3) == [Exchange(True, ("pp", "tp"), 3, 12, 8, None, place)]
    assert program(step, 15) == [Exchange(False, ("pp",), 3, 15, 8, None, Place("s.yaml", 10))]


def test_layers_come_forwards_and_backwards():
    layers = [TimedLayer("a", 1, 2, (8,), 2), TimedLayer("b", 3, 4, (4, 12), 4)]
    step = [
        {"each": "layer", "do": [{"compute": "layer.fwd"}]},
        {"each": "layer reversed", "do": [{"compute": "layer.bwd"}]},
    ]
    assert [action.duration_ps for action in program(step, layers=layers)] == [1, 3, 4, 2]


def test_tensors_stay_whole_in_buckets_and_the_rest_goes_at_the_end():
    layers = [TimedLayer("a", 0, 0, (3 * 2**20, 2**20), 2**20), TimedLayer("b", 0, 0, (100,), 25)]
    gradient = {"size": "layer.grad", "over": "dp", "bucket": "2 MiB"}
    step = [{"each": "layer reversed", "do": [{"all_reduce": gradient}]}]
    # b's 100 B and the later tensor of a fill the first bucket of 1 MiB.
    assert [call.size for call in program(step, layers=layers)] == [100 + 2**20, 3 * 2**20]
    gradient["size"] = "layer.grad//2"
    assert [call.size for call in program(step, layers=layers)] == [50 + 2**21]


@pytest.mark.parametrize(
    ("step", "told"),
    [
        ("work", "step: must be a list of statements"),
        ([3], "s.yaml:10: step.0: must be a block's name or a mapping with repeat, each"),
        (["fwd"], "unknown block 'fwd'; blocks are loop"),
        ([{"compute": 1, "wait": "g"}], "must have exactly one of"),
        ([{"each": "row", "do": []}], "step.0.each: write layer, or layer reversed"),
        ([{"repeat": 2}], "step.0.do: must be a list of statements"),
        ([{"repeat": 2, "do": [], "slak": 1}], "unknown key 'slak'; known here are repeat, do"),
        ([{"repeat": "2 +", "do": []}], "step.0.repeat: '2 +' is not an expression"),
        ([{"all_reduce": "8 B"}], "must be a mapping of options"),
        ([{"all_reduce": {"size": 8}}], "step.0.all_reduce: over is missing"),
        ([{"all_reduce": {"size": 8, "over": "ep"}}], "unknown axis 'ep'; the mesh has pp, dp, tp"),
        ([{"all_reduce": {"size": 8, "over": "dp,dp"}}], "write axes of the mesh (pp, dp, tp)"),
        ([{"all_reduce": {"size": 8, "over": "dp", "op": "avg"}}], "write one of sum, min, max"),
        ([{"all_reduce": {"size": 8, "over": "dp", "root": 1}}], "unknown key 'root'"),
        ([{"send": {"size": 8, "from": {"pp": 1}}}], "unknown key 'from'; known here are to, size"),
        ([{"send": {"size": 8, "to": {"ep": 1}}}], "step.0.send.to.ep: unknown key 'ep'"),
        ([{"wait": 3}], "step.0.wait: 3 is not a name"),
        (["loop"], "a block leads back to itself: loop -> loop"),
    ],
)
def test_a_wrong_statement_names_its_line_its_key_and_what_would_be_right(step, told):
    with pytest.raises(ConfigurationError) as failed:
        program(step, blocks={"loop": ["loop"]})
    assert told in str(failed.value)
    assert str(failed.value).startswith("s.yaml:")


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ({"compute": "4"}, "s.yaml:10: rank 5: compute: time '4' is 4, not a duration"),
        ({"all_reduce": {"size": "4-pp-5", "over": "dp"}}, "rank 5: all_reduce: size '4-pp-5' is"),
        ({"broadcast": {"size": 8, "over": "dp", "root": 3}}, "root 3 is outside the group of 3"),
        ({"send": {"to": {"dp": "ep"}, "size": 8}}, "rank 5: send: unknown name 'ep'"),
        ({"recv": {"from": {"dp": "dp"}, "size": 8}}, "a rank does not send to itself"),
        ({"repeat": "0-1", "do": []}, "rank 5: repeat: count '0-1' is negative: -1"),
        ({"each": "layer", "do": []}, "there are no layers; give a model or layers"),
    ],
)
def test_a_wrong_value_names_rank_line_and_operation(statement, told):
    with pytest.raises(ConfigurationError) as failed:
        program([statement], rank=5)
    assert told in str(failed.value)
    assert str(failed.value).startswith("s.yaml:10: rank 5: ")
