"""Spans are packed into a file and come back as they were."""

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from innet.trace.spans_file import StoredSpan, read_spans_file, spans_file, stored_spans
from innet.trace.steps import COMPUTE, Decision, Span, StepTrace

whole = st.integers(0, 2**63)
stored = st.builds(
    StoredSpan,
    st.sampled_from(["in_network", "ring"]),
    st.integers(0, 4096),
    st.sampled_from(["compute", "all_reduce", "send"]),
    st.sampled_from(["", "dp", "dp,tp"]),
    whole,
    whole,
    whole,
    st.integers(-1, 10**6),
    st.sampled_from(["", "in_network", 'a "way", of\nits own']),
)


@given(st.lists(stored, max_size=5))
def test_spans_come_back_as_they_were(spans):
    assert read_spans_file(spans_file(spans)) == spans
    assert spans_file(spans) == spans_file(spans)


def test_a_steps_spans_are_stored_by_rank_and_start_with_what_ran_them():
    spans = (
        Span(0, "all_reduce", "dp", 5, 9, 100, 0, 0),
        Span(0, COMPUTE, "", 0, 5),
        Span(1, "all_reduce", "dp", 2, 9, 100, 0, 0),
    )
    trace = StepTrace(spans, (9, 9), (Decision("all_reduce", "dp", "ring", "x", 1, 100),), (), ())
    found = list(stored_spans(trace, "ring"))
    assert [(span.rank, span.start_ps, span.end_ps, span.how) for span in found] == [
        (0, 0, 5, ""),
        (0, 5, 9, "ring"),
        (1, 2, 9, "ring"),
    ]
    assert found[1] == StoredSpan("ring", 0, "all_reduce", "dp", 5, 4, 100, 0, "ring")


HEADS = ",".join(StoredSpan._fields) + "\n"


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "line 1: the columns are not algorithm,rank"),
        (b"no gzip", "is not a text packed by gzip"),
        (gzip.compress(b"a" * 100)[:-4], "is not a text packed by gzip"),
        (gzip.compress(b"\xff"), "is not a text packed by gzip"),
        (gzip.compress(b"a,b\n"), "line 1: the columns are not"),
        (gzip.compress((HEADS + "ring,0\n").encode()), "line 2: not a span: ring,0"),
        (gzip.compress((HEADS + "ring,x,a,b,1,2,3,4,c\n").encode()), "line 2: not a span"),
    ],
)
def test_what_is_no_file_of_spans_is_refused(content, told):
    with pytest.raises(ValueError, match="^" + told):
        read_spans_file(content)
