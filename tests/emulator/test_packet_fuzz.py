"""Random packets: the P4 program does with each what the protocol's switch machine does."""

import pytest

from innet.emulator.bmv2_json.load import load_program
from innet.emulator.bmv2_json.pipeline import Pipeline
from innet.emulator.check.packets import PacketMaker, by_port, three_jobs
from innet.emulator.control.build import find_build
from innet.emulator.control.local import P4Switch
from innet.emulator.soft import SoftSwitch

PACKETS = 5000


@pytest.mark.parametrize("elements", [32, 64, 256])
def test_the_program_and_the_soft_switch_send_the_same_bytes(elements):
    jobs = three_jobs(elements)
    switches = SoftSwitch(elements), P4Switch(elements)
    for switch in switches:
        for job in jobs:
            switch.add(job)
    maker = PacketMaker(elements, jobs)
    for count, (port, frame) in enumerate(maker.packets(PACKETS)):
        if count == PACKETS // 2:
            for switch in switches:
                switch.wipe()
        soft, program = (by_port(switch.process(port, frame)) for switch in switches)
        assert soft == program, f"packet {count} at port {port}: {frame.hex()}"
    counted = dict(switches[1].counters())
    assert dict(switches[0].counters()) == counted
    met = {name for name, packets in counted.items() if packets}
    assert met == set(counted) - {"no_receiver_dropped", "forward_dropped"}


def test_vectors_of_values_change_nothing():
    """The same program with its values added one by one."""
    jobs = three_jobs(32)
    one_by_one = Pipeline(load_program(find_build(32).json), vectors=False)
    switch = P4Switch(32)
    for job in jobs:
        switch.add(job)
    for name, table in switch.switch.pipeline.tables.items():
        for match, action, data, _ in table.entries():
            one_by_one.table(name).insert(match, action, data)
    one_by_one.table("hosts").set_default(*switch.switch.pipeline.table("hosts").default_action())
    for number, replicas in switch.switch.pipeline.groups.items():
        one_by_one.set_group(number, replicas)
    for port, frame in PacketMaker(1, jobs).packets(3000):
        assert one_by_one.process(port, frame) == switch.process(port, frame)
    for name in one_by_one.program.registers:
        assert one_by_one.read_register(name) == switch.switch.pipeline.read_register(name)
