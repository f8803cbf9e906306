"""Steps from plain data to the actions of a rank, and the errors on the way."""

from fractions import Fraction

import pytest

from innet.errors import ConfigurationError
from innet.workload.actions import Await, Call, Exchange, TimedLayer, Work
from innet.workload.mesh import Mesh
from innet.workload.parse import parse_let, parse_step
from innet.workload.program import Workload
from innet.workload.statements import Place

MESH = {"pp": 2, "dp": 3, "tp": 4}


def locate(path):
    """Give every path a line: 10 for the step, 100 for blocks, plus its first whole number."""
    first = next((part for part in path if isinstance(part, int)), 0)
    return Place("s.yaml", (100 if path[0] == "blocks" else 10) + first)


def program(step, rank=0, blocks=None, let=None, layers=()):
    parsed = parse_step(step, blocks or {}, tuple(MESH), locate)
    names = parse_let(let or {}, tuple(MESH), locate)
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


def test_a_sparse_collective_and_one_with_a_quorum_say_so():
    options = {"dtype": "float16", "density": 0.05, "quorum": "n-1"}
    step = [{"all_reduce": {"size": "4 KB", "over": "tp", **options}}]
    (call,) = program(step)
    assert (call.dtype, call.density, call.quorum) == ("float16", Fraction(1, 20), 3)
    step[0]["all_reduce"]["quorum"] = "n"
    assert program(step)[0].quorum is None


def test_a_gather_has_a_root_and_a_barrier_is_a_sum_of_one_element():
    step = [
        {"gather": {"size": 64, "over": "dp", "root": 2}},
        {"barrier": {"over": "tp", "async": "b"}},
    ]
    gather, barrier = program(step)
    assert (gather.kind, gather.root) == ("gather", 2)
    assert barrier == Call(
        "all_reduce", ("tp",), (0, 1, 2, 3), 4, "sum", 0, "b", Place("s.yaml", 11), "int32"
    )


def waits(actions):
    """The sizes of calls, and for each wait the size of the call that it waits for."""
    sizes = {action.handle: action.size for action in actions if isinstance(action, Call)}
    return [
        ("wait", sizes[action.handle]) if isinstance(action, Await) else action.size
        for action in actions
        if not isinstance(action, Work)
    ]


def summed(size, **options):
    return {"all_reduce": {"size": size, "over": "dp", **options}}


def test_with_slack_a_turn_waits_for_the_same_operation_of_some_turns_before():
    body = [summed("10*i+1"), {"compute": "1 ns"}, summed("10*i+2")]
    found = program([{"repeat": 4, "slack": 2, "do": body}])
    assert waits(found) == [
        *(1, 2, 11, 12),
        *(21, ("wait", 1), 22, ("wait", 2)),
        *(31, ("wait", 11), 32, ("wait", 12)),
        *(("wait", 21), ("wait", 22), ("wait", 31), ("wait", 32)),
    ]


def test_slack_leaves_handles_alone_and_0_is_none():
    body = [summed("i+1"), summed(9, **{"async": "g"}), {"wait": "g"}]
    plain = program([{"repeat": 2, "do": body}])
    assert program([{"repeat": 2, "slack": "tp", "do": body}]) == plain
    found = program([{"repeat": 2, "slack": 1, "do": body}])
    assert waits(found) == [1, 9, ("wait", 9), 2, ("wait", 1), 9, ("wait", 9), ("wait", 2)]


def test_turns_with_fewer_operations_wait_at_their_end_and_loops_have_slack_of_their_own():
    inner = {"repeat": 2, "slack": 1, "do": [summed("100*i+50")]}
    body = [{"when": "i < 2", "do": [summed("i+1")]}, {"when": "i == 1", "do": [inner]}]
    found = program([{"repeat": 3, "slack": 1, "do": body}])
    assert waits(found) == [
        *(1, 2, ("wait", 1)),
        *(50, 150, ("wait", 50), ("wait", 150)),
        ("wait", 2),
    ]


def test_buckets_of_different_options_are_apart():
    step = [
        summed(600000, bucket="1 MB", **{"async": "g"}),
        summed(600000, bucket="1 MB", dtype="float16", **{"async": "g"}),
        summed(600000, bucket="1 MB", **{"async": "g"}),
        {"wait": "g"},
    ]
    found = [(call.size, call.dtype) for call in program(step)[:-1]]
    assert found == [(1200000, None), (600000, "float16")]


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
        (
            [{"repeat": 2, "do": [], "slak": 1}],
            "unknown key 'slak'; known here are repeat, do, slack",
        ),
        ([{"when": 1, "do": [], "slack": 1}], "unknown key 'slack'; known here are when, do"),
        ([{"repeat": "2 +", "do": []}], "step.0.repeat: '2 +' is not an expression"),
        ([{"all_reduce": "8 B"}], "must be a mapping of options"),
        ([{"all_reduce": {"size": 8}}], "step.0.all_reduce: over is missing"),
        ([{"all_reduce": {"size": 8, "over": "ep"}}], "unknown axis 'ep'; the mesh has pp, dp, tp"),
        ([{"all_reduce": {"size": 8, "over": "dp,dp"}}], "write axes of the mesh (pp, dp, tp)"),
        ([{"all_reduce": {"size": 8, "over": "dp", "op": "avg"}}], "write one of sum, min, max"),
        ([{"all_reduce": {"size": 8, "over": "dp", "root": 1}}], "unknown key 'root'"),
        (
            [{"all_reduce": {"size": 8, "over": "dp", "dtype": "fp8"}}],
            "step.0.all_reduce.dtype: write one of int32, float32, float16, bfloat16",
        ),
        ([{"gather": {"size": 8, "over": "dp", "quorum": 1}}], "unknown key 'quorum'"),
        (
            [{"barrier": {"size": 8, "over": "dp"}}],
            "unknown key 'size'; known here are over, async",
        ),
        ([{"barrier": {}}], "step.0.barrier: over is missing"),
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
        ({"repeat": 1, "slack": "0-1", "do": []}, "rank 5: repeat: slack '0-1' is negative: -1"),
        (
            {"reduce": {"size": 8, "over": "dp", "quorum": 4}},
            "rank 5: reduce: quorum 4 lies outside 1 to 3, the group's members",
        ),
        (
            {"all_gather": {"size": 8, "over": "dp", "density": "0"}},
            "rank 5: all_gather: density '0' is 0, not above 0 and at most 1",
        ),
        ({"each": "layer", "do": []}, "there are no layers; give a model or layers"),
    ],
)
def test_a_wrong_value_names_rank_line_and_operation(statement, told):
    with pytest.raises(ConfigurationError) as failed:
        program([statement], rank=5)
    assert told in str(failed.value)
    assert str(failed.value).startswith("s.yaml:10: rank 5: ")


@pytest.mark.parametrize(
    ("let", "told"),
    [
        ({"act": "2 +"}, "s.yaml:10: let.act: '2 +' is not an expression"),
        ({"act": "2*b", "b": 3}, "s.yaml:10: rank 5: let act: unknown name 'b'"),
        ({"dp_n": 3}, "s.yaml:10: let.dp_n: dp_n has a meaning already, as have pp, dp, tp, pp_n"),
        ({"two words": 3}, "let.two words: 'two words' is not a name"),
        ({7: 3}, "let.7: 7 is not a name"),
    ],
)
def test_a_wrong_name_of_let_has_its_place(let, told):
    with pytest.raises(ConfigurationError) as failed:
        program([], rank=5, let=let)
    assert str(failed.value).startswith("s.yaml:10: ")
    assert told in str(failed.value)
