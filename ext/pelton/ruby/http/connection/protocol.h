#pragma once

#include <ruby.h>
#include <stddef.h>
#include <stdint.h>
#include "core/base/buffer.h"

struct pel_http_connection;
struct pel_lender;

/*
 * What a protocol does for an exchange, which does not know its protocol. Heads, early hints and trailers are always
 * written as the lines of HTTP/1, because those are checked while they are written: HTTP/1 sends them as they are, and
 * HTTP/2 sends the fields that the lines hold.
 *
 * All functions but await_room, receive_body and hand_over are C only.
 */
struct pel_http_protocol {
    unsigned major;
    /* The protocol itself shows where a body ends, and has trailers for each. Else its parts may have to be chunks. */
    unsigned frames_bodies : 1;
    unsigned discards : 1; /* nobody receives the response: only the cache takes it */

    /* Where the lines of a head, hints or trailers are written. */
    struct pel_buffer *(*lines)(struct pel_http_connection *connection);
    /* Appends bytes of the body after the lines: copied, or lent. Both return as pel_stream_append. */
    int (*append)(struct pel_http_connection *connection, const char *bytes, size_t length);
    int (*lend)(struct pel_http_connection *connection, const char *bytes, size_t length, uintptr_t owner,
                struct pel_lender *lender);
    /* What was written is in order: it is sent at the tick's end, or at once when there is much of it. */
    void (*send_soon)(struct pel_http_connection *connection);
    /* Sends it now. */
    void (*flush)(struct pel_http_connection *connection);
    /* Bytes written and not sent yet. */
    size_t (*unsent)(const struct pel_http_connection *connection);
    /* Parks until few enough bytes are unsent. 0: the client has not read for write_timeout. Raises, also when the
     * exchange has ended meanwhile. */
    int (*await_room)(struct pel_http_connection *connection, VALUE exchange);

    /* Takes the next part of the request's body. 1: *part is it, a String, or the body has ended; 0: nothing is there.
     * Raises. */
    int (*receive_body)(struct pel_http_connection *connection, VALUE *part);

    /* The exchange is over, and refers to the connection no more: goes on with the next request, or ends. */
    void (*end)(struct pel_http_connection *connection);
    /* Its slot is free, and its callbacks are queued: looks for what has arrived meanwhile. */
    void (*go_on)(struct pel_http_connection *connection);
    /* Gives the connection's stream, or what stands for it, to the application: it is returned, a Pelton::Stream, and
     * the connection is gone. Raises. */
    VALUE (*hand_over)(struct pel_http_connection *connection);
    /* Nothing has come in time from an idle connection. */
    void (*timed_out)(struct pel_http_connection *connection);
    /* The server stops: ends an idle connection, unless a request may be on its way. */
    void (*stop)(struct pel_http_connection *connection);
    /* The connection is gone. */
    void (*closed)(struct pel_http_connection *connection);

    /* Of what connection->http2 refers to; NULL for HTTP/1. */
    void (*mark)(const struct pel_http_connection *connection);
    void (*free)(struct pel_http_connection *connection);
};
