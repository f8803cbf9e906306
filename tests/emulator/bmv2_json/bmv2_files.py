"""The real simple_switch_grpc on packets from files: no interfaces, so it needs no rights."""

import shutil
import socket
import struct
import subprocess
import time
from contextlib import contextmanager

SWITCH = "simple_switch_grpc"
COMMAND_LINE = "simple_switch_CLI"
MISSING = [tool for tool in (SWITCH, COMMAND_LINE) if shutil.which(tool) is None]
DEVICE = 1
WAIT_S = 5
"""From BMv2's start to its first packet: the time to fill its tables."""

_FILE_HEAD = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
_PACKET_HEAD = struct.Struct("<IIII")
_DEADLINE_S = 60


def write_packets(path, packets):
    """A pcap file of (microsecond, frame)."""
    with path.open("wb") as file:
        file.write(_FILE_HEAD)
        for time_us, frame in packets:
            seconds, rest = divmod(time_us, 1_000_000)
            file.write(_PACKET_HEAD.pack(seconds, rest, len(frame), len(frame)) + frame)


def read_packets(path):
    """The frames of a pcap file that may still be growing."""
    data = path.read_bytes() if path.exists() else b""
    at = len(_FILE_HEAD)
    frames = []
    while at + _PACKET_HEAD.size <= len(data):
        length = _PACKET_HEAD.unpack_from(data, at)[2]
        at += _PACKET_HEAD.size
        frames.append(data[at : at + length])
        at += length
    return frames


class FileSwitch:
    """BMv2 that takes packets (port, frame) from files and writes what it sends to files."""

    def __init__(self, folder, ports, packets):
        self._folder = folder
        self._ports = ports
        for port in self._ports:
            mine = [(place, frame) for place, (at, frame) in enumerate(packets) if at == port]
            write_packets(folder / f"{port}_in.pcap", mine)
        self.target = f"unix:{folder}/p4runtime"

    @contextmanager
    def running(self, *program):
        """Run it, with a program or none, so that no port's queue overflows."""
        with socket.create_server(("127.0.0.1", 0)) as free:
            thrift = str(free.getsockname()[1])
        command = [SWITCH, *program, "--device-id", str(DEVICE), "-L", "off"]
        command += ["--use-files", str(WAIT_S), "--thrift-port", thrift]
        for port in self._ports:
            command += ["-i", f"{port}@{self._folder}/{port}"]
        command += ["--", "--grpc-server-addr", self.target]
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            _deepen_queues(thrift)
            yield self
        finally:
            child.terminate()
            child.wait()

    def sent(self, counts):
        """What each port sent, once it is as many packets as in `counts`."""
        deadline = time.monotonic() + _DEADLINE_S
        while True:
            found = {port: read_packets(self._folder / f"{port}_out.pcap") for port in self._ports}
            complete = all(len(found[port]) >= count for port, count in counts.items())
            if complete or time.monotonic() > deadline:
                return found
            time.sleep(0.2)


def _deepen_queues(thrift):
    deadline = time.monotonic() + WAIT_S
    while True:
        told = subprocess.run(
            [COMMAND_LINE, "--thrift-port", thrift],
            input="set_queue_depth 100000\n",
            capture_output=True,
            text=True,
            check=False,
        )
        if told.returncode == 0 and "RuntimeCmd" in told.stdout:
            return
        assert time.monotonic() < deadline, told.stdout + told.stderr
        time.sleep(0.2)
