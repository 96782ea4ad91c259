#include "client.h"

CLIENT_TEST(settings_come_first)
{
    size_t length;

    CHECK_INT(0, client_receive(client));
    CHECK_INT(SETTINGS, pel_buffer_head(&client->answer)[3]);
    CHECK(client_answer(client, WINDOW_UPDATE, &length));
}

CLIENT_TEST(bytes_one_by_one)
{
    struct pel_http2_stream *stream;
    unsigned news = 0;

    client_request(client, 1, "GET", "/", END_STREAM, NULL, NULL);
    for (size_t i = 0; i < pel_buffer_length(&client->bytes); i++) {
        CHECK(!pel_http2_next(client->session, &news));
        CHECK_INT(0, pel_http2_receive(client->session, pel_buffer_head(&client->bytes) + i, 1, 0));
    }
    stream = pel_http2_next(client->session, &news);
    CHECK(stream);
    CHECK_INT(PEL_HTTP2_HEAD, news);
    CHECK(stream->ended);
}

CLIENT_TEST(no_preface)
{
    CHECK_INT(PEL_EPROTOCOL, pel_http2_receive(client->session, "GET / HTTP/1.1\r\n", 16, 0));
}

CLIENT_TEST(within_a_head)
{
    client_frame(client, HEADERS, 0, 1, NULL, 0);
    CHECK_INT(0, client_send(client));
    CHECK(pel_http2_within_head_p(client->session));
    client_frame(client, CONTINUATION, END_HEADERS, 1, NULL, 0);
    CHECK_INT(0, client_send(client));
    CHECK(!pel_http2_within_head_p(client->session));
}

CLIENT_TEST(an_end_is_told_once)
{
    struct pel_http2_stream *stream;
    unsigned news = 0;

    client_request(client, 1, "POST", "/", 0, NULL, NULL);
    client_frame(client, DATA, END_STREAM, 1, "x", 1);
    CHECK_INT(0, client_send(client));
    stream = pel_http2_next(client->session, &news);
    CHECK(stream && stream->ended);
    CHECK_INT(PEL_HTTP2_HEAD | PEL_HTTP2_BODY, news);
    client_frame(client, WINDOW_UPDATE, 0, 1, "\0\0\0\1", 4);
    CHECK_INT(0, client_send(client));
    CHECK(!pel_http2_next(client->session, &news));
}

CLIENT_TEST(all_streams)
{
    CHECK(!pel_http2_first(client->session));
    client_request(client, 1, "GET", "/", END_STREAM, NULL, NULL);
    client_request(client, 3, "POST", "/", 0, NULL, NULL);
    CHECK_INT(0, client_send(client));
    CHECK(pel_http2_first(client->session));
    CHECK(pel_http2_first(client->session)->next);
    CHECK(!pel_http2_first(client->session)->next->next);
}

CLIENT_TEST(an_end_in_two_steps)
{
    size_t length;

    CHECK_INT(0, client_send(client));
    client_receive(client);
    pel_http2_announce_end(client->session);
    client_receive(client);
    CHECK_INT(0x7f, client_answer(client, GOAWAY, &length)[0]);
    CHECK(client_answer(client, PING, &length));
    CHECK(!pel_http2_end_known_p(client->session));
    client_frame(client, PING, ACK, 0, "goaway?\0", 8);
    CHECK_INT(0, client_send(client));
    CHECK(pel_http2_end_known_p(client->session));
    CHECK(!pel_http2_over_p(client->session));
    pel_http2_end(client->session);
    client_receive(client);
    CHECK(pel_http2_over_p(client->session));
}
