#include "ruby/http/request/http_request.h"

#include <string.h>
#include "ruby/http/connection/http_connection.h"
#include "ruby/http/response/http_response.h"

/* From the bytes received to the application: heads are parsed, and requests begin, wait for a slot, or are refused. */

#define MAX_PIPELINED 16 /* requests that one connection may have before others get their turn */

/* Takes the END of a message without a body from the parser; the headers stay. */
static void take_end(struct pel_http_connection *connection, struct pel_http1_head *head)
{
    unsigned count = head->header_count;
    struct pel_slice data;
    size_t consumed;

    pel_http1_parse(&connection->parser, NULL, 0, &consumed, head, &data);
    head->header_count = count;
}

/* Answers the request, has it wait for a slot or for the requests that have begun, or refuses it. */
static void dispatch_request(struct pel_http_connection *connection)
{
    struct pel_http_server *server = connection->server;

    /* The client's end may have come with the request. No other event will say so, so a job looks for it. */
    if (connection->stream->core.hangup)
        pel_http_queue_proceed(connection);
    pel_http_set_timeout(connection, server->request_timeout);
    if (connection->request.for_file || pel_http_urgent_p(connection)) {
        pel_http_list_remove(connection);
        pel_http_answer(connection);
    } else if (connection->list) { /* of a flight */
        pel_http_become(connection, PEL_HTTP_WAITING);
    } else if (pel_http_take_slot(connection)) {
        if (pel_may_begin(connection->reactor)) {
            pel_http_answer(connection);
            return;
        }
        pel_http_become(connection, PEL_HTTP_WAITING);
        pel_http_queue_answer(connection);
    } else if (server->waiting.count < server->queue_limit) {
        pel_http_become(connection, PEL_HTTP_WAITING);
        pel_http_list_add(&server->waiting, connection);
    } else {
        pel_http_refuse_overload(connection);
    }
}

/* The bytes are malformed, and so nothing after them can be understood, either. */
static void refuse_request(struct pel_http_connection *connection)
{
    enum pel_http1_fault fault = pel_http1_parser_fault(&connection->parser);

    pel_http_refuse(connection, pel_http1_fault_status(fault), pel_http1_fault_text(fault));
}

/* HTTP/2 begins with a line that HTTP/1 refuses: so only then it is looked for. */
static int http2_preface_p(const struct pel_http_connection *connection, const char *bytes, size_t length)
{
    static const char line[] = "PRI * HTTP/2.0\r\n";

    return !connection->requests && length >= sizeof line - 1 && !memcmp(bytes, line, sizeof line - 1);
}

/* Receiving has brought no bytes: there are none at present (PEL_EAGAIN), or the client sends no more. */
static void handle_no_bytes(struct pel_http_connection *connection, ssize_t count)
{
    struct pel_http1_head head;

    if (count == PEL_EAGAIN)
        return;
    if (count < 0 || pel_http1_parse_end(&connection->parser, &head) == PEL_HTTP1_MORE) {
        if (count == 0 && pel_stream_pending(&connection->stream->core)) {
            connection->request.body.done = 1;
            pel_http_close_when_sent(connection);
        } else {
            pel_http_close(connection);
        }
        return;
    }
    refuse_request(connection);
}

/* Parses the next head, from bytes received before, or else from the descriptor, and dispatches its request. 0 when no
 * head can be parsed at present. */
static int read_request(struct pel_http_connection *connection)
{
    static struct pel_http1_head head; /* large, and done with before anything can switch threads */
    struct stream *stream = connection->stream;
    struct pel_slice data;
    const char *bytes;
    size_t length, consumed;
    int hot = !pel_buffer_length(&stream->input), event;
    struct pel_http_cached cached = {.item = NULL};

    if (hot) {
        ssize_t count = pel_stream_receive(&stream->core, pel_hot_buffer(connection->reactor), PEL_HOT_BUFFER);
        if (count <= 0) {
            handle_no_bytes(connection, count);
            return 0;
        }
        bytes = connection->reactor->tick.hot_buffer;
        length = (size_t)count;
    } else {
        bytes = pel_buffer_head(&stream->input);
        length = pel_buffer_length(&stream->input);
    }
    event = pel_http1_parse(&connection->parser, bytes, length, &consumed, &head, &data);
    if (event == PEL_HTTP1_HEAD) {
        int no_body = head.framing == PEL_HTTP1_NO_BODY || (head.framing == PEL_HTTP1_LENGTH && !head.length);
        pel_http_begin_request(connection, &head, no_body);
        if (no_body)
            take_end(connection, &head);
        if (!pel_http_begin_file(connection, &head)) {
            if (connection->server->cache && !connection->request.host_unchecked)
                cached = pel_http_cache_find(connection, &head);
            if (cached.revalidate)
                pel_http_revalidate(connection, &head);
            if (!cached.item)
                pel_http_env(connection, &head);
        }
    } else if (event < 0) {
        if (!http2_preface_p(connection, bytes, length) ||
            !connection->jobs->switch_to_http2(connection, bytes, length))
            refuse_request(connection);
        return 0;
    }
    if (!hot)
        pel_buffer_consume(&stream->input, consumed);
    else if (consumed < length && pel_buffer_append(&stream->input, bytes + consumed, length - consumed) < 0)
        rb_memerror();
    if (event == PEL_HTTP1_MORE) {
        if (connection->list) { /* the head has begun to arrive: header_timeout counts from now on */
            pel_http_list_remove(connection);
            pel_http_set_timeout(connection, connection->server->header_timeout);
        }
        if (!hot) {
            ssize_t count = pel_stream_fill(stream);
            if (count <= 0)
                handle_no_bytes(connection, count);
            return count > 0;
        }
        return 1;
    }
    if (cached.item)
        pel_http_cache_answer(connection, cached);
    else
        dispatch_request(connection);
    return 1;
}

void pel_http_read_requests(struct pel_http_connection *connection)
{
    for (int count = 0; connection->state == PEL_HTTP_IDLE; count++) {
        if (count == MAX_PIPELINED) {
            pel_http_queue_proceed(connection);
            return;
        }
        if (pel_stream_pending(&connection->stream->core) > PEL_HTTP_MAX_UNSENT || !read_request(connection))
            return;
    }
}
