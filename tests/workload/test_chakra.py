"""Chakra traces, written by MLCommons' own classes where these are installed."""

import gzip

import pytest

from innet.errors import ConfigurationError
from innet.scenario.document import read_document
from innet.scenario.imports import scenario_text
from innet.workload.actions import Call, Exchange
from innet.workload.importers.chakra import read_trace
from innet.workload.importers.chakra_step import import_chakra
from innet.workload.importers.protobuf import signed, zigzag
from tests.workload.made_steps import programs

COMPUTE, SEND, RECEIVE, COLLECTIVE = 4, 5, 6, 7
ALL_REDUCE, ALL_GATHER, GATHER, BARRIER = 0, 2, 3, 9


@pytest.fixture(scope="module")
def schema():
    return pytest.importorskip("chakra.schema.protobuf.et_def_pb2", reason="needs mlc-chakra")


@pytest.fixture
def write(schema, tmp_path):
    """Writes a trace of (number, kind, needs, duration in us, attributes) as Chakra does."""

    def write(*nodes, name="trace.0.et", pack=bytes):
        data = framed(schema.GlobalMetadata(version="0.0.4"))
        for number, kind, needs, duration, attributes in nodes:
            node = schema.Node(id=number, name=f"node {number}", type=kind)
            node.duration_micros = duration
            node.data_deps.extend(needs[::2])
            node.ctrl_deps.extend(needs[1::2])
            for key, value in attributes.items():
                node.attr.append(attribute(schema, key, value))
            data += framed(node)
        path = tmp_path / name
        path.write_bytes(pack(data))
        return path

    return write


def framed(message):
    data = message.SerializeToString()
    length, prefix = len(data), b""
    while length >= 0x80:
        prefix += bytes([length & 0x7F | 0x80])
        length >>= 7
    return prefix + bytes([length]) + data


def attribute(schema, key, value):
    if isinstance(value, tuple):
        field, value = value
        return schema.AttributeProto(**{"name": key, field: value})
    field = {bool: "bool_val", int: "int64_val", str: "string_val"}[type(value)]
    return schema.AttributeProto(**{"name": key, field: value})


def device(**attributes):
    return {"is_cpu_op": False} | attributes


def test_a_trace_becomes_work_with_communication_beside_it(write):
    path = write(
        (1, COMPUTE, [], 30, {"is_cpu_op": True}),
        (2, COMPUTE, [1], 10, device()),
        (3, COMPUTE, [2], 5, device()),
        (4, COLLECTIVE, [3, 1], 99, device(comm_type=ALL_REDUCE, comm_size=4000)),
        (5, COMPUTE, [3], 7, device()),
        (6, COMPUTE, [], 1, {"is_cpu_op": True}),
        (7, COMPUTE, [4, 5], 2, device()),
        (8, COLLECTIVE, [7], 9, device(comm_type=ALL_GATHER, comm_size=100)),
    )
    imported = import_chakra([path], 4)
    assert imported.mesh == {"world": 4}
    assert list(imported.step) == [
        {"compute": "15 us"},
        {"all_reduce": {"size": 4000, "over": "world", "async": "n000004"}},
        {"compute": "7 us"},
        {"wait": "n000004"},
        {"compute": "2 us"},
        {"all_gather": {"size": 400, "over": "world", "async": "n000008"}},
        {"wait": "n000008"},
    ]
    assert imported.notes == (
        "all 4 ranks follow the one trace",
        "a collective's size is taken as that of a rank's input",
        "left out: 2 nodes (work of the CPU, beside the device's)",
    )


def test_a_dependency_through_nodes_that_are_left_out_still_waits(write):
    path = write(
        (1, COLLECTIVE, [], 9, device(comm_type=ALL_REDUCE, comm_size=8)),
        (2, COMPUTE, [1], 9, {"is_cpu_op": True}),
        (3, COMPUTE, [2], 4, device()),
    )
    assert [next(iter(entry)) for entry in import_chakra([path], 2).step] == [
        "all_reduce",
        "wait",
        "compute",
    ]


