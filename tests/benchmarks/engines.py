"""Measure innet's reference engine beside ns-3 and ns.py, on the same star, in one run.

Usage: python tests/benchmarks/engines.py [--cache FOLDER] [--repetitions N]

All simulate one in-network all-reduce: 100 Gbps, 500 ns a link, 400 ns in the switch, packets of
1024 B and 56 B more, 128 slots, no loss, no values. A hop is a packet that crosses a link. Each
competitor gets a virtual environment of its own in FOLDER, made when it is not there, which needs
pip's index; ns-3 needs g++ as well. Repetitions of the three take turns; medians of the
simulations' processor time count, so that what else the machine does matters little.
Ends with 1 when one of them ends at a wrong instant or innet falls short of what is demanded.
"""

import argparse
import json
import subprocess
import sys
import venv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "independent"))

from ns3_star import build_ns3_star, ns3_command  # noqa: E402

PACKET_BYTES = 1024 + 56
WINDOW = 128
DELAY_PS = 500_000
LATENCY_PS = 400_000
RATE_BPS = 100 * 10**9
INNET = "innet reference"
# Hops a second of innet over the other's: at least so much.
DEMANDS = {"ns-3 raw": 0.5, "ns.py 0.4.3": 5.0}


@dataclass(frozen=True)
class Case:
    """A star, and the instant at which every worker has its sum."""

    name: str
    workers: int
    size_bytes: int
    finish_ps: int

    @property
    def chunks(self) -> int:
        return -(-self.size_bytes // 1024)

    @property
    def hops(self) -> int:
        return 2 * self.workers * self.chunks


CASES = (
    Case("n=8, 10 MB", 8, 10**7, 845_268_800),
    Case("n=64, 2 MB", 64, 2 * 10**6, 170_312_000),
)


class Competitors:
    """The commands that simulate a case, by the competitor's name."""

    def __init__(self, cache: Path) -> None:
        ns3 = environment(cache / "ns3", "--no-deps", "ns3==3.44.post0")
        self._ns_py = environment(cache / "ns.py", "ns.py==0.4.3")
        self._ns3_star = cache / "ns3_star"
        (package,) = ns3.parents[1].glob("lib/python*/site-packages/ns3")
        build_ns3_star(package, self._ns3_star)

    def commands(self, case: Case) -> dict[str, list[str]]:
        numbers = (case.workers, PACKET_BYTES, case.chunks, WINDOW, DELAY_PS, LATENCY_PS, RATE_BPS)
        words = [str(number) for number in numbers]
        return {
            INNET: [sys.executable, str(HERE / "innet_star.py"), *words],
            "ns-3 raw": ns3_command(
                self._ns3_star,
                rates=[f"{RATE_BPS}bps"] * case.workers,
                packet_bytes=PACKET_BYTES,
                chunks=case.chunks,
                window=WINDOW,
                delay=f"{DELAY_PS}ps",
                latency=f"{LATENCY_PS}ps",
                resolution="ps",
            ),
            "ns.py 0.4.3": [str(self._ns_py), str(HERE / "ns_py_star.py"), *words],
        }


def environment(folder: Path, *packages: str) -> Path:
    """Return the Python of a virtual environment with the packages; make it when needed."""
    python = folder / "bin" / "python"
    if not (folder / "complete").exists():
        print(f"making {folder} with {packages[-1]}", file=sys.stderr)
        venv.create(folder, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *packages], check=True)
        (folder / "complete").touch()
    return python


def seconds_of(command: Sequence[str], case: Case) -> float:
    """Run one simulation; RuntimeError when it does not end at the case's instant."""
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    result = json.loads(done.stdout)
    if result["finish_ps"] != [case.finish_ps] * case.workers:
        raise RuntimeError(f"{command[:2]} ends at {set(result['finish_ps'])} ps in {case}")
    return result["seconds"]


def measure(competitors: Competitors, case: Case, repetitions: int) -> dict[str, float]:
    """Return the median of million hops a second for every competitor."""
    commands = competitors.commands(case)
    seconds: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(repetitions):
        for name, command in commands.items():
            seconds[name].append(seconds_of(command, case))
    return {name: case.hops / median(times) / 1e6 for name, times in seconds.items()}


def report(case: Case, speeds: dict[str, float]) -> bool:
    """Print a case's speeds and ratios; return whether innet is as fast as demanded."""
    print(f"{case.name}: {case.hops} hops, all end at {case.finish_ps} ps")
    enough = True
    for name, speed in speeds.items():
        line = f"  {name:16} {speed:7.3f} Mhops/s"
        if name in DEMANDS:
            ratio = speeds[INNET] / speed
            passed = ratio >= DEMANDS[name]
            enough = enough and passed
            verdict = "pass" if passed else "falls short"
            line += f"   innet is {ratio:6.2f} x, at least {DEMANDS[name]} x: {verdict}"
        print(line, flush=True)
    return enough


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cache", type=Path, default=Path("runs/benchmarks"))
    parser.add_argument("--repetitions", type=int, default=3)
    options = parser.parse_args()
    competitors = Competitors(options.cache.resolve())
    verdicts = [report(case, measure(competitors, case, options.repetitions)) for case in CASES]
    return 0 if all(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
