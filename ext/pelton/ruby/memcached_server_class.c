#include "memcached_server_class.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>
#include "../core/memcached_server.h"
#include "error.h"
#include "reactor.h"

/*
 * Pelton::Memcached::Server: core's server on a reactor. Ruby starts it, stops it and asks for figures; between these
 * it is not entered.
 */

#define TICK_NS INT64_C(1000000000)

struct server {
    struct pel_memcached_server core; /* first */
    struct pel_reactor *reactor;
    VALUE self, reactor_object;
    struct pel_listed listed; /* while it runs */
    struct pel_alarm tick;
    struct server *next; /* of those that run in this process */
    unsigned running : 1;
    unsigned abandoned : 1; /* it ran in the parent of this process */
    unsigned turn_queued : 1;
};

static struct server *running;

static void close_server(struct server *server)
{
    struct server **link = &running;

    if (!server->running)
        return;
    server->running = 0;
    while (*link && *link != server)
        link = &(*link)->next;
    if (*link)
        *link = server->next;
    /* A timer that is active has a loop that is open. */
    if (!server->abandoned && pel_timer_active(&server->tick.timer))
        pel_timer_cancel(&server->reactor->loop.timers, &server->tick.timer);
    server->tick.timer = (struct pel_timer){.deadline = 0};
    pel_memcached_server_close(&server->core);
    server->abandoned = 0;
}

static void after_fork_in_child(void)
{
    for (struct server *server = running; server; server = server->next) {
        server->abandoned = 1;
        pel_memcached_server_abandon(&server->core);
    }
    running = NULL;
}

/* ---- memory --------------------------------------------------------------------------------------------------- */

static void server_mark(void *data)
{
    struct server *server = data;

    rb_gc_mark(server->self); /* pinned: C keeps it */
    rb_gc_mark(server->reactor_object);
}

static void server_free(void *data)
{
    close_server(data);
    xfree(data);
}

static size_t server_size(const void *data)
{
    const struct server *server = data;
    return sizeof *server + (server->running ? server->core.service.store.bytes : 0);
}

/* Deliberately without RUBY_TYPED_WB_PROTECTED: it is written once, when it starts, and marked by its reactor's list.
 */
static const rb_data_type_t server_type = {
    .wrap_struct_name = "Pelton::Memcached::Server",
    .function = {.dmark = server_mark, .dfree = server_free, .dsize = server_size},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY};

static VALUE server_allocate(VALUE class)
{
    struct server *server;
    VALUE self = TypedData_Make_Struct(class, struct server, &server_type, server);

    server->self = self;
    server->reactor_object = Qnil;
    return self;
}

static struct server *get(VALUE self)
{
    return rb_check_typeddata(self, &server_type);
}

static struct server *get_running(VALUE self)
{
    struct server *server = get(self);

    if (server->abandoned)
        rb_raise(pel_eClosedError, "this server runs in the parent process: start one in the child");
    if (!server->running)
        rb_raise(pel_eClosedError, "the server is not running: call start");
    return server;
}

/* ---- what the loop calls: C only ------------------------------------------------------------------------------ */

static void run_turn(struct pel_reactor *reactor, void *data)
{
    struct server *server = data;

    server->turn_queued = 0;
    if (server->running && !server->abandoned)
        pel_memcached_server_turn(&server->core);
}

static void drop_turn(void *data)
{
    ((struct server *)data)->turn_queued = 0;
}

static void mark_server(void *data)
{
    rb_gc_mark(((struct server *)data)->self);
}

static void on_backlog(struct pel_memcached_server *core)
{
    struct server *server = (struct server *)core;

    if (server->turn_queued)
        return;
    server->turn_queued = 1;
    pel_enqueue(server->reactor,
                (struct pel_job){.run = run_turn, .mark = mark_server, .drop = drop_turn, .data = server});
}

static void ring(struct pel_reactor *reactor, struct pel_alarm *alarm)
{
    struct server *server = (struct server *)((char *)alarm - offsetof(struct server, tick));

    pel_memcached_server_tick(&server->core);
    pel_timer_add(&reactor->loop.timers, &alarm->timer, reactor->loop.now + TICK_NS);
}

