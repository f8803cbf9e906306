"""Measure what runs cost against workers and bytes: processor time and peak memory, and draw it.

Usage: python tests/benchmarks/engine_cost.py [FOLDER]. Stars of 100 Gbps, 500 ns a link, 400 ns in
the switch, packets of 1024 B and 56 B more, 128 slots, no values: without loss by the recurrence,
and by the compiled engine where links lose one packet in 10,000. Every case is a process of its
own; importing and compiling are left out of its time, but not of its memory. Prints a table, and
writes engine_cost.csv and engine_cost.svg into FOLDER, here unless given. Takes a minute.
"""

import csv
import json
import resource
import subprocess
import sys
import time
from pathlib import Path

WORKERS = (8, 64, 256, 1024)
MEGABYTES = (1, 10, 100, 1000)
LOSSES = {"recurrence": 0.0, "compiled": 1e-4}
MOST_HOPS = 250_000_000  # of a run of the compiled engine: some 10 s
FIELDS = ("engine", "workers", "megabytes", "hops", "seconds", "peak_mb")
COLOURS = ("#0072B2", "#009E73", "#E69F00", "#D55E00")


def measure(engine: str, workers: int, megabytes: int) -> dict[str, object]:
    """Run one case in this process."""
    from innet_star import benchmark_star

    from innet.engine.simulate import simulate

    loss = LOSSES[engine]
    simulate(benchmark_star(2, 10_000, loss), engine=engine)  # compiled or loaded now
    plan = benchmark_star(workers, megabytes * 1_000_000, loss)
    begin = time.process_time()
    trace = simulate(plan, engine=engine)
    seconds = time.process_time() - begin
    peak_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    values = (engine, workers, megabytes, trace.hops, round(seconds, 3), peak_kb // 1000)
    return dict(zip(FIELDS, values, strict=True))


def measured() -> list[dict[str, object]]:
    """Run every case in a process of its own and print its row."""
    rows = []
    print(("{:>12}" * len(FIELDS)).format(*FIELDS))
    for engine in LOSSES:
        for workers in WORKERS:
            for megabytes in MEGABYTES:
                if engine == "compiled" and 2 * workers * megabytes * 1000 > MOST_HOPS:
                    continue
                case = (engine, str(workers), str(megabytes))
                words = [sys.executable, __file__, "--case", *case]
                done = subprocess.run(words, check=True, capture_output=True, text=True)
                rows.append(json.loads(done.stdout))
                print(("{:>12}" * len(FIELDS)).format(*rows[-1].values()), flush=True)
    return rows


def draw(rows: list[dict[str, object]], path: Path) -> None:
    """Draw time and memory against bytes, a line for each engine and number of workers."""
    from matplotlib import pyplot, rc_context

    from innet.report.style import SETTINGS

    with rc_context(dict(SETTINGS)):
        figure, (left, right) = pyplot.subplots(1, 2, figsize=(6.8, 2.9), layout="constrained")
        for engine, line in (("recurrence", ":"), ("compiled", "-")):
            for workers, colour in zip(WORKERS, COLOURS, strict=True):
                own = [row for row in rows if (row["engine"], row["workers"]) == (engine, workers)]
                sizes = [row["megabytes"] for row in own]
                words = {"color": colour, "linestyle": line, "marker": "o"}
                left.plot(
                    sizes, [row["seconds"] for row in own], label=f"{engine}, {workers}", **words
                )
                right.plot(sizes, [row["peak_mb"] for row in own], **words)
        left.set(xscale="log", yscale="log", xlabel="MB a worker", ylabel="processor time (s)")
        right.set(xscale="log", ylim=(0, None), xlabel="MB a worker", ylabel="peak memory (MB)")
        figure.legend(*left.get_legend_handles_labels(), loc="outside right center", frameon=False)
        figure.savefig(path, metadata={"Date": None})


def main(words: list[str]) -> None:
    if words[:1] == ["--case"]:
        print(json.dumps(measure(words[1], int(words[2]), int(words[3]))))
        return
    folder = Path(words[0] if words else ".")
    rows = measured()
    with (folder / "engine_cost.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    draw(rows, folder / "engine_cost.svg")


if __name__ == "__main__":
    main(sys.argv[1:])
