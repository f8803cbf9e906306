"""All-reduces on real sockets over the whole grid of parameters, pair by pair: no wrong sum."""

import pytest
from grid import PAIRWISE, grid, pairs_of
from in_one_process import make_star


def test_every_pair_of_parameters_is_covered():
    wanted = set().union(*map(pairs_of, grid()))
    assert set().union(*map(pairs_of, PAIRWISE)) == wanted


@pytest.mark.parametrize("case", PAIRWISE, ids=lambda case: "-".join(map(str, case)))
def test_no_sum_is_wrong(case):
    star = make_star(case.target, case.plan())
    try:
        star.run()
        wrong = star.wrong()
    finally:
        star.close()
    lost = sum(link.lost for agent in star.agents for link in agent.links())
    assert wrong == 0
    if not case.disorder:  # else what was lost may have been a copy
        assert star.counted("retransmissions") > 0 or lost == 0
