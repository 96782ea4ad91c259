#include "memcached_peer.h"

#include <unistd.h>

#include "alloc.h"

#define DIRECT 16384             /* bytes of a value that are worth a read of their own */
#define TURN_BYTES (1024 * 1024) /* for one connection, until the others had their turn */
#define TURN_NS (1000 * 1000)

enum progress {
    FAILED = -1, /* the connection is of no use any more */
    GOES_ON,     /* all is sent; more is to come */
    HELD_UP,     /* the client must read first; the loop will tell */
    TIRED        /* this turn is over, and there is more to do */
};

static void wait_for_a_turn(struct pel_memcached_peer *peer)
{
    struct pel_memcached_peer **link = &peer->server->backlog;

    if (peer->waiting)
        return;
    while (*link)
        link = &(*link)->next_backlog;
    peer->waiting = 1;
    peer->next_backlog = NULL;
    *link = peer;
    peer->server->service.counters.conn_yields++;
    pel__memcached_server_ask(peer->server);
}

static int is_tired(const struct pel_memcached_peer *peer)
{
    return peer->moved >= PEL_MEMCACHED_INPUT && (peer->moved >= TURN_BYTES || pel_now() - peer->began >= TURN_NS);
}

/* ---- sending -------------------------------------------------------------------------------------------------- */

static void give_back(struct pel_memcached_peer *peer)
{
    if (peer->lent)
        pel_store_release(&peer->server->service.store, peer->lent);
    peer->lent = NULL;
}

/* Nothing is in the way: the output needs not even be copied, unless the client does not take it all. */
static enum progress send_at_once(struct pel_memcached_peer *peer, struct pel_buffer *output)
{
    size_t length = pel_buffer_length(output);
    ssize_t count = length ? pel_stream_send_now(&peer->stream, pel_buffer_head(output), length) : 0;

    if (count < 0)
        return FAILED;
    if ((size_t)count < length &&
        pel_stream_append(&peer->stream, pel_buffer_head(output) + count, length - (size_t)count) < 0)
        return FAILED;
    return (size_t)count < length ? HELD_UP : GOES_ON;
}

static enum progress flush(struct pel_memcached_peer *peer)
{
    int code = pel_stream_flush(&peer->stream);

    if (code < 0)
        return FAILED;
    if (code == 1) {
        if (peer->stream.writable) /* that was a burst */
            pel_stream_flush_later(&peer->stream);
        return HELD_UP;
    }
    give_back(peer);
    return GOES_ON;
}

/* The output, and behind it a value that is lent. What comes after a value is appended before it is sent: one system
 * call for all. */
static enum progress send_output(struct pel_memcached_peer *peer)
{
    struct pel_buffer *output = &peer->server->output;
    size_t length = pel_buffer_length(output);
    enum progress progress = GOES_ON;
    struct pel_slice value = {NULL, 0};

    if (!peer->lent)
        peer->lent = pel_memcached_session_value(&peer->session, &value);
    if (!peer->lent)
        progress = send_at_once(peer, output);
    else if (length && pel_stream_append(&peer->stream, pel_buffer_head(output), length) < 0)
        progress = FAILED;
    pel_buffer_consume(output, length);
    if (value.length && pel_stream_lend(&peer->stream, value.bytes, value.length, 0) < 0)
        progress = FAILED;
    peer->moved += length + value.length;
    peer->server->service.counters.bytes_written += length + value.length;
    return progress == GOES_ON && peer->lent && !value.length ? flush(peer) : progress;
}

/* Gives bytes to the session and sends what it says, until all are used or it needs more. */
static enum progress converse(struct pel_memcached_peer *peer, const char *bytes, size_t length, size_t *used)
{
    struct pel_memcached_session *session = &peer->session;
    struct pel_buffer *output = &peer->server->output;
    enum progress progress;
    int more;

    *used = 0;
    do {
        *used += pel_memcached_session_receive(session, bytes + *used, length - *used, output);
        more = pel_memcached_session_full(session, output);
        progress = send_output(peer);
        if (progress == GOES_ON && more && !peer->lent && is_tired(peer))
            progress = TIRED;
    } while (progress == GOES_ON && (more || peer->lent));
    return progress == GOES_ON && session->closing ? FAILED : progress;
}

/* ---- receiving ------------------------------------------------------------------------------------------------ */

/* What was received and not used before. */
static enum progress go_on_with_rest(struct pel_memcached_peer *peer)
{
    size_t length = pel_buffer_length(&peer->rest), used;
    enum progress progress = converse(peer, length ? pel_buffer_head(&peer->rest) : "", length, &used);

