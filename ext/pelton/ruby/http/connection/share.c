#include "ruby/http/connection/server.h"

#include "ruby/http/connection/connection.h"

/*
 * Bodies that are produced as fast as they can be sent would each have a job in every tick, and a request would wait
 * for all of them. So bodies together have a share of bytes in each tick; those beyond it wait for a later tick, first
 * come first served, off the ready queue.
 */

#define SHARE_BYTES (256 * 1024) /* a tick */

struct pel_http_sharer {
    struct pel_waiter waiter;
    struct pel_http_sharer *next;
    size_t bytes; /* of its last piece: its next one is probably as long */
    unsigned granted : 1;
};

static void run_grants(struct pel_reactor *reactor, void *data);

static void drop_grants(void *data)
{
    ((struct pel_http_server *)data)->share.queued = 0;
}

static void queue_grants(struct pel_http_server *server, struct pel_reactor *reactor)
{
    if (server->share.queued || !server->share.first)
        return;
    server->share.queued = 1;
    pel_enqueue(reactor,
                (struct pel_job){.run = run_grants, .drop = drop_grants, .data = server, .object = server->self});
}

static void unlink_sharer(struct pel_http_share *share, struct pel_http_sharer *sharer)
{
    struct pel_http_sharer **link = &share->first, *last = NULL;

    for (; *link != sharer; link = &(*link)->next)
        last = *link;
    *link = sharer->next;
    if (share->last == sharer)
        share->last = last;
}

/* Wakes as many as have the share of one tick. */
static void run_grants(struct pel_reactor *reactor, void *data)
{
    struct pel_http_server *server = data;
    struct pel_http_share *share = &server->share;
    size_t bytes = 0;

    share->queued = 0;
    while (share->first && bytes < SHARE_BYTES) {
        struct pel_http_sharer *sharer = share->first;
        bytes += sharer->bytes + 1;
        sharer->granted = 1;
        unlink_sharer(share, sharer);
        pel_waiter_fire(reactor, &sharer->waiter);
    }
    queue_grants(server, reactor);
}

void pel_http_share(struct pel_http_connection *connection, size_t bytes)
{
    struct pel_http_server *server = connection->server;
    struct pel_http_share *share = &server->share;
    struct pel_reactor *reactor = connection->reactor;
    struct pel_http_sharer sharer = {.waiter = {.exception = Qfalse}, .bytes = bytes};
    VALUE self = connection->self;
    int state;

    if (share->tick != reactor->tick.number) {
        share->tick = reactor->tick.number;
        share->used = 0;
    }
    share->used += bytes;
    if ((share->used < SHARE_BYTES && !share->first) || reactor->phase != PEL_RUNNING)
        return;
    if (share->last)
        share->last->next = &sharer;
    else
        share->first = &sharer;
    share->last = &sharer;
    queue_grants(server, reactor);
    state = pel_park_protected(reactor, &sharer.waiter, PEL_FOREVER);
    if (!sharer.granted)
        unlink_sharer(share, &sharer);
    RB_GC_GUARD(self);
    if (state)
        pel_rethrow(state);
}
