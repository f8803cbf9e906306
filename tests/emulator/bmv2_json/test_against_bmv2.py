"""The pipeline sends what the real BMv2 sends, byte for byte, where BMv2 is installed."""

import pytest
from bmv2_files import DEVICE, MISSING, FileSwitch

from innet.emulator.check.packets import PacketMaker, by_port, three_jobs
from innet.emulator.control.local import P4Switch
from innet.emulator.control.p4runtime import RuntimePlane

pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)}")

PACKETS = 3000


def all_sent(switch, packets):
    sent = [answer for port, frame in packets for answer in switch.process(port, frame)]
    return by_port(sent)


@pytest.mark.parametrize("elements", [32, 256])
def test_the_aggregation_program(tmp_path, elements):
    jobs = three_jobs(elements)
    packets = list(PacketMaker(elements, jobs).packets(PACKETS))
    switch = P4Switch(elements)
    for job in jobs:
        switch.add(job)
    wanted = all_sent(switch, packets)
    bmv2 = FileSwitch(tmp_path, packets)
    with bmv2.running("--no-p4"):
        plane = RuntimePlane(bmv2.target, elements, DEVICE)
        plane.load()
        for job in jobs:
            plane.add(job)
        found = bmv2.sent({port: len(frames) for port, frames in wanted.items()})
        assert {port: frames for port, frames in found.items() if frames} == wanted
        assert dict(plane.counters()) == dict(switch.counters())
