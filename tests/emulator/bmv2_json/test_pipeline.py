"""The pipeline around a program: its state, its names, its errors, and its vectors."""

import json

import numpy as np
import pytest

from innet.emulator.bmv2_json.lanes import find_vectors
from innet.emulator.bmv2_json.load import load_program
from innet.emulator.bmv2_json.pipeline import Pipeline
from innet.emulator.bmv2_json.refuse import PipelineError
from innet.emulator.check.packets import SWITCH, star_job, worker_address
from innet.emulator.control.build import find_build
from innet.emulator.control.local import LocalSwitch
from innet.emulator.control.plane import TablePlane
from innet.errors import ConfigurationError
from innet.wire.frames import FrameWriter, Message, payload_of
from innet.wire.headers import MessageType


def update(worker, values, slot=0):
    payload = payload_of(np.array(values, dtype=np.int32), 32)
    message = Message(MessageType.UPDATE, False, 32, 1, 0, slot, 0, 0, 0, payload)
    return FrameWriter(worker_address(worker), SWITCH).pack(message)


@pytest.fixture
def switch():
    switch = LocalSwitch(32)
    TablePlane(switch).add(star_job(1, 2, 32))
    return switch


def registers(pipeline):
    return {name: pipeline.read_register(name) for name in pipeline.program.registers}


def changed(tmp_path, change):
    """The program for 32 values after a change of its JSON."""
    program = json.loads(find_build(32).json.read_text())
    change(program)
    path = tmp_path / "program.json"
    path.write_text(json.dumps(program))
    return path


def test_values_are_in_the_registers_at_their_set(switch):
    switch.process(1, update(1, range(32), slot=3))
    held = registers(switch.pipeline)
    assert [held[f"InnetIngress.aggregate.value_{lane:02X}"][3] for lane in range(32)] == list(
        range(32)
    )
    assert held["InnetIngress.aggregate.count_of_set"][3] == 1
    assert held["InnetIngress.aggregate.marks_of_slot"][3] == 1
    touched = {name for name, cells in held.items() if any(cells)}
    assert "InnetIngress.aggregate.value_00" not in touched  # its value is 0
    assert len(touched) == 31 + 3


@pytest.mark.parametrize("pool_index", [8, 0x8008, 0x3FFF, 0x7FFF, 0xFFFF])
def test_no_register_changes_for_a_slot_outside_the_pool(switch, pool_index):
    switch.process(1, update(1, range(32)))
    before = registers(switch.pipeline)
    frame = bytearray(update(2, range(32)))
    frame[48:50] = pool_index.to_bytes(2)
    assert switch.process(2, bytes(frame)) == []
    assert registers(switch.pipeline) == before
    assert switch.counters()["out_of_pool_dropped"] == 1


def test_registers_are_wiped_and_everything_is_reset(switch):
    pipeline = switch.pipeline
    switch.process(1, update(1, [5] * 32))
    pipeline.reset_registers()
    assert not any(map(any, registers(pipeline).values()))
    assert pipeline.counter("absorbed").packets[1] == 1
    assert len(list(pipeline.table("contributors").entries())) == 2
    pipeline.reset()
    assert not any(pipeline.counter("absorbed").packets)
    assert list(pipeline.table("contributors").entries()) == []
    assert pipeline.groups == {}
    assert pipeline.table("hosts").default_action() == ("InnetIngress.forward.drop", {})


def test_counters_count_bytes_of_whole_frames(switch):
    frame = update(1, [1] * 32)
    switch.process(1, frame)
    assert switch.pipeline.counter("InnetIngress.aggregate.absorbed").bytes[1] == len(frame) == 180


def test_names_may_be_short_where_they_are_unique(switch):
    pipeline = switch.pipeline
    assert pipeline.table("hosts") is pipeline.table("InnetIngress.forward.hosts")
    for look in (pipeline.table, pipeline.counter, pipeline.read_register):
        with pytest.raises(ConfigurationError, match=r"the P4 program has no .* 'nothing'"):
            look("nothing")


