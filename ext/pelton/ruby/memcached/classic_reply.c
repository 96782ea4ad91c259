#include "ruby/memcached/fan_out.h"

#include "core/memcached/hash_ring.h"

/* Replies of a server that knows no meta commands, in classic text. (core/memcached/translation.h writes the commands.)
 */

/* The reply to the add that precedes a counter's increment. The increment's reply tells what the counter is. */
static int take_counter_add(struct pel_memcached_connection *connection, enum pel_memcached_kind kind)
{
    connection->classic.counter_begun = 1;
    return kind == PEL_MEMCACHED_STORED || kind == PEL_MEMCACHED_NOT_STORED || kind == PEL_MEMCACHED_SERVER_ERROR
               ? 0
               : PEL_EPROTOCOL;
}

static int request_reads_values(const struct pel_memcached_connection *connection, enum pel_memcached_request request)
{
    if (request == PEL_MEMCACHED_SHARD)
        request = pel_memcached_shard_reads(connection);
    return request <= PEL_MEMCACHED_GET_ITEM;
}

/* Whether the reply belongs to the oldest pending key. */
static int matches_oldest_key(struct pel_memcached_connection *connection, const struct pel_memcached_reply *reply)
{
    uint32_t expected;

    if (pel_buffer_length(&connection->pending.keys) < sizeof(expected))
        return 0;
    memcpy(&expected, pel_buffer_head(&connection->pending.keys), sizeof(expected));
    pel_buffer_consume(&connection->pending.keys, sizeof(expected));
    return reply->kind != PEL_MEMCACHED_VALUE || expected == pel_key_hash_fnv1a_32(reply->key.bytes, reply->key.length);
}

int pel_memcached_classic_to_meta(struct pel_memcached_connection *connection, struct pel_memcached_reply *reply)
{
    enum pel_memcached_request request;

    if (reply->kind == PEL_MEMCACHED_VALUE_PART || reply->kind == PEL_MEMCACHED_VALUE_END)
        return 1;
    if (connection->classic.end_follows) {
        connection->classic.end_follows = 0;
        return reply->kind == PEL_MEMCACHED_END ? 0 : PEL_EPROTOCOL;
    }
    if (!connection->pending.first)
        return PEL_EPROTOCOL;
    request = connection->pending.first->request;
    if (request == PEL_MEMCACHED_COUNT_FROM && !connection->classic.counter_begun)
        return take_counter_add(connection, reply->kind);
    connection->classic.counter_begun = 0;
    if (request_reads_values(connection, request) && !matches_oldest_key(connection, reply))
        return PEL_EPROTOCOL;
    switch (reply->kind) {
    case PEL_MEMCACHED_VALUE:
        connection->classic.end_follows = 1;
        reply->kind = PEL_MEMCACHED_VA;
        return 1;
    case PEL_MEMCACHED_END:
        if (request_reads_values(connection, request))
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
    default: /* both protocols have these kinds; a meta server's own kinds are wrong here */
        return reply->kind >= PEL_MEMCACHED_STAT ? 1 : PEL_EPROTOCOL;
    }
}