def test_forward_references_circles_and_missing_nodes_are_put_in_order(write):
    path = write(
        (1, COMPUTE, [2], 1, {}),
        (2, COMPUTE, [77], 2, {}),
        (3, COMPUTE, [4], 4, {}),
        (4, COMPUTE, [3, 4], 8, {}),
        (5, COLLECTIVE, [1], 0, {"comm_type": ALL_REDUCE, "comm_size": 8}),
    )
    imported = import_chakra([path], 2)
    assert list(imported.step)[:2] == [
        {"compute": "3 us"},
        {"all_reduce": {"size": 8, "over": "world", "async": "n000005"}},
    ]
    assert "left out: 1 dependency on nodes that are not in the trace" in imported.notes
    assert "left out: 1 dependency in circles" in imported.notes


def test_what_cannot_be_a_part_of_the_step_is_counted(write):
    path = write(
        (1, COLLECTIVE, [], 5, device()),
        (2, COLLECTIVE, [], 5, device(comm_type=GATHER, comm_size=8)),
        (3, COLLECTIVE, [], 5, device(comm_type=ALL_REDUCE, comm_size=8, pg_name="7")),
        (4, COMPUTE, [], 0, device()),
        (5, 2, [], 4, device()),
        (6, SEND, [], 4, device(comm_size=8)),
        (7, COLLECTIVE, [], 5, device(comm_type=ALL_REDUCE, comm_size=16, pg_name="0")),
        (8, COLLECTIVE, [], 5, device(comm_type=BARRIER)),
    )
    imported = import_chakra([path], 2)
    assert [next(iter(entry)) for entry in imported.step] == [
        "all_reduce",
        "barrier",
        "wait",
        "wait",
    ]
    assert set(imported.notes[2:]) == {
        "left out: 1 node (communication without a size)",
        "left out: 1 node (gathering or scattering at one rank)",
        "left out: 1 node (communication in a group whose members the trace does not name)",
        "left out: 1 node (work without a duration)",
        "left out: 1 node (neither work nor communication)",
        "left out: 1 node (sending or receiving without a peer)",
    }


def test_a_trace_for_every_rank_gives_each_its_own_program(write):
    sender = write((1, SEND, [], 3, {"comm_size": 64, "comm_dst": 1}), name="a.0.et")
    receiver = write(
        (1, RECEIVE, [], 3, {"comm_size": 64, "comm_src": 0}), name="a.1.et", pack=gzip.compress
    )
    step = import_chakra([sender, receiver], None).step
    assert [entry["when"] for entry in step] == ["rank == 0", "rank == 1"]
    assert step[0]["do"][0] == {"send": {"to": {"world": 1}, "size": 64, "async": "n000001"}}
    assert step[1]["do"][0] == {"recv": {"from": {"world": 0}, "size": 64, "async": "n000001"}}


def test_traces_that_do_the_same_are_one_program(write):
    node = (1, COLLECTIVE, [], 5, device(comm_type=ALL_REDUCE, comm_size=8))
    imported = import_chakra([write(node, name="a.0.et"), write(node, name="a.1.et")], None)
    assert [next(iter(entry)) for entry in imported.step] == ["all_reduce", "wait"]


