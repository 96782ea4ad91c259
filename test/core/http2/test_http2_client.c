#include "core/http2/http2_client.h"
#include "client.h"

/* The session is the client's here: so what client.h sends are a server's frames, and the answer is the client's. */

static struct pel_http1_head head; /* large */

static void server_begin(struct client *server)
{
    *server = (struct client){.message = pel_http1_default_limits};
    server->limits = (struct pel_http2_limits){.message = &server->message, .window = 1000, .controls = 5};
    server->session = pel_http2_client_new(&server->limits);
    client_frame(server, SETTINGS, 0, 0, "\0\3\0\0\0\7", 6);
}

#define SERVER_TEST(title)                                                                                             \
    static void title##_with(struct client *server);                                                                   \
    TEST(title)                                                                                                        \
    {                                                                                                                  \
        struct client server;                                                                                          \
        server_begin(&server);                                                                                         \
        title##_with(&server);                                                                                         \
        client_end(&server);                                                                                           \
    }                                                                                                                  \
    static void title##_with(struct client *server)

static struct pel_http2_stream *request(struct client *server, int no_body)
{
    char lines[] = "GET /a?b HTTP/1.1\r\nhost: h\r\nX-One: 1\r\nconnection: close\r\n\r\n";
    return pel_http2_request(server->session, lines, sizeof lines - 1, PEL_SLICE("https"), no_body);
}

static void respond(struct client *server, const char *status, int flags, const char *name, const char *value)
{
    struct pel_buffer block = {0};

    client_field(&block, ":status", status);
    if (name)
        client_field(&block, name, value);
    client_frame(server, HEADERS, flags | END_HEADERS, 1, pel_buffer_head(&block), pel_buffer_length(&block));
    pel_buffer_free(&block);
}

SERVER_TEST(a_request)
{
    size_t length;
    const char *fields;

    CHECK(request(server, 1));
    CHECK_INT(0, client_receive(server));
    CHECK(!memcmp(pel_buffer_head(&server->answer), PREFACE, sizeof PREFACE - 1));
    pel_buffer_consume(&server->answer, sizeof PREFACE - 1);
    CHECK(client_answer(server, SETTINGS, &length));
    CHECK(client_answer(server, WINDOW_UPDATE, &length));
    fields = client_answer(server, HEADERS, &length);
    CHECK_INT(END_STREAM | END_HEADERS, fields[-5]);
    CHECK_INT(0x82, (unsigned char)fields[0]); /* :method GET */
    CHECK_INT(0x87, (unsigned char)fields[1]); /* :scheme https */
}

SERVER_TEST(a_head_without_host_is_none)
{
    char lines[] = "GET / HTTP/1.1\r\nx: 1\r\n\r\n", line[] = "GET / HTTP/1.1", word[] = "GET\r\nhost: h\r\n\r\n";

    CHECK(!pel_http2_request(server->session, lines, sizeof lines - 1, PEL_SLICE("http"), 1));
    CHECK(!pel_http2_request(server->session, line, sizeof line - 1, PEL_SLICE("http"), 1));
    CHECK(!pel_http2_request(server->session, word, sizeof word - 1, PEL_SLICE("http"), 1));
}

SERVER_TEST(what_the_server_allows)
{
    CHECK(!pel_http2_settings_known_p(server->session));
    CHECK_INT(0, pel_http2_allowed_streams(server->session));
    CHECK_INT(0, client_send(server));
    CHECK(pel_http2_settings_known_p(server->session));
    CHECK_INT(7, pel_http2_allowed_streams(server->session));
    client_frame(server, SETTINGS, 0, 0, "\0\3\0\0\0\0", 6);
    CHECK_INT(0, client_send(server));
    CHECK_INT(0, pel_http2_allowed_streams(server->session));
}

