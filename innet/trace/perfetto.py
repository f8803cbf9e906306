"""A step's timeline in the Trace Event Format, which Perfetto and Chrome's tracing open.

A process a rank, a thread a lane, a complete event (`X`) a span, and an arrow (`s`, `f`) from
every send to its receive. Viewers keep whole nanoseconds and want spans of a thread nested or
apart, so both ends of a span are rounded, half to even; the exact picoseconds are in its `args`.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from innet.trace.lanes import Lane, lanes_of
from innet.trace.spans_file import StoredSpan
from innet.trace.steps import COMPUTE

_PS_PER_NS = 1000
Event = dict[str, Any]


def perfetto_file(
    spans: Sequence[StoredSpan], rank_names: Mapping[int, str], about: Mapping[str, str]
) -> bytes:
    """Return the JSON of one algorithm's spans, an event a line.

    `rank_names` gives ranks longer names than `rank 3`; `about` is kept beside the events.
    """
    events = ",\n".join(_written(event) for event in trace_events(spans, rank_names))
    head = f'{{"displayTimeUnit":"ns","otherData":{_written(dict(about))},"traceEvents":[\n'
    return f"{head}{events}\n]}}\n".encode()


def trace_events(spans: Sequence[StoredSpan], rank_names: Mapping[int, str]) -> Iterator[Event]:
    """Yield the events: first all names, then every lane's spans in order, then the arrows."""
    lanes = lanes_of(spans)
    # Numbers of threads are those of no other thread or process: viewers read them as a system's.
    first = max((_process(lane) for lane in lanes), default=0) + 1
    threads = {id(lane): thread for thread, lane in enumerate(lanes, first)}
    yield from _names(lanes, first, rank_names)
    sends: dict[int, tuple[Lane, StoredSpan]] = {}
    receives: dict[int, tuple[Lane, StoredSpan]] = {}
    for lane in lanes:
        for span in lane.spans:
            yield _complete(lane, threads[id(lane)], span)
            if lane.category in ("send", "recv"):
                ends = sends if lane.category == "send" else receives
                ends[span.number] = (lane, span)
    for number in sorted(sends.keys() & receives.keys()):
        source, target = sends[number], receives[number]
        at_ns = max(_ns(source[1].start_ps), _ns(target[1].start_ps))
        if at_ns >= _ns(target[1].end_ps):
            continue  # An arrow that ends outside its receive would point to another span.
        yield _arrow("s", source[0], threads[id(source[0])], _ns(source[1].start_ps), number)
        end = _arrow("f", target[0], threads[id(target[0])], at_ns, number)
        yield {**end, "bp": "e"}


def _names(lanes: Iterable[Lane], first: int, rank_names: Mapping[int, str]) -> Iterator[Event]:
    seen: set[int] = set()
    for thread, lane in enumerate(lanes, first):
        if lane.rank not in seen:
            seen.add(lane.rank)
            name = rank_names.get(lane.rank, f"rank {lane.rank}")
            yield _metadata("process_name", lane, thread, {"name": name})
            yield _metadata("process_sort_index", lane, thread, {"sort_index": lane.rank})
        yield _metadata("thread_name", lane, thread, {"name": lane.title})
        yield _metadata("thread_sort_index", lane, thread, {"sort_index": thread})


def _metadata(name: str, lane: Lane, thread: int, args: Mapping[str, Any]) -> Event:
    where = {"pid": _process(lane), "tid": thread}
    return {"ph": "M", "name": name, "cat": "__metadata", **where, "ts": 0, "args": args}


def _process(lane: Lane) -> int:
    # Process 0 is the idle one of a system's trace.
    return lane.rank + 1


def _complete(lane: Lane, thread: int, span: StoredSpan) -> Event:
    args: dict[str, Any] = {"start_ps": span.start_ps, "duration_ps": span.duration_ps}
    if span.operation != COMPUTE:
        args |= {
            "bytes": span.size_bytes,
            "axes": span.axes,
            "how": span.how,
            "operation": span.number,
        }
    start_ns = _ns(span.start_ps)
    return {
        "ph": "X",
        "name": span.operation,
        "cat": lane.category,
        "pid": _process(lane),
        "tid": thread,
        "ts": start_ns / 1000,
        "dur": (_ns(span.end_ps) - start_ns) / 1000,
        "args": args,
    }


def _arrow(phase: str, lane: Lane, thread: int, at_ns: int, number: int) -> Event:
    return {
        "ph": phase,
        "id": number,
        "name": "message",
        "cat": "message",
        "pid": _process(lane),
        "tid": thread,
        "ts": at_ns / 1000,
    }


def _ns(time_ps: int) -> int:
    whole, rest = divmod(time_ps, _PS_PER_NS)
    return whole + (2 * rest > _PS_PER_NS or (2 * rest == _PS_PER_NS and whole % 2 == 1))


def _written(document: Mapping[str, Any]) -> str:
    return json.dumps(document, separators=(",", ":"), allow_nan=False)
