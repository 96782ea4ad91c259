#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>
#include "core/memcached_server/memcached_server.h"
#include "ruby/base/exception.h"
#include "ruby/base/upcall.h"
#include "ruby/reactor/reactor.h"

/*
 * Pelton::Memcached::Server: core's embedded server on a reactor. Ruby code runs only to start it, to stop it and to
 * read its stats.
 */

#define TICK_NS INT64_C(1000000000)

struct server {
    struct pel_memcached_server core; /* first */
    struct pel_reactor *reactor;
    VALUE self, reactor_object;
    struct pel_root root; /* registered while it runs */
    struct pel_reactor_timer tick;
    struct server *next;     /* the next running server of this process */
    uint64_t binary_clients; /* of which a job has told or will tell */
    unsigned running : 1;
    unsigned abandoned : 1; /* it was running in the parent when this process was forked */
    unsigned batch_queued : 1;
};

static struct server *running_servers;

static void close_memcached_server(struct server *server)
{
    if (!server->running)
        return;
    server->running = 0;
    PEL_CHAIN_REMOVE(running_servers, server, next);
    /* An active timer belongs to an open loop. */
    if (!server->abandoned && pel_timer_active(&server->tick.entry))
        pel_timer_cancel(&server->reactor->loop.timers, &server->tick.entry);
    server->tick.entry = (struct pel_timer){.deadline = 0};
    pel_memcached_server_close(&server->core);
    server->abandoned = 0;
}

static void abandon_servers_in_child(void)
{
    for (struct server *server = running_servers; server; server = server->next) {
        server->abandoned = 1;
        pel_memcached_server_abandon(&server->core);
    }
    running_servers = NULL;
}

/* ---- memory --------------------------------------------------------------------------------------------------- */

static void memcached_server_mark(void *data)
{
    struct server *server = data;

    rb_gc_mark(server->self); /* pinned: C keeps the reference */
    rb_gc_mark(server->reactor_object);
}

static void memcached_server_free(void *data)
{
    close_memcached_server(data);
    xfree(data);
}

static size_t memcached_server_size(const void *data)
{
    const struct server *server = data;
    return sizeof *server + (server->running ? server->core.service.store.bytes : 0);
}

/* Deliberately without RUBY_TYPED_WB_PROTECTED: its references are written once, at the start, and its reactor's GC
 * roots mark it. */
static const rb_data_type_t memcached_server_type = {
    .wrap_struct_name = "Pelton::Memcached::Server",
    .function = {.dmark = memcached_server_mark, .dfree = memcached_server_free, .dsize = memcached_server_size},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY};

static VALUE memcached_server_allocate(VALUE class)
{
    struct server *server;
    VALUE self = TypedData_Make_Struct(class, struct server, &memcached_server_type, server);

    server->self = self;
    server->reactor_object = Qnil;
    return self;
}

static struct server *memcached_server_get(VALUE self)
{
    return rb_check_typeddata(self, &memcached_server_type);
}

static struct server *memcached_server_get_running(VALUE self)
{
    struct server *server = memcached_server_get(self);

    if (server->abandoned)
        rb_raise(pel_eClosedError, "this server runs in the parent process: start one in the child");
    if (!server->running)
        rb_raise(pel_eClosedError, "the server is not running: call start");
    return server;
}

/* ---- callbacks of the loop: C only ---------------------------------------------------------------------------- */

static void run_server_batch(struct pel_reactor *reactor, void *data)
{
    struct server *server = data;

    server->batch_queued = 0;
    if (server->running && !server->abandoned)
        pel_memcached_server_run(&server->core);
}

static void drop_server_batch(void *data)
{
    ((struct server *)data)->batch_queued = 0;
}

static void server_on_backlog(struct pel_memcached_server *core)
{
    struct server *server = (struct server *)core;

    /* The core calls this, so nothing may be raised. Without memory for the job the next tick of the server tries
     * again. */
    if (server->batch_queued || !pel_queues_reserve(server->reactor))
        return;
    server->batch_queued = 1;
    pel_enqueue(
        server->reactor,
        (struct pel_job){.run = run_server_batch, .drop = drop_server_batch, .data = server, .object = server->self});
}

static void report_binary_clients(struct pel_reactor *reactor, void *data)
{
    struct server *server = data;

    pel_upcall(binary_clients, server->self, ULL2NUM(server->binary_clients));
}

/* Ruby is called in a job: nothing may be raised here. */
static void note_binary_clients(struct server *server)
{
    if (server->core.service.binary_clients == server->binary_clients || !pel_queues_reserve(server->reactor))
        return;
    server->binary_clients = server->core.service.binary_clients;
    pel_enqueue(server->reactor,
                (struct pel_job){.run = report_binary_clients, .data = server, .object = server->self});
}

static void server_tick_on_timeout(struct pel_reactor *reactor, struct pel_reactor_timer *timer)
{
    struct server *server = PEL_LINKED(struct server, tick, timer);

    pel_memcached_server_tick(&server->core);
    if (server->core.backlog_notified)
        server_on_backlog(&server->core);
    note_binary_clients(server);
    pel_timer_add(&reactor->loop.timers, &timer->entry, reactor->loop.now + TICK_NS);
}

static void stop_memcached_server(struct pel_reactor *reactor, struct pel_root *root)
{
    struct server *server = PEL_LINKED(struct server, root, root);

    reactor->references--;
    if (!server->abandoned)
        pel_memcached_server_drain(&server->core);
    close_memcached_server(server);
}

