"""Workers around a switch, one port each, that talk to it in frames."""

import numpy as np

from innet.emulator.check.packets import SWITCH, star_job
from innet.wire.frames import FrameWriter, Message, parse, payload_of
from innet.wire.headers import MessageType


class Star:
    """A switch with one job; what a worker is sent comes out as messages by worker."""

    def __init__(self, switch, elements, workers=2, **changes):
        self.switch = switch
        self.elements = elements
        self.job = star_job(1, workers, elements, **changes)
        switch.load()
        switch.add(self.job)

    def message(self, number, values, **fields):
        """An update of chunk `number` on slot 0, set and all from the number; values repeat."""
        given = {
            "type": MessageType.UPDATE,
            "asks_help": False,
            "elements": self.elements,
            "job": self.job.number,
            "number": number % 2**32,
            "slot": 0,
            "pool_set": number % 2,
            "exponent": 0,
            "second_exponent": 0,
            "payload": payload_of(
                np.resize(np.array(values, dtype=np.int32), self.elements), self.elements
            ),
        }
        return Message(**{**given, **fields})

    def frame(self, worker, message, core=0):
        """The frame that a worker's core sends."""
        member = self.job.members[worker]
        source = member.address._replace(port=member.address.port + core)
        return FrameWriter(source, SWITCH._replace(port=self.job.switch.port + core)).pack(message)

    def send(self, worker, number, values, core=0, **fields):
        """Send an update; returns {worker: message} of what the switch sent."""
        return self.send_frame(
            worker, self.frame(worker, self.message(number, values, **fields), core)
        )

    def send_frame(self, worker, frame):
        """Send any frame from a worker's port."""
        answers = {}
        for port, answer in self.switch.process(self.job.members[worker].port, frame):
            receiver = next(i for i, each in enumerate(self.job.members) if each.port == port)
            parsed = parse(answer, to_switch=False)
            assert receiver not in answers, "one copy a worker"
            assert parsed.target.mac == self.job.members[receiver].address.mac
            assert parsed.target.ip == self.job.members[receiver].address.ip
            assert parsed.source.mac == SWITCH.mac
            assert parsed.source.ip == SWITCH.ip
            answers[receiver] = parsed.message
        return answers

    def counted(self):
        """The counters that are not 0."""
        return {name: count for name, count in self.switch.counters().items() if count}


def sums(answers):
    """{worker: the first value}, of sums that are the same value throughout."""
    found = {}
    for worker, message in answers.items():
        assert message.type is MessageType.UPDATE
        assert len(set(message.values.tolist())) == 1
        found[worker] = int(message.values[0])
    return found