SERVER_TEST(a_response)
{
    struct pel_http2_stream *stream = request(server, 1);
    unsigned news;

    client_receive(server);
    respond(server, "200", 0, "content-length", "5");
    CHECK_INT(0, client_send(server));
    CHECK_POINTER(stream, pel_http2_next(server->session, &news));
    CHECK_INT(PEL_HTTP2_HEAD, news);
    CHECK_INT(1, pel_http2_response(stream, &head));
    CHECK_INT(200, head.status);
    CHECK_INT(PEL_HTTP1_LENGTH, head.framing);
    pel_http2_free_head(stream);
    client_frame(server, DATA, END_STREAM, 1, "hello", 5);
    CHECK_INT(0, client_send(server));
    CHECK_POINTER(stream, pel_http2_next(server->session, &news));
    CHECK_INT(PEL_HTTP2_BODY | PEL_HTTP2_CLOSED, news);
    CHECK(stream->ended && stream->closed);
    CHECK_BYTES("hello", pel_buffer_head(&stream->input), pel_buffer_length(&stream->input));
    pel_http2_take(stream, 5);
    pel_http2_release(stream);
    CHECK(!pel_http2_first(server->session));
}

SERVER_TEST(a_response_without_a_body)
{
    struct pel_http2_stream *stream = request(server, 1);

    client_receive(server);
    CHECK_INT(0, pel_http2_response(stream, &head));
    respond(server, "200", END_STREAM, NULL, NULL);
    CHECK_INT(0, client_send(server));
    CHECK_INT(1, pel_http2_response(stream, &head));
    CHECK_INT(PEL_HTTP1_NO_BODY, head.framing);
}

SERVER_TEST(interim_responses)
{
    struct pel_http2_stream *stream = request(server, 0);

    client_receive(server);
    respond(server, "103", 0, "link", "</a>");
    CHECK_INT(0, client_send(server));
    CHECK(!stream->continued);
    CHECK_INT(0, pel_http2_response(stream, &head));
    respond(server, "100", 0, NULL, NULL);
    CHECK_INT(0, client_send(server));
    CHECK(stream->continued);
    CHECK_INT(2, stream->interim);
    respond(server, "200", 0, "x-two", "2");
    CHECK_INT(0, client_send(server));
    CHECK_INT(1, pel_http2_response(stream, &head));
    CHECK_INT(1, head.header_count);
}

SERVER_TEST(endless_interim_responses)
{
    struct pel_http2_stream *stream = request(server, 1);

    client_receive(server);
    for (int i = 0; i < 101; i++)
        respond(server, "103", 0, NULL, NULL);
    CHECK_INT(0, client_send(server));
    client_receive(server);
    CHECK(stream->closed);
    CHECK_INT(PEL_HTTP2_PROTOCOL_ERROR, stream->error);
    CHECK(!stream->reset_by_peer);
}

SERVER_TEST(a_body_of_a_request)
{
    struct pel_http2_stream *stream = request(server, 0);
    const char *body;
    size_t length;

    CHECK_INT(0, pel_http2_append(stream, "abc", 3));
    pel_http2_finish(stream);
    CHECK_INT(0, client_receive(server));
    pel_buffer_consume(&server->answer, sizeof PREFACE - 1);
    body = client_answer(server, DATA, &length);
    CHECK_BYTES("abc", body, length);
    CHECK_INT(END_STREAM, body[-5]);
}

SERVER_TEST(a_reset_by_the_server)
{
    struct pel_http2_stream *stream = request(server, 1);
    unsigned news;

    client_receive(server);
    client_frame(server, RST_STREAM, 0, 1, "\0\0\0\2", 4);
    CHECK_INT(0, client_send(server));
    CHECK_POINTER(stream, pel_http2_next(server->session, &news));
    CHECK_INT(PEL_HTTP2_CLOSED, news);
    CHECK(stream->reset_by_peer);
    CHECK_INT(PEL_HTTP2_INTERNAL_ERROR, stream->error);
}

SERVER_TEST(goaway)
{
    struct pel_http2_stream *taken = request(server, 1), *refused = request(server, 1);

    client_receive(server);
    CHECK(!pel_http2_leaving_p(server->session));
    client_frame(server, GOAWAY, 0, 0, "\0\0\0\1\0\0\0\0", 8);
    CHECK_INT(0, client_send(server));
    CHECK(pel_http2_leaving_p(server->session));
    CHECK(!taken->closed);
    CHECK(refused->closed);
    CHECK_INT(PEL_HTTP2_REFUSED_STREAM, refused->error);
}

