/*
 * Header stacks and tables with fixed entries, for tests.
 *
 * Compile with: p4c-bm2-ss stacks.p4 -o stacks.json
 */

#include <core.p4>
#include <v1model.p4>

header order_t {
    bit<8> op;
    bit<8> index;
    bit<16> result;
    bit<16> checksum;
}

header item_t {
    bit<8> kind;  // 0: the last one
    bit<8> value;
}

struct headers_t {
    order_t order;
    item_t[4] items;
    item_t[4] copies;
}

struct metadata_t {
    bit<8> count;
    bit<8> ahead;
}

parser StacksParser(packet_in packet, out headers_t hdr, inout metadata_t meta,
                    inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.order);
        transition select(hdr.order.op) {
            0: accept;
            0x80 &&& 0x80: look_ahead;
            default: parse_item;
        }
    }

    state look_ahead {
        meta.ahead = packet.lookahead<bit<16>>()[7:0];
        transition select(packet.lookahead<bit<8>>()) {
            9: accept;
            default: parse_item;
        }
    }

    state parse_item {
        packet.extract(hdr.items.next);
        meta.count = (bit<8>)hdr.items.lastIndex + 1;
        transition select(hdr.items.last.kind) {
            0: accept;
            default: parse_item;
        }
    }
}

control VerifyChecksums(inout headers_t hdr, inout metadata_t meta) {
    apply {
        verify_checksum_with_payload(hdr.order.op == 7,
                                     { hdr.order.op, hdr.order.index, 16w0xABCD },
                                     hdr.order.checksum, HashAlgorithm.csum16);
    }
}

control StacksIngress(inout headers_t hdr, inout metadata_t meta,
                      inout standard_metadata_t standard) {
    action name(bit<16> result) { hdr.order.result = result; }

    table prefixes {
        key = { hdr.order.index : lpm; }
        actions = { name; NoAction; }
        const default_action = NoAction();
        const entries = {
            0x80 &&& 0x80: name(1);
            0xA0 &&& 0xF0: name(2);
            0xA5: name(3);
        }
    }

    table masks {
        key = { hdr.order.index : ternary; meta.count : ternary; }
        actions = { name; NoAction; }
        const default_action = NoAction();
        const entries = {
            (0x01 &&& 0x01, 2): name(1);
            (0x03 &&& 0x03, _): name(2);
            (_, 2): name(3);
        }
    }

    table ranges {
        key = { hdr.order.index : range; hdr.items[0].isValid() : exact; }
        actions = { name; NoAction; }
        const default_action = NoAction();
        const entries = {
            (5 .. 10, true): name(1);
            (8 .. 20, true): name(2);
            (0 .. 255, false): name(3);
        }
    }

    apply {
        standard.egress_spec = 2;
        if (hdr.order.op == 1) {
            hdr.order.result = (bit<16>)hdr.items[hdr.order.index].value;
        } else if (hdr.order.op == 2) {
            hdr.items[hdr.order.index].value = 0xAA;
        } else if (hdr.order.op == 3) {
            hdr.copies = hdr.items;
        } else if (hdr.order.op == 4) {
            hdr.items.push_front(1);
            hdr.items[0].setValid();
            hdr.items[0].kind = 0xEE;
        } else if (hdr.order.op == 5) {
            hdr.items.pop_front(2);
        } else if (hdr.order.op == 6) {
            hdr.items.push_front(3);
        } else if (hdr.order.op == 7) {
            hdr.order.result = (bit<16>)standard.checksum_error;
        } else if (hdr.order.op == 8) {
            prefixes.apply();
        } else if (hdr.order.op == 9) {
            masks.apply();
        } else if (hdr.order.op == 10) {
            ranges.apply();
        } else if (hdr.order.op == 11) {
            hdr.items[1] = hdr.items[0];
            hdr.items[2] = hdr.items[3];
        } else if (hdr.order.op == 12) {
            hdr.copies[0].setValid();
            hdr.copies[0].value = 5;
            hdr.copies[0].setValid();
            hdr.items[0].setInvalid();
            hdr.items[0].setInvalid();
            hdr.order.result = hdr.items[1].isValid() ? 16w1 : 16w2;
        } else {
            hdr.order.result = meta.ahead ++ meta.count;
        }
    }
}

control StacksEgress(inout headers_t hdr, inout metadata_t meta,
                     inout standard_metadata_t standard) {
    apply {
        if (hdr.order.op == 12) {
            hdr.order.checksum = (bit<16>)standard.packet_length;
        }
    }
}

control ComputeChecksums(inout headers_t hdr, inout metadata_t meta) {
    apply {
        update_checksum_with_payload(hdr.order.op == 3, { hdr.items[0].value, hdr.items[3] },
                                     hdr.order.checksum, HashAlgorithm.csum16);
    }
}

control StacksDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.order);
        packet.emit(hdr.items);
        packet.emit(hdr.copies);
    }
}

V1Switch(StacksParser(), VerifyChecksums(), StacksIngress(), StacksEgress(), ComputeChecksums(),
         StacksDeparser()) main;
