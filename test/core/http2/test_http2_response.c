#include "client.h"

static struct pel_http2_stream *requested(struct client *client)
{
    unsigned news;

    client_request(client, 1, "GET", "/", END_STREAM, NULL, NULL);
    CHECK_INT(0, client_send(client));
    return pel_http2_next(client->session, &news);
}

static void write_lines(struct pel_http2_stream *stream, const char *lines)
{
    pel_buffer_append(&stream->lines, lines, strlen(lines));
}

CLIENT_TEST(a_head_and_a_body)
{
    struct pel_http2_stream *stream = requested(client);
    const char *body;
    size_t length;

    write_lines(stream, "HTTP/1.1 200 OK\r\nX-One: 1\r\nconnection: close\r\n\r\n");
    CHECK_INT(0, pel_http2_send_head(stream, 0));
    CHECK_INT(0, pel_http2_append(stream, "hello", 5));
    pel_http2_finish(stream);
    CHECK_INT(0, client_receive(client));
    CHECK(client_answer(client, HEADERS, &length));
    body = client_answer(client, DATA, &length);
    CHECK_INT(5, length);
    CHECK(!memcmp(body, "hello", 5));
    CHECK_INT(END_STREAM, body[-5]);
    CHECK(stream->closed);
}

CLIENT_TEST(an_end_that_comes_after_all_was_sent)
{
    struct pel_http2_stream *stream = requested(client);
    size_t length;

    write_lines(stream, "HTTP/1.1 200 OK\r\n\r\n");
    CHECK_INT(0, pel_http2_send_head(stream, 0));
    CHECK_INT(0, pel_http2_append(stream, "hello", 5));
    CHECK_INT(0, client_receive(client));
    CHECK_INT(0, client_answer(client, DATA, &length)[-5]);
    CHECK(!stream->closed);
    pel_http2_finish(stream);
    CHECK_INT(0, client_receive(client));
    CHECK(stream->closed);
}

CLIENT_TEST(a_head_alone)
{
    struct pel_http2_stream *stream = requested(client);
    const char *fields;
    size_t length;

    write_lines(stream, "HTTP/1.1 204 No Content\r\n\r\n");
    CHECK_INT(0, pel_http2_send_head(stream, 1));
    client_receive(client);
    fields = client_answer(client, HEADERS, &length);
    CHECK_INT(1, length); /* an entry of the static table */
    CHECK_INT(END_STREAM | END_HEADERS, fields[-5]);
    CHECK_INT(-1, client_error(client, RST_STREAM));
}

CLIENT_TEST(an_answer_before_the_end_of_its_request)
{
    struct pel_http2_stream *stream;
    unsigned news;

    client_request(client, 1, "POST", "/", 0, NULL, NULL);
    CHECK_INT(0, client_send(client));
    stream = pel_http2_next(client->session, &news);
    write_lines(stream, "HTTP/1.1 413 Content Too Large\r\n\r\n");
    CHECK_INT(0, pel_http2_send_head(stream, 1));
    client_receive(client);
    CHECK_INT(0, client_error(client, RST_STREAM)); /* the client need not send the rest */
}

CLIENT_TEST(hints_before_the_head)
{
    struct pel_http2_stream *stream = requested(client);

    write_lines(stream, "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n");
    CHECK_INT(0, pel_http2_send_head(stream, 0));
    write_lines(stream, "HTTP/1.1 200 OK\r\n\r\n");
    CHECK_INT(0, pel_http2_send_head(stream, 1));
    client_receive(client);
    CHECK(stream->closed);
}

static int given_back;

static void give_back(struct pel_lender *lender, uintptr_t owner)
{
    (void)lender;
    given_back += (int)owner;
}

CLIENT_TEST(lent_bytes_are_given_back)
{
    struct pel_http2_stream *stream = requested(client);
    struct pel_lender lender = {.give_back = give_back};
    size_t length;

    given_back = 0;
    write_lines(stream, "HTTP/1.1 200 OK\r\n\r\n");
    CHECK_INT(0, pel_http2_send_head(stream, 0));
    CHECK_INT(0, pel_http2_append(stream, "a", 1));
    CHECK_INT(0, pel_http2_lend(stream, "bcd", 3, 1, &lender));
    CHECK_INT(4, pel_http2_unsent(stream));
    pel_http2_finish(stream);
    client_receive(client);
    CHECK(!memcmp(client_answer(client, DATA, &length), "abcd", 4));
    CHECK_INT(1, given_back);
    CHECK_INT(0, pel_http2_lend(stream, "x", 1, 2, &lender)); /* the stream is closed */
    CHECK_INT(3, given_back);
}