static void stop(struct pel_reactor *reactor, struct pel_listed *listed)
{
    struct server *server = (struct server *)((char *)listed - offsetof(struct server, listed));

    reactor->references--;
    if (!server->abandoned)
        pel_memcached_server_drain(&server->core);
    close_server(server);
}

/* ---- methods -------------------------------------------------------------------------------------------------- */

/* Legal when it does not run. */
static VALUE server_close(VALUE self)
{
    struct server *server = get(self);

    if (server->running) {
        pel_list_remove(&server->reactor->list, &server->listed);
        if (!server->abandoned) {
            server->reactor->references--;
            pel_memcached_server_drain(&server->core);
        }
    }
    close_server(server);
    return Qnil;
}

/* _start(memory, value limit, connections, idle timeout, verbosity): then _listen. */
static VALUE server_start(VALUE self, VALUE memory, VALUE value, VALUE connections, VALUE idle, VALUE verbosity)
{
    struct server *server = get(self);
    struct pel_memcached_limits limits = {.memory = NUM2ULL(memory),
                                          .value = NUM2ULL(value),
                                          .connections = NUM2UINT(connections),
                                          .idle_timeout = NUM2UINT(idle)};
    struct pel_reactor *reactor = pel_reactor_running("Server#start");
    int code, level = NUM2INT(verbosity);

    if (server->abandoned) /* what the parent had is of no use here */
        server_close(self);
    if (server->running)
        rb_raise(pel_eError, "the server is running already");
    server->core.on_backlog = on_backlog;
    code = pel_memcached_server_open(&server->core, &reactor->loop, &limits);
    if (code < 0)
        pel_raise(code, code == PEL_ESYSTEM ? errno : 0, "cannot start a memcached server");
    server->core.service.verbosity = server->core.service.configured_verbosity = level;
    server->reactor = reactor;
    server->reactor_object = reactor->self;
    server->running = 1;
    server->next = running;
    running = server;
    server->listed = (struct pel_listed){.stop = stop};
    pel_list_add(&reactor->list, &server->listed, self);
    reactor->references++;
    server->tick = (struct pel_alarm){.ring = ring};
    pel_timer_add(&reactor->loop.timers, &server->tick.timer, reactor->loop.now + TICK_NS);
    return self;
}

/* _listen(descriptor): a copy of it is taken over. */
static VALUE server_listen(VALUE self, VALUE descriptor)
{
    struct server *server = get_running(self);
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

static VALUE server_running_p(VALUE self)
{
    struct server *server = get(self);
    return server->running && !server->abandoned ? Qtrue : Qfalse;
}

static VALUE server_stats(VALUE self)
{
    const struct pel_memcached_service *service = &get_running(self)->core.service;
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

/* _describe(port, hosts, path): what it listens on, to be told by "stats settings". */
static VALUE server_describe(VALUE self, VALUE port, VALUE hosts, VALUE path)
{
    struct pel_memcached_service *service = &get_running(self)->core.service;

    service->port = NUM2INT(port);
    snprintf(service->hosts, sizeof service->hosts, "%s", StringValueCStr(hosts));
    snprintf(service->path, sizeof service->path, "%s", StringValueCStr(path));
    return Qnil;
}

void pel_init_memcached_server(void)
{
    VALUE module = rb_define_module_under(pel_mPelton, "Memcached");
    VALUE class = rb_define_class_under(module, "Server", rb_cObject);

    pthread_atfork(NULL, NULL, after_fork_in_child);
    rb_define_alloc_func(class, server_allocate);
    rb_define_private_method(class, "_start", server_start, 5);
    rb_define_private_method(class, "_listen", server_listen, 1);
    rb_define_private_method(class, "_close", server_close, 0);
    rb_define_private_method(class, "_stats", server_stats, 0);
    rb_define_private_method(class, "_describe", server_describe, 3);
    rb_define_method(class, "running?", server_running_p, 0);
}
