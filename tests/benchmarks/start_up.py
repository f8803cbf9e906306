"""How long `innet --help` takes beside Python's own start, the best of ten of each.

Usage: python tests/benchmarks/start_up.py. The exit code is 1 above a third of a second more.
"""

import subprocess
import sys
import time

MOST_S = 1 / 3


def best_s(*arguments: str) -> float:
    times = []
    for _ in range(10):
        begin = time.perf_counter()
        subprocess.run([sys.executable, *arguments], capture_output=True, check=True)
        times.append(time.perf_counter() - begin)
    return min(times)


def main() -> None:
    python_s, help_s = best_s("-c", "pass"), best_s("-m", "innet.cli.main", "--help")
    enough = help_s - python_s <= MOST_S
    print(f"python {python_s:.3f} s, innet --help {help_s:.3f} s, {help_s / python_s:.1f} x")
    print(f"{help_s - python_s:.3f} s more, at most {MOST_S:.3f} s: {'pass' if enough else 'long'}")
    sys.exit(0 if enough else 1)


if __name__ == "__main__":
    main()
