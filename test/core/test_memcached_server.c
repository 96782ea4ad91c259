#include "memcached_server.h"

#include <sys/resource.h>
#include <sys/wait.h>

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
