#include "client.h"

/* See also test/http/http2/floods_test.rb. */

static int ping(struct client *client, int count)
{
    for (int i = 0; i < count; i++)
        client_frame(client, PING, 0, 0, "12345678", 8);
    return client_send(client);
}

CLIENT_TEST(as_many_as_are_allowed)
{
    CHECK_INT(0, ping(client, 4)); /* SETTINGS was the fifth */
}

CLIENT_TEST(one_more)
{
    CHECK_INT(PEL_ELIMIT, ping(client, 5));
    client_receive(client);
    CHECK_INT(11, client_error(client, GOAWAY));
    CHECK_INT(PEL_ELIMIT, ping(client, 1));
}

CLIENT_TEST(time_allows_more)
{
    CHECK_INT(0, ping(client, 4));
    client->now += PEL_HTTP2_CALM / 5;
    CHECK_INT(0, ping(client, 1));
    client->now += 2 * PEL_HTTP2_CALM;
    CHECK_INT(0, ping(client, 5));
    CHECK_INT(PEL_ELIMIT, ping(client, 1));
}

CLIENT_TEST(answers_to_our_own_frames_are_free)
{
    for (int i = 0; i < 20; i++)
        client_frame(client, PING, ACK, 0, "12345678", 8);
    CHECK_INT(0, client_send(client));
}

CLIENT_TEST(resets)
{
    for (uint32_t stream = 1; stream < 13; stream += 2) {
        client_request(client, stream, "GET", "/", END_STREAM, NULL, NULL);
        client_frame(client, RST_STREAM, 0, stream, "\0\0\0\x08", 4);
    }
    CHECK_INT(PEL_ELIMIT, client_send(client));
}
