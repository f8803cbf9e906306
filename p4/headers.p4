/* What is on the wire, and what travels with a packet inside the switch. */

typedef bit<48> mac_t;
typedef bit<32> ipv4_t;

// The switch's UDP ports for aggregation are 16 in a row, one for each core of a worker.
const bit<16> SWITCHML_PORT = 0xBEE0;
const bit<16> SWITCHML_PORT_MASK = 0xFFF0;

const bit<4> UPDATE = 1;  // a contribution, or the sum that answers it
const bit<4> HELP = 2;    // a call to contribute again

const bit<16> ETHERTYPE_IPV4 = 0x0800;
const bit<16> ETHERTYPE_ARP = 0x0806;
const bit<8> PROTOCOL_UDP = 17;

// Bytes of the headers, and of a whole update from each header on.
#define ETHERNET_BYTES 14
#define IPV4_BYTES 20
#define UDP_BYTES 8
#define SWITCHML_BYTES 8
#define EXPONENTS_BYTES 2

const bit<16> UDP_LENGTH = UDP_BYTES + SWITCHML_BYTES + EXPONENTS_BYTES + 4 * ELEMENTS;
const bit<16> IPV4_LENGTH = IPV4_BYTES + UDP_LENGTH;
const bit<32> FRAME_LENGTH = ETHERNET_BYTES + IPV4_BYTES + UDP_BYTES + SWITCHML_BYTES
    + EXPONENTS_BYTES + 4 * ELEMENTS;
const bit<16> HELP_UDP_LENGTH = UDP_BYTES + SWITCHML_BYTES + EXPONENTS_BYTES;
const bit<16> HELP_IPV4_LENGTH = IPV4_BYTES + HELP_UDP_LENGTH;

// How many slots all jobs share. More take more memory: 8 bytes a slot and value in hardware.
#ifndef SLOTS
#define SLOTS 1024
#endif
const bit<32> POOL_SLOTS = SLOTS;
#define JOB_NUMBERS 256

header ethernet_t {
    mac_t destination;
    mac_t source;
    bit<16> ether_type;
}

header arp_t {  // for IPv4 over Ethernet
    bit<16> hardware_type;
    bit<16> protocol_type;
    bit<8> hardware_length;
    bit<8> protocol_length;
    bit<16> operation;
    mac_t sender_mac;
    ipv4_t sender_ip;
    mac_t target_mac;
    ipv4_t target_ip;
}

header ipv4_header_t {
    bit<4> version;
    bit<4> header_words;
    bit<8> service;
    bit<16> total_length;
    bit<16> identification;
    bit<1> reserved;
    bit<1> dont_fragment;
    bit<1> more_fragments;
    bit<13> fragment_offset;
    bit<8> time_to_live;
    bit<8> protocol;
    bit<16> checksum;
    ipv4_t source;
    ipv4_t destination;
}

header udp_t {
    bit<16> source;
    bit<16> destination;
    bit<16> length;
    bit<16> checksum;
}

header switchml_t {
    bit<4> message;
    bit<1> asks_help;  // of a contribution sent again
    bit<3> size;
    bit<8> job;
    bit<32> number;    // of the chunk, counted over the life of the job
    bit<1> set;
    bit<15> slot;      // of the job's pool
}

header exponents_t {
    bit<8> e0;  // signed; of the block that the worker sends next on this slot
    bit<8> e1;  // not used
}

#define VALUE_FIELD(i) bit<32> v##i;
header values_t {
    EACH_VALUE(VALUE_FIELD)
}

struct headers_t {
    ethernet_t ethernet;
    arp_t arp;
    ipv4_header_t ipv4;
    udp_t udp;
    switchml_t switchml;
    exponents_t exponents;
    values_t values;
}

struct job_t {
    bit<8> number;
    bit<32> worker_bit;  // 1 << the sender's worker id
    bit<8> workers;
    bit<16> group;       // the multicast group of all its workers
    bit<16> slots;
    bit<32> epoch;       // of this run of the job: no two runs on a switch share one
    bit<1> guard;
}

struct metadata_t {
    job_t job;
    bit<32> slot;        // in the registers, that all jobs share
    bit<1> is_reply;     // the switch sends it in its own name
    bit<16> receiver;    // to whom, unless multicast says otherwise
    bit<1> is_flooded;
    bit<1> is_rewritten; // its IPv4 header has changed and needs a new checksum
}
