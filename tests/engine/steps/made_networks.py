"""Networks that are no simulation: every operation takes a latency and its bytes over a rate."""

from innet.collectives.schedule import Schedule
from innet.engine.network import Completion
from innet.plan.operation import Operation
from innet.plan.plan import Rto
from innet.plan.step import Lowered
from innet.units import serialisation_ps
from innet.workload.mesh import Mesh
from innet.workload.parse import parse_let, parse_step
from innet.workload.program import Workload
from innet.workload.statements import Place

RTO = Rto(adaptive=False, initial_ps=1, minimum_ps=1, maximum_ps=1)


class AlphaBetaNetwork:
    """A collective ends for all alpha + size x beta after its last member has begun it; a message
    ends so long after its sender has begun, if it is received by then. Nothing shares a link."""

    def __init__(self, latency_ps: int = 0, rate_bps: int | None = None) -> None:
        self.latency_ps, self.rate_bps = latency_ps, rate_bps
        self.operations: list[Operation] = []
        self.begun: list[dict[int, int]] = []
        self.left: dict[tuple[int, int], None] = {}

    def add(self, operation):
        self.operations.append(operation)
        self.begun.append({})
        self.left |= {(len(self.begun) - 1, place): None for place in range(len(operation.group))}
        return len(self.begun) - 1

    def begin(self, operation, place, now):
        assert place not in self.begun[operation]
        self.begun[operation][place] = now

    def _cost(self, operation):
        size = operation.elements
        return self.latency_ps + (serialisation_ps(size, self.rate_bps) if self.rate_bps else 0)

    def _ends(self, number, place):
        operation, begun = self.operations[number], self.begun[number]
        if operation.kind != "send":
            complete = len(begun) == len(operation.group)
            return max(begun.values()) + self._cost(operation) if complete else None
        if place not in begun or 0 not in begun:
            return None
        sent = begun[0] + self._cost(operation)
        return sent if place == 0 else max(sent, begun[1])

    def advance(self, limit):
        times = [(self._ends(*key), *key) for key in self.left]
        due = sorted(Completion(*each) for each in times if each[0] is not None and each[0] < limit)
        now = [each for each in due if each.at_ps == due[0].at_ps]
        for each in now:
            del self.left[each.operation, each.place]
        return tuple(now)

    def links(self):
        return ()

    def switches(self):
        return ()


class PlainLowering:
    """Names the operation; its elements are bytes here."""

    def collective(self, call):
        operation = Operation(call.kind, call.group, call.size, "int32", RTO, root=call.root)
        return Lowered(operation, "plain", "nothing is offloaded here")

    def message(self, exchange):
        group = (exchange.source, exchange.target)
        schedule = Schedule("send", 2, 2, 1, ())
        operation = Operation("send", group, exchange.size, "int32", RTO, schedule=schedule)
        return Lowered(operation, "plain", "a message has no sum")


def made_workload(mesh, step, blocks=None, let=None, layers=()):
    """A workload of plain lists and mappings; the line of a statement is the number of its path's
    last whole number, plus 1."""

    def locate(path):
        numbers = [part for part in path if isinstance(part, int)]
        return Place("step.yaml", numbers[-1] + 1 if numbers else 1)

    parsed = parse_step(step, blocks or {}, tuple(mesh), locate)
    names = parse_let(let or {}, tuple(mesh), locate)
    return Workload(Mesh(mesh), parsed, names, tuple(layers))
