#include "ruby/http/connection/http_server.h"

#include <errno.h>
#include "core/files/open_files.h"
#include "core/http1/http1_writer.h"
#include "ruby/base/exception.h"
#include "ruby/http/connection/cache.h"
#include "ruby/http/connection/flight.h"

VALUE pel_mHTTP;

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static void http_server_mark(void *data)
{
    struct pel_http_server *server = data;

    rb_gc_mark(server->self); /* pinned: C keeps it */
    rb_gc_mark(server->app);
    rb_gc_mark(server->log);
    rb_gc_mark(server->env_template);
    rb_gc_mark(server->urgent_paths);
    rb_gc_mark(server->host);
    rb_gc_mark(server->on_change);
    pel_http_durations_mark(&server->durations);
}

static void http_server_free(void *data)
{
    struct pel_http_server *server = data;

    pel_http_cache_release(server->cache);
    pel_open_files_release(server->files);
    pel_http_durations_free(&server->durations);
    PEL_FREE(server);
}

static size_t http_server_size(const void *data)
{
    const struct pel_http_server *server = data;
    return sizeof *server + pel_http_durations_size(&server->durations) +
           (server->cache ? server->cache->store.bytes : 0) +
           (server->files ? sizeof *server->files + server->files->bytes : 0);
}

/* Deliberately without RUBY_TYPED_WB_PROTECTED: there are few of them. */
static const rb_data_type_t http_server_type = {
    .wrap_struct_name = "Pelton::HTTP::Server",
    .function = {.dmark = http_server_mark, .dfree = http_server_free, .dsize = http_server_size},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY};

struct pel_http_server *pel_http_server_get(VALUE self)
{
    return rb_check_typeddata(self, &http_server_type);
}

static VALUE http_server_allocate(VALUE class)
{
    struct pel_http_server *server;
    VALUE self = TypedData_Make_Struct(class, struct pel_http_server, &http_server_type, server);

    server->self = self;
    server->app = server->log = Qnil;
    server->fork_generation = pel_fork_generation;
    server->limits = pel_http1_default_limits;
    server->limit = server->queue_limit = server->requests_limit = UINT32_MAX;
    server->header_timeout = server->idle_timeout = server->request_timeout = server->write_timeout = PEL_FOREVER;
    return self;
}

/* ---- connections ------------------------------------------------------------------------------------------------- */

int pel_http_server_usable_p(struct pel_http_server *server, struct pel_reactor *reactor)
{
    if (server->fork_generation != pel_fork_generation) {
        server->fork_generation = pel_fork_generation;
        server->idle = server->waiting = server->event_streams = server->http2 = (struct pel_http_list){.first = NULL};
        server->connections = server->running = 0;
        server->peaked = 0;
        if (server->cache)
            pel_http_flights_forget(server->cache); /* not freed: the inherited connections refer to them */
        server->share = (struct pel_http_share){.queued = 0};
    }
    return !server->connections || server->reactor == reactor;
}

void pel_http_server_add(struct pel_http_server *server, struct pel_reactor *reactor)
{
    server->accepted++;
    pel_http_server_hold(server, reactor);
}

void pel_http_server_hold(struct pel_http_server *server, struct pel_reactor *reactor)
{
    if (server->connections++)
        return;
    server->reactor = reactor;
    server->reclaimer.next = reactor->reclaimers;
    reactor->reclaimers = &server->reclaimer;
}

void pel_http_server_remove(struct pel_http_server *server, struct pel_reactor *reactor)
{
    if (--server->connections)
        return;
    PEL_CHAIN_REMOVE(reactor->reclaimers, &server->reclaimer, next);
    pel_http_server_changed(server, reactor);
}

void pel_http_server_changed(struct pel_http_server *server, struct pel_reactor *reactor)
{
    if (server->on_change)
        pel_enqueue_proc(reactor, server->on_change);
}

/* ---- date and options -------------------------------------------------------------------------------------------- */

const char *pel_http_date(struct pel_http_server *server)
{
    time_t now = time(NULL);

    if (now != server->date_time) {
        server->date_time = now;
        pel_http1_date(server->date, now);
    }
    return server->date;
}

static VALUE server_option(VALUE options, const char *name)
{
    return rb_hash_fetch(options, ID2SYM(rb_intern(name)));
}

