#include "ruby/http/request/http_request.h"

/* Bytes that a peer sends and the application does not read. */

#define DRAIN_LIMIT (256 * 1024) /* bytes of a request's body that are dropped to keep the connection */

void pel_http_drain_body(struct pel_http_connection *connection)
{
    struct pel_http_request_body *body = &connection->request.body;
    struct pel_buffer *input = &connection->stream->input;
    struct pel_http1_head head;

    for (;;) {
        struct pel_slice data = {NULL, 0};
        size_t consumed;
        int event = pel_http1_parse(&connection->parser, pel_buffer_head(input), pel_buffer_length(input), &consumed,
                                    &head, &data);
        body->dropped += data.length;
        pel_buffer_consume(input, consumed);
        if (event == PEL_HTTP1_END) {
            body->done = 1;
            pel_http_become_idle(connection);
            return;
        }
        if (event < 0 || body->dropped > DRAIN_LIMIT) {
            pel_http_close_when_sent(connection);
            return;
        }
        if (event == PEL_HTTP1_MORE) {
            ssize_t count = pel_stream_fill(connection->stream);
            if (count == PEL_EAGAIN)
                return;
            if (count <= 0) {
                body->done = 1;
                pel_http_close_when_sent(connection);
                return;
            }
        }
    }
}

void pel_http_drain_until_end(struct pel_http_connection *connection)
{
    ssize_t count;

    while ((count =
                pel_stream_receive(&connection->stream->core, pel_hot_buffer(connection->reactor), PEL_HOT_BUFFER)) > 0)
        if ((connection->request.body.dropped += (uint64_t)count) > 16 * DRAIN_LIMIT)
            break;
    if (count == PEL_EAGAIN)
        return;
    connection->lingers = 0;
    if (!pel_stream_pending(&connection->stream->core) || count < 0)
        pel_http_close(connection);
}
