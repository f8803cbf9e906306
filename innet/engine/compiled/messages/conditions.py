"""Which point-to-point plans are simulated in compiled code, as a plan alone can say."""

from innet.collectives.schedule import Schedule
from innet.engine.compiled.messages.state import MOST_HOPS, MOST_STREAMS, NUMBER_MASK
from innet.plan.plan import Plan, Stream
from innet.units import PS_PER_SECOND
from innet.wire.dtypes import ITEMSIZE

# The bits of a packet are divided by a rate in 64 bits, with twice the rest of the division.
_MOST_PACKET_BYTES = (1 << 61) // (8 * PS_PER_SECOND)


def refusal(plan: Plan) -> str | None:
    """Return why a point-to-point plan is not simulated, or None."""
    stream, schedule = plan.stream, plan.schedule
    assert stream is not None
    assert schedule is not None
    if plan.packet_faults:
        return f"packets meet the fault {plan.packet_faults[0].verb}"
    if any(link.loss >= 1 for link in plan.graph.links):
        return "a link loses every packet"
    if any(host.send_ps or host.receive_ps for host in plan.hosts):
        return "packets cost time on the hosts"
    largest = max(stream.payload_bytes + stream.overhead_bytes, stream.ack_bytes)
    if largest > _MOST_PACKET_BYTES:
        return f"packets of more than {_MOST_PACKET_BYTES} bytes"
    if _most_packets(plan, schedule, stream) > NUMBER_MASK:
        return "more than 2^32 packets"
    if len(schedule.messages) >= MOST_STREAMS:
        return f"more than {MOST_STREAMS - 1} messages"
    if len(plan.graph.switches) + 1 >= MOST_HOPS and _longest_path(plan, schedule) >= MOST_HOPS:
        return f"a path has more than {MOST_HOPS - 1} links"
    return None


def _most_packets(plan: Plan, schedule: Schedule, stream: Stream) -> int:
    """At least the packets of all messages."""
    block_bytes = (plan.elements // max(1, schedule.blocks) + 1) * ITEMSIZE[plan.dtype]
    blocks = sum(message.count for message in schedule.messages)
    return blocks * block_bytes // stream.payload_bytes + len(schedule.messages)


def _longest_path(plan: Plan, schedule: Schedule) -> int:
    pairs = {(message.source, message.target) for message in schedule.messages}
    both = pairs | {(target, source) for source, target in pairs}
    return max((len(plan.routes.path(*pair)) for pair in both), default=0)
