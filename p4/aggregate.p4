/*
 * The protocol. A slot has two sets, used in turns; a set holds one chunk's sum.
 *
 * A set belongs to the epoch of the job that used it last, and to the chunk's number:
 *
 *   another epoch             the set is empty: the control plane cannot clear registers
 *   guarded, a newer number   the set is empty: nobody needs the older chunk any more
 *   guarded, an older number  the packet is stale and dropped
 *
 * Then, for a worker that the set has not counted yet:
 *
 *   first contribution        its values replace what was there, else they are added
 *   last contribution         the sum goes to all workers, else the packet is dropped
 *
 * and for one that it has counted:
 *
 *   the sum is complete       the sum goes to that worker alone
 *   guarded, and it asks      if nobody has asked since the last call, or it has, all workers
 *                             are called to contribute this chunk again
 *   otherwise                 dropped
 *
 * Not guarded (the published protocol), numbers are ignored, and a worker counted in one set
 * is unmarked in the other.
 */

// Half of all numbers are newer than a number, the other half older (RFC 1982).
const bit<32> HALF_OF_NUMBERS = 0x80000000;

const bit<64> MARKS_OF_SET_0 = 0x00000000FFFFFFFF;
const bit<64> MARKS_OF_SET_1 = 0xFFFFFFFF00000000;

#define SETS (2 * SLOTS)

// Each value has a register array of its own, read, changed and written in one step. BMv2
// runs an action faster than a row of tables, so the steps of all values share an action.
#define VALUE_REGISTER(i) register<bit<32>>(SETS) value_##i;
#define STORE_VALUE(i) value_##i.write(index, hdr.values.v##i);
#define LOAD_VALUE(i) value_##i.read(hdr.values.v##i, index);
#define ADD_VALUE(i) \
    value_##i.read(before, index); \
    hdr.values.v##i = hdr.values.v##i + before; \
    value_##i.write(index, hdr.values.v##i);