/* ---- methods -------------------------------------------------------------------------------------------------- */

/* _close: legal when the server is not running. */
static VALUE memcached_server_close(VALUE self)
{
    struct server *server = memcached_server_get(self);

    if (server->running) {
        pel_roots_remove(&server->reactor->roots, &server->root);
        if (!server->abandoned) {
            server->reactor->references--;
            pel_memcached_server_drain(&server->core);
        }
    }
    close_memcached_server(server);
    return Qnil;
}

/* _start(memory, value limit, connections, idle timeout, verbosity): the caller calls _listen next. */
static VALUE memcached_server_start(VALUE self, VALUE memory, VALUE value, VALUE connections, VALUE idle,
                                    VALUE verbosity)
{
    struct server *server = memcached_server_get(self);
    struct pel_memcached_limits limits = {.memory = NUM2ULL(memory),
                                          .value = NUM2ULL(value),
                                          .connections = NUM2UINT(connections),
                                          .idle_timeout = NUM2UINT(idle)};
    struct pel_reactor *reactor = pel_reactor_running("Server#start");
    int code, level = NUM2INT(verbosity);

    if (server->abandoned) /* drop the parent's state */
        memcached_server_close(self);
    if (server->running)
        rb_raise(pel_eError, "the server is running already");
    server->core.on_backlog = server_on_backlog;
    server->binary_clients = 0;
    code = pel_memcached_server_open(&server->core, &reactor->loop, &limits);
    if (code < 0)
        pel_raise(code, code == PEL_ESYSTEM ? errno : 0, "cannot start a memcached server");
    server->core.service.verbosity = server->core.service.configured_verbosity = level;
    server->reactor = reactor;
    server->reactor_object = reactor->self;
    server->running = 1;
    server->next = running_servers;
    running_servers = server;
    server->root = (struct pel_root){.stop = stop_memcached_server};
    pel_roots_add(&reactor->roots, &server->root, self);
    reactor->references++;
    server->tick = (struct pel_reactor_timer){.on_timeout = server_tick_on_timeout};
    pel_timer_add(&reactor->loop.timers, &server->tick.entry, reactor->loop.now + TICK_NS);
    return self;
}

/* _listen(descriptor): listens on a duplicate of it. */
static VALUE memcached_server_listen(VALUE self, VALUE descriptor)
{
    struct server *server = memcached_server_get_running(self);
    int fd = fcntl(NUM2INT(descriptor), F_DUPFD_CLOEXEC, 0), code = PEL_ESYSTEM, error = errno;

    if (fd >= 0) {
        code = pel_memcached_server_listen(&server->core, fd);
        error = errno;
    }
    if (code < 0) {
        if (fd >= 0)
            close(fd);
        pel_raise(code, code == PEL_ESYSTEM ? error : 0, "cannot listen");
    }
    return self;
}

static VALUE memcached_server_running_p(VALUE self)
{
    struct server *server = memcached_server_get(self);
    return server->running && !server->abandoned ? Qtrue : Qfalse;
}

static VALUE memcached_server_stats(VALUE self)
{
    const struct pel_memcached_service *service = &memcached_server_get_running(self)->core.service;
    const struct pel_store *store = &service->store;
    VALUE stats = rb_hash_new();

#define STAT(name, number) rb_hash_aset(stats, ID2SYM(rb_intern(#name)), ULL2NUM(number))
#define COUNTER(name) STAT(name, service->counters.name);
    STAT(curr_items, store->table.count);
    STAT(total_items, store->total_items);
    STAT(bytes, store->linked_bytes);
    STAT(limit_maxbytes, store->memory_limit);
    STAT(evictions, store->evictions);
    STAT(reclaimed, store->reclaimed);
    STAT(crawler_reclaimed, store->crawler_reclaimed);
    STAT(get_expired, store->get_expired);
    STAT(curr_connections, service->connections);
    STAT(max_connections, service->max_connections);
    PEL_MEMCACHED_COUNTERS(COUNTER)
#undef COUNTER
#undef STAT
    return stats;
}

/* _describe(port, hosts, path): the addresses that "stats settings" reports. */
static VALUE memcached_server_describe(VALUE self, VALUE port, VALUE hosts, VALUE path)
{
    struct pel_memcached_service *service = &memcached_server_get_running(self)->core.service;

    service->port = NUM2INT(port);
    snprintf(service->hosts, sizeof service->hosts, "%s", StringValueCStr(hosts));
    snprintf(service->path, sizeof service->path, "%s", StringValueCStr(path));
    return Qnil;
}

void pel_init_memcached_server(void)
{
    VALUE module = rb_define_module_under(pel_mPelton, "Memcached");
    VALUE class = rb_define_class_under(module, "Server", rb_cObject);

    pthread_atfork(NULL, NULL, abandon_servers_in_child);
    rb_define_alloc_func(class, memcached_server_allocate);
    rb_define_private_method(class, "_start", memcached_server_start, 5);
    rb_define_private_method(class, "_listen", memcached_server_listen, 1);
    rb_define_private_method(class, "_close", memcached_server_close, 0);
    rb_define_private_method(class, "_stats", memcached_server_stats, 0);
    rb_define_private_method(class, "_describe", memcached_server_describe, 3);
    rb_define_method(class, "running?", memcached_server_running_p, 0);
}
