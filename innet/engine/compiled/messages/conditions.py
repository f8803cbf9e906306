"""Which operations are simulated in compiled code, on which networks."""

from innet.collectives.schedule import Schedule
from innet.engine.compiled.jobs.state import MOST_SLOTS
from innet.engine.compiled.messages.state import MOST_HOPS, MOST_STREAMS, NUMBER_MASK
from innet.plan.operation import Operation
from innet.plan.plan import Aggregation, Fabric, Stream
from innet.units import PS_PER_SECOND
from innet.wire.dtypes import ITEMSIZE

_MOST_PS = 1 << 60  # times, and their sums, stay within 64 bits
# The bits of a packet are divided by a rate in 64 bits, with twice the rest of the division.
_MOST_PACKET_BYTES = (1 << 61) // (8 * PS_PER_SECOND)


def network_refusal(fabric: Fabric) -> str | None:
    """Return why nothing is simulated on a network, or None."""
    if fabric.node_faults:
        return f"a node meets the fault {fabric.node_faults[0].verb}"
    if fabric.packet_faults:
        return f"packets meet the fault {fabric.packet_faults[0].verb}"
    if any(link.loss >= 1 for link in fabric.graph.links):
        return "a link loses every packet"
    if any(host.send_ps or host.receive_ps for host in fabric.hosts):
        return "packets cost time on the hosts"
    if fabric.patience_ps + fabric.maximum_time_ps > _MOST_PS:
        return "its times do not fit in 64 bits"
    return None


def operation_refusal(fabric: Fabric, operation: Operation) -> str | None:
    """Return why an operation is not simulated, or None."""
    if min(operation.rto.initial_ps, operation.rto.maximum_ps) < 1:
        return "a retransmission timeout of 0, with which time stands still"
    if operation.aggregation is not None:
        return _of_job(fabric, operation, operation.aggregation)
    stream, schedule = operation.stream, operation.schedule
    if stream is None or schedule is None:
        raise ValueError("an operation needs an aggregation, or a stream and a schedule")
    return _of_messages(fabric, operation, schedule, stream)


def _of_job(fabric: Fabric, operation: Operation, format_: Aggregation) -> str | None:
    if operation.kind != "all_reduce":
        return f"{operation.kind} in the network"
    if any(fabric.hosts[rank].cores > format_.slots for rank in operation.group):
        return "a core has no slot"
    if format_.slots > MOST_SLOTS:
        return f"more than {MOST_SLOTS} slots"
    if max(format_.packet_bytes, format_.help_bytes) > _MOST_PACKET_BYTES:
        return f"packets of more than {_MOST_PACKET_BYTES} bytes"
    if len(fabric.graph.switches) + 1 >= MOST_HOPS:
        return f"more than {MOST_HOPS - 2} switches"
    return None


def _of_messages(
    fabric: Fabric, operation: Operation, schedule: Schedule, stream: Stream
) -> str | None:
    largest = max(stream.payload_bytes + stream.overhead_bytes, stream.ack_bytes)
    if largest > _MOST_PACKET_BYTES:
        return f"packets of more than {_MOST_PACKET_BYTES} bytes"
    if _most_packets(operation, schedule, stream) > NUMBER_MASK:
        return "more than 2^32 packets"
    if len(schedule.messages) >= MOST_STREAMS:
        return f"more than {MOST_STREAMS - 1} messages"
    longest = len(fabric.graph.switches) + 1
    if longest >= MOST_HOPS and _longest_path(fabric, operation, schedule) >= MOST_HOPS:
        return f"a path has more than {MOST_HOPS - 1} links"
    return None


def _most_packets(operation: Operation, schedule: Schedule, stream: Stream) -> int:
    """At least the packets of all messages."""
    size = ITEMSIZE[operation.dtype]
    block_bytes = (operation.elements // max(1, schedule.blocks) + 1) * size
    blocks = sum(message.count for message in schedule.messages)
    return blocks * block_bytes // stream.payload_bytes + len(schedule.messages)


def _longest_path(fabric: Fabric, operation: Operation, schedule: Schedule) -> int:
    group = operation.group
    pairs = {(group[message.source], group[message.target]) for message in schedule.messages}
    both = pairs | {(target, source) for source, target in pairs}
    return max((len(fabric.routes.path(*pair)) for pair in both), default=0)
