"""How one algorithm runs at one point: of a collective, or of a training step."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from innet.campaign.kinds import Summary
from innet.campaign.values import Values, load_values, wrong_elements
from innet.engine.progress import Report
from innet.engine.simulate import Engine, Note, simulate, simulate_step
from innet.metrics.rows import Row, link_rows, worker_rows
from innet.metrics.step_rows import operation_rows, rank_rows, step_link_rows
from innet.metrics.step_summary import summarise_step
from innet.metrics.summary import summarise
from innet.scenario.asked import requests_of
from innet.scenario.build import build_plan
from innet.scenario.build_step import build_step_plan
from innet.scenario.schema import Scenario
from innet.trace.spans_file import StoredSpan, stored_spans


class Ran(NamedTuple):
    """The figures of a run, what is wrong with its sums, its rows of each CSV file, its spans."""

    summary: Summary
    wrong: str
    rows: Mapping[str, Sequence[Row]]
    spans: Sequence[StoredSpan] = ()


class Runner(Protocol):
    """Runs the algorithms of one point."""

    def run(self, algorithm: str, progress: Report) -> Ran:
        """Run an algorithm; `progress` is told how far it is.

        Raises UnfinishedError when the run cannot finish.
        """


def runner_of(scenario: Scenario, engine: Engine, note: Note | None) -> Runner:
    """Return what runs a point of a scenario.

    `note` is told what a user should know of the engine. Raises ConfigurationError for tensor
    files that do not fit and for steps that cannot be expanded.
    """
    kind = CollectiveRunner if scenario.training is None else StepRunner
    return kind(scenario, engine, note)


class CollectiveRunner:
    """Runs a collective and checks its sums."""

    def __init__(self, scenario: Scenario, engine: Engine, note: Note | None) -> None:
        self._scenario, self._engine, self._note = scenario, engine, note
        self._values: Values = load_values(scenario)

    def run(self, algorithm: str, progress: Report) -> Ran:
        """Run an algorithm."""
        values = self._values
        plan = build_plan(self._scenario, algorithm, values.carried, values.elements)
        trace = simulate(plan, values.tensors, progress, self._engine, self._note)
        wrong, first = wrong_elements(values, plan, trace)
        return Ran(
            summarise(plan, trace, wrong, values.carried),
            first if wrong else "",
            {"workers": worker_rows(plan, trace), "links": link_rows(plan, trace)},
        )


class StepRunner:
    """Runs a training step, whose operations carry no values."""

    def __init__(self, scenario: Scenario, engine: Engine, note: Note | None) -> None:
        self._scenario, self._engine, self._note = scenario, engine, note
        self._asked = requests_of(scenario)

    def run(self, algorithm: str, progress: Report) -> Ran:
        """Run an algorithm."""
        plan = build_step_plan(self._scenario, algorithm, self._asked)
        engine, trace = simulate_step(plan, progress, self._engine, self._note)
        summary = summarise_step(trace, plan.graph, algorithm, engine)
        rows = {
            "ranks": rank_rows(trace, algorithm),
            "operations": operation_rows(summary),
            "links": step_link_rows(trace, plan.graph, algorithm),
        }
        return Ran(summary, "", rows, list(stored_spans(trace, algorithm)))
