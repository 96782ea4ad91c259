#ifndef PELTON_TEST_CORE_MEMCACHED_SERVER_PACKET_H
#define PELTON_TEST_CORE_MEMCACHED_SERVER_PACKET_H

/* Writes requests and replies of the binary protocol. */

#include <stdint.h>
#include <string.h>

struct packet {
    uint8_t opcode;
    const char *extras, *key, *value;
    size_t extras_length, value_length; /* 0: the length of the string */
    uint16_t status;                    /* replies */
    uint64_t cas;
};

static char packet_bytes[4096];

static size_t packet_number(size_t at, uint64_t number, int size)
{
    for (int i = size - 1; i >= 0; i--)
        packet_bytes[at++] = (char)(number >> (8 * i));
    return at;
}

static size_t packet_part(size_t at, const char *bytes, size_t length)
{
    memcpy(packet_bytes + at, bytes ? bytes : "", length);
    return at + length;
}

/* Writes a packet to packet_bytes and returns its length. */
static size_t packet_write(uint8_t magic, const struct packet *packet)
{
    size_t extras = packet->extras ? packet->extras_length : 0, key = packet->key ? strlen(packet->key) : 0;
    size_t value = packet->value_length ? packet->value_length : packet->value ? strlen(packet->value) : 0, at = 0;

    at = packet_number(at, magic, 1);
    at = packet_number(at, packet->opcode, 1);
    at = packet_number(at, key, 2);
    at = packet_number(at, extras, 1);
    at = packet_number(at, 0, 1);
    at = packet_number(at, packet->status, 2);
    at = packet_number(at, extras + key + value, 4);
    at = packet_part(at, "opaq", 4);
    at = packet_number(at, packet->cas, 8);
    at = packet_part(at, packet->extras, extras);
    at = packet_part(at, packet->key, key);
    return packet->value ? packet_part(at, packet->value, value) : at;
}

#endif
