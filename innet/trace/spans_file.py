"""The spans of training steps as a file: CSV, packed by gzip, a line a span.

Columns are the fields of `StoredSpan`. The same spans give the same bytes.
"""

import csv
import gzip
import io
import zlib
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from innet.trace.steps import StepTrace


class StoredSpan(NamedTuple):
    """A span of a step by one algorithm; `how` names what ran it, empty for compute.

    The other fields are those of `innet.trace.steps.Span`, with its duration instead of its end.
    """

    algorithm: str
    rank: int
    operation: str
    axes: str
    start_ps: int
    duration_ps: int
    size_bytes: int
    number: int
    how: str

    @property
    def end_ps(self) -> int:
        """When it ended."""
        return self.start_ps + self.duration_ps


def stored_spans(trace: StepTrace, algorithm: str) -> Iterator[StoredSpan]:
    """Yield a step's spans as they are stored, by rank and start."""
    for span in sorted(trace.spans, key=lambda span: (span.rank, span.start_ps)):
        how = trace.decisions[span.decision].how if span.decision >= 0 else ""
        yield StoredSpan(
            algorithm,
            span.rank,
            span.operation,
            span.axes,
            span.start_ps,
            span.end_ps - span.start_ps,
            span.size_bytes,
            span.number,
            how,
        )


def spans_file(spans: Iterable[StoredSpan]) -> bytes:
    """Return the file of some spans."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(StoredSpan._fields)
    writer.writerows(spans)
    packed = io.BytesIO()
    # No name and no date in the file's head: the same spans give the same bytes.
    with gzip.GzipFile("", "wb", fileobj=packed, mtime=0) as file:
        file.write(text.getvalue().encode())
    return packed.getvalue()


def read_spans_file(content: bytes) -> list[StoredSpan]:
    """Return the spans of a file; ValueError says what is wrong with it."""
    try:
        text = gzip.decompress(content).decode()
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise ValueError(f"is not a text packed by gzip: {error}") from None
    rows = csv.reader(io.StringIO(text))
    heads = next(rows, [])
    if tuple(heads) != StoredSpan._fields:
        raise ValueError(f"line 1: the columns are not {','.join(StoredSpan._fields)}")
    return [_read_row(row, line) for line, row in enumerate(rows, 2)]


def _read_row(row: list[str], line: int) -> StoredSpan:
    try:
        algorithm, rank, operation, axes, start, duration, size, number, how = row
        return StoredSpan(
            algorithm,
            int(rank),
            operation,
            axes,
            int(start),
            int(duration),
            int(size),
            int(number),
            how,
        )
    except ValueError:
        raise ValueError(f"line {line}: not a span: {','.join(row)}") from None
