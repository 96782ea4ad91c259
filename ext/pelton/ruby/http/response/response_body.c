#include "ruby/http/response/http_response.h"

#include "core/http1/http1_writer.h"
#include "ruby/http/connection/http_connection.h"

#define BORROW_FROM 16384 /* bytes from which on a part is borrowed from its String, not copied */

static void append_part(struct pel_http_connection *connection, VALUE part, size_t length)
{
    const struct pel_http_protocol *protocol = connection->protocol;

    if (length >= BORROW_FROM) {
        part = rb_str_new_frozen(part); /* shares the bytes: a change to the original copies them first */
        pel_http_check_written(protocol->lend(connection, RSTRING_PTR(part), length, part, NULL));
        RB_OBJ_WRITTEN(connection->http2 ? connection->self : connection->stream_object, Qundef, part);
    } else {
        pel_http_check_written(protocol->append(connection, RSTRING_PTR(part), length));
    }
    RB_GC_GUARD(part);
}

/* The connection's end shows the client that the body is incomplete, so the caller need not end the exchange. */
static void abort_body(struct pel_http_connection *connection, const char *why)
{
    connection->response.aborted = 1;
    pel_http_end_exchange(connection);
    rb_raise(pel_eError, "%s", why);
}

void pel_http_write_body(struct pel_http_connection *connection, VALUE part)
{
    struct pel_http_response_body *body = &connection->response.body;
    size_t length = (size_t)RSTRING_LEN(part);

    if (body->none || !length)
        return;
    if (body->has_length && length > body->left)
        abort_body(connection, "the body is longer than its content-length");
    if (body->chunked)
        pel_http_check_written(pel_http1_write_chunk(connection->protocol->lines(connection), length));
    append_part(connection, part, length);
    if (body->chunked)
        pel_http_check_written(pel_http1_write_end(connection->protocol->lines(connection)));
    if (body->has_length)
        body->left -= length;
    body->sent += length;
}

void pel_http_finish_body(struct pel_http_connection *connection, VALUE trailers)
{
    const struct pel_http_response_body *body = &connection->response.body;

    if (body->none)
        return;
    if (body->has_length && body->left)
        abort_body(connection, "the body is shorter than its content-length");
    if (connection->protocol->frames_bodies && !NIL_P(trailers))
        pel_http_send_soon(connection); /* the head's lines are not to be followed by those of the trailers */
    if (body->chunked || (connection->protocol->frames_bodies && !NIL_P(trailers)))
        pel_http_write_fields(connection, trailers, 0);
}