control Aggregate(inout headers_t hdr, inout metadata_t meta,
                  inout standard_metadata_t standard) {
    // Both sets of a slot in one word, since the published protocol marks a worker in one
    // and unmarks it in the other.
    register<bit<64>>(SLOTS) marks_of_slot;

    register<bit<32>>(SETS) epoch_of_set;
    register<bit<32>>(SETS) number_of_set;
    register<bit<8>>(SETS) count_of_set;  // as many as the workers while the sum is complete
    register<bit<8>>(SETS) exponent_of_set;
    register<bit<32>>(SETS) asked_of_set;  // who has asked for help since the last call
    EACH_VALUE(VALUE_REGISTER)

    // One cell a job number.
    counter(JOB_NUMBERS, CounterType.packets) absorbed;   // counted, not the last of its sum
    counter(JOB_NUMBERS, CounterType.packets) completed;  // the last of its sum
    counter(JOB_NUMBERS, CounterType.packets) unicasts;
    counter(JOB_NUMBERS, CounterType.packets) helps_sent;
    counter(JOB_NUMBERS, CounterType.packets) repeats_dropped;
    counter(JOB_NUMBERS, CounterType.packets) stale_dropped;

    bit<32> index;        // of the set
    bit<64> here;         // the worker's mark in this set,
    bit<64> there;        // in the slot's other set,
    bit<64> marks_here;   // and the places of all marks of this set
    bit<64> marks;
    bit<8> count;
    bit<32> number;
    bit<32> epoch;
    bit<32> asked;
    bool calls;

    action use_set_0() {
        index = meta.slot;
        here = 32w0 ++ meta.job.worker_bit;
        there = meta.job.worker_bit ++ 32w0;
        marks_here = MARKS_OF_SET_0;
    }

    action use_set_1() {
        index = meta.slot + POOL_SLOTS;
        here = meta.job.worker_bit ++ 32w0;
        there = 32w0 ++ meta.job.worker_bit;
        marks_here = MARKS_OF_SET_1;
    }

    action read_set() {
        epoch_of_set.read(epoch, index);
        epoch_of_set.write(index, meta.job.epoch);
        marks_of_slot.read(marks, meta.slot);
        count_of_set.read(count, index);
        number_of_set.read(number, index);
    }

    action start_afresh() {
        count = 0;
        marks = marks & ~marks_here;
    }

    action mark() {
        marks = marks | here;
    }

    action mark_here_only() {
        marks = (marks | here) & ~there;
    }

    action write_set() {
        marks_of_slot.write(meta.slot, marks);
        count_of_set.write(index, count);
        number_of_set.write(index, hdr.switchml.number);
    }

    action store() {
        asked_of_set.write(index, 0);
        exponent_of_set.write(index, hdr.exponents.e0);
        EACH_VALUE(STORE_VALUE)
    }

    action add() {
        bit<8> exponent;
        exponent_of_set.read(exponent, index);
        // The greater of two signed numbers is the greater of the unsigned ones that their
        // bits become when the sign is turned over. BMv2 holds registers unsigned.
        hdr.exponents.e0 = ((exponent ^ 0x80) > (hdr.exponents.e0 ^ 0x80))
            ? exponent : hdr.exponents.e0;
        exponent_of_set.write(index, hdr.exponents.e0);
        bit<32> before;
        EACH_VALUE(ADD_VALUE)
    }

    action load() {
        exponent_of_set.read(hdr.exponents.e0, index);
        EACH_VALUE(LOAD_VALUE)
    }

    // All that wait for a set ask at about the same time, and one call is enough for them: the
    // first to ask is heard, then the first that asks again.
    action ask() {
        asked_of_set.read(asked, index);
        calls = asked == 0 || (asked & meta.job.worker_bit) != 0;
        asked = calls ? meta.job.worker_bit : asked | meta.job.worker_bit;
        asked_of_set.write(index, asked);
    }

    action to_all() {
        standard.mcast_grp = meta.job.group;
        hdr.switchml.asks_help = 0;
        meta.is_reply = 1;
    }

    action to_sender() {
        standard.egress_spec = standard.ingress_port;
        hdr.switchml.asks_help = 0;
        meta.is_reply = 1;
    }

    action call_for_help() {
        hdr.switchml.message = HELP;
        hdr.values.setInvalid();
        hdr.udp.length = HELP_UDP_LENGTH;
        hdr.ipv4.total_length = HELP_IPV4_LENGTH;
    }

    apply {
        bit<32> job = (bit<32>)meta.job.number;
        bool guarded = meta.job.guard == 1;

        if (hdr.switchml.set == 0) {
            use_set_0();
        } else {
            use_set_1();
        }
        read_set();

        bit<32> ahead = hdr.switchml.number - number;
        bool stale = false;
        if (epoch != meta.job.epoch) {
            start_afresh();
        } else if (guarded && count != 0 && ahead != 0) {
            if (ahead < HALF_OF_NUMBERS) {
                start_afresh();
            } else {
                stale = true;
            }
        }

        if (stale) {
            stale_dropped.count(job);
            mark_to_drop(standard);
        } else if ((marks & here) != 0) {
            if (count == meta.job.workers) {
                unicasts.count(job);
                load();
                to_sender();
            } else {
                calls = false;
                if (guarded && hdr.switchml.asks_help == 1) {
                    ask();
                }
                if (calls) {
                    helps_sent.count(job);
                    call_for_help();
                    to_all();
                } else {
                    repeats_dropped.count(job);
                    mark_to_drop(standard);
                }
            }
        } else {
            if (guarded) {
                mark();
            } else {
                mark_here_only();
            }
            if (count == 0 || count == meta.job.workers) {  // empty, or of an earlier use
                count = 1;
                store();
            } else {
                count = count + 1;
                add();
            }
            write_set();
            if (count == meta.job.workers) {
                completed.count(job);
                to_all();
            } else {
                absorbed.count(job);
                mark_to_drop(standard);
            }
        }
    }
}
