"""A plain router (samples/router.p4): parsing, tables, stacks, checksums and copies."""

from pathlib import Path

import pytest

from innet.emulator.bmv2_json.pipeline import Pipeline
from innet.wire.headers import internet_checksum

SAMPLE = Path(__file__).parent / "samples" / "router.json"
OWN, NEXT, HOST, ROUTER = (bytes.fromhex(f"02000000000{digit}") for digit in "1234")
TCP, UDP = 6, 17
WRONG_CHECKSUM, TOO_SHORT, TOO_MANY_TAGS, BAD_VERSION, BAD_LENGTH = range(5)


def number(address):
    return int.from_bytes(bytes(map(int, address.split("."))))


def ipv4(target="10.1.2.3", source="192.168.0.1", *, ttl=64, protocol=UDP, words=5, version=4):
    """An IPv4 header with a right checksum, with options of ones if it is longer than 5 words."""
    head = bytearray(20)
    head[0] = version << 4 | words
    head[2:4] = (48).to_bytes(2)
    head[8:10] = ttl, protocol
    head[12:16] = number(source).to_bytes(4)
    head[16:20] = number(target).to_bytes(4)
    whole = bytes(head) + b"\xff" * max(0, 4 * words - 20)
    return whole[:10] + internet_checksum(whole).to_bytes(2) + whole[12:]


def frame(head, ports=(1000, 80), *, vlans=(), payload=b"payload of it", kind=0x0800):
    body = b"".join(port.to_bytes(2) for port in ports) + payload
    tags = b"".join(b"\x81\0" + vlan.to_bytes(2) for vlan in vlans)
    return ROUTER + HOST + tags + kind.to_bytes(2) + head + body


@pytest.fixture
def router():
    router = Pipeline.load(SAMPLE)
    routes = router.table("routes")
    routes.insert({"destination": (number("10.0.0.0"), 8)}, "direct", {"hop": 1})
    routes.insert({"destination": (number("10.1.0.0"), 16)}, "direct", {"hop": 2})
    routes.insert({"destination": (number("10.9.0.0"), 16)}, "drop", {})
    routes.insert({"destination": (number("10.2.0.0"), 16)}, "shared", {"first": 10, "count": 4})
    for hop in (1, 2, 10, 11, 12, 13):
        own, following = int.from_bytes(OWN), int.from_bytes(NEXT)
        router.table("next_hops").insert(
            {"hop": hop}, "send", {"port": 100 + hop, "own": own, "next": following}
        )
    return router


def sent_port(router, data, port=1):
    sent = router.process(port, data)
    return [each for each, _ in sent]


def test_a_packet_goes_by_the_longest_prefix(router):
    [(port, data)] = router.process(1, frame(ipv4("10.1.2.3", ttl=64)))
    assert port == 102
    assert data == NEXT + OWN + frame(ipv4("10.1.2.3", ttl=63))[12:]
    assert sent_port(router, frame(ipv4("10.200.0.1"))) == [101]
    assert sent_port(router, frame(ipv4("10.9.0.1"))) == []
    assert sent_port(router, frame(ipv4("11.0.0.1"))) == []


def test_the_checksum_of_what_is_sent_is_right(router):
    [(_, data)] = router.process(1, frame(ipv4("10.1.2.3", ttl=200)))
    assert internet_checksum(data[14:34]) == 0
    assert data[22] == 199


def test_a_packet_at_the_end_of_its_life_is_dropped(router):
    assert sent_port(router, frame(ipv4("10.1.2.3", ttl=2))) == [102]
    assert sent_port(router, frame(ipv4("10.1.2.3", ttl=1))) == []


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (frame(ipv4(version=6)), BAD_VERSION),
        (frame(ipv4(words=4)), BAD_LENGTH),
        (frame(ipv4())[:33], TOO_SHORT),
        (frame(ipv4())[:36], TOO_SHORT),
        (frame(ipv4(words=15))[:60], TOO_SHORT),
        (frame(ipv4())[:13], TOO_SHORT),
        (frame(ipv4())[:14], TOO_SHORT),
        (frame(ipv4(), vlans=(1, 2, 3)), TOO_MANY_TAGS),
        (frame(ipv4()[:18] + b"\x09" + ipv4()[19:]), WRONG_CHECKSUM),
    ],
)
def test_errors_are_told_apart(router, data, error):
    assert router.process(1, data) == []
    counter = router.counter("errors")
    assert counter.packets == [int(cell == error) for cell in range(5)]
    assert counter.bytes[error] == len(data)


