"""In-network all-reduces on real sockets, over the soft switch and the P4 program: no wrong sum.

Without losses every packet is accounted for. The runs with losses and other faults have several
rounds of every slot; `test_pairs` covers lengths, losses and disorder in all their pairs.
"""

import pytest
from in_one_process import expected_chunks, make_star, plan_of

TARGETS = ("soft", "p4")

# workers, values a packet, type, elements
LOSSLESS = [
    (2, 32, "int32", 0),
    (2, 256, "float32", 0),
    (2, 64, "float32", 1),
    (3, 32, "int32", 1),
    (16, 256, "int32", 1),
    (3, 64, "int32", 63),
    (8, 256, "float32", 63),
    (2, 32, "float32", 64),
    (8, 64, "int32", 64),
    (16, 64, "float32", 64),
    (3, 32, "float32", 65),
    (8, 32, "int32", 65),
    (16, 64, "int32", 65),
    (3, 256, "float32", 65),
]


@pytest.fixture
def star():
    """Make stars that are closed in the end."""
    made = []

    def make(target, plan):
        made.append(make_star(target, plan))
        return made[-1]

    yield make
    for each in made:
        each.close()


def settings(workers, k, dtype, *more):
    return (
        f"topology.workers={workers}",
        f"packet.elements={k}",
        f"collective.dtype={dtype}",
        *more,
    )


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("workers", "k", "dtype", "elements"), LOSSLESS)
def test_without_losses_every_chunk_is_sent_once(star, target, workers, k, dtype, elements):
    made = star(target, plan_of(elements, *settings(workers, k, dtype, "host.rto=20 s")))
    made.run()
    chunks = expected_chunks(elements, k, 32, dtype == "float32")
    assert made.wrong() == 0
    assert made.counted("packets_sent") == made.counted("packets_received") == workers * chunks
    counted = made.server.counters()
    assert counted["completed"] == chunks
    assert counted["absorbed"] == (workers - 1) * chunks


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("workers", "k", "dtype", "loss"),
    [(2, 64, "float32", 0.01), (3, 32, "int32", 0.1), (8, 256, "float32", 0.1)],
)
def test_losses_are_made_up_for(star, target, workers, k, dtype, loss):
    more = (f"topology.link.loss={loss}", "host.rto=25 ms", "switch.slots=8")
    made = star(target, plan_of(40 * k + 1, *settings(workers, k, dtype, *more)))
    made.run()
    lost = sum(link.lost for agent in made.agents for link in agent.links())
    assert made.wrong() == 0
    assert lost > 0
    assert made.counted("retransmissions") > 0


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("workers", "k", "dtype"), [(16, 32, "int32"), (3, 64, "float32")])
def test_duplicates_and_reordering_change_nothing(star, target, workers, k, dtype):
    up, down = "from: all, to: switch", "from: switch, to: all"
    faults = (
        f"{{duplicate: {{{up}, probability: 0.2, by: 2 ms}}}}",
        f"{{duplicate: {{{down}, probability: 0.2, by: 2 ms}}}}",
        f"{{reorder: {{{up}, probability: 0.2, by: 5 ms}}}}",
        f"{{reorder: {{{down}, probability: 0.2, by: 5 ms}}}}",
    )
    more = (f"faults=[{', '.join(faults)}]", "host.rto=25 ms", "switch.slots=4")
    made = star(target, plan_of(30 * k + 1, *settings(workers, k, dtype, *more)))
    made.run()
    assert made.wrong() == 0
    assert sum(link.duplicated for agent in made.agents for link in agent.links()) > 0


@pytest.mark.parametrize("target", TARGETS)
def test_the_published_protocol_survives_losses_on_links_that_keep_order(star, target):
    more = ("topology.link.loss=0.05", "host.rto=25 ms", "switch.slots=4", "switch.guard=off")
    made = star(target, plan_of(1300, *settings(3, 64, "int32", *more)))
    made.run()
    assert made.wrong() == 0
    assert made.server.counters()["helps_sent"] == 0


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", ["int32", "float32", "float16", "bfloat16"])
def test_cores_share_tensor_and_slots(star, target, dtype):
    """1000 elements on 4 cores in packets of 64: 4 packets a core, and 4 more for exponents."""
    made = star(target, plan_of(1000, *settings(2, 64, dtype, "host.cores=4", "host.rto=20 s")))
    made.run()
    assert made.wrong() == 0
    chunks = 16 if dtype == "int32" else 32
    assert [agent.record().packets_sent for agent in made.agents] == [chunks, chunks]


@pytest.mark.parametrize("target", TARGETS)
def test_a_switch_that_loses_its_registers_is_helped(star, target):
    made = star(target, plan_of(64 * 600, *settings(3, 64, "int32", "host.rto=25 ms")))
    made.run(lambda: sum(agent.progress()[0] for agent in made.agents) >= 600)
    assert not made.is_finished()
    made.switch.wipe()
    made.run()
    assert made.wrong() == 0


def test_all_cores_need_a_slot():
    from innet.emulator.limits import fitted
    from innet.errors import ConfigurationError

    class Narrow:
        def window(self, elements):
            return 3

    with pytest.raises(ConfigurationError, match="4 cores need as many slots"):
        fitted(plan_of(100, "host.cores=4"), Narrow(), None)
