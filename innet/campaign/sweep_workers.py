"""Who runs the points of a sweep: this process, the machine's cores, or a Dask cluster.

All give back every task's record, in the order in which they are finished.
"""

import signal
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import Any

import joblib
from joblib.externals.loky import ProcessPoolExecutor
from joblib.externals.loky.process_executor import BrokenProcessPool

from innet.campaign.sweep_point import Finished, Task, failed_record, run_task
from innet.errors import ConfigurationError, MissingToolError

_KILLED = "the process that ran it was killed; it may have needed more memory than there is"
_CONNECT_S = 10
_IDLE_S = 10  # processes without work, such as those whose parent was killed, end after this


def run_on_cores(tasks: Sequence[Task], jobs: int) -> Iterator[Finished]:
    """Run tasks in `jobs` processes, or in this one for one job.

    A task whose process is killed is told apart by running what is left one by one.
    """
    if jobs == 1:
        yield from map(run_task, tasks)
        return
    left = {task.key: task for task in tasks}
    try:
        for finished in _parallel(
            tasks, jobs, idle_worker_timeout=_IDLE_S, initializer=_ignore_ctrl_c
        ):
            del left[finished.key]
            yield finished
    except BrokenProcessPool:
        yield from map(_run_alone, left.values())


def _parallel(
    tasks: Sequence[Task],
    jobs: int,
    **options: Any,  # noqa: ANN401
) -> Iterator[Finished]:
    work = joblib.Parallel(n_jobs=jobs, return_as="generator_unordered", **options)
    finished: Iterator[Finished] = work(joblib.delayed(run_task)(task) for task in tasks)
    return finished


def _ignore_ctrl_c() -> None:
    """Leave it to the first process, which ends the others, to answer Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _run_alone(task: Task) -> Finished:
    with ProcessPoolExecutor(max_workers=1) as executor:
        try:
            finished: Finished = executor.submit(run_task, task).result()
        except BrokenProcessPool:
            return Finished(task.key, failed_record(task.scenario, _KILLED))
        return finished


def run_on_cluster(tasks: Sequence[Task], address: str) -> Iterator[Finished]:
    """Run tasks on the workers of the Dask scheduler at `address`, such as `tcp://host:8786`.

    Raises MissingToolError without Dask, and ConfigurationError when nobody answers there.
    """
    with ExitStack() as closing:
        closing.enter_context(_client(address))
        closing.enter_context(joblib.parallel_config(backend="dask"))
        yield from _parallel(tasks, -1)


def _client(address: str) -> Any:  # noqa: ANN401
    try:
        from distributed import Client
    except ImportError:
        raise MissingToolError("--cluster needs Dask: pip install 'innet[cluster]'") from None
    try:
        return Client(address, timeout=_CONNECT_S)
    except (OSError, ValueError) as error:
        raise ConfigurationError(
            f"no Dask scheduler answers at {address} ({error}); give the address that "
            "`dask scheduler` prints, for example tcp://127.0.0.1:8786",
            file="--cluster",
        ) from None
