#include "memcached_server.h"

#include <sys/resource.h>
#include <sys/wait.h>

#include "memcached_peer.h"
#include "memcached_served.h"

TEST(clients_share_a_store)
{
    int one, other;

    serve(NULL, 10);
    one = join_server();
    other = join_server();
    tell(one, "set a 0 0 1\r\n1\r\n");
    settle();
    CHECK_STRING("STORED\r\n", hear(one));
    tell(other, "get a\r\n");
    settle();
    CHECK_STRING("VALUE a 0 1\r\n1\r\nEND\r\n", hear(other));
    CHECK_INT(2, server.service.connections);
    close(one);
    close(other);
    settle();
    CHECK_INT(0, server.service.connections);
    serve_no_more();
}

TEST(it_works_on_the_poll_backend)
{
    int client;

    serve("poll", 10);
    client = join_server();
    tell(client, "set a 0 0 1\r\n1\r\nget a\r\n");
    settle();
    CHECK_STRING("STORED\r\nVALUE a 0 1\r\n1\r\nEND\r\n", hear(client));
    tell(client, "quit\r\n");
    settle();
    CHECK(closed(client));
    close(client);
    serve_no_more();
}

TEST(one_client_too_many_is_told_so)
{
    int clients[4];

    serve(NULL, 3);
    for (int i = 0; i < 4; i++) {
        clients[i] = join_server();
        settle();
    }
    CHECK_STRING("ERROR Too many open connections\r\n", hear(clients[3]));
    CHECK(closed(clients[3]));
    CHECK_INT(1, server.service.counters.rejected_connections);
    close(clients[0]);
    settle();
    close(clients[3]);
    clients[3] = join_server();
    tell(clients[3], "mn\r\n");
    settle();
    CHECK_STRING("MN\r\n", hear(clients[3]));
    for (int i = 1; i < 4; i++)
        close(clients[i]);
    serve_no_more();
}

TEST(a_crowd_is_accepted_in_several_turns)
{
    int clients[150];

    serve(NULL, 1000);
    for (int i = 0; i < 150; i++)
        clients[i] = join_server();
    settle();
    CHECK_INT(150, server.service.connections);
    for (int i = 0; i < 150; i++)
        close(clients[i]);
    settle();
    CHECK_INT(0, server.service.connections);
    serve_no_more();
}

TEST(without_descriptors_it_waits_and_does_not_spin)
{
    struct rlimit saved, few;
    int one, other, ticks = 0;

    serve(NULL, 10);
    one = join_server();
    settle();
    other = join_server();
    getrlimit(RLIMIT_NOFILE, &saved);
    few = saved;
    few.rlim_cur = (rlim_t)other + 1; /* the numbers below are taken */
    setrlimit(RLIMIT_NOFILE, &few);
    settle();
    CHECK_INT(1, server.service.connections);
    CHECK_INT(1, server.service.counters.listen_disabled_num);
    for (int i = 0; i < 10; i++)
        ticks += turn();
    CHECK_INT(0, ticks);
    setrlimit(RLIMIT_NOFILE, &saved);
    pel_memcached_server_tick(&server);
    settle();
    CHECK_INT(2, server.service.connections);
    close(one);
    close(other);
    serve_no_more();
}

TEST(a_descriptor_that_is_closed_lets_the_next_client_in)
{
    struct rlimit saved, few;
    int one, other;

    serve(NULL, 10);
    one = join_server();
    settle();
    other = join_server();
    getrlimit(RLIMIT_NOFILE, &saved);
    few = saved;
    few.rlim_cur = (rlim_t)other + 1;
    setrlimit(RLIMIT_NOFILE, &few);
    settle();
    close(one);
    settle();
    setrlimit(RLIMIT_NOFILE, &saved);
    CHECK_INT(1, server.service.connections);
    tell(other, "mn\r\n");
    settle();
    CHECK_STRING("MN\r\n", hear(other));
    close(other);
    serve_no_more();
}

TEST(a_tick_frees_what_has_expired)
{
    int client;

    serve(NULL, 10);
    client = join_server();
    tell(client, "set a 0 1 1\r\n1\r\nset b 0 0 1\r\n1\r\n");
    settle();
    CHECK_INT(2, server.service.store.table.count);
    server.started -= INT64_C(2000000000); /* two seconds go by */
    pel_memcached_server_tick(&server);
    CHECK_INT(1, server.service.store.table.count);
    CHECK_INT(1, server.service.store.crawler_reclaimed);
    close(client);
    serve_no_more();
}

