"""Run a plan in real time: processes for the workers and the switch, started, watched, ended.

Whatever happens, everything that was started is ended: processes by their own ids, the network
by itself. If innet is killed, they notice and end themselves.
"""

import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from innet.emulator import capture
from innet.emulator.attached import Attachment
from innet.emulator.closing import Closing
from innet.emulator.codec import decode
from innet.emulator.hosts import Hosts, scheme_hosts
from innet.emulator.jobs import Job
from innet.emulator.limits import aggregation_of, fitted, not_enforced, patient, require_emulable
from innet.emulator.process import Process, Report, stop_all
from innet.emulator.settings import AgentSettings
from innet.emulator.targets import open_network, packet_ps, start_switch, switch_window
from innet.emulator.watch import Watch
from innet.plan.plan import Plan
from innet.trace.records import LinkRecord, RankRecord, SwitchRecord, Trace

JOB = 1

_AGENT = "innet.emulator.agent"
_START_S = 60.0
_FINISH_S = 20.0

Tensors = Sequence[npt.NDArray[Any]]


@dataclass(frozen=True, slots=True)
class Options:
    """How to emulate. `deadline_s`: after so long without any progress the run is given up.

    `capture`: a pcapng file for what all workers send and receive. `attachment`: use this
    network and switch, instead of making those of `target` and `network`.
    """

    target: str = "p4"
    network: str = "loopback"
    deadline_s: float = 30.0
    capture: Path | None = None
    attachment: Attachment | None = None


@dataclass(frozen=True, slots=True)
class Emulated:
    """What came out. `plan` is what was run, `notes` say what of the asked one was not.

    `dropped` counts packets by who dropped them (links, workers, switch) and why. `wall_s` is
    this machine's time from the start to the last result: the emulator's, not a network's.
    """

    plan: Plan
    trace: Trace
    dropped: Mapping[str, Mapping[str, int]]
    wall_s: float
    notes: tuple[str, ...]


