#include "core/memcached_server/peer.h"

#include "memcached_server/server_fixture.h"

#define LARGE (4 << 20)
#define REPLY (23 + LARGE + 2 + 5) /* the reply to a get of the large value */

/* Stores a value of LARGE bytes. */
static void store_large(int client)
{
    char *value = malloc(LARGE);
    size_t sent = 0;

    memset(value, 'v', LARGE);
    send_text(client, "set large 0 0 4194304\r\n");
    while (sent < LARGE) {
        ssize_t count = send(client, value + sent, LARGE - sent, MSG_NOSIGNAL);
        if (count > 0)
            sent += (size_t)count;
        run_until_quiet();
    }
    free(value);
    CHECK_ANSWER(client, "\r\n", "STORED\r\n");
}

static size_t count_received(int client, size_t wanted)
{
    size_t length = 0;

    while (length < wanted) {
        size_t received = strlen(read_replies(client));
        length += received;
        if (!run_once() && !received)
            break;
    }
    return length;
}

SERVER_TEST(a_command_may_arrive_byte_by_byte)
{
    const char *command = "set a 0 0 3\r\none\r\nget a\r\n";
    int client = connect_client();

    for (; *command; command++) {
        char text[] = {*command, '\0'};
        send_text(client, text);
        run_until_quiet();
    }
    CHECK_STRING("STORED\r\nVALUE a 0 3\r\none\r\nEND\r\n", read_replies(client));
}

SERVER_TEST(a_large_value_is_stored_and_sent)
{
    int client = connect_client();

    store_large(client);
    send_text(client, "get large\r\nmn\r\n");
    CHECK_INT(REPLY + 4, count_received(client, REPLY + 4));
}

SERVER_TEST(a_client_that_does_not_read_is_not_served_and_uses_bounded_memory)
{
    char *commands = malloc(1 << 20);
    struct pel_memcached_peer *peer;
    size_t sent = 0, length = 0, received = 0;
    int client = connect_client(), refused = 0;

    store_large(client);
    while (length < 1000000)
        length += (size_t)sprintf(commands + length, "get large\r\n");
    for (int i = 0; i < 100 && refused < 5; i++) {
        ssize_t count = send(client, commands + sent % 11, length - sent % 11, MSG_NOSIGNAL);
        if (count > 0)
            sent += (size_t)count;
        else
            refused++;
        run_until_quiet();
    }
    CHECK_INT(5, refused);
    peer = server.peers;
    CHECK(pel_buffer_length(&peer->rest) <= PEL_MEMCACHED_INPUT);
    CHECK(peer->stream.output.capacity <= 2 * (PEL_MEMCACHED_OUTPUT_LIMIT + PEL_MEMCACHED_REPLY_SPACE));
    CHECK(server.service.store.bytes < 2 * LARGE);
    while (received < (size_t)REPLY * 20) { /* the client reads again, and the server continues */
        received += strlen(read_replies(client));
        run_once();
    }
    free(commands);
    leave(client);
    run_until_quiet();
    CHECK_INT(0, server.service.connections);
}

SERVER_TEST(a_slow_reader_gets_the_value_from_the_time_of_its_request)
{
    int slow = connect_client(), other;
    size_t length = 0;

    other = connect_client();
    store_large(other);
    send_text(slow, "get large\r\n");
    run_until_quiet();
    CHECK_ANSWER(other, "delete large\r\nset large 0 0 3\r\nnew\r\n", "DELETED\r\nSTORED\r\n");
    while (length < REPLY) {
        const char *text = read_replies(slow);
        size_t received = strlen(text);
        CHECK_INT(received, strspn(text, "VALUE large 0 4194304\r\nvEND")); /* no byte of the new value */
        length += received;
        run_until_quiet();
    }
    CHECK_INT(REPLY, length);
    CHECK(server.service.store.bytes < 1000);
}

SERVER_TEST(a_greedy_client_does_not_starve_others)
{
    char *commands = malloc(300000);
    size_t length = 0, sent = 0, order = 0;
    int greedy, modest, received = 0;

    greedy = connect_client();
    modest = connect_client();
    store_large(modest);
    while (length < 200000)
        length += (size_t)sprintf(commands + length, "get large\r\n");
    run_until_quiet();
    while (sent < length) {
        ssize_t count = send(greedy, commands + sent, length - sent, MSG_NOSIGNAL);
        if (count <= 0)
            break;
        sent += (size_t)count;
        read_replies(greedy);
        run_once();
    }
    send_text(modest, "mn\r\n");
    for (int i = 0; i < 50 && !received; i++) {
        read_replies(greedy);
        run_once();
        received = strlen(read_replies(modest)) == 4;
        order++;
    }
    CHECK(received);
    CHECK(order < 10);
    CHECK(server.service.counters.conn_yields > 0);
    free(commands);
    leave(greedy);
    leave(modest);
    run_until_quiet();
}

SERVER_TEST(a_client_that_has_shut_its_side_gets_its_replies)
{
    int client = connect_client();

    send_text(client, "set a 0 0 1\r\n1\r\nget a\r\nget ");
    shutdown(client, SHUT_WR);
    run_until_quiet();
    CHECK_STRING("STORED\r\nVALUE a 0 1\r\n1\r\nEND\r\n", read_replies(client));
    CHECK(connection_closed(client));
    CHECK_INT(0, server.service.connections);
}

SERVER_TEST(quit_sends_the_replies_to_earlier_commands)
{
    int client = connect_client();

    store_large(client);
    send_text(client, "get large\r\nquit\r\nmn\r\n");
    CHECK_INT(REPLY, count_received(client, REPLY + 1));
    CHECK(connection_closed(client));
}

SERVER_TEST(a_client_that_resets_its_connection_leaves_no_memory)
{
    struct linger linger = {.l_onoff = 1};
    int client = connect_client();

    store_large(client);
    send_text(client, "get large\r\nget large\r\nset b 0 0 4000000\r\nabc");
    run_until_quiet();
    setsockopt(client, SOL_SOCKET, SO_LINGER, &linger, sizeof linger); /* a reset, not an end */
    leave(client);
    run_until_quiet();
    CHECK_INT(0, server.service.connections);
    CHECK_INT(server.service.store.linked_bytes, server.service.store.bytes);
}

SERVER_TEST(an_idle_client_keeps_no_buffers)
{
    struct pel_memcached_peer *peer;
    int client = connect_client();

    store_large(client);
    send_text(client, "get large\r\nget lar");
    count_received(client, REPLY);
    send_text(client, "ge\r\n");
    count_received(client, REPLY);
    peer = server.peers;
    CHECK_POINTER(NULL, peer->rest.data);
    CHECK_POINTER(NULL, peer->stream.output.data);
    CHECK(sizeof *peer < 1024);
}
