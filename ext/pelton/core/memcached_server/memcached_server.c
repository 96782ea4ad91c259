#include "core/memcached_server/memcached_server.h"
#include "core/stream/socket.h"

#include <string.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/memcached_server/peer.h"

#define ACCEPTS_PER_BATCH 64
#define CRAWLED_PER_TICK 10000
#define DRAIN_NS (PEL_MEMCACHED_SECOND / 2) /* a limit, since clients may keep sending requests */

/* ---- accepting ------------------------------------------------------------------------------------------------ */

static void refuse_peer(struct pel_memcached_server *server, struct pel_memcached_peer *peer)
{
    static const char text[] = "ERROR Too many open connections\r\n";

    server->service.counters.rejected_connections++;
    pel_stream_send_now(&peer->stream, text, sizeof text - 1);
    pel__memcached_peer_free(peer);
}

static void admit_peer(struct pel_memcached_server *server, int fd)
{
    struct pel_memcached_peer *peer = pel__memcached_peer_open(server, fd);

    if (!peer)
        return;
    if (server->service.connections >= server->service.max_connections) {
        refuse_peer(server, peer);
        return;
    }
    peer->next = server->peers;
    if (peer->next)
        peer->next->previous = peer;
    server->peers = peer;
    server->service.connections++;
    server->service.counters.total_connections++;
    pel__memcached_peer_serve(peer); /* the client may have sent requests already */
}

static void accept_batch(struct pel_memcached_listener *listener)
{
    struct pel_memcached_server *server = listener->server;

    for (int i = 0; i < ACCEPTS_PER_BATCH; i++) {
        int fd = pel_socket_accept(listener->handle.fd);
        if (fd >= 0) {
            admit_peer(server, fd);
            continue;
        }
        if (fd == PEL_EAGAIN) {
            listener->ready = 0;
            pel_loop_rearm(server->loop, &listener->handle, PEL_READABLE);
        } else { /* out of descriptors or memory: accepting would fail again at once */
            listener->paused = 1;
            server->service.counters.listen_disabled_num++;
        }
        return;
    }
    pel__memcached_server_notify_backlog(server);
}

static void on_listener_event(struct pel_handle *handle, unsigned events)
{
    struct pel_memcached_listener *listener = (struct pel_memcached_listener *)handle;

    (void)events;
    listener->ready = 1;
    if (listener->paused)
        return;
    pel__memcached_server_set_time(listener->server);
    accept_batch(listener);
}

int pel_memcached_server_listen(struct pel_memcached_server *server, int fd)
{
    struct pel_memcached_listener *listener = pel_calloc(1, sizeof *listener);

    if (!listener)
        return PEL_EMEMORY;
    listener->handle = (struct pel_handle){.fd = fd, .slot = PEL_UNREGISTERED, .on_event = on_listener_event};
    listener->server = server;
    if (pel_loop_arm(server->loop, &listener->handle, PEL_READABLE, PEL_EDGE) < 0) {
        pel_free(listener);
        return PEL_ESYSTEM;
    }
    listener->next = server->listeners;
    server->listeners = listener;
    return 0;
}

/* ---- the server ----------------------------------------------------------------------------------------------- */

int pel_memcached_server_open(struct pel_memcached_server *server, struct pel_loop *loop,
                              const struct pel_memcached_limits *limits)
{
    void (*on_backlog)(struct pel_memcached_server *) = server->on_backlog;
    int code;

    memset(server, 0, sizeof *server);
    server->on_backlog = on_backlog;
    code = pel_store_init(&server->service.store, limits->memory, limits->value);
    if (code < 0)
        return code;
    server->input = pel_malloc(PEL_MEMCACHED_INPUT);
    if (!server->input) {
        pel_store_free(&server->service.store);
        return PEL_EMEMORY;
    }
    server->loop = loop;
    server->started = loop->now;
    server->service.configured_memory = limits->memory;
    server->service.idle_timeout = limits->idle_timeout;
    server->service.max_connections =
        limits->connections < PEL_ITEM_REFERENCES ? limits->connections : PEL_ITEM_REFERENCES;
    pel__memcached_server_set_time(server);
    return 0;
}

