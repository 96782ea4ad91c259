#include "client.h"

CLIENT_TEST(a_stream_has_its_turn_once_with_all_of_its_news)
{
    struct pel_http2_stream *stream;
    unsigned news;

    client_request(client, 1, "POST", "/", 0, NULL, NULL);
    client_request(client, 3, "GET", "/", END_STREAM, NULL, NULL);
    client_frame(client, DATA, END_STREAM, 1, "body", 4);
    CHECK_INT(0, client_send(client));
    stream = pel_http2_next(client->session, &news);
    CHECK_INT(1, stream->id);
    CHECK_INT(PEL_HTTP2_HEAD | PEL_HTTP2_BODY, news);
    stream = pel_http2_next(client->session, &news);
    CHECK_INT(3, stream->id);
    CHECK_INT(PEL_HTTP2_HEAD, news);
    CHECK(!pel_http2_next(client->session, &news));
}

CLIENT_TEST(a_released_stream_has_no_news)
{
    struct pel_http2_stream *first, *second;
    unsigned news;

    client_request(client, 1, "POST", "/", 0, NULL, NULL);
    client_request(client, 3, "POST", "/", 0, NULL, NULL);
    CHECK_INT(0, client_send(client));
    first = pel_http2_next(client->session, &news);
    second = pel_http2_next(client->session, &news);
    client_frame(client, RST_STREAM, 0, 1, "\0\0\0\x08", 4);
    client_frame(client, DATA, 0, 3, "body", 4);
    CHECK_INT(0, client_send(client));
    pel_http2_release(first); /* frees it: it is closed */
    CHECK(pel_http2_next(client->session, &news) == second);
    CHECK(!pel_http2_next(client->session, &news));
}

CLIENT_TEST(abandoned_streams_are_closed)
{
    struct pel_http2_stream *stream;
    unsigned news;

    client_request(client, 1, "GET", "/", END_STREAM, NULL, NULL);
    client_request(client, 3, "GET", "/", END_STREAM, NULL, NULL);
    CHECK_INT(0, client_send(client));
    stream = pel_http2_next(client->session, &news);
    pel_http2_abandon(client->session);
    CHECK(stream->closed);
    while ((stream = pel_http2_next(client->session, &news)))
        CHECK(news & PEL_HTTP2_CLOSED);
}
