/*
 * What the switch sends is the last worker's packet. Each receiver must get it as one from
 * the switch to itself: a host drops a frame with its own source address.
 */

control Reply(inout headers_t hdr, inout metadata_t meta,
              inout standard_metadata_t standard) {
    counter(1, CounterType.packets) no_receiver_dropped;

    action address(mac_t own_mac, ipv4_t own_ip, mac_t mac, ipv4_t ip, bit<16> port) {
        hdr.ethernet.source = own_mac;
        hdr.ethernet.destination = mac;
        hdr.ipv4.source = own_ip;
        hdr.ipv4.destination = ip;
        hdr.ipv4.time_to_live = 64;
        hdr.udp.source = hdr.udp.destination;  // a core of a worker talks to one port
        hdr.udp.destination = port;
        hdr.udp.checksum = 0;
        meta.is_rewritten = 1;
    }

    action drop() {
        no_receiver_dropped.count(0);
        mark_to_drop(standard);
    }

    table receivers {
        key = {
            meta.receiver : exact @name("receiver");
            hdr.udp.destination : exact @name("udp_port");
        }
        actions = { address; drop; }
        default_action = drop();
        size = 4096;
    }

    apply {
        if (standard.egress_rid != 0) {  // a copy made by multicast
            meta.receiver = standard.egress_rid;
        }
        receivers.apply();
    }
}
