#include "client.h"

/* Sessions share the memory in which frames are made. */

static char big[30000], body[40000];

static void respond(struct client *client, uint32_t number, char fill)
{
    struct pel_http2_stream *stream;
    unsigned news;

    client_begin(client);
    client_request(client, number, "GET", "/", END_STREAM, NULL, NULL);
    CHECK_INT(0, client_send(client));
    stream = pel_http2_next(client->session, &news);
    memset(big, fill, sizeof big);
    memset(body, fill, sizeof body);
    pel_buffer_append(&stream->lines, "HTTP/1.1 200 OK\r\nx-big: ", 24);
    pel_buffer_append(&stream->lines, big, sizeof big); /* more than a frame: CONTINUATION follows */
    pel_buffer_append(&stream->lines, "\r\n\r\n", 4);
    CHECK_INT(0, pel_http2_send_head(stream, 0));
    CHECK_INT(0, pel_http2_append(stream, body, sizeof body));
    pel_http2_finish(stream);
}

/* The next frame, or a part of a head. Whether there may be more. */
static int step(struct client *client)
{
    return pel_http2_send(client->session, &client->answer, pel_buffer_length(&client->answer) + 1);
}

#if defined(__has_feature) /* clang, whose sanitizer tells of each allocation */
#if __has_feature(address_sanitizer)
#include <sanitizer/allocator_interface.h>

static int large;

static void on_malloc(const volatile void *memory, size_t size)
{
    large += size > 16000 && memory != NULL;
}

static void on_free(const volatile void *memory)
{
    (void)memory;
}

TEST(a_session_has_no_such_memory_of_its_own)
{
    struct client client;

    CHECK(__sanitizer_install_malloc_and_free_hooks(on_malloc, on_free) > 0);
    client_begin(&client);
    CHECK(client.session != NULL);
    CHECK_INT(0, large);
    client_end(&client);
}
#endif
#endif

TEST(frames_of_sessions_that_take_turns)
{
    struct client alone, one, other;
    int more;

    respond(&alone, 1, 'x');
    CHECK_INT(0, client_receive(&alone));
    respond(&one, 1, 'x');
    respond(&other, 3, 'y');
    do {
        more = step(&one);
        more |= step(&other);
        CHECK(more >= 0);
    } while (more);
    CHECK_INT(pel_buffer_length(&alone.answer), pel_buffer_length(&one.answer));
    CHECK(!memcmp(pel_buffer_head(&alone.answer), pel_buffer_head(&one.answer), pel_buffer_length(&one.answer)));
    client_end(&alone);
    client_end(&one);
    client_end(&other);
}

TEST(a_session_that_ends_leaves_it_to_the_others)
{
    struct client one, other;
    size_t length;

    respond(&other, 3, 'y');
    respond(&one, 1, 'x');
    CHECK_INT(1, step(&one));
    client_end(&one);
    CHECK_INT(0, client_receive(&other));
    CHECK(client_answer(&other, DATA, &length));
    client_end(&other);
}

/* nghttp2's queue of streams grows beyond its first four. */
TEST(other_memory_grows_as_usual)
{
    struct client client;
    struct pel_http2_stream *stream;
    const char *body;
    unsigned news;
    size_t length;

    client_begin(&client);
    for (uint32_t number = 1; number < 20; number += 2)
        client_request(&client, number, "GET", "/", END_STREAM, NULL, NULL);
    CHECK_INT(0, client_send(&client));
    while ((stream = pel_http2_next(client.session, &news))) {
        pel_buffer_append(&stream->lines, "HTTP/1.1 200 OK\r\n\r\n", 19);
        CHECK_INT(0, pel_http2_send_head(stream, 0));
        CHECK_INT(0, pel_http2_append(stream, "hello", 5));
        pel_http2_finish(stream);
    }
    CHECK_INT(0, client_receive(&client));
    body = client_answer(&client, DATA, &length);
    CHECK_BYTES("hello", body, length);
    client_end(&client);
}
