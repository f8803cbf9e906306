"""A worker's frames on an interface: own ones ignored, checksums right, others counted.

A veth pair in a network namespace of the test's own; skipped where that is not allowed.
"""

import json
import os
import subprocess
import sys

import pytest

SETUP = (
    "ip link add near type veth peer name far && ip link set near up && ip link set far up && exec "
)
BODY = """
import json, socket, sys, time
import numpy as np
from innet.emulator.agent.paths import RawPath
from innet.emulator.sockets import open_interface, receive_frames
from innet.protocol.endpoint import UPDATE, AggregationPacket
from innet.wire.frames import *
from innet.wire.headers import MessageType, internet_checksum

OWN = Address(bytes.fromhex("020000000001"), bytes((10, 0, 0, 1)), 0xBED0)
SWITCH = Address(bytes.fromhex("0200000000fe"), bytes((10, 0, 0, 254)), 0xBEE0)

def message(number):
    payload = payload_of(np.arange(32, dtype=np.int32), 32)
    return Message(MessageType.UPDATE, False, 32, 1, number, 3, 1, -7, 0, payload)

def update(number):
    values = np.arange(32, dtype=np.int32)
    return AggregationPacket(UPDATE, 1, 0, 3, 1, number, False, -7, values)

def all_of(take, wanted):
    found, until = [], time.monotonic() + 10
    while len(found) < wanted and time.monotonic() < until:
        found += take()
    return found + take()

def down(number, source=SWITCH, target=OWN):
    return FrameWriter(source, target).pack(message(number))

far = open_interface("far")
path = RawPath("near", OWN, SWITCH, 32, 2)
for number in range(125):
    path.send(number % 2, update(number))
frames = [f for f in all_of(lambda: receive_frames(far), 125) if f[12:14] == b"\\x08\\x00"]
own = path.receive()  # before anything was sent to it
parsed = [parse(frame) for frame in frames]
far.send(down(1))
far.send(down(2, source=SWITCH._replace(port=0xBEE1)))     # the port of another core
far.send(down(3, target=OWN._replace(ip=bytes(4))))
far.send(down(4)[:60])
far.send(down(5)[:40] + b"\\x12\\x34" + down(5)[42:])       # a wrong UDP checksum
far.send(b"\\xff" * 12 + b"\\x08\\x06" + bytes(46))         # ARP
far.send(down(7))                                           # headers that are known by now
far.send(down(8)[:42] + b"\\x30" + down(8)[43:])            # but another type
far.send(down(9) + bytes(3))                                # or padded
far.send(down(6, SWITCH._replace(port=0xBEE1), OWN._replace(port=0xBED1)))
taken = all_of(path.receive, 4)
dropped = {name: count for name, count in path.dropped.items()}
print(json.dumps({
    "numbers": [each.message.number for each in parsed],
    "ports": sorted({(each.source.port, each.target.port) for each in parsed}),
    "checksums": sorted({bool(int.from_bytes(frame[40:42], "big")) for frame in frames}),
    "own": len(own),
    "sent": parsed[7].message == message(7),
    "taken": [each.number for each in taken],
    "values": [each.values.tolist() == list(range(32)) for each in taken],
    "fields": sorted({each[:5] + each[6:8] for each in taken}),
    "dropped": dropped,
}))
"""


@pytest.fixture(scope="module")
def seen():
    command = ["unshare", "--net", "sh", "-c", f'{SETUP} "$0" -c "$1"', sys.executable, BODY]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    try:
        ran = subprocess.run(command, capture_output=True, text=True, env=environment)
    except FileNotFoundError:
        pytest.skip("unshare is not installed")
    if "unshare" in ran.stderr or "Operation not permitted" in ran.stderr:
        pytest.skip(f"no right to make network namespaces: {ran.stderr.strip()}")
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def test_a_burst_arrives_whole_and_in_order(seen):
    assert seen["numbers"] == list(range(125))
    assert seen["ports"] == [[0xBED0, 0xBEE0], [0xBED1, 0xBEE1]]


def test_a_frame_carries_all_of_an_update(seen):
    assert seen["sent"]


def test_frames_carry_a_udp_checksum_that_parsing_has_verified(seen):
    assert seen["checksums"] == [True]


def test_own_frames_are_not_taken(seen):
    assert seen["own"] == 0


def test_only_the_switchs_frames_to_this_worker_are_taken(seen):
    assert seen["taken"] == [1, 7, 9, 6]
    assert seen["fields"] == [["result", 1, 0, 3, 1, False, -7]]
    assert seen["values"] == [True] * 4


def test_others_are_counted_by_reason(seen):
    dropped = seen["dropped"]
    assert dropped["foreign"] == 2
    assert dropped["length_mismatch"] == 1
    assert dropped["bad_udp_checksum"] == 1
    assert dropped["bad_message_type"] == 1
    assert dropped["not_ipv4"] >= 1
