"""The pipeline sends what the real BMv2 sends, byte for byte, where BMv2 is installed."""

import itertools
import random

import pytest
import test_calculator
import test_router
import test_stacks
from bmv2_files import DEVICE, MISSING, FileSwitch

from innet.emulator.bmv2_json.pipeline import Pipeline
from innet.emulator.check.packets import PacketMaker, by_port, three_jobs
from innet.emulator.control.local import P4Switch
from innet.emulator.control.p4runtime import RuntimePlane
from innet.emulator.control.runtime_client import RuntimeClient

pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)}")

PACKETS = 3000


def all_sent(switch, packets):
    sent = [answer for port, frame in packets for answer in switch.process(port, frame)]
    return by_port(sent)


def sent_by_bmv2(bmv2, wanted):
    found = bmv2.sent({port: len(frames) for port, frames in wanted.items()})
    return {port: frames for port, frames in found.items() if frames}


@pytest.mark.parametrize("elements", [32, 256])
def test_the_aggregation_program(tmp_path, elements):
    jobs = three_jobs(elements)
    packets = list(PacketMaker(elements, jobs).packets(PACKETS))
    switch = P4Switch(elements)
    for job in jobs:
        switch.add(job)
    wanted = all_sent(switch, packets)
    bmv2 = FileSwitch(tmp_path, range(1, 6), packets)
    with bmv2.running("--no-p4"):
        plane = RuntimePlane(bmv2.target, elements, DEVICE)
        plane.load()
        for job in jobs:
            plane.add(job)
        assert sent_by_bmv2(bmv2, wanted) == wanted
        assert dict(plane.counters()) == dict(switch.counters())


def calculations():
    """Every operation but random numbers, on edge values and others."""
    draw = random.Random(1)
    edges = (0, 1, 2, 7, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)
    values = [*edges, *(draw.getrandbits(32) for _ in range(3))]
    for op, a, b in itertools.product(range(1, 43), values, values):
        if op == 26:
            continue
        if op in (23, 25, 32, 40, 41):  # an index, a loop, a limit, and passes
            a %= 4
        s, t = (draw.choice((0, 1, -1, 32767, -32768, draw.randrange(-999, 999))) for _ in "st")
        left, right = (draw.choices((1, 2, 65535), k=2) for _ in "lr")
        yield (
            1,
            test_calculator.task(op, a, b, s, t, left, right, draw.randbytes(draw.randrange(9))),
        )


def test_a_calculator(tmp_path):
    packets = list(calculations())
    wanted = all_sent(Pipeline.load(test_calculator.SAMPLE), packets)
    bmv2 = FileSwitch(tmp_path, (1, 2), packets)
    with bmv2.running(str(test_calculator.SAMPLE)):
        found = sent_by_bmv2(bmv2, wanted)
    assert {port: sorted(frames) for port, frames in found.items()} == {2: sorted(wanted[2])}
    assert list(filter(_in_order, found[2])) == list(filter(_in_order, wanted[2]))


def _in_order(frame):
    """BMv2 takes other packets between the passes of one that goes through again."""
    return frame[:1] not in (b"\x28", b"\x29")


def stack_orders():
    """Every operation on stacks of every length, some of the orders cut."""
    draw = random.Random(3)
    for _ in range(1500):
        length = draw.randrange(1, 7)
        items = [(draw.randrange(1, 12), draw.randrange(256)) for _ in range(length - 1)]
        items.append((0, draw.randrange(256)))
        op = draw.choice((*range(13), 0x80, 0x85))
        limit = min(length, 4) if op in (1, 2) else 256
        data = test_stacks.order(
            op,
            draw.randrange(limit),
            items,
            draw.randbytes(draw.randrange(6)),
            draw.choice((0, 0xFFFF, draw.getrandbits(16))),
        )
        cut = op not in (1, 2) and draw.random() < 0.2
        yield 1, data[: draw.randrange(6, len(data))] if cut else data


def test_header_stacks(tmp_path):
    packets = list(stack_orders())
    wanted = all_sent(Pipeline.load(test_stacks.SAMPLE), packets)
    bmv2 = FileSwitch(tmp_path, (1, 2), packets)
    with bmv2.running(str(test_stacks.SAMPLE)):
        assert sent_by_bmv2(bmv2, wanted) == wanted