def test_a_group_has_no_replica_twice_and_a_number(switch):
    with pytest.raises(ConfigurationError, match="group 5 has a replica twice"):
        switch.pipeline.set_group(5, [(1, 1), (1, 1)])
    with pytest.raises(ConfigurationError, match="from 1 to 65535: 0"):
        switch.pipeline.set_group(0, [(1, 1)])


def test_an_index_past_the_end_is_an_error_that_names_the_array(tmp_path):
    def shorten(program):
        for array in program["register_arrays"]:
            if array["name"].endswith("epoch_of_set"):
                array["size"] = 3

    path = changed(tmp_path, shorten)
    pipeline = Pipeline.load(path)
    switch = LocalSwitch(32)
    switch.pipeline = pipeline
    TablePlane(switch).add(star_job(1, 2, 32))
    assert pipeline.process(1, update(1, [1] * 32, slot=2)) == []
    with pytest.raises(
        PipelineError, match=r"'InnetIngress\.aggregate\.epoch_of_set' has 3 cells"
    ) as caught:
        pipeline.process(1, update(1, [1] * 32, slot=3))
    assert caught.value.exit_code == 1


@pytest.mark.parametrize("elements", [32, 64, 256])
def test_values_are_added_as_vectors(elements):
    """Otherwise 256 values take three times as long."""
    vectors = find_vectors(load_program(find_build(elements).json))
    assert list(vectors) == ["values"]
    assert len(vectors["values"].registers) == elements
    assert {len(runs) for runs in vectors["values"].runs.values()} == {1}
    assert sorted(len(runs[0].template) for runs in vectors["values"].runs.values()) == [1, 1, 3]


def _aggregate_action(program, name):
    return next(each for each in program["actions"] if each["name"].endswith(f"aggregate.{name}"))


def _one_lane_alone(program):
    """The condition of a branch looks at one value."""
    program["pipelines"][0]["conditionals"][4]["expression"]["value"]["left"]["value"] = [
        "values",
        "v05",
    ]


def _lanes_out_of_order(program):
    primitives = _aggregate_action(program, "load")["primitives"]
    primitives[3], primitives[4] = primitives[4], primitives[3]


def _one_lane_differs(program):
    """One value is subtracted."""
    for primitive in _aggregate_action(program, "add")["primitives"]:
        target = primitive["parameters"][0]["value"]
        if primitive["op"] == "assign" and target == ["values", "v07"]:
            primitive["parameters"][1]["value"]["value"]["left"]["value"]["op"] = "-"


def _another_operator(program):
    """High bits decide what becomes of low ones, so wrapping early would be wrong."""
    for primitive in _aggregate_action(program, "add")["primitives"]:
        if primitive["op"] == "assign" and primitive["parameters"][0]["value"][0] == "values":
            primitive["parameters"][1]["value"]["value"]["left"]["value"]["op"] = ">>"


def _a_jump_into_them(program):
    primitives = _aggregate_action(program, "add")["primitives"]
    jump = next(each for each in primitives if each["op"] == "_jump")
    jump["parameters"][0]["value"] = "0x0b"


def _another_width(program):
    for array in program["register_arrays"]:
        if array["name"].endswith("value_1F"):
            array["bitwidth"] = 16


def _a_temporary_is_used_elsewhere(program):
    program["pipelines"][0]["conditionals"][4]["expression"]["value"]["left"]["value"] = [
        "scalars",
        "aggregate_before",
    ]


@pytest.mark.parametrize(
    "change",
    [
        _one_lane_alone,
        _lanes_out_of_order,
        _one_lane_differs,
        _another_operator,
        _a_jump_into_them,
        _another_width,
        _a_temporary_is_used_elsewhere,
    ],
)
def test_what_is_not_alike_for_all_values_is_done_one_by_one(tmp_path, change):
    assert find_vectors(load_program(changed(tmp_path, change))) == {}