void pel_memcached_server_run(struct pel_memcached_server *server)
{
    struct pel_memcached_peer *peer = server->backlog, *next;

    server->backlog_notified = 0;
    server->backlog = NULL;
    pel__memcached_server_set_time(server);
    for (; peer; peer = next) {
        next = peer->next_backlog;
        peer->queued = 0;
        pel__memcached_peer_serve(peer);
    }
    for (struct pel_memcached_listener *listener = server->listeners; listener; listener = listener->next) {
        listener->paused = 0;
        if (listener->ready)
            accept_batch(listener);
    }
}

/* Connections on the backlog are not idle: they wait for this server. */
static void close_idle_peers(struct pel_memcached_server *server)
{
    int64_t limit = server->loop->now - (int64_t)server->service.idle_timeout * PEL_MEMCACHED_SECOND;
    struct pel_memcached_peer *next;

    for (struct pel_memcached_peer *peer = server->peers; peer; peer = next) {
        next = peer->next;
        if (peer->queued || peer->served_at > limit)
            continue;
        server->service.counters.idle_kicks++;
        pel__memcached_server_remove(server, peer);
        pel__memcached_peer_free(peer);
    }
}

void pel_memcached_server_tick(struct pel_memcached_server *server)
{
    pel__memcached_server_set_time(server);
    pel_store_crawl(&server->service.store, CRAWLED_PER_TICK);
    if (server->service.idle_timeout)
        close_idle_peers(server);
    pel__memcached_server_resume(server);
}

static void close_listeners(struct pel_memcached_server *server)
{
    struct pel_memcached_listener *listener;

    while ((listener = server->listeners)) {
        server->listeners = listener->next;
        pel_loop_disarm(server->loop, &listener->handle);
        if (listener->handle.fd >= 0)
            close(listener->handle.fd);
        pel_free(listener);
    }
}

/* Serves every connection, including those whose events the loop has not reported yet. Returns whether any bytes were
 * received. */
static int serve_all_peers(struct pel_memcached_server *server)
{
    uint64_t before = server->service.counters.bytes_read;
    struct pel_memcached_peer *next;

    server->backlog = NULL;
    for (struct pel_memcached_peer *peer = server->peers; peer; peer = next) {
        next = peer->next;
        peer->queued = 0;
        peer->stream.readable = 1;
        pel__memcached_peer_serve(peer);
    }
    return server->service.counters.bytes_read > before;
}

void pel_memcached_server_drain(struct pel_memcached_server *server)
{
    int64_t limit = pel_now() + DRAIN_NS;

    for (struct pel_memcached_listener *listener = server->listeners; listener; listener = listener->next)
        accept_batch(listener);
    close_listeners(server);
    while (serve_all_peers(server) && pel_now() < limit)
        ;
}

void pel_memcached_server_close(struct pel_memcached_server *server)
{
    struct pel_memcached_peer *peer;

    if (!server->input)
        return;
    close_listeners(server);
    while ((peer = server->peers)) {
        server->peers = peer->next;
        pel__memcached_peer_free(peer);
    }
    server->backlog = NULL;
    server->service.connections = 0;
    pel_buffer_free(&server->output);
    pel_free(server->input);
    server->input = NULL;
    pel_store_free(&server->service.store);
}

/* Closes the handle's descriptor and removes the handle from the loop's table, since the handle is freed before the
 * loop. Does not call the loop's backend, which is shared with the parent. */
static void abandon_handle(struct pel_loop *loop, struct pel_handle *handle)
{
    if (handle->slot != PEL_UNREGISTERED)
        loop->slots[handle->slot].handle = NULL;
    handle->slot = PEL_UNREGISTERED;
    close(handle->fd);
    handle->fd = -1;
}

void pel_memcached_server_abandon(struct pel_memcached_server *server)
{
    for (struct pel_memcached_listener *listener = server->listeners; listener; listener = listener->next)
        abandon_handle(server->loop, &listener->handle);
    for (struct pel_memcached_peer *peer = server->peers; peer; peer = peer->next) {
        pel_stream_flush_cancel(&peer->stream);
        abandon_handle(server->loop, &peer->stream.handle);
    }
}