def router_packets():
    """Headers and tags of all kinds, some of them cut."""
    draw = random.Random(2)
    for _ in range(2000):
        head = test_router.ipv4(
            draw.choice(("10.1.2.3", "10.2.0.9", "10.5.0.1", "10.9.0.1", "11.0.0.1")),
            f"192.{draw.choice((168, 169))}.{draw.randrange(8)}.{draw.randrange(256)}",
            ttl=draw.choice((0, 1, 2, 64, 255)),
            protocol=draw.choice((1, 6, 17)),
            words=draw.choice((5, 5, 5, 6, 15, 4)),
            version=draw.choice((4, 4, 4, 4, 6)),
        )
        tags = draw.choice(((), (), (5,), (6, 5), (0xFFF, 8), (1, 2, 3)))
        kind = draw.choice((0x0800, 0x0800, 0x88B5))
        ports = draw.choice(((1, 80), (1, 1023), (1, 1024)))
        frame = test_router.frame(head, ports, vlans=tags, kind=kind)
        if draw.random() < 0.2:
            frame = frame[: draw.randrange(14, len(frame))]
        yield draw.randrange(1, 5), frame


class RuntimeTables:
    """The parts of a Pipeline's control interface, over P4Runtime."""

    def __init__(self, client, schema):
        import finsy

        self._finsy, self._client, self._schema = finsy, client, schema

    def _insert(self, entity):
        self._client.write([(+entity).encode_update(self._schema)])

    def insert(self, table, match, action, data, priority=0):
        self._insert(
            self._finsy.P4TableEntry(
                table,
                match=self._finsy.P4TableMatch(match),
                action=self._finsy.P4TableAction(action, **data),
                priority=priority,
            )
        )

    def set_group(self, number, replicas):
        self._insert(self._finsy.P4MulticastGroupEntry(number, replicas=replicas))


def fill(insert, set_group):
    """The router's tables, by two functions as a Pipeline has them."""
    number = test_router.number
    for destination, action, data in (
        (("10.0.0.0", 8), "direct", {"hop": 1}),
        (("10.1.0.0", 16), "direct", {"hop": 2}),
        (("10.2.0.0", 16), "shared", {"first": 10, "count": 2}),
        (("10.9.0.0", 16), "drop", {}),
    ):
        insert("routes", {"destination": (number(destination[0]), destination[1])}, action, data)
    for port, hop in enumerate((1, 2, 10, 11), start=1):
        insert("next_hops", {"hop": hop}, "send", {"port": port, "own": 7, "next": 8})
    for vlan in (0, 5, 6):
        insert("vlans", {"vlan": vlan}, "bridge", {"group": 9})
    set_group(9, [(port, 0) for port in (1, 2, 3, 4)])
    low = {"source": (number("192.168.0.0"), 0xFFFF0000), "port": (0, 1023)}
    insert("rules", low, "deny", {}, 10)
    exempt = {"source": (number("192.168.7.0"), 0xFFFFFF00), "protocol": (6, 0xFF)}
    insert("rules", exempt, "permit", {}, 20)


def test_a_router(tmp_path):
    finsy = pytest.importorskip("finsy")
    packets = list(router_packets())
    router = Pipeline.load(test_router.SAMPLE)
    fill(lambda table, *entry: router.table(table).insert(*entry), router.set_group)
    wanted = all_sent(router, packets)
    assert set(wanted) == {1, 2, 3, 4}
    schema = finsy.P4Schema(test_router.SAMPLE.with_suffix(".p4info.txtpb"), test_router.SAMPLE)
    bmv2 = FileSwitch(tmp_path, range(1, 5), packets)
    with bmv2.running("--no-p4"), RuntimeClient(bmv2.target, DEVICE) as client:
        client.set_program(schema.get_pipeline_config())
        tables = RuntimeTables(client, schema)
        fill(tables.insert, tables.set_group)
        assert sent_by_bmv2(bmv2, wanted) == wanted
