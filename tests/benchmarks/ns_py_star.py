"""In-network aggregation on a star of ns.py's ports and wires.

Usage, where ns.py is installed: ns_py_star.py WORKERS PACKET_BYTES CHUNKS WINDOW DELAY_PS
LATENCY_PS RATE_BPS. Prints, as JSON, when each worker has its last result (ps) and the processor
time of the simulation (s). ns.py takes any unit of time; here it is the picosecond.
"""

import json
import sys
import time

import simpy
from ns.packet.packet import Packet
from ns.port.port import Port
from ns.port.wire import Wire


class Worker:
    """Sends a window of chunks, then one more for every result."""

    def __init__(self, env, packet_bytes, chunks, window):
        self.env = env
        self.packet_bytes = packet_bytes
        self.chunks = chunks
        self.window = window
        self.sent = 0
        self.received = 0
        self.finish_ps = None
        self.out = None

    def start(self):
        for _ in range(self.window):
            self.send_next_chunk()

    def send_next_chunk(self):
        if self.sent < self.chunks:
            self.out.put(Packet(self.env.now, self.packet_bytes, self.sent))
            self.sent += 1

    def put(self, packet):
        self.received += 1
        if self.received == self.chunks:
            self.finish_ps = self.env.now
        self.send_next_chunk()


class Switch:
    """Answers the last contribution of a chunk with a packet to every worker."""

    def __init__(self, env, workers, latency_ps, chunks):
        self.env = env
        self.workers = workers
        self.latency_ps = latency_ps
        self.contributions = [0] * chunks
        self.ports = []

    def put(self, packet):
        self.contributions[packet.packet_id] += 1
        if self.contributions[packet.packet_id] == self.workers:
            self.env.process(self.multicast(packet))

    def multicast(self, packet):
        yield self.env.timeout(self.latency_ps)
        for port in self.ports:
            port.put(Packet(self.env.now, packet.size, packet.packet_id))


def connect(env, rate_bps, delay_ps, target):
    """Return a port whose packets reach `target` over a wire."""
    port = Port(env, rate=rate_bps / 1e12)
    port.out = Wire(env, lambda: delay_ps)
    port.out.out = target
    return port


def build(env, workers, packet_bytes, chunks, window, delay_ps, latency_ps, rate_bps):
    switch = Switch(env, workers, latency_ps, chunks)
    hosts = [Worker(env, packet_bytes, chunks, window) for _ in range(workers)]
    for host in hosts:
        host.out = connect(env, rate_bps, delay_ps, switch)
        switch.ports.append(connect(env, rate_bps, delay_ps, host))
    return hosts


def main():
    env = simpy.Environment()
    hosts = build(env, *map(int, sys.argv[1:]))
    begin = time.process_time()
    for host in hosts:
        host.start()
    env.run()
    seconds = time.process_time() - begin
    print(json.dumps({"seconds": seconds, "finish_ps": [round(host.finish_ps) for host in hosts]}))


if __name__ == "__main__":
    main()