SERVER_TEST(a_head_that_is_too_long)
{
    struct pel_http2_stream *stream;

    server->message.head = 30;
    stream = request(server, 1);
    client_receive(server);
    respond(server, "200", 0, "x-long", "0123456789012345678901234567890123456789");
    CHECK_INT(0, client_send(server));
    CHECK_INT(PEL_ELIMIT, pel_http2_response(stream, &head));
    CHECK_INT(PEL_HTTP1_FAULT_HEAD_LONG, stream->fault);
}

SERVER_TEST(trailers)
{
    struct pel_http2_stream *stream = request(server, 1);
    struct pel_buffer block = {0};

    client_receive(server);
    respond(server, "200", 0, NULL, NULL);
    client_field(&block, "x-sum", "12");
    client_frame(server, HEADERS, END_STREAM | END_HEADERS, 1, pel_buffer_head(&block), pel_buffer_length(&block));
    pel_buffer_free(&block);
    CHECK_INT(0, client_send(server));
    CHECK_INT(0, pel_http2_trailers(stream, &head));
    CHECK_INT(1, head.header_count);
}

SERVER_TEST(trailers_without_fields)
{
    struct pel_http2_stream *stream = request(server, 1);

    client_receive(server);
    respond(server, "200", 0, NULL, NULL);
    client_frame(server, HEADERS, END_STREAM | END_HEADERS, 1, "", 0);
    CHECK_INT(0, client_send(server));
    CHECK(stream->ended);
    CHECK_INT(0, pel_http2_trailers(stream, &head));
    CHECK_INT(0, head.header_count);
}

static void push(struct client *server)
{
    struct pel_buffer block = {0};

    pel_buffer_append(&block, "\0\0\0\2", 4);
    client_field(&block, ":method", "GET");
    client_field(&block, ":scheme", "https");
    client_field(&block, ":authority", "h");
    client_field(&block, ":path", "/pushed");
    client_frame(server, PUSH_PROMISE, END_HEADERS, 1, pel_buffer_head(&block), pel_buffer_length(&block));
    pel_buffer_free(&block);
}

SERVER_TEST(a_push_ends_the_connection)
{
    CHECK(request(server, 1));
    client_receive(server);
    client_frame(server, SETTINGS, ACK, 0, NULL, 0);
    push(server);
    CHECK_INT(0, client_send(server));
    pel_buffer_consume(&server->answer, pel_buffer_length(&server->answer));
    client_receive(server);
    CHECK_INT(PEL_HTTP2_PROTOCOL_ERROR, client_error(server, GOAWAY));
    CHECK(pel_http2_over_p(server->session));
}

SERVER_TEST(a_push_that_crosses_our_settings_is_refused)
{
    struct pel_http2_stream *stream = request(server, 1);
    size_t length;

    client_receive(server);
    push(server);
    respond(server, "200", END_STREAM, "x-one", "1");
    CHECK_INT(0, client_send(server));
    CHECK_INT(1, pel_http2_response(stream, &head));
    CHECK_INT(1, head.header_count);
    pel_buffer_consume(&server->answer, pel_buffer_length(&server->answer));
    client_receive(server);
    CHECK(client_answer(server, RST_STREAM, &length));
    CHECK_INT(2, client_answer(server, RST_STREAM, &length)[-1]); /* the stream's number */
}

SERVER_TEST(an_abandoned_session_sends_nothing_of_streams_that_are_gone)
{
    struct pel_http2_stream *stream = request(server, 0);
    struct pel_buffer output = {0};

    CHECK(stream);
    CHECK_INT(0, client_send(server));
    CHECK_INT(0, pel_http2_append(stream, "body", 4));
    pel_http2_abandon(server->session);
    pel_http2_release(stream); /* frees it */
    CHECK_INT(0, pel_http2_send(server->session, &output, 1000));
    CHECK_INT(0, pel_buffer_length(&output));
    CHECK(pel_http2_leaving_p(server->session));
    CHECK(!request(server, 1));
    pel_buffer_free(&output);
}
