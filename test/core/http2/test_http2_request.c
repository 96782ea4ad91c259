#include "client.h"

static struct pel_http1_head head; /* large */

/* The stream of the one request that was sent. */
static struct pel_http2_stream *sent(struct client *client)
{
    unsigned news;
    struct pel_http2_stream *stream;

    CHECK_INT(0, client_send(client));
    stream = pel_http2_next(client->session, &news);
    CHECK(stream);
    CHECK(news & PEL_HTTP2_HEAD);
    return stream;
}

CLIENT_TEST(a_head_as_lines)
{
    struct pel_http2_stream *stream;

    client_request(client, 1, "GET", "/a?b", END_STREAM, "x-one", "1");
    stream = sent(client);
    CHECK_INT(0, pel_http2_head(stream, &head));
    CHECK(pel_slice_equals(head.method, "GET"));
    CHECK(pel_slice_equals(head.path, "/a"));
    CHECK(pel_slice_equals(head.query, "b"));
    CHECK(pel_slice_equals(head.host, "h"));
    CHECK_INT(2, head.header_count);
    CHECK_INT(PEL_HTTP1_NO_BODY, head.framing);
}

CLIENT_TEST(a_body)
{
    struct pel_http2_stream *stream;
    unsigned news;

    client_request(client, 1, "POST", "/", 0, NULL, NULL);
    stream = sent(client);
    CHECK_INT(0, pel_http2_head(stream, &head));
    CHECK_INT(PEL_HTTP1_UNTIL_CLOSE, head.framing);
    client_frame(client, DATA, 0, 1, "abc", 3);
    client_frame(client, DATA, END_STREAM, 1, "de", 2);
    CHECK_INT(0, client_send(client));
    CHECK(pel_http2_next(client->session, &news) == stream);
    CHECK_INT(PEL_HTTP2_BODY, news);
    CHECK_INT(5, pel_buffer_length(&stream->input));
    CHECK(stream->ended);
    pel_http2_take(stream, 5);
    CHECK_INT(0, pel_buffer_length(&stream->input));
}

CLIENT_TEST(trailers)
{
    struct pel_http2_stream *stream;
    struct pel_buffer block = {0};

    client_request(client, 1, "POST", "/", 0, NULL, NULL);
    stream = sent(client);
    client_field(&block, "x-sum", "12");
    client_frame(client, HEADERS, END_STREAM | END_HEADERS, 1, pel_buffer_head(&block), pel_buffer_length(&block));
    pel_buffer_free(&block);
    CHECK_INT(0, client_send(client));
    CHECK_INT(0, pel_http2_trailers(stream, &head));
    CHECK_INT(1, head.header_count);
    CHECK(pel_slice_equals(head.headers[0].value, "12"));
}

CLIENT_TEST(a_malformed_request_is_reset)
{
    unsigned news;

    client_request(client, 1, "GET", "/ x", END_STREAM, NULL, NULL);
    CHECK_INT(0, client_send(client));
    client_receive(client);
    CHECK_INT(PEL_HTTP2_PROTOCOL_ERROR, client_error(client, RST_STREAM));
    CHECK(!pel_http2_next(client->session, &news));
}

/* Its line would end too early, or have no place for what it asks for. */
CLIENT_TEST(a_malformed_authority_is_reset)
{
    static const char *const authorities[] = {"", "a b"};
    unsigned news;

    for (uint32_t i = 0; i < 2; i++) {
        struct pel_buffer block = {0};
        client_field(&block, ":method", "CONNECT");
        client_field(&block, ":authority", authorities[i]);
        client_frame(client, HEADERS, END_HEADERS, 1 + 2 * i, pel_buffer_head(&block), pel_buffer_length(&block));
        pel_buffer_free(&block);
        CHECK_INT(0, client_send(client));
        CHECK(!pel_http2_next(client->session, &news));
    }
}

CLIENT_TEST(a_field_that_is_too_long)
{
    struct pel_http2_stream *stream;

    client->message.head = 50;
    client_request(client, 1, "GET", "/", END_STREAM, "x-long", "0123456789012345678901234567890123456789");
    stream = sent(client);
    CHECK_INT(PEL_ELIMIT, pel_http2_head(stream, &head));
    CHECK_INT(PEL_HTTP1_FAULT_HEAD_LONG, stream->fault);
}

CLIENT_TEST(a_body_that_is_too_long)
{
    struct pel_http2_stream *stream;

    client->message.body = 2;
    client_request(client, 1, "POST", "/", 0, NULL, NULL);
    client_frame(client, DATA, END_STREAM, 1, "abc", 3);
    stream = sent(client);
    CHECK_INT(PEL_HTTP1_FAULT_BODY_LONG, stream->fault);
    CHECK_INT(0, pel_buffer_length(&stream->input));
}

CLIENT_TEST(streams_that_the_client_has_reset_count_until_they_are_released)
{
    struct pel_http2_stream *stream;
    unsigned news;

    client->limits.streams = 1;
    for (uint32_t id = 1; id < 7; id += 2) {
        client_request(client, id, "GET", "/", END_STREAM, NULL, NULL);
        client_frame(client, RST_STREAM, 0, id, "\0\0\0\x08", 4);
    }
    CHECK_INT(0, client_send(client));
    client_receive(client);
    CHECK_INT(PEL_HTTP2_REFUSED_STREAM, client_error(client, RST_STREAM));
    while ((stream = pel_http2_next(client->session, &news)))
        pel_http2_release(stream);
    CHECK(!pel_http2_first(client->session));
}

CLIENT_TEST(a_websocket_reads_as_an_upgrade)
{
    struct pel_http1_head head;
    struct pel_http2_stream *stream;
    unsigned news;

    client_request(client, 1, "CONNECT", "/chat", 0, ":protocol", "websocket");
    CHECK_INT(0, client_send(client));
    stream = pel_http2_next(client->session, &news);
    CHECK(stream);
    CHECK_INT(0, pel_http2_head(stream, &head));
    CHECK(stream->websocket);
    CHECK(pel_slice_equals(head.method, "GET"));
    CHECK(pel_slice_equals(head.path, "/chat"));
    CHECK(head.upgrade);
    CHECK(pel_slice_equals(pel_http1_find(&head, "upgrade")->value, "websocket"));
    CHECK_INT(PEL_HTTP1_NO_BODY, head.framing);
}

CLIENT_TEST(the_protocol_of_another_tunnel)
{
    struct pel_http1_head head;
    struct pel_http2_stream *stream;
    unsigned news;

    client_request(client, 1, "CONNECT", "/", 0, ":protocol", "connect-udp");
    CHECK_INT(0, client_send(client));
    stream = pel_http2_next(client->session, &news);
    CHECK(stream);
    CHECK_INT(PEL_ELIMIT, pel_http2_head(stream, &head));
    CHECK_INT(PEL_HTTP1_FAULT_PROTOCOL, stream->fault);
    CHECK_INT(501, pel_http1_fault_status((enum pel_http1_fault)stream->fault));
}

CLIENT_TEST(what_a_websocket_sends_is_no_body)
{
    struct pel_http2_stream *stream;
    unsigned news;

    client->message.body = 3;
    client_request(client, 1, "CONNECT", "/", 0, ":protocol", "websocket");
    client_frame(client, DATA, 0, 1, "12345", 5);
    CHECK_INT(0, client_send(client));
    stream = pel_http2_next(client->session, &news);
    CHECK_INT(PEL_HTTP1_FAULT_NONE, stream->fault);
    CHECK_INT(5, pel_buffer_length(&stream->input));
}
