/*
 * A load generator for memcached servers, used by benchmark/memcached_server.rb.
 *
 *   load PORT WORKLOAD CONNECTIONS DEPTH OPERATIONS
 *
 * Each connection sends DEPTH operations at once and waits for their replies. Before the timed run, the replies are
 * compared byte for byte with the expected ones; during it, only their length. Prints the duration of all operations in
 * nanoseconds.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define KEYS 10000
#define MULTI 100
#define MAX_CONNECTIONS 256

static char *value;
static size_t value_length = 100;
static char *batch, *expected;
static size_t batch_length, expected_length;

static void fail(const char *what)
{
    fprintf(stderr, "load: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void *allocate(size_t size)
{
    void *memory = malloc(size);

    if (!memory)
        fail("malloc");
    return memory;
}

static long long now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (long long)time.tv_sec * 1000000000 + time.tv_nsec;
}

static int open_connection(int port)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons((unsigned short)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;

    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) < 0)
        fail("connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return fd;
}

static void send_all(int fd, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t count = send(fd, bytes, length, MSG_NOSIGNAL);
        if (count < 0)
            fail("send");
        bytes += count;
        length -= (size_t)count;
    }
}

static void receive_all(int fd, char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t count = recv(fd, bytes, length, 0);
        if (count <= 0)
            fail("recv");
        bytes += count;
        length -= (size_t)count;
    }
}

/* Stores all keys, a hundred at a time, so that each get is a hit. */
static void fill(int fd, int keys)
{
    char *text = allocate(100 * (value_length + 100)), reply[800];

    for (int i = 0; i < keys; i += 100) {
        size_t length = 0, count = keys - i < 100 ? (size_t)(keys - i) : 100;
        for (size_t k = 0; k < count; k++)
            length +=
                (size_t)sprintf(text + length, "set benchmark:%06d 0 0 %zu\r\n%s\r\n", i + (int)k, value_length, value);
        send_all(fd, text, length);
        receive_all(fd, reply, 8 * count);
        for (size_t k = 0; k < count; k++)
            if (memcmp(reply + 8 * k, "STORED\r\n", 8))
                fail("a set was not stored");
    }
    free(text);
}

/* Appends one command and its expected reply; returns the number of operations that it counts as. */
static int add_operation(const char *workload, int key)
{
    char *at = batch + batch_length, *reply = expected + expected_length;

    if (!strcmp(workload, "get") || !strcmp(workload, "large")) {
        at += sprintf(at, "get benchmark:%06d\r\n", key);
        reply += sprintf(reply, "VALUE benchmark:%06d 0 %zu\r\n%s\r\nEND\r\n", key, value_length, value);
    } else if (!strcmp(workload, "miss")) {
        at += sprintf(at, "get absent:%06d\r\n", key);
        reply += sprintf(reply, "END\r\n");
    } else if (!strcmp(workload, "mg")) {
        at += sprintf(at, "mg benchmark:%06d v f\r\n", key);
        reply += sprintf(reply, "VA %zu f0\r\n%s\r\n", value_length, value);
    } else if (!strcmp(workload, "set") || !strcmp(workload, "large_set")) {
        at += sprintf(at, "set benchmark:%06d 0 0 %zu\r\n%s\r\n", key, value_length, value);
        reply += sprintf(reply, "STORED\r\n");
    } else if (!strcmp(workload, "ms")) {
        at += sprintf(at, "ms benchmark:%06d %zu T0\r\n%s\r\n", key, value_length, value);
        reply += sprintf(reply, "HD\r\n");
    } else if (!strcmp(workload, "multi")) {
        at += sprintf(at, "get");
        for (int i = 0; i < MULTI; i++) {
            at += sprintf(at, " benchmark:%06d", (key + i) % KEYS);
            reply += sprintf(reply, "VALUE benchmark:%06d 0 %zu\r\n%s\r\n", (key + i) % KEYS, value_length, value);
        }
        at += sprintf(at, "\r\n");
        reply += sprintf(reply, "END\r\n");
    } else {
        errno = 0;
        fail("no such workload");
    }
    batch_length = (size_t)(at - batch);
    expected_length = (size_t)(reply - expected);
    return strcmp(workload, "multi") ? 1 : MULTI;
}

static int make_batch(const char *workload, int depth)
{
    int count = 0, keys = value_length > 1000 ? 10 : KEYS;

    batch = allocate((size_t)depth * (value_length + 3000) + 1);
    expected = allocate((size_t)depth * (value_length + 50) * (strcmp(workload, "multi") ? 1 : MULTI) + 1000);
    for (int i = 0; i < depth; i++)
        count += add_operation(workload, (int)((unsigned)i * 7919u % (unsigned)keys));
    return count;
}

static void check_replies(int fd)
{
    char *reply = allocate(expected_length);

    send_all(fd, batch, batch_length);
    receive_all(fd, reply, expected_length);
    if (memcmp(reply, expected, expected_length)) {
        errno = 0;
        fail("a reply is wrong");
    }
    free(reply);
}

static long long run(int *fds, int connections, int operations, int operations_in_batch)
{
    static char scrap[1 << 20];
    size_t missing[MAX_CONNECTIONS];
    int epoll = epoll_create1(0), started = 0, batches = operations / operations_in_batch, running = 0;
    long long begin = now();

    for (int i = 0; i < connections; i++) {
        struct epoll_event event = {.events = EPOLLIN, .data.u32 = (unsigned)i};
        epoll_ctl(epoll, EPOLL_CTL_ADD, fds[i], &event);
        if (started < batches) {
            started++;
            running++;
            missing[i] = expected_length;
            send_all(fds[i], batch, batch_length);
        }
    }
    while (running > 0) {
        struct epoll_event events[MAX_CONNECTIONS];
        int count = epoll_wait(epoll, events, MAX_CONNECTIONS, 0); /* never sleeps: only the server is measured */
        for (int e = 0; e < count; e++) {
            unsigned i = events[e].data.u32;
            ssize_t length = recv(fds[i], scrap, sizeof scrap, 0);
            if (length <= 0 || (size_t)length > missing[i])
                fail("recv");
            missing[i] -= (size_t)length;
            if (missing[i] > 0)
                continue;
            running--;
            if (started < batches) {
                started++;
                running++;
                missing[i] = expected_length;
                send_all(fds[i], batch, batch_length);
            }
        }
    }
    close(epoll);
    return now() - begin;
}

int main(int argc, char **argv)
{
    int fds[MAX_CONNECTIONS], connections, depth, operations, in_batch;

    if (argc != 6)
        return 2;
    connections = atoi(argv[3]);
    depth = atoi(argv[4]);
    operations = atoi(argv[5]);
    if (connections < 1 || connections > MAX_CONNECTIONS || depth < 1)
        return 2;
    if (!strncmp(argv[2], "large", 5))
        value_length = 500000;
    value = allocate(value_length + 1);
    memset(value, 'v', value_length);
    value[value_length] = '\0';
    for (int i = 0; i < connections; i++)
        fds[i] = open_connection(atoi(argv[1]));
    in_batch = make_batch(argv[2], depth);
    fill(fds[0], value_length > 1000 ? 10 : KEYS);
    check_replies(fds[0]);
    printf("%lld\n", run(fds, connections, operations, in_batch));
    return 0;
}
