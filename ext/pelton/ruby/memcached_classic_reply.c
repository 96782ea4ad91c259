#include "memcached_gather.h"

#include "../core/key_hash.h"

/* Classic text: what a server says that knows no meta commands. (What it is asked is in core/memcached_translation.h.)
 */

/* Of the add that comes before a counter's increment. Whether it stored anything is for the increment to show. */
static int begin_counter(struct pel_memcached_connection *connection, enum pel_memcached_kind kind)
{
    connection->counter_begun = 1;
    return kind == PEL_MEMCACHED_STORED || kind == PEL_MEMCACHED_NOT_STORED || kind == PEL_MEMCACHED_SERVER_ERROR
               ? 0
               : PEL_EPROTOCOL;
}

static int reads(const struct pel_memcached_connection *connection, enum pel_memcached_request request)
{
    return request == PEL_MEMCACHED_PART ? pel_memcached_part_reads(connection) : request <= PEL_MEMCACHED_GET_ITEM;
}

/* Whether it is about the oldest key that is read. */
static int has_its_key(struct pel_memcached_connection *connection, const struct pel_memcached_reply *reply)
{
    uint32_t expected;

    if (pel_buffer_length(&connection->keys) < sizeof(expected))
        return 0;
    memcpy(&expected, pel_buffer_head(&connection->keys), sizeof(expected));
    pel_buffer_consume(&connection->keys, sizeof(expected));
    return reply->kind != PEL_MEMCACHED_VALUE || expected == pel_key_hash_fnv1a_32(reply->key.bytes, reply->key.length);
}

int pel_memcached_as_meta(struct pel_memcached_connection *connection, struct pel_memcached_reply *reply)
{
    enum pel_memcached_request request;

    if (reply->kind == PEL_MEMCACHED_VALUE_PART || reply->kind == PEL_MEMCACHED_VALUE_END)
        return 1;
    if (connection->end_follows) {
        connection->end_follows = 0;
        return reply->kind == PEL_MEMCACHED_END ? 0 : PEL_EPROTOCOL;
    }
    if (!connection->owed)
        return PEL_EPROTOCOL;
    request = connection->owed->request;
    if (request == PEL_MEMCACHED_COUNT_FROM && !connection->counter_begun)
        return begin_counter(connection, reply->kind);
    connection->counter_begun = 0;
    if (reads(connection, request) && !has_its_key(connection, reply))
        return PEL_EPROTOCOL;
    switch (reply->kind) {
    case PEL_MEMCACHED_VALUE:
        connection->end_follows = 1;
        reply->kind = PEL_MEMCACHED_VA;
        return 1;
    case PEL_MEMCACHED_END:
        if (reads(connection, request))
            reply->kind = PEL_MEMCACHED_EN;
        return 1;
    case PEL_MEMCACHED_STORED:
    case PEL_MEMCACHED_DELETED:
    case PEL_MEMCACHED_TOUCHED:
        reply->kind = PEL_MEMCACHED_HD;
        return 1;
    case PEL_MEMCACHED_NOT_STORED:
        reply->kind = PEL_MEMCACHED_NS;
        return 1;
    case PEL_MEMCACHED_EXISTS:
        reply->kind = PEL_MEMCACHED_EX;
        return 1;
    case PEL_MEMCACHED_NOT_FOUND:
        reply->kind = request == PEL_MEMCACHED_TOUCH ? PEL_MEMCACHED_EN : PEL_MEMCACHED_NF;
        return 1;
    case PEL_MEMCACHED_NUMBER:
        return request == PEL_MEMCACHED_COUNT || request == PEL_MEMCACHED_COUNT_FROM ? 1 : PEL_EPROTOCOL;
    default: /* what both protocols have; a meta server's own replies are none here */
        return reply->kind >= PEL_MEMCACHED_STAT ? 1 : PEL_EPROTOCOL;
    }
}
