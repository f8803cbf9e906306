"""The network of the reference engine: hardware on which programs carry out operations."""

from collections.abc import Sequence

from innet.engine.ledger import Ledger
from innet.engine.network import Completion
from innet.engine.reference.clock import START, call_at, priority
from innet.engine.reference.hardware import Hardware
from innet.engine.reference.job import AggregationJob
from innet.engine.reference.messages import MessageProgram
from innet.engine.reference.program import Program, Vector
from innet.engine.reference.watch import QuietError, Watch
from innet.plan.operation import Operation
from innet.plan.plan import Fabric
from innet.protocol.machine import NEVER
from innet.trace.records import LinkRecord, SwitchRecord


class ReferenceNetwork:
    """A fabric on which operations run; innet.engine.network says what may be asked of it."""

    def __init__(self, fabric: Fabric) -> None:
        self.fabric = fabric
        self.ledger = Ledger()
        self.programs: list[Program] = []
        self._hardware = Hardware(fabric, self._goes_down, self._comes_back)
        self._program_of: list[Program] = []
        self._jobs: dict[int, AggregationJob] = {}
        self._limit = NEVER
        self._watch = Watch(self._hardware.env, fabric, self)

    # --- operations ----------------------------------------------------------------------

    def add(self, operation: Operation, tensors: Sequence[Vector] | None = None) -> int:
        """Prepare an operation; `tensors` holds a whole vector a worker, None for timing only.

        Raises ValueError for an operation that is not like the others of its job, or that no
        switch can carry out.
        """
        number = self.ledger.add(operation)
        if operation.aggregation is None:
            program: Program = MessageProgram(
                self._hardware, self.ledger, number, operation, tensors
            )
            self.programs.append(program)
        else:
            program = job = self._job(operation)
            job.add(number, operation, tensors)
        self._program_of.append(program)
        return number

    def _job(self, operation: Operation) -> AggregationJob:
        if operation.job not in self._jobs:
            job = self._jobs[operation.job] = AggregationJob(self._hardware, self.ledger, operation)
            self.programs.append(job)
        return self._jobs[operation.job]

    def begin(self, operation: int, place: int, now: int) -> None:
        """Let a rank enter an operation at `now`, once; ValueError for a time that is over."""
        env = self._hardware.env
        if now < env.now:
            raise ValueError(f"{now} ps is over; the network has simulated {env.now} ps")
        self.ledger.begin(operation, place, now)
        node = self._node_of(operation, place)
        gate = self._hardware.gate(node)

        def start(then: int) -> None:
            gate(lambda at: self._program_of[operation].start(operation, place, at), then)

        call_at(env, now, priority(START, node, operation), start)
        self._watch.arm()

    def _node_of(self, operation: int, place: int) -> int:
        rank = self.ledger.operations[operation].group[place]
        return self.fabric.hosts[rank].node

    def results(self, operation: int) -> tuple[Vector, ...] | None:
        """The whole vector of every worker, None when timing only.

        Parts of it that the kind of operation does not give a worker have no meaning.
        """
        return self._program_of[operation].results(operation)

    # --- time ----------------------------------------------------------------------------

    def advance(self, limit: int) -> tuple[Completion, ...]:
        """Simulate what happens before `limit`, or until a rank has completed something."""
        self._limit = limit
        if limit == NEVER:
            self._watch.arm()
        while True:
            try:
                self._hardware.env.run_before(limit, self.ledger.found)
            except QuietError:
                if limit < NEVER and not self.ledger.found:
                    continue
            return self.ledger.take()

    @property
    def now_ps(self) -> int:
        """The simulated time reached."""
        return int(self._hardware.env.now)

    def run_events(self, count: int) -> bool:
        """Handle the next events; return whether there are more and somebody waits for them."""
        try:
            return self._hardware.env.run_events(count)
        except QuietError:
            return False

    # --- what happens to nodes -----------------------------------------------------------

    def _goes_down(self, node: int, now: int) -> None:
        for program in self.programs:
            program.lose_state(node, now)

    def _comes_back(self, node: int, now: int) -> None:
        """Let the node's ranks enter again what they have begun and somebody still waits for."""
        for operation in sorted({operation for operation, _ in self.ledger.open}):
            for place, begun in self.ledger.begun(operation).items():
                if begun <= now and self._node_of(operation, place) == node:
                    self._program_of[operation].start(operation, place, now)

    # --- what the watch looks at ---------------------------------------------------------

    def all_done(self) -> bool:
        """Whether all that was begun is complete."""
        return not self.ledger.open

    def hopeless(self) -> bool:
        """Whether nobody waits for a rank that may still begin an operation."""
        return self._limit == NEVER or not self.ledger.open or self.ledger.entered_by_all()

    def progress_made(self) -> int:
        """A number that grows as long as something is moving."""
        return self.ledger.moves + sum(program.progress_made() for program in self.programs)

    def waiting(self) -> list[str]:
        """Who waits for what."""
        return [line for program in self.programs for line in program.waiting()]

    # --- counters ------------------------------------------------------------------------

    def links(self) -> tuple[LinkRecord, ...]:
        """What every link direction has counted so far."""
        return tuple(link.record() for link in self._hardware.links)

    def switches(self) -> tuple[SwitchRecord, ...]:
        """What every switch that aggregates has counted so far, over all jobs, by node."""
        counts: dict[int, list[int]] = {}
        for job in self._jobs.values():
            for node, *counters in job.counters():
                so_far = counts.setdefault(node, [0] * len(counters))
                counts[node] = [a + b for a, b in zip(so_far, counters, strict=True)]
        return tuple(SwitchRecord(node, *counts[node]) for node in sorted(counts))
