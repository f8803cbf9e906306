/* Everything that is not aggregation, so that the switch also is an ordinary one. */

control Forward(inout headers_t hdr, inout metadata_t meta,
                inout standard_metadata_t standard) {
    counter(1, CounterType.packets) forward_dropped;

    action drop() {
        forward_dropped.count(0);
        mark_to_drop(standard);
    }

    action to_port(bit<9> port) {
        standard.egress_spec = port;
    }

    action flood(bit<16> group) {
        standard.mcast_grp = group;
        meta.is_flooded = 1;
    }

    action route(bit<9> port, mac_t own, mac_t next_hop) {
        standard.egress_spec = port;
        hdr.ethernet.source = own;
        hdr.ethernet.destination = next_hop;
        hdr.ipv4.time_to_live = hdr.ipv4.time_to_live - 1;
        meta.is_rewritten = 1;
    }

    action answer_arp(mac_t own) {
        standard.egress_spec = standard.ingress_port;
        hdr.ethernet.destination = hdr.ethernet.source;
        hdr.ethernet.source = own;
        hdr.arp.operation = 2;
        hdr.arp.target_mac = hdr.arp.sender_mac;
        hdr.arp.sender_mac = own;
        ipv4_t asker = hdr.arp.sender_ip;
        hdr.arp.sender_ip = hdr.arp.target_ip;
        hdr.arp.target_ip = asker;
    }

    // The switch's own IPv4 addresses: a host that uses plain UDP sockets asks for them.
    table own_addresses {
        key = { hdr.arp.target_ip : exact @name("ip"); }
        actions = { answer_arp; NoAction; }
        default_action = NoAction();
        size = 64;
    }

    // Frames for the switch's own MAC address are routed.
    table routes {
        key = {
            hdr.ethernet.destination : exact @name("mac");
            hdr.ipv4.destination : lpm @name("ip");
        }
        actions = { route; NoAction; }
        default_action = NoAction();
        size = 1024;
    }

    // All others are switched; the default action tells what happens to unknown addresses.
    table hosts {
        key = { hdr.ethernet.destination : exact @name("mac"); }
        actions = { to_port; flood; drop; }
        default_action = drop();
        size = 4096;
    }

    apply {
        bool done = false;
        if (hdr.arp.isValid() && hdr.arp.operation == 1) {
            done = own_addresses.apply().hit;
        } else if (hdr.ipv4.isValid() && hdr.ipv4.header_words == 5
                && standard.checksum_error == 0 && hdr.ipv4.time_to_live > 1) {
            done = routes.apply().hit;
        }
        if (!done) {
            hosts.apply();
        }
    }
}
