#include "core/memcached_server/memcached_server.h"

#include <sys/resource.h>
#include <sys/wait.h>

#include "core/memcached_server/peer.h"
#include "memcached_server/server_fixture.h"

SERVER_TEST(clients_share_a_store)
{
    int one = connect_client(), other = connect_client();

    CHECK_ANSWER(one, "set a 0 0 1\r\n1\r\n", "STORED\r\n");
    CHECK_ANSWER(other, "get a\r\n", "VALUE a 0 1\r\n1\r\nEND\r\n");
    CHECK_INT(2, server.service.connections);
    leave(one);
    leave(other);
    run_until_quiet();
    CHECK_INT(0, server.service.connections);
}

TEST(the_server_works_on_the_poll_backend)
{
    int client;

    open_server("poll", 10);
    client = connect_client();
    CHECK_ANSWER(client, "set a 0 0 1\r\n1\r\nget a\r\n", "STORED\r\nVALUE a 0 1\r\n1\r\nEND\r\n");
    send_text(client, "quit\r\n");
    run_until_quiet();
    CHECK(connection_closed(client));
    close_server();
}

TEST(one_client_too_many_is_refused)
{
    int clients[4];

    open_server(NULL, 3);
    for (int i = 0; i < 4; i++) {
        clients[i] = connect_client();
        run_until_quiet();
    }
    CHECK_STRING("ERROR Too many open connections\r\n", read_replies(clients[3]));
    CHECK(connection_closed(clients[3]));
    CHECK_INT(1, server.service.counters.rejected_connections);
    leave(clients[0]);
    run_until_quiet();
    leave(clients[3]);
    clients[3] = connect_client();
    CHECK_ANSWER(clients[3], "mn\r\n", "MN\r\n");
    for (int i = 1; i < 4; i++)
        leave(clients[i]);
    close_server();
}

TEST(many_clients_are_accepted_in_several_batches)
{
    int clients[150];

    open_server(NULL, 1000);
    for (int i = 0; i < 150; i++)
        clients[i] = connect_client();
    run_until_quiet();
    CHECK_INT(150, server.service.connections);
    for (int i = 0; i < 150; i++)
        leave(clients[i]);
    run_until_quiet();
    CHECK_INT(0, server.service.connections);
    close_server();
}

SERVER_TEST(without_descriptors_the_server_waits_and_does_not_spin)
{
    struct rlimit saved, few;
    int other, ticks = 0;

    connect_client();
    run_until_quiet();
    other = connect_client();
    getrlimit(RLIMIT_NOFILE, &saved);
    few = saved;
    few.rlim_cur = (rlim_t)other + 1; /* the lower numbers are in use */
    setrlimit(RLIMIT_NOFILE, &few);
    run_until_quiet();
    CHECK_INT(1, server.service.connections);
    CHECK_INT(1, server.service.counters.listen_disabled_num);
    for (int i = 0; i < 10; i++)
        ticks += run_once();
    CHECK_INT(0, ticks);
    setrlimit(RLIMIT_NOFILE, &saved);
    pel_memcached_server_tick(&server);
    run_until_quiet();
    CHECK_INT(2, server.service.connections);
}

SERVER_TEST(closing_a_connection_lets_the_server_accept_again)
{
    struct rlimit saved, few;
    int one = connect_client(), other;

    run_until_quiet();
    other = connect_client();
    getrlimit(RLIMIT_NOFILE, &saved);
    few = saved;
    few.rlim_cur = (rlim_t)other + 1;
    setrlimit(RLIMIT_NOFILE, &few);
    run_until_quiet();
    leave(one);
    run_until_quiet();
    setrlimit(RLIMIT_NOFILE, &saved);
    CHECK_INT(1, server.service.connections);
    CHECK_ANSWER(other, "mn\r\n", "MN\r\n");
}

SERVER_TEST(a_tick_frees_expired_items)
{
    int client = connect_client();

    send_text(client, "set a 0 1 1\r\n1\r\nset b 0 0 1\r\n1\r\n");
    run_until_quiet();
    CHECK_INT(2, server.service.store.table.count);
    server.started -= INT64_C(2000000000); /* two seconds pass */
    pel_memcached_server_tick(&server);
    CHECK_INT(1, server.service.store.table.count);
    CHECK_INT(1, server.service.store.crawler_reclaimed);
}