CLIENT_TEST(trailers)
{
    struct pel_http2_stream *stream = requested(client);
    const char *fields;
    size_t length;

    write_lines(stream, "HTTP/1.1 200 OK\r\n\r\n");
    CHECK_INT(0, pel_http2_send_head(stream, 0));
    pel_http2_append(stream, "a", 1);
    write_lines(stream, "x-sum: 1\r\n\r\n");
    pel_http2_finish(stream);
    client_receive(client);
    fields = client_answer(client, HEADERS, &length);
    CHECK_INT(END_STREAM | END_HEADERS, fields[-5]);
    CHECK_INT(0, client_answer(client, DATA, &length)[-5]);
}

CLIENT_TEST(a_reset_drops_the_output)
{
    struct pel_http2_stream *stream = requested(client);
    size_t length;

    write_lines(stream, "HTTP/1.1 200 OK\r\n\r\n");
    CHECK_INT(0, pel_http2_send_head(stream, 0));
    pel_http2_append(stream, "a", 1);
    pel_http2_reset(stream, PEL_HTTP2_INTERNAL_ERROR);
    pel_http2_release(stream);
    client_receive(client);
    CHECK_INT(PEL_HTTP2_INTERNAL_ERROR, client_error(client, RST_STREAM));
    CHECK(!client_answer(client, DATA, &length));
    CHECK(!pel_http2_first(client->session));
}

CLIENT_TEST(a_reset_between_two_frames)
{
    struct pel_http2_stream *stream = requested(client);
    static char bytes[40000];

    write_lines(stream, "HTTP/1.1 200 OK\r\n\r\n");
    CHECK_INT(0, pel_http2_send_head(stream, 0));
    pel_http2_append(stream, bytes, sizeof bytes);
    CHECK_INT(1, pel_http2_send(client->session, &client->answer, 5000));
    pel_http2_reset(stream, PEL_HTTP2_CANCEL);
    pel_http2_release(stream);
    CHECK_INT(0, client_receive(client));
    CHECK_INT(PEL_HTTP2_CANCEL, client_error(client, RST_STREAM));
    CHECK(!pel_http2_first(client->session));
}

CLIENT_TEST(the_output_is_bounded)
{
    struct pel_http2_stream *stream = requested(client);
    static char bytes[60000];

    write_lines(stream, "HTTP/1.1 200 OK\r\n\r\n");
    CHECK_INT(0, pel_http2_send_head(stream, 0));
    pel_http2_append(stream, bytes, sizeof bytes);
    stream->wants_room = 1;
    CHECK_INT(1, pel_http2_send(client->session, &client->answer, 20000));
    CHECK(pel_buffer_length(&client->answer) < 20000 + 16384 + 9);
    CHECK_INT(0, client_receive(client));
    CHECK_INT(0, pel_http2_unsent(stream));
}

static struct pel_http2_stream *tunnel(struct client *client)
{
    struct pel_http2_stream *stream;
    unsigned news;

    client_request(client, 1, "CONNECT", "/", 0, ":protocol", "websocket");
    CHECK_INT(0, client_send(client));
    stream = pel_http2_next(client->session, &news);
    stream->tunnel = 1;
    write_lines(stream, "HTTP/1.1 200 OK\r\n\r\n");
    CHECK_INT(0, pel_http2_send_head(stream, 0));
    return stream;
}

CLIENT_TEST(a_tunnel_ends_on_each_side_by_itself)
{
    struct pel_http2_stream *stream = tunnel(client);
    unsigned news;

    pel_http2_append(stream, "hello", 5);
    pel_http2_finish(stream);
    CHECK_INT(0, client_receive(client));
    CHECK(stream->end_sent);
    CHECK_INT(-1, client_error(client, RST_STREAM));
    client_frame(client, DATA, END_STREAM, 1, "bye", 3);
    CHECK_INT(0, client_send(client));
    CHECK_POINTER(stream, pel_http2_next(client->session, &news));
    CHECK_INT(PEL_HTTP2_BODY | PEL_HTTP2_CLOSED, news);
    CHECK_INT(3, pel_buffer_length(&stream->input));
    pel_http2_release(stream);
}

CLIENT_TEST(a_tunnel_that_hangs_up_resets_once_all_was_sent)
{
    struct pel_http2_stream *stream = tunnel(client);
    size_t length;

    pel_http2_append(stream, "hello", 5);
    pel_http2_hang_up(stream);
    CHECK_INT(0, client_receive(client));
    CHECK_INT(END_STREAM, client_answer(client, DATA, &length)[-5]);
    CHECK_INT(PEL_HTTP2_NO_ERROR, client_error(client, RST_STREAM));
    CHECK(!pel_http2_first(client->session));
}

CLIENT_TEST(a_tunnel_that_hangs_up_after_its_end)
{
    struct pel_http2_stream *stream = tunnel(client);

    pel_http2_finish(stream);
    CHECK_INT(0, client_receive(client));
    pel_http2_hang_up(stream);
    CHECK_INT(0, client_receive(client));
    CHECK_INT(PEL_HTTP2_NO_ERROR, client_error(client, RST_STREAM));
    CHECK(!pel_http2_first(client->session));
}
