/*
 * A plain router with VLANs, for tests: what an ordinary switch does beyond aggregation.
 *
 * Compile with: p4c-bm2-ss --p4runtime-files router.p4info.txtpb router.p4 -o router.json
 */

#include <core.p4>
#include <v1model.p4>

error { BadVersion, BadLength }

header ethernet_t {
    bit<48> destination;
    bit<48> source;
    bit<16> ether_type;
}

header vlan_t {
    bit<3> priority;
    bit<1> drop_eligible;
    bit<12> id;
    bit<16> ether_type;
}

header ipv4_t {
    bit<4> version;
    bit<4> words;
    bit<8> service;
    bit<16> length;
    bit<16> identification;
    bit<3> flags;
    bit<13> offset;
    bit<8> time_to_live;
    bit<8> protocol;
    bit<16> checksum;
    bit<32> source;
    bit<32> destination;
}

header ports_t {
    bit<16> source;
    bit<16> destination;
}

struct headers_t {
    ethernet_t ethernet;
    vlan_t[2] vlans;
    ipv4_t ipv4;
    ports_t ports;
}

struct metadata_t {
    bit<16> first_hop;  // of the hops that share a route
    bit<16> hops;
    bit<16> hop;
    bit<12> vlan;
}

parser RouterParser(packet_in packet, out headers_t hdr, inout metadata_t meta,
                    inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            0x8100: parse_vlan;
            0x0800: parse_ipv4;
            default: accept;
        }
    }

    state parse_vlan {
        packet.extract(hdr.vlans.next);
        meta.vlan = hdr.vlans.last.id;
        transition select(hdr.vlans.last.ether_type) {
            0x8100: parse_vlan;
            0x0800: parse_ipv4;
            default: accept;
        }
    }

    state parse_ipv4 {
        verify(packet.lookahead<bit<4>>() == 4, error.BadVersion);
        packet.extract(hdr.ipv4);
        verify(hdr.ipv4.words >= 5, error.BadLength);
        packet.advance((bit<32>)(hdr.ipv4.words - 5) << 5);  // options are left out
        transition select(hdr.ipv4.offset, hdr.ipv4.protocol) {
            (0, 6): parse_ports;
            (0, 17): parse_ports;
            default: accept;
        }
    }

    state parse_ports {
        packet.extract(hdr.ports);
        transition accept;
    }
}

#define IPV4_FIELDS { \
    hdr.ipv4.version, hdr.ipv4.words, hdr.ipv4.service, hdr.ipv4.length, \
    hdr.ipv4.identification, hdr.ipv4.flags, hdr.ipv4.offset, hdr.ipv4.time_to_live, \
    hdr.ipv4.protocol, hdr.ipv4.source, hdr.ipv4.destination }

control VerifyChecksums(inout headers_t hdr, inout metadata_t meta) {
    apply {
        verify_checksum(hdr.ipv4.isValid() && hdr.ipv4.words == 5, IPV4_FIELDS,
                        hdr.ipv4.checksum, HashAlgorithm.csum16);
    }
}

control RouterIngress(inout headers_t hdr, inout metadata_t meta,
                      inout standard_metadata_t standard) {
    counter(5, CounterType.packets_and_bytes) errors;
    direct_counter(CounterType.packets) rule_hits;

    action drop() {
        mark_to_drop(standard);
    }

    action permit() {
        rule_hits.count();
    }

    action deny() {
        rule_hits.count();
        mark_to_drop(standard);
        exit;
    }

    table rules {
        key = {
            hdr.ipv4.source : ternary @name("source");
            hdr.ports.destination : range @name("port");
            hdr.ipv4.protocol : ternary @name("protocol");
        }
        actions = { permit; deny; }
        default_action = permit();
        counters = rule_hits;
        size = 16;
    }

    action shared(bit<16> first, bit<16> count) {
        meta.first_hop = first;
        meta.hops = count;
        hash(meta.hop, HashAlgorithm.crc16, first,
             { hdr.ipv4.source, hdr.ipv4.destination, hdr.ipv4.protocol }, count);
    }

    action direct(bit<16> hop) {
        meta.hop = hop;
    }

    table routes {
        key = { hdr.ipv4.destination : lpm @name("destination"); }
        actions = { shared; direct; drop; }
        default_action = drop();
        size = 64;
    }

    action send(bit<9> port, bit<48> own, bit<48> next) {
        standard.egress_spec = port;
        hdr.ethernet.source = own;
        hdr.ethernet.destination = next;
        hdr.ipv4.time_to_live = hdr.ipv4.time_to_live - 1;
    }

    table next_hops {
        key = { meta.hop : exact @name("hop"); }
        actions = { send; drop; }
        default_action = drop();
        size = 64;
    }

    action bridge(bit<16> group) {
        standard.mcast_grp = group;
    }

    table vlans {
        key = { meta.vlan : exact @name("vlan"); }
        actions = { bridge; drop; }
        default_action = drop();
        size = 16;
    }

    apply {
        if (standard.parser_error == error.PacketTooShort) {
            errors.count(1);
            drop();
        } else if (standard.parser_error == error.StackOutOfBounds) {
            errors.count(2);
            drop();
        } else if (standard.parser_error == error.BadVersion) {
            errors.count(3);
            drop();
        } else if (standard.parser_error == error.BadLength) {
            errors.count(4);
            drop();
        } else if (standard.checksum_error == 1) {
            errors.count(0);
            drop();
        } else if (hdr.ipv4.isValid()) {
            rules.apply();
            if (hdr.ipv4.time_to_live <= 1) {
                drop();
                exit;
            }
            switch (routes.apply().action_run) {
                shared: { next_hops.apply(); }
                direct: { next_hops.apply(); }
            }
        } else {
            vlans.apply();
        }
    }
}

control RouterEgress(inout headers_t hdr, inout metadata_t meta,
                     inout standard_metadata_t standard) {
    action untag() {
        hdr.ethernet.ether_type = hdr.vlans[0].ether_type;
        hdr.vlans.pop_front(1);
    }

    action tag(bit<12> id) {
        hdr.vlans.push_front(1);
        hdr.vlans[0].setValid();
        hdr.vlans[0].id = id;
        hdr.vlans[0].ether_type = hdr.ethernet.ether_type;
        hdr.ethernet.ether_type = 0x8100;
    }

    // What each port's frames look like: ports 1 and 2 are untagged, 3 adds a tag.
    table ports {
        key = {
            standard.egress_port : exact;
            hdr.vlans[0].isValid() : exact;
        }
        actions = { untag; tag; NoAction; }
        const default_action = NoAction();
        const entries = {
            (1, true): untag();
            (2, true): untag();
            (3, true): tag(77);
            (3, false): tag(78);
        }
    }

    apply {
        if (standard.egress_port == standard.ingress_port) {
            mark_to_drop(standard);
        } else {
            ports.apply();
        }
    }
}

control ComputeChecksums(inout headers_t hdr, inout metadata_t meta) {
    apply {
        update_checksum(hdr.ipv4.isValid() && hdr.ipv4.words == 5, IPV4_FIELDS,
                        hdr.ipv4.checksum, HashAlgorithm.csum16);
    }
}

control RouterDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
        packet.emit(hdr.vlans);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.ports);
    }
}

V1Switch(RouterParser(), VerifyChecksums(), RouterIngress(), RouterEgress(), ComputeChecksums(),
         RouterDeparser()) main;
