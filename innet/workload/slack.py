"""Stale synchronous turns: operations that need not be complete for some turns.

Of Ho et al., More Effective Distributed ML via a Stale Synchronous Parallel Parameter Server
(NIPS 2013): a rank may be `slack` turns ahead of the slowest and works with results that are as
old. Here that is said in terms of handles: where a rank would wait for an operation, it begins
it and waits for the same operation of `slack` turns before. Without slack that is the operation
itself.
"""

from collections import deque
from collections.abc import Iterable, Iterator

from innet.workload.actions import Action, Await, Call, Exchange


def with_slack(turns: Iterable[Iterator[Action]], slack: int, name: str) -> Iterator[Action]:
    """Yield the actions of all turns, whose own waits are put off by `slack` turns (at least 1).

    What has a handle is left as it is. After the last turn all that was begun is waited for.
    `name` begins the handles; it is no handle of a user's, and no other loop's.
    """
    begun: deque[list[Await]] = deque()
    for number, turn in enumerate(turns):
        due = iter(begun.popleft() if len(begun) == slack else [])
        own: list[Await] = []
        for action in turn:
            if not isinstance(action, Call | Exchange) or action.handle is not None:
                yield action
                continue
            handle = f"{name} {number} {len(own)}"
            own.append(Await(handle, action.place))
            yield action._replace(handle=handle)
            yield from _first(due)
        yield from due
        begun.append(own)
    for left in begun:
        yield from left


def _first(due: Iterator[Await]) -> Iterator[Await]:
    """Yield the next wait, if there is one."""
    for wait in due:
        yield wait
        return
