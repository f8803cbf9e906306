/*
 * In-network aggregation: the switch adds the vectors of a job's workers, element by
 * element, and multicasts each sum. For the v1model architecture (BMv2's simple_switch).
 *
 * One source for every packet size: compile with -DELEMENTS=32, 64, 128 or 256.
 *
 *   headers.p4    what is on the wire, and what travels with a packet inside the switch
 *   values.p4     how the preprocessor repeats a line for each value of a packet
 *   parser.p4     bytes to headers and back, IPv4 checksums
 *   aggregate.p4  the protocol: slots, sets, marks, sums
 *   forward.p4    everything that is not aggregation: ARP, switching, routing
 *   reply.p4      addresses on what the switch itself sends
 *
 * All state of the aggregation lives in ingress, where one packet is handled after the
 * other; every register array is touched at most once by a packet, at one index, as in a
 * hardware pipeline.
 */

#include <core.p4>
#include <v1model.p4>

#include "values.p4"
#include "headers.p4"
#include "parser.p4"
#include "aggregate.p4"
#include "forward.p4"
#include "reply.p4"

control InnetIngress(inout headers_t hdr, inout metadata_t meta,
                     inout standard_metadata_t standard) {
    // One cell for each counter of packets that no job can be charged with.
    counter(1, CounterType.packets) malformed_dropped;
    counter(1, CounterType.packets) unknown_dropped;
    // One cell a job number.
    counter(JOB_NUMBERS, CounterType.packets) other_job_dropped;
    counter(JOB_NUMBERS, CounterType.packets) out_of_pool_dropped;

    Aggregate() aggregate;
    Forward() forward;

    action contributor(bit<8> job, bit<32> worker_bit, bit<8> workers, bit<16> group,
                       bit<16> receiver, bit<16> first_slot, bit<16> slots,
                       bit<32> epoch, bit<1> guard) {
        meta.job.number = job;
        meta.job.worker_bit = worker_bit;
        meta.job.workers = workers;
        meta.job.group = group;
        meta.job.slots = slots;
        meta.job.epoch = epoch;
        meta.job.guard = guard;
        meta.receiver = receiver;
        meta.slot = (bit<32>)first_slot + (bit<32>)hdr.switchml.slot;
    }

    // Who may contribute, and to what. With the ingress port in the key, no host can speak
    // for another.
    table contributors {
        key = {
            standard.ingress_port : exact @name("ingress_port");
            hdr.ethernet.source : exact @name("source_mac");
            hdr.ipv4.source : exact @name("source_ip");
            hdr.udp.destination : exact @name("udp_port");
        }
        actions = { contributor; NoAction; }
        default_action = NoAction();
        size = 4096;
    }

    apply {
        if (hdr.udp.isValid() && (hdr.udp.destination & SWITCHML_PORT_MASK) == SWITCHML_PORT) {
            // The values are valid only if the type and size are ones that the parser took
            // and the frame was long enough; a longer one is no better than a shorter one.
            if (!hdr.values.isValid()
                    || standard.checksum_error != 0
                    || standard.packet_length != FRAME_LENGTH
                    || hdr.ipv4.total_length != IPV4_LENGTH
                    || hdr.udp.length != UDP_LENGTH) {
                malformed_dropped.count(0);
                mark_to_drop(standard);
            } else if (!contributors.apply().hit) {
                unknown_dropped.count(0);
                mark_to_drop(standard);
            } else if (hdr.switchml.job != meta.job.number) {
                other_job_dropped.count((bit<32>)meta.job.number);
                mark_to_drop(standard);
            } else if ((bit<16>)hdr.switchml.slot >= meta.job.slots || meta.slot >= POOL_SLOTS) {
                // BMv2 does not check a register's index: an index past the end ends it.
                out_of_pool_dropped.count((bit<32>)meta.job.number);
                mark_to_drop(standard);
            } else {
                aggregate.apply(hdr, meta, standard);
            }
        } else {
            forward.apply(hdr, meta, standard);
        }
    }
}

control InnetEgress(inout headers_t hdr, inout metadata_t meta,
                    inout standard_metadata_t standard) {
    Reply() reply;

    apply {
        if (meta.is_reply == 1) {
            reply.apply(hdr, meta, standard);
        } else if (meta.is_flooded == 1 && standard.egress_port == standard.ingress_port) {
            mark_to_drop(standard);  // never back to where it came from
        }
    }
}

V1Switch(InnetParser(), VerifyChecksums(), InnetIngress(), InnetEgress(), ComputeChecksums(),
         InnetDeparser()) main;
