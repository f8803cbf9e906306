"""Compare the P4 program in Python with the soft switch over many random packets, and time both.

Usage: python tests/benchmarks/p4_fuzz.py [--packets N] [--seed S]

For 32, 64 and 256 values a packet: N random packets (see innet/emulator/check/packets.py) go to
both, and everything that leaves a port must be the same, byte for byte. Then both take the
packets of one all-reduce, chunk after chunk in order; packets a second are shown, the median of
five runs. Ends with 1 at the first difference.
"""

import argparse
import sys
import time
from statistics import median

import numpy as np

from innet.emulator.check.packets import SWITCH, PacketMaker, by_port, star_job, three_jobs
from innet.emulator.control.local import P4Switch
from innet.emulator.soft import SoftSwitch
from innet.wire.frames import FrameWriter, Message, payload_of
from innet.wire.headers import MessageType

SIZES = (32, 64, 256)
RUNS = 5
CHUNKS = 512
SLOTS = 64


def compare(elements: int, packets: int, seed: int) -> bool:
    """Whether both switches send the same for `packets` random packets."""
    jobs = three_jobs(elements)
    soft, program = SoftSwitch(elements), P4Switch(elements)
    for job in jobs:
        soft.add(job)
        program.add(job)
    for count, (port, frame) in enumerate(PacketMaker(seed, jobs).packets(packets)):
        wanted, found = by_port(soft.process(port, frame)), by_port(program.process(port, frame))
        if wanted != found:
            print(f"k={elements}: packet {count} at port {port} differs: {frame.hex()}")
            print(f"  soft: {wanted}\n  p4:   {found}")
            return False
    if dict(soft.counters()) != dict(program.counters()):
        print(f"k={elements}: counters differ: {soft.counters()} {program.counters()}")
        return False
    counted = {name: count for name, count in soft.counters().items() if count}
    print(f"k={elements}: {packets} packets, all the same; {counted}")
    return True


def all_reduce_frames(elements: int, workers: int) -> list[tuple[int, bytes]]:
    """The packets of all workers, chunk after chunk."""
    job = star_job(1, workers, elements, slots=SLOTS)
    writers = [FrameWriter(member.address, SWITCH) for member in job.members]
    payload = payload_of(np.arange(elements, dtype=np.int32), elements)
    frames = []
    for chunk in range(CHUNKS):
        in_set = chunk // SLOTS % 2
        message = Message(
            MessageType.UPDATE, False, elements, 1, chunk, chunk % SLOTS, in_set, 0, 0, payload
        )
        frames += [(port + 1, writer.pack(message)) for port, writer in enumerate(writers)]
    return frames


def packets_a_second(switch: SoftSwitch | P4Switch, frames: list[tuple[int, bytes]]) -> float:
    """How many packets the switch takes a second, the median of some runs."""
    rates = []
    for _ in range(RUNS):
        switch.wipe()
        started = time.perf_counter()
        for port, frame in frames:
            switch.process(port, frame)
        rates.append(len(frames) / (time.perf_counter() - started))
    return median(rates)


def main() -> int:
    """Compare, then time."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--packets", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if not all(compare(elements, options.packets, options.seed) for elements in SIZES):
        return 1
    print("\nkilo packets a second    workers   soft     p4")
    for elements in SIZES:
        for workers in (3, 8):
            frames = all_reduce_frames(elements, workers)
            rates = []
            for switch in (SoftSwitch(elements), P4Switch(elements)):
                switch.add(star_job(1, workers, elements, slots=SLOTS))
                rates.append(packets_a_second(switch, frames) / 1000)
            print(f"k={elements:<20} {workers:>9} {rates[0]:>6.0f} {rates[1]:>6.0f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
