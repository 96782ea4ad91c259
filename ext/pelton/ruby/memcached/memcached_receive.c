#include "ruby/memcached/memcached_connection.h"

#include <errno.h>

/* Receiving: bytes from a memcached server become replies. */

#define DIRECT_VALUE 32768            /* a value with more bytes to come is received straight into its String */
#define BYTES_PER_BATCH (1024 * 1024) /* of one connection: more would be values that no fiber has taken yet */

/* Parses the hot buffer's bytes. 0, or the error code of the parser or of a reply. */
static int parse_replies(struct pel_memcached_connection *connection, const char *bytes, size_t length)
{
    struct pel_memcached_reply reply;

    while (length) {
        size_t consumed;
        int code = pel_memcached_parse(&connection->parser, bytes, length, &consumed, &reply);
        bytes += consumed;
        length -= consumed;
        if (code > 0)
            code = pel_memcached_handle_reply(connection, &reply);
        if (code < 0)
            return code;
    }
    /* The beginning of an unsolicited reply must not become the next caller's. */
    return !connection->pending.first && pel_memcached_parser_inside(&connection->parser) ? PEL_EPROTOCOL : 0;
}

/* Receives more of a long value straight into its String. */
static ssize_t receive_into_value(struct pel_memcached_connection *connection, uint64_t pending)
{
    VALUE value = connection->value.bytes;
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
    if (connection->relay)
        pel_memcached_relay_ready(connection);
    /* A layer is drained whatever the share: the loop does not report again the bytes that the layer holds. */
    for (size_t bytes = 0;
         (bytes < BYTES_PER_BATCH || connection->stream.layer) && connection->stream.readable && !connection->relay;) {
        uint64_t pending = connection->value.bytes ? pel_memcached_parser_pending(&connection->parser) : 0;
        char *hot = pel_hot_buffer(connection->reactor);
        ssize_t count;
        int code = 0;
        if (pending >= DIRECT_VALUE) {
            count = receive_into_value(connection, pending);
        } else {
            count = pel_stream_receive(&connection->stream, hot, PEL_HOT_BUFFER);
            if (count > 0)
                code = parse_replies(connection, hot, (size_t)count);
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
                               code == PEL_ELIMIT ? "a reply is too long" : "a reply fits no request");
            return;
        }
        bytes += (size_t)count;
        connection->clock.progress = connection->reactor->loop.now;
        connection->clock.grace_given = 0;
        connection->replied = 1;
    }
}
