/*
 * A calculator, for tests: every kind of arithmetic, and every way through the switch.
 *
 * Compile with: p4c-bm2-ss calculator.p4 -o calculator.json
 */

#include <core.p4>
#include <v1model.p4>

header task_t {
    bit<8> op;
    bit<32> a;
    bit<32> b;
    bit<32> result;
    int<16> s;
    int<16> t;
    int<16> signed_result;
    bit<4> passes;
    bit<12> unused;
}

header twin_t {
    bit<16> x;
    bit<16> y;
}

struct headers_t {
    task_t task;
    twin_t left;
    twin_t right;
}

struct metadata_t {
    @field_list(1)
    bit<8> passes;
    @field_list(1)
    bit<32> kept;
    @field_list(2)
    bit<8> round;
    bit<32> lost;
}

parser CalculatorParser(packet_in packet, out headers_t hdr, inout metadata_t meta,
                        inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.task);
        packet.extract(hdr.left);
        packet.extract(hdr.right);
        transition accept;
    }
}

control NoChecksums(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control CalculatorIngress(inout headers_t hdr, inout metadata_t meta,
                          inout standard_metadata_t standard) {
    register<bit<32>>(4) memory;
    register<bit<16>>(1) narrow;

    action add() { hdr.task.result = hdr.task.a + hdr.task.b; }
    action subtract() { hdr.task.result = hdr.task.a - hdr.task.b; }
    action multiply() { hdr.task.result = hdr.task.a * hdr.task.b; }
    action shift_fixed() { hdr.task.result = hdr.task.a << 7; }
    action choose() { hdr.task.result = (bit<32>)(hdr.task.a != hdr.task.b ? 8w3 : 8w5); }
    action add_saturating() { hdr.task.result = hdr.task.a |+| hdr.task.b; }
    action subtract_saturating() { hdr.task.result = hdr.task.a |-| hdr.task.b; }
    action shift_left() { hdr.task.result = hdr.task.a << (bit<8>)hdr.task.b; }
    action shift_right() { hdr.task.result = hdr.task.a >> (bit<8>)hdr.task.b; }
    action negate() { hdr.task.result = -hdr.task.a; }
    action complement() { hdr.task.result = ~hdr.task.a; }
    action mix() { hdr.task.result = (hdr.task.a & hdr.task.b) ^ (hdr.task.a | 0xFF); }
    action slices() { hdr.task.result = hdr.task.a[15:0] ++ hdr.task.b[31:16]; }
    action assign_slice() { hdr.task.result = hdr.task.a; hdr.task.result[23:8] = hdr.task.b[15:0]; }
    action greatest() { hdr.task.result = hdr.task.a > hdr.task.b ? hdr.task.a : hdr.task.b; }
    action truth() {
        bool one = hdr.task.a == 1 || hdr.task.b == 1;
        bool both = hdr.task.a == 1 && hdr.task.b == 1;
        hdr.task.result = (bit<32>)(bit<1>)(one && !both);
    }

    action signed_add() { hdr.task.signed_result = hdr.task.s + hdr.task.t; }
    action signed_saturating() { hdr.task.signed_result = hdr.task.s |+| hdr.task.t; }
    action signed_multiply() { hdr.task.signed_result = hdr.task.s * hdr.task.t; }
    action signed_shift() { hdr.task.signed_result = hdr.task.s >> 3; }
    action signed_less() { hdr.task.result = hdr.task.s < hdr.task.t ? 32w1 : 32w0; }
    action widen() { hdr.task.result = (bit<32>)(int<32>)hdr.task.s; }

    action accumulate() {
        bit<32> before;
        memory.read(before, hdr.task.a);
        hdr.task.result = before + hdr.task.b;
        memory.write(hdr.task.a, hdr.task.result);
    }

    action remember_narrow() {
        bit<16> before;
        narrow.read(before, 0);
        narrow.write(0, (bit<16>)hdr.task.a);
        hdr.task.result = (bit<32>)before;
    }

    action sum_to() {
        bit<32> total = 0;
        for (bit<32> i = 1; i <= hdr.task.a; i = i + 1) {
            if (i != hdr.task.b) {
                total = total + i;
            }
        }
        hdr.task.result = total;
    }

    action dice() { random(hdr.task.result, hdr.task.a, hdr.task.b); }

    action hash_32() {
        hash(hdr.task.result, HashAlgorithm.crc32, 32w0, { hdr.left, hdr.right },
             64w0x100000000);
    }

    action hash_16() {
        hash(hdr.task.result, HashAlgorithm.xor16, 32w100,
             { hdr.task.a, 4w5, hdr.task.passes }, 32w50);
    }

    action swap() {
        twin_t both = hdr.left;
        hdr.left = hdr.right;
        hdr.right = both;
    }

    action copy_absent() {
        hdr.right.setInvalid();
        hdr.left = hdr.right;
    }

    action shorten() { truncate((bit<32>)hdr.task.a); }

    action ask() {
        assert(hdr.task.a < 100);
        log_msg("a is {}, b is {}", { hdr.task.a, hdr.task.b });
    }

    table operations {
        key = { hdr.task.op : exact; }
        actions = {
            add; subtract; multiply; shift_fixed; choose; add_saturating; subtract_saturating;
            shift_left; shift_right; negate; complement; mix; slices; assign_slice; greatest;
            truth; signed_add; signed_saturating; signed_multiply; signed_shift; signed_less;
            widen; accumulate; remember_narrow; sum_to; dice; hash_32; hash_16; swap;
            copy_absent; shorten; ask; NoAction;
        }
        const default_action = NoAction();
        const entries = {
            1: add(); 2: subtract(); 3: multiply(); 4: shift_fixed(); 5: choose();
            6: add_saturating(); 7: subtract_saturating(); 8: shift_left(); 9: shift_right();
            10: negate(); 11: complement(); 12: mix(); 13: slices(); 14: assign_slice();
            15: greatest(); 16: truth(); 17: signed_add(); 18: signed_saturating();
            19: signed_multiply(); 20: signed_shift(); 21: signed_less(); 22: widen();
            23: accumulate(); 24: remember_narrow(); 25: sum_to(); 26: dice(); 27: hash_32();
            28: hash_16(); 29: swap(); 30: copy_absent(); 31: shorten(); 32: ask();
        }
    }

    apply {
        standard.egress_spec = 2;
        operations.apply();
        if (hdr.task.op == 40) {  // again and again from the start
            meta.passes = meta.passes + 1;
            meta.lost = meta.lost + 1;
            meta.kept = meta.kept + hdr.task.b;
            if ((bit<32>)meta.passes < hdr.task.a) {
                resubmit_preserving_field_list(1);
            }
            hdr.task.result = meta.kept;
            hdr.task.passes = (bit<4>)meta.passes;
            hdr.task.unused = (bit<12>)meta.lost;
        }
        if (hdr.task.op == 42 && hdr.left == hdr.right) {
            hdr.task.result = 1;
        }
    }
}

control CalculatorEgress(inout headers_t hdr, inout metadata_t meta,
                         inout standard_metadata_t standard) {
    apply {
        if (hdr.task.op == 41) {  // around from the end
            hdr.task.passes = hdr.task.passes + 1;
            meta.round = meta.round + 2;
            if ((bit<32>)hdr.task.passes < hdr.task.a) {
                recirculate_preserving_field_list(2);
            }
            hdr.task.result = (bit<32>)meta.round;
            hdr.task.unused = (bit<12>)standard.packet_length;
        }
    }
}

control CalculatorDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.task);
        packet.emit(hdr.left);
        packet.emit(hdr.right);
    }
}

V1Switch(CalculatorParser(), NoChecksums(), CalculatorIngress(), CalculatorEgress(),
         NoChecksums(), CalculatorDeparser()) main;