def test_a_written_step_reads_as_the_same_step(write):
    first = write(
        (1, COMPUTE, [], 10, device()),
        (2, COLLECTIVE, [1], 5, device(comm_type=BARRIER)),
        (3, SEND, [2], 3, device(comm_size=64, comm_dst=1)),
        (4, COLLECTIVE, [3], 5, device(comm_type=ALL_GATHER, comm_size=100)),
        name="a.0.et",
    )
    second = write(
        (1, COLLECTIVE, [], 5, device(comm_type=BARRIER)),
        (2, RECEIVE, [1], 3, device(comm_size=64, comm_src=0)),
        (3, COLLECTIVE, [2], 5, device(comm_type=ALL_GATHER, comm_size=100)),
        name="a.1.et",
    )
    imported = import_chakra([first, second], None)
    text = scenario_text(imported, [first, second], "chakra", "a")
    written = read_document(text, "a.yaml").value["training"]
    assert programs(written["mesh"], written["step"]) == programs(imported.mesh, imported.step)
    sizes = [
        [action.size for action in program if isinstance(action, Call | Exchange)]
        for program in programs(imported.mesh, imported.step)
    ]
    assert sizes == [[4, 64, 200], [4, 64, 200]]


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("double_val", -2.5, -2.5),
        ("float_val", 0.5, 0.5),
        ("int32_val", -7, -7),
        ("int64_val", -(2**40), -(2**40)),
        ("uint32_val", 2**32 - 1, 2**32 - 1),
        ("uint64_val", 2**64 - 1, 2**64 - 1),
        ("sint32_val", -3, -3),
        ("sint64_val", 2**40, 2**40),
        ("fixed32_val", 2**32 - 1, 2**32 - 1),
        ("fixed64_val", 2**64 - 1, 2**64 - 1),
        ("sfixed32_val", -5, -5),
        ("sfixed64_val", -6, -6),
        ("bool_val", True, 1),
        ("string_val", "é", "é"),
    ],
)
def test_every_kind_of_attribute_is_read_as_protobuf_writes_it(write, field, value, expected):
    (node,) = read_trace(write((1, COMPUTE, [], 1, {"key": (field, value)})))
    assert node.attributes == {"key": expected}


def test_attributes_that_are_lists_are_passed_over(schema, write):
    numbers = schema.Int64List(values=[1, 2])
    (node,) = read_trace(write((1, COMPUTE, [], 1, {"key": ("int64_list", numbers)})))
    assert node.attributes == {}


def test_a_trace_that_ends_too_early_is_refused_wherever_it_is_cut(write):
    path = write(
        (1, COMPUTE, [], 3, device()),
        (2, COLLECTIVE, [1], 3, device(comm_type=ALL_REDUCE, comm_size=2**40)),
    )
    whole = path.read_bytes()
    boundaries = {end for end in range(len(whole)) if _can_be_read(path, whole[:end])}
    second = whole.index(b"node 2")
    assert len(boundaries) == 2  # behind the metadata, and between the two nodes
    assert max(boundaries) < second


def _can_be_read(path, data):
    path.write_bytes(data)
    try:
        read_trace(path)
    except ConfigurationError as error:
        return "is no Chakra trace" not in str(error)
    return True


# --- without MLCommons' classes ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "the data ends within a number at byte 0"),
        (b"\x00\x05ab", "5 bytes are announced and 2 are left at byte 1"),
        (b"\x00\x02\x0b\x00", "a node cannot be read .wire type 3 is unknown at byte 0. at byte 1"),
        (b"\x00\x02\x10\x01", "a number where a text should be"),
        (b"\x00\x03\x12\x01\xff", "can't decode byte"),
        (b"\xff" * 11, "a number is longer than 10 bytes"),
        (b"\x1f\x8b\x08", "its gzip data ends too early"),
    ],
)
def test_what_is_no_trace_is_refused(tmp_path, data, message):
    path = tmp_path / "broken.0.et"
    path.write_bytes(data)
    with pytest.raises(ConfigurationError, match=message):
        read_trace(path)


def test_files_and_ranks_must_fit(tmp_path):
    path = tmp_path / "empty.0.et"
    path.write_bytes(b"\x00")
    with pytest.raises(ConfigurationError, match="cannot be read"):
        import_chakra([tmp_path / "nowhere.et"], 2)
    with pytest.raises(ConfigurationError, match="2 traces are given for 3 ranks"):
        import_chakra([path, path], 3)
    with pytest.raises(ConfigurationError, match="does not say how many ranks there are"):
        import_chakra([path], None)
    with pytest.raises(ConfigurationError, match="no trace is given"):
        import_chakra([], 2)
    assert import_chakra([path], 2).step == ()


def test_signed_numbers():
    assert [zigzag(value) for value in range(5)] == [0, -1, 1, -2, 2]
    assert signed(2**64 - 1) == -1
    assert signed(5) == 5
