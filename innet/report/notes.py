"""The short notes below a table: what its figures rest on, and what the marks mean."""

from collections.abc import Iterator, Mapping
from typing import Any

from innet.metrics.figures import RunSummary
from innet.report.numbers import short_bytes
from innet.report.results import Results


def notes(results: Results, scenario: Mapping[str, Any]) -> list[str]:
    """Return the notes that apply to these results of a resolved scenario."""
    runs = [run for point in results.points for run in point.runs]
    if not runs:
        return []
    classes = _classes(runs) if len(results.points) == 1 else ()
    return [*classes, *_marks(runs), *_model(runs, scenario)]


def _classes(runs: list[RunSummary]) -> Iterator[str]:
    """Say what each class of links carried, where there are several."""
    if not runs[0].class_bytes:
        return
    yield "medium bytes by class of links, all links and both directions:"
    width = max(len(run.algorithm) for run in runs)
    for run in runs:
        told = ", ".join(f"{name} {short_bytes(size)}" for name, size in run.class_bytes.items())
        yield f"  {run.algorithm:{width}}  {told}"


def _marks(runs: list[RunSummary]) -> Iterator[str]:
    yield "time: until the last worker has its result, from time 0; over: above the lower bound"
    yield "wire/NIC: medium bytes, headers and gaps too, of the busiest host's busier direction"
    yield "resent: packets sent again by hosts"
    if any(run.busbw_equivalent for run in runs):
        yield "busbw *: equivalent: what a ring would need to end at that time; on no wire"
    if not all(run.checked for run in runs):
        yield "#wrong -: timing only: no values were carried, so none were checked"


def _model(runs: list[RunSummary], scenario: Mapping[str, Any]) -> Iterator[str]:
    yield "model: full-duplex FIFO links; switches store and forward whole packets;"
    yield "  hosts take host.send and host.receive a packet and reduce at no further cost"
    in_network = any(run.busbw_equivalent for run in runs)
    if in_network and any(run.dtype != "int32" for run in runs):
        yield "in_network: floats travel as 4-byte integers in block floating point, after one more"
        yield "  round of packets for the exponents"
    message = scenario.get("message", {})
    if message.get("ack") == "0 B" and not all(run.busbw_equivalent for run in runs):
        yield "point to point: acknowledgements take no bandwidth (message.ack)"