def test_options_are_skipped_and_left_out(router):
    """The header keeps its length; its checksum is left alone."""
    head = ipv4(words=7)
    [(_, data)] = router.process(1, frame(head))
    wanted = frame(head[:8] + bytes([63]) + head[9:20])
    assert data[12:] == wanted[12:]


def test_rules_match_masks_and_ranges_by_priority(router):
    rules = router.table("rules")
    bad = {"source": (number("192.168.0.0"), 0xFFFF0000), "port": (0, 1023)}
    good = {"source": (number("192.168.7.0"), 0xFFFFFF00), "protocol": (TCP, 0xFF)}
    rules.insert(bad, "deny", {}, 10)
    rules.insert(good, "permit", {}, 20)
    assert sent_port(router, frame(ipv4(source="192.168.0.1"))) == []
    assert sent_port(router, frame(ipv4(source="192.168.0.1"), ports=(80, 1024))) == [102]
    assert sent_port(router, frame(ipv4(source="192.168.7.1"))) == []
    assert sent_port(router, frame(ipv4(source="192.168.7.1", protocol=TCP))) == [102]
    assert sent_port(router, frame(ipv4(source="192.169.0.1"))) == [102]
    assert rules.counts(bad, 10)[0] == 2
    assert rules.counts(good, 20)[0] == 1


def crc16(data):
    """CRC-16/ARC, bit by bit."""
    register = 0
    for byte in data:
        register ^= byte
        for _ in range(8):
            register = register >> 1 ^ (0xA001 if register & 1 else 0)
    return register


def test_packets_of_a_flow_share_a_hop(router):
    chosen = set()
    for host in range(1, 40):
        source, target = f"192.168.1.{host}", "10.2.0.1"
        flow = number(source).to_bytes(4) + number(target).to_bytes(4) + bytes([UDP])
        hop = 10 + crc16(flow) % 4
        assert sent_port(router, frame(ipv4(target, source))) == [100 + hop]
        chosen.add(hop)
    assert chosen == {10, 11, 12, 13}


def bridged(router, data, port=4):
    router.table("vlans").insert({"vlan": 5}, "bridge", {"group": 9})
    router.table("vlans").insert({"vlan": 0}, "bridge", {"group": 9})
    router.set_group(9, [(each, 0) for each in (1, 2, 3, 4)])
    return dict(router.process(port, data))


def test_copies_are_tagged_as_their_ports_want(router):
    data = frame(b"", vlans=(5,), kind=0x88B5)
    sent = bridged(router, data)
    assert sent[1] == sent[2] == frame(b"", kind=0x88B5)
    assert sent[3] == frame(b"", vlans=(77, 5), kind=0x88B5)
    assert set(sent) == {1, 2, 3}


def test_a_full_stack_loses_its_last_tag(router):
    sent = bridged(router, frame(b"", vlans=(6, 5), kind=0x88B5))
    assert sent[1] == frame(b"", vlans=(5,), kind=0x88B5)
    assert sent[3] == frame(b"", vlans=(77, 6), kind=0x8100)


def test_frames_without_tags_are_bridged_too(router):
    data = frame(b"", kind=0x88B5)
    sent = bridged(router, data, port=2)
    assert sent == {1: data, 3: frame(b"", vlans=(78,), kind=0x88B5), 4: data}


def test_an_unknown_vlan_and_an_unknown_group_are_dropped(router):
    assert router.process(1, frame(b"", vlans=(8,), kind=0x88B5)) == []
    router.table("vlans").insert({"vlan": 8}, "bridge", {"group": 3})
    assert router.process(1, frame(b"", vlans=(8,), kind=0x88B5)) == []


def test_entries_of_the_program_are_its_own(router):
    entries = {
        tuple(match.values()): action for match, action, *_ in router.table("ports").entries()
    }
    assert len(entries) == 4
    assert entries[3, 1].endswith("tag")