class Emulation(Closing):
    """An in-network all-reduce that is about to run; use it with `with`, and `run` it once.

    `tensors` are the workers' vectors. Raises ConfigurationError for what cannot be emulated
    and MissingToolError where a tool or right is missing.
    """

    def __init__(self, plan: Plan, tensors: Tensors, options: Options) -> None:
        require_emulable(plan, options.target)
        self.options = options
        self._asked = plan
        self._stack = ExitStack()
        with ExitStack() as stack:
            self._folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="innet-")))
            attachment = options.attachment
            self._network = open_network(options.network, plan, attachment)
            stack.callback(self._network.close)
            self.plan = self._prepared(plan)
            self.job = job_of(self.plan, None if attachment is None else attachment.hosts)
            self.switch = start_switch(options.target, self._network, self.job, attachment)
            stack.callback(lambda: self.switch.close())
            self.workers: list[Process] = []
            stack.callback(lambda: stop_all(self.workers))
            for worker, tensor in enumerate(tensors):
                self.workers.append(self._start_worker(worker, tensor))
            self._stack = stack.pop_all()

    def run(self, progress: Callable[[float], None] | None = None) -> Emulated:
        """Run to the end; `progress` gets the share of results that are there, now and then.

        Raises UnfinishedError, which names who waits for what, when nothing moves any more.
        """
        for process in self.workers:
            process.wait("ready", _START_S)
        self.switch.wait_ready()
        self.switch.install(self.job)
        started = time.monotonic()
        for process in self.workers:
            process.tell("start")
        watch = Watch(self.plan, self.switch, self.job, self.workers, self.options.deadline_s)
        watch.run(progress)
        return self._collect(time.monotonic() - started, watch.restarts)

    def close(self) -> None:
        """End everything that was started; any number of times."""
        self._stack.close()

    # --- the beginning -----------------------------------------------------------------------

    def _prepared(self, plan: Plan) -> Plan:
        """The plan as it can be run here."""
        target = self.options.target
        window = switch_window(target, self.options.attachment)
        expected = packet_ps(target, aggregation_of(plan).elements_per_packet)
        return patient(fitted(plan, self._network, window), expected)

    def _start_worker(self, worker: int, tensor: npt.NDArray[Any]) -> Process:
        np.save(self._path("tensor", worker), tensor, allow_pickle=False)
        end = self._network.worker_end(worker)
        settings = AgentSettings(
            self.plan,
            worker,
            JOB,
            end,
            self.job.members[worker].address,
            self.job.switch,
            str(self._path("tensor", worker)),
            str(self._path("result", worker)),
            None if self.options.capture is None else str(self._capture(worker)),
        )
        descriptors = [each.descriptor for each in end.sockets]
        prefix = self._network.worker_prefix(worker)
        return Process(f"worker {worker}", _AGENT, settings, prefix, descriptors)

    def _path(self, what: str, worker: int) -> Path:
        return self._folder / f"{what}{worker}.npy"

    def _capture(self, worker: int) -> Path:
        return self._folder / f"worker{worker}.pcapng"

    # --- the end -------------------------------------------------------------------------------

    def _collect(self, wall_s: float, restarts: int) -> Emulated:
        reports = [_last_report(process) for process in self.workers]
        counters = self.switch.counters()
        stop_all(self.workers)
        links = [decode(LinkRecord, link) for report in reports for link in report["links"]]
        links.sort(key=lambda link: link.link)
        trace = Trace(
            engine=f"{self.options.target} on {self.options.network}",
            ranks=tuple(decode(RankRecord, report["record"]) for report in reports),
            links=tuple(links),
            switches=(_switch_record(self.plan, counters),),
            hops=sum(link.packets for link in links),
            results=tuple(np.load(self._path("result", w)) for w in range(self.plan.workers)),
        )
        if self.options.capture is not None:
            parts = [(process.name, self._capture(w)) for w, process in enumerate(self.workers)]
            capture.merge(parts, self.options.capture)
        notes = list(not_enforced(self._asked, self.plan, self._network))
        if restarts:
            times = "once" if restarts == 1 else f"{restarts} times"
            notes.append(f"the switch ended {times} and was started and filled again")
        return Emulated(self.plan, trace, _dropped(links, reports, counters), wall_s, tuple(notes))


def job_of(plan: Plan, hosts: Hosts | None = None, number: int = JOB) -> Job:
    """A plan's job between `hosts`, which have the addresses of innet's scheme by default."""
    hosts = scheme_hosts(plan.workers) if hosts is None else hosts
    aggregation = aggregation_of(plan)
    return Job(
        number=number,
        members=hosts.members,
        switch=hosts.switch,
        first_slot=0,
        slots=aggregation.slots,
        elements_per_packet=aggregation.elements_per_packet,
        cores=plan.hosts[0].cores,
        guard=aggregation.guard,
    )


def _last_report(process: Process) -> Report:
    """What a worker counted in the end, or until it ended."""
    if process.ending() is None:
        return process.ask("finish", "record", _FINISH_S)
    return process.last


def _switch_record(plan: Plan, counters: Mapping[str, int]) -> SwitchRecord:
    names = ("completed", "unicasts", "repeats_dropped", "stale_dropped", "helps_sent")
    return SwitchRecord(aggregation_of(plan).switch, *(counters[name] for name in names))


def _dropped(
    links: Sequence[LinkRecord], reports: Sequence[Report], counters: Mapping[str, int]
) -> dict[str, dict[str, int]]:
    workers: Counter[str] = Counter()
    for report in reports:
        workers.update(report["dropped"])
    at_switch = {
        name: count
        for name, count in counters.items()
        if name.endswith("dropped") or name == "not_sent"
    }
    on_links = {
        "lost": sum(link.lost for link in links),
        "corrupted": sum(link.corrupted for link in links),
    }
    return {
        "links": on_links,
        "workers": {name: count for name, count in sorted(workers.items()) if count},
        "switch": {name: count for name, count in sorted(at_switch.items()) if count},
    }
