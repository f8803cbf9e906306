"""An account of what the switch's sums are made of, kept in compiled code when values travel.

Values are not carried from link to link. A contribution is the worker and the number that it came
with, as one word by which it is known; a set has the total of the words that were added to it,
and so has a result. What words make up a result is all that its values depend on, so these are
added up afterwards (sums.py) for the contributions that it was really made of.
"""

import numpy as np

from innet import draws
from innet.engine.compiled.jit import as_it_is, inlined
from innet.engine.compiled.state import Settings, Switch
from innet.protocol.transitions import ADD, COMPLETE, NUMBER_MASK, STORE, UNICAST

as_it_is(draws.mix)  # called by draw
_draw = as_it_is(draws.draw)


@inlined
def word_of(worker: int, number: int) -> np.uint64:
    """The word by which the contribution of a worker under a number is known."""
    return np.uint64(_draw(np.uint64(worker + 1), np.uint64(number)))


@inlined
def keep_account(
    settings: Settings, switch: Switch, slot: int, here: int, worker: int, number: int, flags: int
) -> None:
    """Note what the registers of set `here` do with a contribution, and what is sent."""
    account = switch.account
    if flags & STORE:
        account.held[here] = word_of(worker, number)
    elif flags & ADD:
        account.held[here] += word_of(worker, number)
    if flags & (COMPLETE | UNICAST):
        place = account.first[slot] + ((number - settings.first_number) & NUMBER_MASK)
        if account.given[place] == 0:
            account.given[place] = account.held[here]
        elif account.given[place] != account.held[here]:
            switch.counters[0].contradictions += 1
