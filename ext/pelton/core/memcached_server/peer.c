#include "core/memcached_server/peer.h"

#include <time.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/memcached_server/transfer.h"

#define DIRECT_READ 16384         /* if at least this many bytes of a value are missing, they get a read of their own */
#define BATCH_BYTES (1024 * 1024) /* the budget of one connection before other connections are served */
#define BATCH_NS (1000 * 1000)

enum progress {
    PEER_FAILED = -1,     /* the connection must be closed */
    PEER_CONTINUES,       /* all output is sent, and more input may be available */
    PEER_BLOCKED,         /* waits for an event of the loop */
    PEER_BUDGET_EXHAUSTED /* has more to do, but other connections come first */
};

/* ---- the server that peers belong to -------------------------------------------------------------------------- */

void pel__memcached_server_set_time(struct pel_memcached_server *server)
{
    struct pel_store *store = &server->service.store;
    uint32_t seconds = (uint32_t)((server->loop->now - server->started) / PEL_MEMCACHED_SECOND);

    if (seconds + 2 != store->now || store->wall == 0)
        pel_store_set_time(store, seconds, time(NULL));
}

void pel__memcached_server_notify_backlog(struct pel_memcached_server *server)
{
    if (server->backlog_notified)
        return;
    server->backlog_notified = 1;
    server->on_backlog(server);
}

void pel__memcached_server_resume(struct pel_memcached_server *server)
{
    for (struct pel_memcached_listener *listener = server->listeners; listener; listener = listener->next)
        if (listener->paused)
            pel__memcached_server_notify_backlog(server);
}

void pel__memcached_server_remove(struct pel_memcached_server *server, struct pel_memcached_peer *peer)
{
    *(peer->previous ? &peer->previous->next : &server->peers) = peer->next;
    if (peer->next)
        peer->next->previous = peer->previous;
    server->service.connections--;
    pel__memcached_server_resume(server);
}

static void enqueue_on_backlog(struct pel_memcached_peer *peer)
{
    struct pel_memcached_peer **link = &peer->server->backlog;

    if (peer->queued)
        return;
    while (*link)
        link = &(*link)->next_backlog;
    peer->queued = 1;
    peer->next_backlog = NULL;
    *link = peer;
    peer->server->service.counters.conn_yields++;
    pel__memcached_server_notify_backlog(peer->server);
}

static int budget_exhausted_p(const struct pel_memcached_peer *peer)
{
    return peer->transferred >= PEL_MEMCACHED_INPUT &&
           (peer->transferred >= BATCH_BYTES || pel_now() - peer->served_at >= BATCH_NS);
}

/* ---- sending -------------------------------------------------------------------------------------------------- */

static void release_sent_item(struct pel_memcached_peer *peer)
{
    if (peer->sent_item)
        pel_store_release(&peer->server->service.store, peer->sent_item);
    peer->sent_item = NULL;
}

/* Sends the output when nothing is queued before it: only bytes that the client does not take at once are copied. */
static enum progress send_without_copy(struct pel_memcached_peer *peer, struct pel_buffer *output)
{
    size_t length = pel_buffer_length(output);
    ssize_t count = length ? pel_stream_send_now(&peer->stream, pel_buffer_head(output), length) : 0;

    if (count < 0)
        return PEER_FAILED;
    if ((size_t)count < length &&
        pel_stream_append(&peer->stream, pel_buffer_head(output) + count, length - (size_t)count) < 0)
        return PEER_FAILED;
    return (size_t)count < length ? PEER_BLOCKED : PEER_CONTINUES;
}

static enum progress flush_peer(struct pel_memcached_peer *peer)
{
    int code = pel_stream_flush(&peer->stream);

    if (code < 0)
        return PEER_FAILED;
    if (code == 1) {
        if (peer->stream.writable) /* a burst was sent */
            pel_stream_flush_later(&peer->stream);
        return PEER_BLOCKED;
    }
    release_sent_item(peer);
    return PEER_CONTINUES;
}

/* Sends the output, followed by the value of an item without copying it. Output that follows the value is appended
 * before anything is sent: one system call for all. */
static enum progress send_output(struct pel_memcached_peer *peer)
{
    struct pel_buffer *output = &peer->server->output;
    size_t length = pel_buffer_length(output);
    enum progress progress = PEER_CONTINUES;
    struct pel_slice value = {NULL, 0};

    if (!peer->sent_item)
        peer->sent_item = pel_memcached_download_take(&peer->session, &value);
    if (!peer->sent_item)
        progress = send_without_copy(peer, output);
    else if (length && pel_stream_append(&peer->stream, pel_buffer_head(output), length) < 0)
        progress = PEER_FAILED;
    pel_buffer_consume(output, length);
    if (value.length && pel_stream_append_borrowed(&peer->stream, value.bytes, value.length, 0, NULL) < 0)
        progress = PEER_FAILED;
    peer->transferred += length + value.length;
    peer->server->service.counters.bytes_written += length + value.length;
    return progress == PEER_CONTINUES && peer->sent_item && !value.length ? flush_peer(peer) : progress;
}

