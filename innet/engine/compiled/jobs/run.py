"""A run of an in-network plan on any network in compiled code, from the plan to the trace."""

from collections.abc import Callable

from innet.engine.compiled.jobs.lower import lower_job
from innet.engine.compiled.jobs.outcome import trace_of, waiting
from innet.engine.compiled.kernel import FULL, MORE, QUIET
from innet.engine.compiled.messages.kernel import run_windows
from innet.engine.compiled.messages.lower import grown
from innet.engine.compiled.watch import run_watched
from innet.plan.plan import Plan
from innet.trace.records import Trace

# Between slices, of some tens of milliseconds, Ctrl-C is noticed.
_EVENTS_A_SLICE = 500_000


class CompiledJob:
    """An in-network plan on its way."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self.state = lower_job(plan)

    def run(self, progress: Callable[[float], None] | None) -> Trace:
        """Run until the network is quiet; raise UnfinishedError when nobody can go on."""
        run_watched(self._plan, self, progress)
        return trace_of(self._plan, self.state)

    def run_to(self, last: int, progress: Callable[[float], None] | None) -> bool:
        """Handle all events up to `last`; return whether there are no others."""
        total = max(1, int(self.state.jobs.blocks.sum()))
        while True:
            status = run_windows(self.state, last, _EVENTS_A_SLICE)
            if status == FULL:
                self.state = grown(self.state)
            elif status == MORE:
                if progress is not None:
                    progress(min(1.0, self.moved() / total))
            else:
                return bool(status == QUIET)

    def done(self) -> bool:
        """Whether every worker has its result."""
        return bool((self.state.members["finish"] >= 0).all())

    def moved(self) -> int:
        """The chunks of which workers have the sum."""
        return int(self.state.jobs.shards["completed"].sum())

    def waiting(self) -> list[str]:
        """Who waits for what."""
        return waiting(self._plan, self.state)