    pel_buffer_consume(&peer->rest, used);
    if (used == length && peer->rest.data)
        pel_buffer_free(&peer->rest);
    return progress;
}

/* One read, and what follows from it. Bytes, 0 at the end, or an error of pel_stream_receive. */
static ssize_t receive(struct pel_memcached_peer *peer, enum progress *progress)
{
    char *at, *input = peer->server->input;
    size_t wanted = pel_memcached_session_wants(&peer->session, &at), used;
    ssize_t count;

    if (wanted >= DIRECT) { /* then nothing is left: a value takes what there is */
        count = pel_stream_receive(&peer->stream, at, wanted);
        if (count > 0)
            pel_memcached_session_wrote(&peer->session, (size_t)count);
        return count;
    }
    if (pel_buffer_length(&peer->rest) > 0) { /* the beginning of a line */
        if (pel_buffer_reserve(&peer->rest, PEL_MEMCACHED_INPUT) < 0)
            return PEL_EMEMORY;
        count = pel_stream_receive(&peer->stream, pel_buffer_tail(&peer->rest), PEL_MEMCACHED_INPUT);
        if (count > 0)
            pel_buffer_commit(&peer->rest, (size_t)count);
        return count;
    }
    count = pel_stream_receive(&peer->stream, input, PEL_MEMCACHED_INPUT);
    if (count <= 0)
        return count;
    *progress = converse(peer, input, (size_t)count, &used);
    if (*progress != FAILED && used < (size_t)count &&
        pel_buffer_append(&peer->rest, input + used, (size_t)count - used) < 0)
        return PEL_EMEMORY;
    return count;
}

/* One step. GOES_ON: there may be another one. */
static enum progress proceed(struct pel_memcached_peer *peer)
{
    enum progress progress;
    ssize_t count;

    if (peer->stream.error)
        return FAILED;
    if (pel_stream_pending(&peer->stream))
        return HELD_UP;
    give_back(peer);
    if (peer->stream.output.data) /* an idle connection keeps no buffer */
        pel_buffer_free(&peer->stream.output);
    progress = go_on_with_rest(peer);
    if (progress != GOES_ON)
        return progress;
    if (peer->ended)
        return FAILED;
    if (is_tired(peer))
        return TIRED;
    count = receive(peer, &progress);
    if (count == PEL_EAGAIN)
        return HELD_UP;
    if (count < 0)
        return FAILED;
    if (count == 0)
        peer->ended = 1;
    peer->moved += (size_t)count;
    peer->server->service.counters.bytes_read += (uint64_t)count;
    return progress;
}

void pel__memcached_peer_serve(struct pel_memcached_peer *peer)
{
    enum progress progress;

    peer->moved = 0;
    peer->began = pel_now();
    do
        progress = proceed(peer);
    while (progress == GOES_ON);
    if (progress == TIRED)
        wait_for_a_turn(peer);
    if (progress == FAILED) {
        pel__memcached_server_forget(peer->server, peer);
        pel__memcached_peer_free(peer);
    }
}

static void on_ready(struct pel_stream *stream, unsigned events)
{
    struct pel_memcached_peer *peer = (struct pel_memcached_peer *)stream;

    (void)events;
    if (peer->waiting) /* its turn comes */
        return;
    pel__memcached_server_set_time(peer->server);
    pel__memcached_peer_serve(peer);
}

/* ---- opening and closing -------------------------------------------------------------------------------------- */

struct pel_memcached_peer *pel__memcached_peer_open(struct pel_memcached_server *server, int fd)
{
    struct pel_memcached_peer *peer = pel_calloc(1, sizeof *peer);

    if (peer)
        peer->stream.on_ready = on_ready;
    if (!peer || pel_stream_open(&peer->stream, server->loop, fd) < 0) {
        close(fd);
        pel_free(peer);
        return NULL;
    }
    peer->server = server;
    peer->stream.tell_sent = 1;
    pel_memcached_session_init(&peer->session, &server->service);
    return peer;
}

void pel__memcached_peer_free(struct pel_memcached_peer *peer)
{
    pel_stream_close(&peer->stream);
    pel_memcached_session_end(&peer->session);
    give_back(peer);
    pel_loan_drop(&peer->stream.loans); /* unless it was closed here: of an abandoned one */
    pel_buffer_free(&peer->stream.output);
    pel_buffer_free(&peer->rest);
    pel_free(peer);
}
