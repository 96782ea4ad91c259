#include "http.h"

#include <string.h>
#include <time.h>
#include "../core/http1_writer.h"
#include "error.h"

/* Pelton::HTTP::Server: what all of its connections share. */

VALUE pel_mHTTP;

/* ---- memory --------------------------------------------------------------------------------------------------- */

static void server_mark(void *data)
{
    struct pel_http_server *server = data;

    rb_gc_mark(server->self); /* pinned: C keeps it */
    rb_gc_mark(server->app);
    rb_gc_mark(server->log);
    rb_gc_mark(server->template);
    rb_gc_mark(server->host);
    rb_gc_mark(server->host_name);
    rb_gc_mark(server->host_port);
}

static size_t server_size(const void *data)
{
    return sizeof(struct pel_http_server);
}

/* Deliberately without RUBY_TYPED_WB_PROTECTED: there are few of them. */
static const rb_data_type_t server_type = {
    .wrap_struct_name = "Pelton::HTTP::Server",
    .function = {.dmark = server_mark, .dfree = RUBY_DEFAULT_FREE, .dsize = server_size},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY};

struct pel_http_server *pel_http_server_get(VALUE self)
{
    return rb_check_typeddata(self, &server_type);
}

static VALUE server_allocate(VALUE class)
{
    struct pel_http_server *server;
    VALUE self = TypedData_Make_Struct(class, struct pel_http_server, &server_type, server);

    server->self = self;
    server->app = server->log = Qnil;
    server->fork_generation = pel_fork_generation;
    server->limits = pel_http1_default_limits;
    server->concurrency = server->queue_limit = server->requests_limit = UINT32_MAX;
    server->header_timeout = server->idle_timeout = server->request_timeout = server->write_timeout = PEL_FOREVER;
    return self;
}

/* ---- lists ---------------------------------------------------------------------------------------------------- */

void pel_http_list_add(struct pel_http_list *list, struct pel_http_connection *connection)
{
    pel_http_list_remove(connection);
    connection->list = list;
    connection->previous = list->last;
    connection->next = NULL;
    *(list->last ? &list->last->next : &list->first) = connection;
    list->last = connection;
    list->count++;
}

void pel_http_list_remove(struct pel_http_connection *connection)
{
    struct pel_http_list *list = connection->list;

    if (!list)
        return;
    *(connection->previous ? &connection->previous->next : &list->first) = connection->next;
    *(connection->next ? &connection->next->previous : &list->last) = connection->previous;
    connection->list = NULL;
    list->count--;
}

/* ---- connections ------------------------------------------------------------------------------------------------ */

#define SPARED 8 /* connections closed at once when descriptors have run out */

static unsigned close_idle(struct pel_http_server *server, uint32_t most)
{
    struct pel_http_connection *connection, *next;
    unsigned count = 0;

    for (connection = server->idle.first; connection && count < most; connection = next) {
        next = connection->next;
        count += (unsigned)pel_http_close_idle(connection);
    }
    return count;
}

static unsigned close_some(struct pel_spare *spare)
{
    return close_idle((struct pel_http_server *)spare, SPARED);
}

int pel_http_server_fits(struct pel_http_server *server, struct pel_reactor *reactor)
{
    if (server->fork_generation != pel_fork_generation) {
        server->fork_generation = pel_fork_generation;
        server->idle = server->waiting = server->events = (struct pel_http_list){.first = NULL};
        server->connections = server->running = 0;
    }
    return !server->connections || server->reactor == reactor;
}

void pel_http_server_add(struct pel_http_server *server, struct pel_reactor *reactor)
{
    server->accepted++;
    if (server->connections++)
        return;
    server->reactor = reactor;
    server->spare.close_some = close_some;
    server->spare.next = reactor->spares;
    reactor->spares = &server->spare;
}

void pel_http_server_remove(struct pel_http_server *server, struct pel_reactor *reactor)
{
    struct pel_spare **link = &reactor->spares;

    if (--server->connections)
        return;
    while (*link != &server->spare)
        link = &(*link)->next;
    *link = server->spare.next;
}

/* ---- options -------------------------------------------------------------------------------------------------- */

const char *pel_http_date(struct pel_http_server *server)
{
    time_t now = time(NULL);

    if (now != server->date_time) {
        server->date_time = now;
        pel_http1_date(server->date, now);
    }
    return server->date;
}

static VALUE option(VALUE options, const char *name)
{
    return rb_hash_fetch(options, ID2SYM(rb_intern(name)));
}

static int64_t time_option(VALUE options, const char *name)
{
    VALUE value = option(options, name);
    return NIL_P(value) ? PEL_FOREVER : pel_nanoseconds(value);
}

static size_t size_option(VALUE options, const char *name)
{
    VALUE value = option(options, name);
    return NIL_P(value) ? SIZE_MAX : NUM2SIZET(value);
}

static uint32_t count_option(VALUE options, const char *name)
{
    VALUE value = option(options, name);
    return NIL_P(value) ? UINT32_MAX : NUM2UINT(value);
}

/* _setup(app, log, template, options) */
static VALUE server_setup(VALUE self, VALUE app, VALUE log, VALUE template, VALUE options)
{
    struct pel_http_server *server = pel_http_server_get(self);

    server->app = app;
    server->log = log;
    server->template = template;
    server->secure = RTEST(option(options, "secure"));
    server->header_timeout = time_option(options, "header_timeout");
    server->idle_timeout = time_option(options, "idle_timeout");
    server->request_timeout = time_option(options, "request_timeout");
    server->write_timeout = time_option(options, "write_timeout");
    server->limits.target = size_option(options, "max_target");
    server->limits.head = size_option(options, "max_head");
    server->limits.headers = count_option(options, "max_headers");
    server->limits.body = size_option(options, "max_body");
    server->concurrency = count_option(options, "concurrency");
    server->queue_limit = count_option(options, "queue");
    server->requests_limit = count_option(options, "max_requests");
    server->body_rate = NIL_P(option(options, "body_rate")) ? 0 : count_option(options, "body_rate");
    if (server->concurrency == 0)
        rb_raise(rb_eArgError, "concurrency must be at least 1");
    return self;
}

/* ---- methods -------------------------------------------------------------------------------------------------- */

static VALUE server_serve(VALUE self, VALUE stream)
{
    struct pel_http_server *server = pel_http_server_get(self);

    if (!server->template)
        rb_raise(pel_eError, "this server was never set up: initialize was not called");
    pel_http_serve(server, stream);
    return Qnil;
}

void pel_init_http(void)
{
    VALUE class;

    pel_mHTTP = rb_define_module_under(pel_mPelton, "HTTP");
    class = rb_define_class_under(pel_mHTTP, "Server", rb_cObject);
    rb_define_alloc_func(class, server_allocate);
    rb_define_private_method(class, "_setup", server_setup, 4);
    rb_define_method(class, "serve", server_serve, 1);
    pel_init_http_stats(class);
    pel_init_http_stop(class);
    pel_init_http_request();
    pel_init_http_env();
    pel_init_http_response();
    pel_init_http_exchange(pel_mHTTP);
}
