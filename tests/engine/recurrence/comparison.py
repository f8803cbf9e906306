"""The two engines' traces, to be compared."""

import dataclasses

from innet.engine.recurrence.run import run_recurrence
from innet.engine.reference.run import run_reference
from innet.engine.refused import RefusedError
from innet.errors import UnfinishedError


def reference(plan):
    """The reference engine's trace under the recurrence's name, None when it cannot finish."""
    try:
        trace = run_reference(plan)
    except UnfinishedError:
        return None
    return dataclasses.replace(trace, engine="recurrence")


def undisturbed(trace):
    """Whether a run has no timeout and no drop."""
    return (
        trace is not None
        and not any(rank.timeouts for rank in trace.ranks)
        and not any(link.queue_dropped for link in trace.links)
    )


def outcome(plan, at_once):
    try:
        return run_recurrence(plan, None, at_once)
    except RefusedError:
        return None