/* Feeds bytes to the session and sends its output, until all bytes are consumed or the session needs more. */
static enum progress feed_session(struct pel_memcached_peer *peer, const char *bytes, size_t length, size_t *used)
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
        if (progress == PEER_CONTINUES && more && !peer->sent_item && budget_exhausted_p(peer))
            progress = PEER_BUDGET_EXHAUSTED;
    } while (progress == PEER_CONTINUES && (more || peer->sent_item));
    return progress == PEER_CONTINUES && session->closing ? PEER_FAILED : progress;
}

/* ---- receiving ------------------------------------------------------------------------------------------------ */

/* Feeds the bytes that the session has not consumed before. */
static enum progress feed_rest(struct pel_memcached_peer *peer)
{
    size_t length = pel_buffer_length(&peer->rest), used;
    enum progress progress = feed_session(peer, length ? pel_buffer_head(&peer->rest) : "", length, &used);

    pel_buffer_consume(&peer->rest, used);
    if (used == length && peer->rest.data)
        pel_buffer_free(&peer->rest);
    return progress;
}

/* Reads once and feeds the session. Returns as pel_stream_receive does. */
static ssize_t receive_once(struct pel_memcached_peer *peer, enum progress *progress)
{
    char *at, *input = peer->server->input;
    size_t wanted = pel_memcached_upload_space(&peer->session, &at), used;
    ssize_t count;

    if (wanted >= DIRECT_READ) { /* then `rest` is empty: the value has consumed it */
        count = pel_stream_receive(&peer->stream, at, wanted);
        if (count > 0)
            pel_memcached_upload_commit(&peer->session, (size_t)count);
        return count;
    }
    if (pel_buffer_length(&peer->rest) > 0) { /* an incomplete line */
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
    *progress = feed_session(peer, input, (size_t)count, &used);
    if (*progress != PEER_FAILED && used < (size_t)count &&
        pel_buffer_append(&peer->rest, input + used, (size_t)count - used) < 0)
        return PEL_EMEMORY;
    return count;
}

/* Sends pending output, feeds the session, or reads, once. Returns PEER_CONTINUES if there may be more to do. */
static enum progress serve_once(struct pel_memcached_peer *peer)
{
    enum progress progress;
    ssize_t count;

    if (peer->stream.error)
        return PEER_FAILED;
    if (pel_stream_pending(&peer->stream))
        return PEER_BLOCKED;
    release_sent_item(peer);
    if (peer->stream.output.data) /* an idle connection keeps no buffer */
        pel_buffer_free(&peer->stream.output);
    progress = feed_rest(peer);
    if (progress != PEER_CONTINUES)
        return progress;
    if (peer->end_of_file)
        return PEER_FAILED;
    if (budget_exhausted_p(peer))
        return PEER_BUDGET_EXHAUSTED;
    count = receive_once(peer, &progress);
    if (count == PEL_EAGAIN)
        return PEER_BLOCKED;
    if (count < 0)
        return PEER_FAILED;
    if (count == 0)
        peer->end_of_file = 1;
    peer->transferred += (size_t)count;
    peer->server->service.counters.bytes_read += (uint64_t)count;
    return progress;
}

void pel__memcached_peer_serve(struct pel_memcached_peer *peer)
{
    enum progress progress;

    peer->transferred = 0;
    peer->served_at = pel_now();
    do
        progress = serve_once(peer);
    while (progress == PEER_CONTINUES);
    if (progress == PEER_BUDGET_EXHAUSTED)
        enqueue_on_backlog(peer);
    if (progress == PEER_FAILED) {
        pel__memcached_server_remove(peer->server, peer);
        pel__memcached_peer_free(peer);
    }
}

static void on_peer_ready(struct pel_stream *stream, unsigned events)
{
    struct pel_memcached_peer *peer = (struct pel_memcached_peer *)stream;

    (void)events;
    if (peer->queued) /* pel_memcached_server_run serves it */
        return;
    pel__memcached_server_set_time(peer->server);
    pel__memcached_peer_serve(peer);
}

/* ---- opening and closing -------------------------------------------------------------------------------------- */

struct pel_memcached_peer *pel__memcached_peer_open(struct pel_memcached_server *server, int fd)
{
    struct pel_memcached_peer *peer = pel_calloc(1, sizeof *peer);

    if (peer)
        peer->stream.on_ready = on_peer_ready;
    if (!peer || pel_stream_open(&peer->stream, server->loop, fd) < 0) {
        close(fd);
        pel_free(peer);
        return NULL;
    }
    peer->server = server;
    peer->stream.notify_sent = 1;
    pel_memcached_session_init(&peer->session, &server->service);
    return peer;
}

void pel__memcached_peer_free(struct pel_memcached_peer *peer)
{
    pel_stream_close(&peer->stream);
    pel_memcached_session_end(&peer->session);
    release_sent_item(peer);
    pel_borrowed_drop(&peer->stream.borrowed); /* pel_stream_close has done this, except in an abandoned server */
    pel_buffer_free(&peer->stream.output);
    pel_buffer_free(&peer->rest);
    pel_free(peer);
}
