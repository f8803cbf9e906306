"""Captures are what pcapng says, survive a killed writer, and are merged in order of time."""

import struct

import pytest
from wire_messages import frame_of, messages

from innet.emulator.capture import Captured, Writer, merge, read

FRAMES = [frame_of(message) for message in messages(6)]


def write(path, interfaces, captured):
    with path.open("wb") as file:
        writer = Writer(file, interfaces)
        for each in captured:
            writer.write(each)
    return path


def read_all(path):
    with path.open("rb") as file:
        return list(read(file))


def test_frames_come_back_with_their_times(tmp_path):
    captured = [Captured(10**18 + i, i % 2, frame) for i, frame in enumerate(FRAMES)]
    path = write(tmp_path / "a.pcapng", ["worker0", "worker1"], captured)
    assert read_all(path) == captured


def test_blocks_are_laid_out_as_the_format_says(tmp_path):
    """The head of every block by the draft, section 3: type, length, body, length again."""
    time_ns = (7 << 32) + 5
    data = write(tmp_path / "a.pcapng", ["w0"], [Captured(time_ns, 0, b"abcde")]).read_bytes()
    section = struct.pack("<IIIHHqI", 0x0A0D0D0A, 28, 0x1A2B3C4D, 1, 0, -1, 28)
    name, resolution = b"\x02\x00\x02\x00w0\0\0", b"\x09\x00\x01\x00\x09\0\0\0"
    options = name + resolution + bytes(4)
    length = 20 + len(options)
    interface = struct.pack("<IIHHI", 1, length, 1, 0, 0) + options + struct.pack("<I", length)
    packet = struct.pack("<IIIIIII", 6, 40, 0, 7, 5, 5, 5) + b"abcde\0\0\0" + struct.pack("<I", 40)
    assert data == section + interface + packet


def test_scapy_reads_them(tmp_path):
    from scapy.utils import RawPcapNgReader

    path = write(tmp_path / "a.pcapng", ["w"], [Captured(i, 0, f) for i, f in enumerate(FRAMES)])
    with RawPcapNgReader(str(path)) as reader:
        assert [data for data, _ in reader] == FRAMES


def test_what_a_killed_writer_left_is_read_as_far_as_it_goes(tmp_path):
    path = write(tmp_path / "a.pcapng", ["w"], [Captured(i, 0, f) for i, f in enumerate(FRAMES)])
    whole = path.read_bytes()
    path.write_bytes(whole[:-30])
    assert [each.frame for each in read_all(path)] == FRAMES[:-1]


@pytest.mark.parametrize("count", [1, 3])
def test_captures_are_merged_in_order_of_time(tmp_path, count):
    parts = []
    for worker in range(count):
        times = range(worker, 30, worker + 2)
        captured = [Captured(time, 0, FRAMES[time % 6]) for time in times]
        path = write(tmp_path / f"{worker}.pcapng", ["own"], captured)
        parts.append((f"worker {worker}", path))
    merge(parts, tmp_path / "all.pcapng")
    merged = read_all(tmp_path / "all.pcapng")
    assert [each.time_ns for each in merged] == sorted(each.time_ns for each in merged)
    for worker, (_, path) in enumerate(parts):
        own = [each._replace(interface=0) for each in merged if each.interface == worker]
        assert own == read_all(path)
