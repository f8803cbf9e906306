"""Measure innet's engines beside ns-3 and ns.py, on the same stars, in one run.

Usage: python tests/benchmarks/engines.py [--cache FOLDER] [--repetitions N] [--innet-alone]

All simulate one in-network all-reduce: 100 Gbps, 500 ns a link, 400 ns in the switch, packets of
1024 B and 56 B more, 128 slots, no values. A hop is a packet that crosses a link. Each competitor
gets a virtual environment of its own in FOLDER, made when it is not there, which needs pip's
index; ns-3 needs g++ as well. They know no losses, and take part up to 64 workers. Every
simulation is a process; repetitions of all take turns; medians of processor time count, without
imports and compilation, so that what else the machine does matters little. Ends with 1 when one
ends at a wrong instant or innet falls short of what is demanded.
"""

import argparse
import json
import subprocess
import sys
import venv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "independent"))

from ns3_programs import build_ns3_program, star_command  # noqa: E402

PACKET_BYTES = 1024 + 56
WINDOW = 128
DELAY_PS = 500_000
LATENCY_PS = 400_000
RATE_BPS = 100 * 10**9
ENGINES = ("reference", "recurrence", "compiled")
NS3, NS_PY = "ns-3.44 raw", "ns.py 0.4.3"
# Hops a second of an engine over another's: at least so much.
DEMANDS = (
    ("reference", NS_PY, 5.0),
    ("reference", NS3, 0.5),
    ("recurrence", "reference", 80.0),
    ("compiled", "reference", 150.0),
    ("compiled", NS3, 50.0),
)
MOST_WORKERS_OF_OTHERS = 64


@dataclass(frozen=True)
class Case:
    """A star, and the instant at which every worker has its sum, where others confirmed it."""

    name: str
    workers: int
    size_bytes: int
    finish_ps: int | None
    loss: float = 0.0

    @property
    def chunks(self) -> int:
        return -(-self.size_bytes // 1024)

    def engines(self) -> Iterator[str]:
        """The engines of innet that simulate it."""
        yield from (name for name in ENGINES if not self.loss or name != "recurrence")


CASES = (
    Case("n=8, 10 MB", 8, 10**7, 845_268_800),
    Case("n=64, 2 MB", 64, 2 * 10**6, 170_312_000),
    Case("n=512, 2 MB", 512, 2 * 10**6, 170_312_000),
    Case("n=8, 5 MB, loss 1e-4", 8, 5 * 10**6, None, 1e-4),
)


class Speed(NamedTuple):
    """Million hops a second, and peak memory where it is known."""

    mhops: float
    peak_mb: int | None


class Competitors:
    """The commands of other simulators."""

    def __init__(self, cache: Path) -> None:
        ns3 = environment(cache / "ns3", "--no-deps", "ns3==3.44.post0")
        self._ns_py = environment(cache / "ns.py", "ns.py==0.4.3")
        (package,) = ns3.parents[1].glob("lib/python*/site-packages/ns3")
        self._ns3_star = build_ns3_program("ns3_star", cache, package)

    def commands(self, case: Case) -> dict[str, list[str]]:
        """The commands of those that simulate a case, by name."""
        if case.loss or case.workers > MOST_WORKERS_OF_OTHERS:
            return {}
        ns3 = star_command(
            self._ns3_star,
            rates=[f"{RATE_BPS}bps"] * case.workers,
            packet_bytes=PACKET_BYTES,
            chunks=case.chunks,
            window=WINDOW,
            delay=f"{DELAY_PS}ps",
            latency=f"{LATENCY_PS}ps",
            resolution="ps",
        )
        return {NS3: ns3, NS_PY: [str(self._ns_py), str(HERE / "ns_py_star.py"), *numbers(case)]}


def numbers(case: Case) -> list[str]:
    """The star in numbers, as the programs in Python want it."""
    star = (case.workers, PACKET_BYTES, case.chunks, WINDOW, DELAY_PS, LATENCY_PS, RATE_BPS)
    return [str(number) for number in star]


def environment(folder: Path, *packages: str) -> Path:
    """Return the Python of a virtual environment with the packages; make it when needed."""
    python = folder / "bin" / "python"
    if not (folder / "complete").exists():
        print(f"making {folder} with {packages[-1]}", file=sys.stderr)
        venv.create(folder, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *packages], check=True)
        (folder / "complete").touch()
    return python


def run(command: Sequence[str], case: Case) -> dict[str, Any]:
    """Run one simulation; RuntimeError when it does not end at the case's instant."""
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    result: dict[str, Any] = json.loads(done.stdout)
    if case.finish_ps is not None and set(result["finish_ps"]) != {case.finish_ps}:
        raise RuntimeError(f"{command[:2]} ends at {set(result['finish_ps'])} ps in {case}")
    return result


def measure(competitors: Competitors | None, case: Case, repetitions: int) -> dict[str, Speed]:
    """Return the speed of all that simulate a case; RuntimeError when they end differently."""
    program, star = [sys.executable, str(HERE / "innet_star.py")], numbers(case)
    commands = {name: [*program, name, str(case.loss), *star] for name in case.engines()}
    commands |= competitors.commands(case) if competitors is not None else {}
    results: dict[str, list[dict[str, Any]]] = {name: [] for name in commands}
    for _ in range(repetitions):
        for name, command in commands.items():
            results[name].append(run(command, case))
    ends = {tuple(result["finish_ps"]) for each in results.values() for result in each}
    if len(ends) > 1:
        raise RuntimeError(f"the simulators end at different instants in {case}")
    hops = results["reference"][0]["hops"]
    return {
        name: Speed(
            hops / median(result["seconds"] for result in each) / 1e6, each[0].get("peak_mb")
        )
        for name, each in results.items()
    }


def report(case: Case, speeds: dict[str, Speed]) -> bool:
    """Print a case's speeds and ratios; return whether innet is as fast as demanded."""
    at = "" if case.finish_ps is None else f" at {case.finish_ps} ps"
    print(f"{case.name}: all end at the same instants{at}")
    for name, speed in speeds.items():
        memory = "" if speed.peak_mb is None else f"   peak {speed.peak_mb:4d} MB"
        print(f"  {name:12} {speed.mhops:9.3f} Mhops/s{memory}")
    enough = True
    for engine, other, demanded in DEMANDS:
        if engine in speeds and other in speeds:
            ratio = speeds[engine].mhops / speeds[other].mhops
            enough = enough and ratio >= demanded
            verdict = "pass" if ratio >= demanded else "falls short"
            print(f"  {engine} over {other}: {ratio:.4g} x, at least {demanded:g} x: {verdict}")
    sys.stdout.flush()
    return enough


def main() -> int:
    """Run, print, and say by the exit code whether all is as demanded."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cache", type=Path, default=Path("runs/benchmarks"))
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--innet-alone", action="store_true")
    options = parser.parse_args()
    competitors = None if options.innet_alone else Competitors(options.cache.resolve())
    verdicts = [report(case, measure(competitors, case, options.repetitions)) for case in CASES]
    return 0 if all(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