SERVER_TEST(a_close_frees_everything_in_any_state)
{
    int clients[3];

    for (int i = 0; i < 3; i++)
        clients[i] = connect_client();
    send_text(clients[0], "set a 0 0 100000\r\nabc");
    send_text(clients[1], "get a a a");
    run_until_quiet();
    pel_memcached_server_close(&server);
    CHECK_INT(0, loop.registered);
    for (int i = 0; i < 3; i++) {
        CHECK(connection_closed(clients[i]));
        leave(clients[i]);
    }
}

SERVER_TEST(a_drain_replies_to_all_requests_sent_so_far)
{
    char line[] = "get a\r\n";
    int client, late, greedy;

    client = connect_client();
    greedy = connect_client();
    CHECK_ANSWER(client, "set a 0 0 3\r\none\r\n", "STORED\r\n");
    send_text(client, "get a\r\nset a 0 0 5\r\nth"); /* the loop does not run any more */
    for (int i = 0; i < 5000; i++)
        CHECK_INT(7, send(greedy, line, 7, MSG_NOSIGNAL));
    late = connect_client();
    send_text(late, "mn\r\n");
    pel_memcached_server_drain(&server);
    CHECK_INT(3, server.service.connections);
    pel_memcached_server_close(&server);
    CHECK_STRING("VALUE a 0 3\r\none\r\nEND\r\n", read_replies(client));
    CHECK(connection_closed(client));
    CHECK_STRING("MN\r\n", read_replies(late));
    CHECK(connection_closed(late));
    CHECK_INT(5000, server.service.counters.get_hits - 1);
}

SERVER_TEST(a_drain_frees_closed_connections_and_serves_the_backlog)
{
    static char line[70000];
    int gone = connect_client(), greedy = connect_client();

    memset(line, ' ', sizeof line);
    run_until_quiet();
    for (size_t at = 0; at + 4 < sizeof line; at += 4)
        memcpy(line + at, "mn\r\n", 4);
    CHECK(send(greedy, line, sizeof line, MSG_NOSIGNAL) > 65536);
    CHECK_INT(0, pel_loop_wait(&loop, 0));
    while (pel_loop_dispatch(&loop))
        ;
    leave(gone);
    pel_memcached_server_drain(&server);
    pel_memcached_server_drain(&server);
    CHECK_INT(1, server.service.connections);
    pending_backlogs = 0;
}

SERVER_TEST(a_connection_that_is_idle_for_too_long_is_closed)
{
    int idle, active;

    server.service.idle_timeout = 60;
    idle = connect_client();
    active = connect_client();
    run_until_quiet();
    loop.now += INT64_C(50000000000);
    pel_memcached_server_tick(&server);
    CHECK_INT(2, server.service.connections);
    for (struct pel_memcached_peer *peer = server.peers; peer; peer = peer->next)
        if (peer->next == NULL) /* the first connection */
            peer->served_at -= INT64_C(61000000000);
    loop.now -= INT64_C(50000000000);
    pel_memcached_server_tick(&server);
    CHECK_INT(1, server.service.connections);
    CHECK_INT(1, server.service.counters.idle_kicks);
    CHECK(connection_closed(idle));
    CHECK_ANSWER(active, "mn\r\n", "MN\r\n");
}

SERVER_TEST(a_child_keeps_neither_clients_nor_port)
{
    int client = connect_client(), status = 0;
    pid_t child;

    run_until_quiet();
    child = fork();
    if (child == 0) {
        pel_memcached_server_abandon(&server);
        pel_memcached_server_close(&server);
        pel_loop_close(&loop);
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    send_text(client, "mn\r\n"); /* the parent's registrations are still valid */
    run_until_quiet();
    CHECK_STRING("MN\r\n", read_replies(client));
    leave(client);
    run_until_quiet();
    CHECK_INT(0, server.service.connections);
}
