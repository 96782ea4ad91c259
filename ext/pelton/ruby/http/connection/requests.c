#include "ruby/http/connection/http_server.h"

#include "ruby/http/connection/http_connection.h"

/* The requests that a server answers at this moment. */

static VALUE sym_queued, sym_running, sym_sending;

static void collect(const struct pel_root *head, const struct pel_http_server *server, VALUE connections)
{
    for (const struct pel_root *root = head->next; root != head; root = root->next) {
        const struct pel_http_connection *connection = pel_http_connection_p(root->object);

        if (connection && connection->server == server && pel_http_answering_p(connection) && connection->request.env)
            rb_ary_push(connections, root->object);
    }
}

static VALUE state_of(const struct pel_http_connection *connection)
{
    if (connection->state == PEL_HTTP_WAITING)
        return sym_queued;
    return connection->response.head_sent ? sym_sending : sym_running;
}

static VALUE describe(const struct pel_http_connection *connection, int64_t now)
{
    VALUE seconds = DBL2NUM((double)(now - connection->request.began) / 1e9);
    VALUE fiber = connection->request.fiber ? connection->request.fiber : Qnil;

    return rb_ary_new_from_args(4, connection->request.env, seconds, fiber, state_of(connection));
}

/* _requests: of each request its env, the seconds since its head was complete, the fiber that runs the application or
 * nil, and its state. The reactor's roots are read first, because making objects may run other code. */
static VALUE server_requests(VALUE self)
{
    struct pel_http_server *server = pel_http_server_get(self);
    VALUE connections = rb_ary_new(), rows = rb_ary_new();
    int64_t now = pel_now();

    pel_http_server_usable_p(server, server->reactor); /* forgets connections that were inherited through a fork */
    if (!server->connections)
        return rows;
    collect(&server->reactor->roots.young, server, connections);
    collect(&server->reactor->roots.old, server, connections);
    for (long i = 0; i < RARRAY_LEN(connections); i++) {
        const struct pel_http_connection *connection = pel_http_connection_p(rb_ary_entry(connections, i));

        if (pel_http_answering_p(connection) && connection->request.env)
            rb_ary_push(rows, describe(connection, now));
    }
    RB_GC_GUARD(connections);
    return rows;
}

void pel_init_http_requests(VALUE class)
{
    sym_queued = ID2SYM(rb_intern("queued"));
    sym_running = ID2SYM(rb_intern("running"));
    sym_sending = ID2SYM(rb_intern("sending"));
    rb_define_private_method(class, "_requests", server_requests, 0);
}