TEST(a_close_in_the_middle_of_everything_frees_everything)
{
    int clients[3];

    serve(NULL, 10);
    for (int i = 0; i < 3; i++)
        clients[i] = join_server();
    tell(clients[0], "set a 0 0 100000\r\nabc");
    tell(clients[1], "get a a a");
    settle();
    pel_memcached_server_close(&server);
    CHECK_INT(0, loop.registered);
    for (int i = 0; i < 3; i++) {
        CHECK(closed(clients[i]));
        close(clients[i]);
    }
    serve_no_more();
}

TEST(what_was_asked_is_answered_before_the_end)
{
    char line[] = "get a\r\n";
    int client, late, greedy;

    serve(NULL, 10);
    client = join_server();
    greedy = join_server();
    tell(client, "set a 0 0 3\r\none\r\n");
    settle();
    CHECK_STRING("STORED\r\n", hear(client));
    tell(client, "get a\r\nset a 0 0 5\r\nth"); /* nobody turns the loop any more */
    for (int i = 0; i < 5000; i++)
        CHECK_INT(7, send(greedy, line, 7, MSG_NOSIGNAL));
    late = join_server();
    tell(late, "mn\r\n");
    pel_memcached_server_drain(&server);
    CHECK_INT(3, server.service.connections);
    pel_memcached_server_close(&server);
    CHECK_STRING("VALUE a 0 3\r\none\r\nEND\r\n", hear(client));
    CHECK(closed(client));
    CHECK_STRING("MN\r\n", hear(late));
    CHECK(closed(late));
    CHECK_INT(5000, server.service.counters.get_hits - 1);
    close(client);
    close(late);
    close(greedy);
    serve_no_more();
}

TEST(a_drain_frees_those_who_are_gone_and_those_who_wait_for_a_turn)
{
    static char line[70000];
    int gone, greedy;

    serve(NULL, 10);
    gone = join_server();
    greedy = join_server();
    memset(line, ' ', sizeof line);
    settle();
    for (size_t at = 0; at + 4 < sizeof line; at += 4)
        memcpy(line + at, "mn\r\n", 4);
    CHECK(send(greedy, line, sizeof line, MSG_NOSIGNAL) > 65536);
    CHECK_INT(0, pel_loop_wait(&loop, 0));
    while (pel_loop_dispatch(&loop))
        ;
    close(gone);
    pel_memcached_server_drain(&server);
    pel_memcached_server_drain(&server);
    CHECK_INT(1, server.service.connections);
    backlogs = 0;
    close(greedy);
    serve_no_more();
}

TEST(who_is_idle_for_too_long_is_sent_away)
{
    int silent, asking;

    serve(NULL, 10);
    server.service.idle_timeout = 60;
    silent = join_server();
    asking = join_server();
    settle();
    loop.now += INT64_C(50000000000);
    pel_memcached_server_tick(&server);
    CHECK_INT(2, server.service.connections);
    for (struct pel_memcached_peer *peer = server.peers; peer; peer = peer->next)
        if (peer->next == NULL) /* the one that came first */
            peer->began -= INT64_C(61000000000);
    loop.now -= INT64_C(50000000000);
    pel_memcached_server_tick(&server);
    CHECK_INT(1, server.service.connections);
    CHECK_INT(1, server.service.counters.idle_kicks);
    CHECK(closed(silent));
    tell(asking, "mn\r\n");
    settle();
    CHECK_STRING("MN\r\n", hear(asking));
    close(silent);
    close(asking);
    serve_no_more();
}

TEST(a_child_keeps_neither_clients_nor_port)
{
    int client, status = 0;
    pid_t child;

    serve(NULL, 10);
    client = join_server();
    settle();
    child = fork();
    if (child == 0) {
        pel_memcached_server_abandon(&server);
        pel_memcached_server_close(&server);
        pel_loop_close(&loop);
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    tell(client, "mn\r\n"); /* the parent's registrations live on */
    settle();
    CHECK_STRING("MN\r\n", hear(client));
    close(client);
    settle();
    CHECK_INT(0, server.service.connections);
    serve_no_more();
}
