"""What plots call the keys of a scenario, alone on an axis or with one of their values."""

import re
from collections.abc import Mapping

from innet.report.numbers import short_parameter

_TITLES: Mapping[str, str] = {
    "collective.size": "tensor size",
    "collective.dtype": "data type",
    "topology.workers": "workers",
    "topology.link.rate": "link rate",
    "topology.link.delay": "propagation delay of a link",
    "topology.link.loss": "packet loss, each link direction",
    "topology.link.queue": "queue of a switch port",
    "topology.racks": "racks",
    "topology.oversubscription": "oversubscription of a rack",
    "switch.slots": "slots of the switch",
    "switch.latency": "latency of the switch",
    "packet.elements": "elements a packet",
    "message.window": "window of a stream (packets)",
    "host.rto": "retransmission timeout",
    "host.cores": "cores a host",
    "host.send": "host's time a packet sent",
    "host.receive": "host's time a packet received",
    "training.batch": "batch (samples a rank)",
    "training.sequence": "sequence (tokens a sample)",
    "training.device.rate": "rate of a device",
}
_OF_A_WORKER: Mapping[str, str] = {
    "start": "start",
    "link.rate": "link rate",
    "link.delay": "propagation delay",
    "link.loss": "packet loss",
    "host.send": "time a packet sent",
    "host.receive": "time a packet received",
}
# With a value, where the key's last word and the value would not read well.
_WITH_VALUE: Mapping[str, str] = {
    "collective.size": "{}",
    "collective.dtype": "{}",
    "topology.workers": "{} workers",
    "topology.link.rate": "{} links",
    "topology.link.delay": "{} links",
    "topology.racks": "{} racks",
    "topology.aggregates": "{} can sum",
    "switch.slots": "{} slots",
    "packet.elements": "{} elements a packet",
    "host.rto": "timeout {}",
    "host.cores": "{} cores",
}


def key_title(key: str) -> str:
    """Return what an axis calls a key: `topology.link.rate` is the link rate."""
    worker = re.fullmatch(r"workers\.([0-9]+)\.(.+)", key)
    if worker and worker[2] in _OF_A_WORKER:
        return f"{_OF_A_WORKER[worker[2]]} of worker {worker[1]}"
    return _TITLES.get(key, key.removeprefix("training.let."))


def key_value(key: str, value: object) -> str:
    """Return a key with a value as a title or a legend has it: `10 Gbps links`."""
    written = short_parameter(value)
    if key in _WITH_VALUE:
        return _WITH_VALUE[key].format(written)
    return f"{key.rpartition('.')[2]} {written}"
