#include "memcached.h"

#include <errno.h>

/* What a memcached server sends: bytes to replies. */

#define DIRECT_VALUE 32768         /* a value with more to come is received straight into its string */
#define BYTES_A_TURN (1024 * 1024) /* of one connection: more would be values that nobody has taken yet */

/* Parses all of the hot buffer's bytes. 0 or a parser's error. */
static int parse(struct pel_memcached_connection *connection, const char *bytes, size_t length)
{
    struct pel_memcached_reply reply;

    while (length) {
        size_t consumed;
        int code = pel_memcached_parse(&connection->parser, bytes, length, &consumed, &reply);
        bytes += consumed;
        length -= consumed;
        if (code > 0 && connection->classic)
            code = pel_memcached_as_meta(connection, &reply);
        if (code > 0)
            code = pel_memcached_reply(connection, &reply);
        if (code < 0)
            return code;
    }
    return 0;
}

/* The rest of a long value goes straight into its string. */
static ssize_t receive_value(struct pel_memcached_connection *connection, uint64_t pending)
{
    VALUE value = connection->value;
    long length = RSTRING_LEN(value);
    ssize_t count = pel_stream_receive(&connection->stream, RSTRING_PTR(value) + length, (size_t)pending);

    if (count > 0) {
        rb_str_set_len(value, length + count);
        pel_memcached_parser_skip_value(&connection->parser, (uint64_t)count);
    }
    return count;
}

void pel_memcached_receive(struct pel_memcached_connection *connection)
{
    if (connection->flow)
        pel_memcached_flow_ready(connection);
    /* What a layer holds nobody would tell again. */
    for (size_t bytes = 0;
         (bytes < BYTES_A_TURN || connection->stream.layer) && connection->stream.readable && !connection->flow;) {
        uint64_t pending = connection->value ? pel_memcached_parser_pending(&connection->parser) : 0;
        char *hot = pel_hot_buffer(connection->reactor);
        ssize_t count;
        int code = 0;
        if (pending >= DIRECT_VALUE) {
            count = receive_value(connection, pending);
        } else {
            count = pel_stream_receive(&connection->stream, hot, PEL_HOT_BUFFER);
            if (count > 0)
                code = parse(connection, hot, (size_t)count);
        }
        if (count == PEL_EAGAIN)
            return;
        if (count < 0) {
            pel_memcached_fail(connection, PEL_ESYSTEM, connection->stream.error, "read");
            return;
        }
        if (count == 0) {
            pel_memcached_fail(connection, PEL_ESYSTEM, ECONNRESET, "the server closed the connection");
            return;
        }
        if (code < 0) {
            pel_memcached_fail(connection, PEL_EPROTOCOL, 0,
                               code == PEL_ELIMIT ? "a reply that is too long" : "a reply that fits no request");
            return;
        }
        bytes += (size_t)count;
        connection->progress = connection->reactor->loop.now;
        connection->excused = 0;
        connection->replied = 1;
    }
}
