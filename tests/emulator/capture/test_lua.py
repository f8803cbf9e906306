"""The Wireshark dissector says of every packet what the wire module says.

It runs here in Lua 5.2, as in Wireshark, over a small stand-in for Wireshark's API; where
tshark is installed, in Wireshark itself.
"""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from lupa.lua52 import LuaRuntime
from wire_messages import frame_of, messages

from innet.emulator.capture import Writer
from innet.wire.frames import pack_message
from innet.wire.headers import BASE_PORT, PORTS, SIZE_CODES, MessageType

DISSECTOR = Path(__file__).parents[3] / "p4" / "innet.lua"
STAND_IN = Path(__file__).with_name("wireshark.lua")
MESSAGES = list(messages(24))


@pytest.fixture(scope="module")
def dissect():
    """A function from UDP payload and ports to fields, info text and bytes taken."""
    lua = LuaRuntime(encoding=None)
    for path in (STAND_IN, DISSECTOR):
        lua.execute(path.read_bytes())
    function = lua.globals()[b"dissect"]

    def run(body, source_port=0xBED0, target_port=BASE_PORT):
        found, info, taken = function(body, source_port, target_port)
        fields = [(pair[1].decode(), int(pair[2])) for pair in found.values()]
        return fields, info and info.decode(), taken

    return run


def expected(message):
    """The fields of a message in the order of the wire."""
    fields = {
        "type": int(message.type),
        "asks_help": int(message.asks_help),
        "size": SIZE_CODES[message.elements],
        "job": message.job,
        "number": message.number,
        "set": message.pool_set,
        "slot": message.slot,
        "exponent": message.exponent,
        "second_exponent": message.second_exponent,
    }
    named = [(f"innet.{name}", value) for name, value in fields.items()]
    return named + [("innet.value", value) for value in message.values.tolist()]


def test_every_field_is_where_wire_has_it(dissect):
    for message in MESSAGES:
        fields, info, taken = dissect(pack_message(message))
        assert fields == expected(message)
        assert taken == len(pack_message(message))
        assert f"job {message.job}, slot {message.slot}, set {message.pool_set}" in info


def test_all_ports_of_a_switch_are_taken_and_sums_are_told_from_updates(dissect):
    update = pack_message(MESSAGES[0])
    for port in range(BASE_PORT, BASE_PORT + PORTS):
        assert dissect(update, 1000, port)[1].startswith("Update, ")
        assert dissect(update, port, 1000)[1].startswith("Sum, ")


def test_a_wrong_number_of_values_is_marked_and_a_short_head_is_left_alone(dissect):
    update = next(m for m in MESSAGES if m.type is MessageType.UPDATE)
    for body in (pack_message(update)[:-4], pack_message(update) + b"\0"):
        assert ("innet.wrong_length", 1) in dissect(body)[0]
    assert dissect(pack_message(update)[:9]) == ([], None, 0)


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
def test_wireshark_itself_agrees(tmp_path):
    capture = tmp_path / "frames.pcapng"
    with capture.open("wb") as file:
        writer = Writer(file, ["worker0"])
        for message in MESSAGES:
            writer.tap(frame_of(message))
    command = ["tshark", "-X", f"lua_script:{DISSECTOR}", "-r", capture, "-T", "json"]
    shown = subprocess.run(
        [*command, "--no-duplicate-keys", "-J", "innet"], capture_output=True, text=True, check=True
    )
    for message, packet in zip(MESSAGES, json.loads(shown.stdout), strict=True):
        layer = packet["_source"]["layers"]["innet"]
        named = [(name, int(layer[name])) for name, _ in expected(message)[:9]]
        assert named == expected(message)[:9]
