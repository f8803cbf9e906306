"""A plain sender of one worker: frames that were made before, a window ahead of their results.

Usage: python tests/benchmarks/blaster.py SOCKET FILE BYTES WINDOW

SOCKET is an inherited descriptor of an AF_PACKET socket, FILE holds frames of BYTES bytes, one
after another. It says a line when it is ready, starts at a line on stdin, says another when as
many frames of that length have come back, and looks at nothing in them.
"""

import select
import socket
import sys
from pathlib import Path

from innet.emulator.sockets import receive_frames

PATIENCE_S = 10.0


def blast(end: socket.socket, frames: list[bytes], window: int) -> None:
    """Send all frames, `window` ahead of what comes back."""
    wanted, length = len(frames), len(frames[0])
    sent = received = 0
    while received < wanted:
        until = min(wanted, received + window)
        for frame in frames[sent:until]:
            end.send(frame)
        sent = until
        if not select.select([end], [], [], PATIENCE_S)[0]:
            raise SystemExit(f"BMv2 sent {received} of {wanted} results")
        received += sum(len(frame) == length for frame in receive_frames(end))


def main() -> None:
    """Do what the arguments say."""
    descriptor, file, length, window = sys.argv[1:]
    whole, size = Path(file).read_bytes(), int(length)
    frames = [whole[start : start + size] for start in range(0, len(whole), size)]
    with socket.socket(fileno=int(descriptor)) as end:
        print("ready", flush=True)
        sys.stdin.readline()
        blast(end, frames, int(window))
        print("done", flush=True)


if __name__ == "__main__":
    main()
