#include "memcached_peer.h"

#include "memcached_served.h"

#define LARGE (4 << 20)
#define REPLY (23 + LARGE + 2 + 5) /* to a get of it */

/* Stores a value of LARGE bytes. */
static void store_large(int client)
{
    char *value = malloc(LARGE);
    size_t sent = 0;

    memset(value, 'v', LARGE);
    tell(client, "set large 0 0 4194304\r\n");
    while (sent < LARGE) {
        ssize_t count = send(client, value + sent, LARGE - sent, MSG_NOSIGNAL);
        if (count > 0)
            sent += (size_t)count;
        settle();
    }
    free(value);
    tell(client, "\r\n");
    settle();
    CHECK_STRING("STORED\r\n", hear(client));
}

static size_t count_heard(int client, size_t wanted)
{
    size_t length = 0;

    while (length < wanted) {
        size_t heard = strlen(hear(client));
        length += heard;
        if (!turn() && !heard)
            break;
    }
    return length;
}

TEST(a_command_may_come_byte_by_byte)
{
    const char *command = "set a 0 0 3\r\none\r\nget a\r\n";
    int client;

    serve(NULL, 10);
    client = join_server();
    for (; *command; command++) {
        char text[] = {*command, '\0'};
        tell(client, text);
        settle();
    }
    CHECK_STRING("STORED\r\nVALUE a 0 3\r\none\r\nEND\r\n", hear(client));
    close(client);
    serve_no_more();
}

TEST(a_large_value_comes_and_goes)
{
    int client;

    serve(NULL, 10);
    client = join_server();
    store_large(client);
    tell(client, "get large\r\nmn\r\n");
    CHECK_INT(REPLY + 4, count_heard(client, REPLY + 4));
    close(client);
    serve_no_more();
}

TEST(who_does_not_read_is_not_read_and_holds_no_memory)
{
    char *commands = malloc(1 << 20);
    struct pel_memcached_peer *peer;
    size_t sent = 0, length = 0, heard = 0;
    int client, refused = 0;

    serve(NULL, 10);
    client = join_server();
    store_large(client);
    while (length < 1000000)
        length += (size_t)sprintf(commands + length, "get large\r\n");
    for (int i = 0; i < 100 && refused < 5; i++) {
        ssize_t count = send(client, commands + sent % 11, length - sent % 11, MSG_NOSIGNAL);
        if (count > 0)
            sent += (size_t)count;
        else
            refused++;
        settle();
    }
    CHECK_INT(5, refused);
    peer = server.peers;
    CHECK(pel_buffer_length(&peer->rest) <= PEL_MEMCACHED_INPUT);
    CHECK(peer->stream.output.capacity <= 2 * (PEL_MEMCACHED_OUTPUT_LIMIT + PEL_MEMCACHED_REPLY_ROOM));
    CHECK(server.service.store.bytes < 2 * LARGE);
    while (heard < (size_t)REPLY * 20) { /* it reads again, and the server goes on */
        heard += strlen(hear(client));
        turn();
    }
    free(commands);
    close(client);
    settle();
    CHECK_INT(0, server.service.connections);
    serve_no_more();
}

TEST(a_slow_reader_gets_the_value_it_asked_for)
{
    int slow, other;
    size_t length = 0;

    serve(NULL, 10);
    slow = join_server();
    other = join_server();
    store_large(other);
    tell(slow, "get large\r\n");
    settle();
    tell(other, "delete large\r\nset large 0 0 3\r\nnew\r\n");
    settle();
    CHECK_STRING("DELETED\r\nSTORED\r\n", hear(other));
    while (length < REPLY) {
        const char *text = hear(slow);
        size_t heard = strlen(text);
        CHECK_INT(heard, strspn(text, "VALUE large 0 4194304\r\nvEND")); /* nothing of the new one */
        length += heard;
        settle();
    }
    CHECK_INT(REPLY, length);
    CHECK(server.service.store.bytes < 1000);
    close(slow);
    close(other);
    serve_no_more();
}

TEST(a_greedy_client_leaves_turns_to_others)
{
    char *commands = malloc(300000);
    size_t length = 0, sent = 0, order = 0;
    int greedy, modest, heard = 0;

    serve(NULL, 10);
    greedy = join_server();
    modest = join_server();
    store_large(modest);
    while (length < 200000)
        length += (size_t)sprintf(commands + length, "get large\r\n");
    settle();
    while (sent < length) {
        ssize_t count = send(greedy, commands + sent, length - sent, MSG_NOSIGNAL);
        if (count <= 0)
            break;
        sent += (size_t)count;
        hear(greedy);
        turn();
    }
    tell(modest, "mn\r\n");
    for (int i = 0; i < 50 && !heard; i++) {
        hear(greedy);
        turn();
        heard = strlen(hear(modest)) == 4;
        order++;
    }
    CHECK(heard);
    CHECK(order < 10);
    CHECK(server.service.counters.conn_yields > 0);
    free(commands);
    close(greedy);
    close(modest);
    settle();
    serve_no_more();
}

TEST(replies_come_also_after_the_client_has_shut_its_side)
{
    int client;

    serve(NULL, 10);
    client = join_server();
    tell(client, "set a 0 0 1\r\n1\r\nget a\r\nget ");
    shutdown(client, SHUT_WR);
    settle();
    CHECK_STRING("STORED\r\nVALUE a 0 1\r\n1\r\nEND\r\n", hear(client));
    CHECK(closed(client));
    CHECK_INT(0, server.service.connections);
    close(client);
    serve_no_more();
}

TEST(quit_answers_what_came_before_it)
{
    int client;

    serve(NULL, 10);
    client = join_server();
    store_large(client);
    tell(client, "get large\r\nquit\r\nmn\r\n");
    CHECK_INT(REPLY, count_heard(client, REPLY + 1));
    CHECK(closed(client));
    close(client);
    serve_no_more();
}

TEST(a_client_that_vanishes_takes_its_memory_along)
{
    struct linger linger = {.l_onoff = 1};
    int client;

    serve(NULL, 10);
    client = join_server();
    store_large(client);
    tell(client, "get large\r\nget large\r\nset b 0 0 4000000\r\nabc");
    settle();
    setsockopt(client, SOL_SOCKET, SO_LINGER, &linger, sizeof linger); /* a reset, not an end */
    close(client);
    settle();
    CHECK_INT(0, server.service.connections);
    CHECK_INT(server.service.store.linked_bytes, server.service.store.bytes);
    serve_no_more();
}

TEST(an_idle_client_keeps_no_buffers)
{
    struct pel_memcached_peer *peer;
    int client;

    serve(NULL, 10);
    client = join_server();
    store_large(client);
    tell(client, "get large\r\nget lar");
    count_heard(client, REPLY);
    tell(client, "ge\r\n");
    count_heard(client, REPLY);
    peer = server.peers;
    CHECK_POINTER(NULL, peer->rest.data);
    CHECK_POINTER(NULL, peer->stream.output.data);
    CHECK(sizeof *peer < 1024);
    close(client);
    serve_no_more();
}
