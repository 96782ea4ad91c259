#include "core/base/alloc.h"
#include "core/base/buffer.h"
#include "ruby/http/connection/http_connection.h"
#include "ruby/http/request/http_request.h"
#include "ruby/http/response/http_response.h"

/*
 * A request of the server's own, which renews a response of its cache: an exchange without a client. Its connection is
 * a struct of its own, as a stream of HTTP/2 is, that refers to the client's stream only for what the env says of it.
 * The response is written into a buffer, from which the cache takes it; then it is dropped.
 */

/* ---- the protocol: nothing is sent ------------------------------------------------------------------------------- */

static struct pel_buffer *lines(struct pel_http_connection *connection)
{
    return connection->http2;
}

static int append(struct pel_http_connection *connection, const char *bytes, size_t length)
{
    return 0;
}

/* Only bodies of Strings come here: nothing of the cache is lent to its own request. */
static int lend(struct pel_http_connection *connection, const char *bytes, size_t length, uintptr_t owner,
                struct pel_lender *lender)
{
    return 0;
}

static void drop_lines(struct pel_http_connection *connection)
{
    pel_buffer_free(lines(connection));
}

static size_t unsent(const struct pel_http_connection *connection)
{
    return 0;
}

static int await_room(struct pel_http_connection *connection, VALUE exchange)
{
    return 1;
}

static int receive_body(struct pel_http_connection *connection, VALUE *part)
{
    return 1;
}

/* It ends in good order, unless it was aborted before. */
static void end(struct pel_http_connection *connection)
{
    if (connection->state == PEL_HTTP_BUSY)
        pel_http_become(connection, PEL_HTTP_LINGERING);
    pel_http_close(connection);
}

static void do_nothing(struct pel_http_connection *connection)
{
    (void)connection;
}

static void closed(struct pel_http_connection *connection)
{
    pel_http_server_remove(connection->server, connection->reactor);
}

static void mark(const struct pel_http_connection *connection)
{
    (void)connection;
}

static void free_lines(struct pel_http_connection *connection)
{
    drop_lines(connection);
    pel_free(connection->http2);
}

NORETURN(static VALUE hand_over(struct pel_http_connection *connection));
static VALUE hand_over(struct pel_http_connection *connection)
{
    rb_raise(pel_eError,
             "a request that renews a cached response has no connection that could be taken over (rack.hijack)");
}

static const struct pel_http_protocol revalidation_protocol = {.major = 1,
                                                               .frames_bodies = 1,
                                                               .discards = 1,
                                                               .lines = lines,
                                                               .append = append,
                                                               .lend = lend,
                                                               .send_soon = drop_lines,
                                                               .flush = drop_lines,
                                                               .unsent = unsent,
                                                               .await_room = await_room,
                                                               .receive_body = receive_body,
                                                               .end = end,
                                                               .go_on = do_nothing,
                                                               .hand_over = hand_over,
                                                               .timed_out = do_nothing,
                                                               .stop = do_nothing,
                                                               .closed = closed,
                                                               .mark = mark,
                                                               .free = free_lines};

/* ---- jobs and the reactor's stop ----------------------------------------------------------------------------------*/

static void proceed(struct pel_reactor *reactor, void *data)
{
    ((struct pel_http_connection *)data)->queued = 0;
}

static void answer(struct pel_reactor *reactor, void *data)
{
    struct pel_http_connection *connection = data;

    connection->server->held--;
    if (connection->state == PEL_HTTP_WAITING)
        pel_http_answer(connection);
    else
        pel_http_release_slot(connection);
}

static int refuse_http2(struct pel_http_connection *connection, const char *bytes, size_t length)
{
    return 0;
}

static const struct pel_http_jobs revalidation_jobs = {
    .proceed = proceed, .answer = answer, .resume = pel_http_resume, .switch_to_http2 = refuse_http2};

/* An application that waits is cancelled by the reactor. */
static void stop(struct pel_reactor *reactor, struct pel_root *root)
{
    struct pel_http_connection *connection = PEL_LINKED(struct pel_http_connection, root, root);

    if (connection->request.in_application && reactor->phase != PEL_LEAVING) {
        pel_roots_add(&reactor->roots, root, connection->self);
        return;
    }
    connection->response.aborted = 1;
    if (connection->state == PEL_HTTP_BUSY && !connection->request.in_application)
        pel_http_end_exchange(connection);
    pel_http_close(connection);
    pel_http_release_slot(connection); /* the application's fiber, if there is one, never goes on */
}

/* ---- the beginning ----------------------------------------------------------------------------------------------- */

static struct pel_http_connection *make_connection(struct pel_http_connection *client)
{
    VALUE address = pel_http_remote_address(client);
    struct pel_http_connection *connection = pel_http_connection_new(client->server, client->stream_object);
    VALUE self = connection->self; /* no GC root yet */

    connection->protocol = &revalidation_protocol;
    if (!(connection->http2 = pel_calloc(1, sizeof(struct pel_buffer))))
        rb_memerror();
    PEL_HTTP_KEEP(connection, address, address);
    PEL_HTTP_KEEP(connection, choice, client->choice);
    PEL_HTTP_KEEP(connection, host, client->host);
    connection->jobs = &revalidation_jobs;
    connection->timer.on_timeout = client->timer.on_timeout;
    connection->root.stop = stop;
    connection->deadline = PEL_FOREVER;
    pel_roots_add(&connection->reactor->roots, &connection->root, connection->self);
    connection->reactor->references++;
    pel_http_server_hold(connection->server, connection->reactor);
    RB_GC_GUARD(self);
    return connection;
}

void pel_http_revalidate(struct pel_http_connection *client, const struct pel_http1_head *head)
{
    struct pel_http_server *server = client->server;
    struct pel_http_connection *connection = make_connection(client);
    VALUE self = connection->self;

    pel_http_begin_request(connection, head, 1);
    connection->request.method = PEL_HTTP_GET; /* HEAD's response has no body to keep */
    connection->response.keep_alive = 0;
    pel_http_cache_begin_revalidation(connection, head);
    pel_http_env(connection, head);
    pel_http_set_timeout(connection, server->request_timeout);
    pel_http_become(connection, PEL_HTTP_WAITING);
    if (pel_http_take_slot(connection))
        pel_http_queue_answer(connection);
    else if (server->waiting.count < server->queue_limit)
        pel_http_list_add(&server->waiting, connection);
    else /* the next request tries again */
        pel_http_close(connection);
    RB_GC_GUARD(self);
}
