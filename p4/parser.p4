/* Bytes to headers and back, and the checksum of IPv4. */

parser InnetParser(packet_in packet, out headers_t hdr, inout metadata_t meta,
                   inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            ETHERTYPE_IPV4: parse_ipv4;
            ETHERTYPE_ARP: parse_arp;
            default: accept;
        }
    }

    state parse_arp {
        packet.extract(hdr.arp);
        transition accept;
    }

    state parse_ipv4 {
        packet.extract(hdr.ipv4);
        // A datagram with options or in fragments is not ours; it is forwarded as it is.
        transition select(hdr.ipv4.version, hdr.ipv4.header_words, hdr.ipv4.more_fragments,
                          hdr.ipv4.fragment_offset, hdr.ipv4.protocol) {
            (4, 5, 0, 0, PROTOCOL_UDP): parse_udp;
            default: accept;
        }
    }

    state parse_udp {
        packet.extract(hdr.udp);
        transition select(hdr.udp.destination) {
            SWITCHML_PORT &&& SWITCHML_PORT_MASK: parse_switchml;
            default: accept;
        }
    }

    state parse_switchml {
        packet.extract(hdr.switchml);
        transition select(hdr.switchml.message, hdr.switchml.size) {
            (UPDATE, SIZE_CODE): parse_values;
            default: accept;
        }
    }

    state parse_values {
        packet.extract(hdr.exponents);
        packet.extract(hdr.values);
        transition accept;
    }
}

// What an IPv4 header's checksum covers.
#define IPV4_FIELDS(h) { \
    h.version, h.header_words, h.service, h.total_length, h.identification, h.reserved, \
    h.dont_fragment, h.more_fragments, h.fragment_offset, h.time_to_live, h.protocol, \
    h.source, h.destination }

control VerifyChecksums(inout headers_t hdr, inout metadata_t meta) {
    apply {
        verify_checksum(hdr.ipv4.isValid() && hdr.ipv4.header_words == 5,
                        IPV4_FIELDS(hdr.ipv4), hdr.ipv4.checksum, HashAlgorithm.csum16);
    }
}

control ComputeChecksums(inout headers_t hdr, inout metadata_t meta) {
    apply {
        // Only where the switch wrote: a fault that came with a packet must stay visible.
        update_checksum(meta.is_rewritten == 1,
                        IPV4_FIELDS(hdr.ipv4), hdr.ipv4.checksum, HashAlgorithm.csum16);
    }
}

control InnetDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
        packet.emit(hdr.arp);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.udp);
        packet.emit(hdr.switchml);
        packet.emit(hdr.exponents);
        packet.emit(hdr.values);
    }
}