static int64_t time_option(VALUE options, const char *name)
{
    VALUE value = server_option(options, name);
    return NIL_P(value) ? PEL_FOREVER : pel_nanoseconds(value);
}

static size_t size_option(VALUE options, const char *name)
{
    VALUE value = server_option(options, name);
    return NIL_P(value) ? SIZE_MAX : NUM2SIZET(value);
}

static uint32_t count_option(VALUE options, const char *name)
{
    VALUE value = server_option(options, name);
    return NIL_P(value) ? UINT32_MAX : NUM2UINT(value);
}

static void open_public_folder(struct pel_http_server *server, VALUE folder)
{
    if (NIL_P(folder) || server->files)
        return;
    Check_Type(folder, T_STRING);
    server->files = pel_open_files_new(StringValueCStr(folder));
    if (!server->files)
        rb_raise(rb_eArgError, "public: %" PRIsVALUE ": %s: give the folder whose files are to be served", folder,
                 strerror(errno));
    RB_GC_GUARD(folder);
}

/* _setup(app, log, template, options) */
static VALUE server_setup(VALUE self, VALUE app, VALUE log, VALUE template, VALUE options)
{
    struct pel_http_server *server = pel_http_server_get(self);

    Check_Type(template, T_HASH);
    Check_Type(options, T_HASH);
    server->app = app;
    server->log = log;
    server->env_template = template;
    server->early_hints = !NIL_P(rb_hash_lookup(template, rb_str_new_lit("rack.early_hints")));
    server->secure = RTEST(server_option(options, "secure"));
    server->header_timeout = time_option(options, "header_timeout");
    server->idle_timeout = time_option(options, "idle_timeout");
    server->request_timeout = time_option(options, "request_timeout");
    server->write_timeout = time_option(options, "write_timeout");
    server->limits.target = size_option(options, "max_target");
    server->limits.head = size_option(options, "max_head");
    server->limits.headers = count_option(options, "max_headers");
    server->limits.body = size_option(options, "max_body");
    server->http2_limits = (struct pel_http2_limits){.message = &server->limits,
                                                     .streams = count_option(options, "max_streams"),
                                                     .window = count_option(options, "stream_window"),
                                                     .websockets = RTEST(server_option(options, "http2_websockets")),
                                                     .resets = count_option(options, "max_resets"),
                                                     .controls = count_option(options, "max_control_frames")};
    server->limit = count_option(options, "concurrency");
    server->queue_limit = count_option(options, "queue");
    server->requests_limit = count_option(options, "max_requests");
    server->body_rate = NIL_P(server_option(options, "body_rate")) ? 0 : count_option(options, "body_rate");
    if (RTEST(server_option(options, "cache")) && NUM2SIZET(server_option(options, "cache")) && !server->cache &&
        !(server->cache = pel_http_cache_new(NUM2SIZET(server_option(options, "cache")))))
        rb_memerror();
    server->file_age = NIL_P(server_option(options, "public_max_age")) ? 0 : count_option(options, "public_max_age");
    open_public_folder(server, server_option(options, "public"));
    if (server->limit == 0)
        rb_raise(rb_eArgError, "limit must be at least 1");
    return self;
}

/* _tls_only=: whether files are sent to clients with TLS alone. */
static VALUE server_set_tls_only(VALUE self, VALUE whether)
{
    pel_http_server_get(self)->tls_only = RTEST(whether);
    return whether;
}

/* _urgent_paths=: frozen Strings. GET and HEAD of them are answered at once, also where `limit` requests run. */
static VALUE server_set_urgent_paths(VALUE self, VALUE paths)
{
    Check_Type(paths, T_ARRAY);
    return pel_http_server_get(self)->urgent_paths = paths;
}

VALUE pel_init_http_server(void)
{
    VALUE class;

    pel_mHTTP = rb_define_module_under(pel_mPelton, "HTTP");
    class = rb_define_class_under(pel_mHTTP, "Server", rb_cObject);
    rb_define_alloc_func(class, http_server_allocate);
    rb_define_private_method(class, "_setup", server_setup, 4);
    rb_define_method(class, "_urgent_paths=", server_set_urgent_paths, 1);
    rb_define_method(class, "_tls_only=", server_set_tls_only, 1);
    return class;
}
