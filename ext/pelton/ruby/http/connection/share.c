#include "ruby/http/connection/http_server.h"

#include "ruby/http/connection/http_connection.h"

/*
 * Bodies that are produced as fast as they can be sent would each have a job in every tick, and a request would wait
 * for all of them. So bodies together have a share of bytes in each tick; those beyond it wait for a later tick, first
 * come first served, off the ready queue.
 */

#define SHARE_BYTES (256 * 1024) /* a tick */

struct sharer {
    struct pel_turn turn; /* first */
    size_t bytes;         /* of its last piece: its next one is probably as long */
};

static void run_grants(struct pel_reactor *reactor, void *data);

static void drop_grants(void *data)
{
    ((struct pel_http_server *)data)->share.queued = 0;
}

static void queue_grants(struct pel_http_server *server, struct pel_reactor *reactor)
{
    if (server->share.queued || !server->share.turns.first)
        return;
    server->share.queued = 1;
    pel_enqueue(reactor,
                (struct pel_job){.run = run_grants, .drop = drop_grants, .data = server, .object = server->self});
}

/* Wakes as many as have the share of one tick. */
static void run_grants(struct pel_reactor *reactor, void *data)
{
    struct pel_http_server *server = data;
    struct pel_http_share *share = &server->share;
    size_t bytes = 0;

    share->queued = 0;
    while (share->turns.first && bytes < SHARE_BYTES) {
        struct sharer *sharer = (struct sharer *)share->turns.first;
        bytes += sharer->bytes + 1;
        pel_turns_leave(&share->turns, &sharer->turn);
        pel_waiter_fire(reactor, sharer->turn.waiter);
    }
    queue_grants(server, reactor);
}

void pel_http_share(struct pel_http_connection *connection, size_t bytes)
{
    struct pel_http_server *server = connection->server;
    struct pel_http_share *share = &server->share;
    struct pel_reactor *reactor = connection->reactor;
    struct pel_waiter waiter = {.exception = Qfalse};
    struct sharer sharer = {.turn.waiter = &waiter, .bytes = bytes};
    VALUE self = connection->self;
    int state;

    if (share->tick != reactor->tick.number) {
        share->tick = reactor->tick.number;
        share->used = 0;
    }
    share->used += bytes;
    if ((share->used < SHARE_BYTES && !share->turns.first) || reactor->phase != PEL_RUNNING)
        return;
    pel_turns_enter(&share->turns, &sharer.turn);
    queue_grants(server, reactor);
    state = pel_park_protected(reactor, &waiter, PEL_FOREVER);
    pel_turns_leave(&share->turns, &sharer.turn); /* unless it was granted */
    RB_GC_GUARD(self);
    if (state)
        pel_rethrow(state);
}
