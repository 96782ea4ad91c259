#include "ruby/http/connection/http_server.h"

#include "ruby/http/connection/cache.h"
#include "ruby/http/connection/flight.h"
#include "ruby/http/connection/http_connection.h"

static VALUE key_route, route_of_files;

/* What the framework has put into the env for logs and measurements. */
static VALUE route_of(const struct pel_http_connection *connection)
{
    VALUE route;

    if (connection->request.for_file)
        return route_of_files;
    route = connection->request.env ? rb_hash_lookup(connection->request.env, key_route) : Qnil;

    return RTEST(route) ? route : Qnil;
}

int64_t pel_http_count_exchange(struct pel_http_connection *connection)
{
    struct pel_http_server *server = connection->server;
    unsigned status = connection->response.status;
    int64_t took;

    if (status >= 100 && status < 600)
        server->responses[status / 100 - 1]++;
    if (!connection->request.began) /* it was never a request */
        return 0;
    took = pel_now() - connection->request.began;
    pel_http_durations_add(&server->durations, connection->request.method, status, route_of(connection), took);
    return took;
}

static void set_count(VALUE stats, const char *name, uint64_t number)
{
    rb_hash_aset(stats, ID2SYM(rb_intern(name)), ULL2NUM(number));
}

static VALUE response_counts(const struct pel_http_server *server)
{
    VALUE counts = rb_hash_new();
    char class[] = "1xx";

    for (unsigned i = 0; i < PEL_HTTP_STATUS_CLASSES; i++, class[0]++)
        rb_hash_aset(counts, rb_str_new_cstr(class), ULL2NUM(server->responses[i]));
    return counts;
}

static VALUE http_server_stats(VALUE self)
{
    struct pel_http_server *server = pel_http_server_get(self);
    uint32_t flying = server->cache ? pel_http_flights_waiting(server->cache) : 0;
    VALUE stats = rb_hash_new();

    set_count(stats, "connections", server->connections);
    set_count(stats, "idle", server->idle.count);
    set_count(stats, "running", server->running - server->held);
    set_count(stats, "waiting", server->waiting.count + server->held + flying);
    set_count(stats, "active", server->running + server->waiting.count + flying);
    set_count(stats, "accepted", server->accepted);
    set_count(stats, "requests", server->requests);
    set_count(stats, "refused", server->refused);
    set_count(stats, "overloads", server->overloads);
    set_count(stats, "errors", server->errors);
    set_count(stats, "http2_connections", server->http2_counts.connections);
    set_count(stats, "http2_streams", server->http2_counts.streams);
    set_count(stats, "http2_resets", server->http2_counts.resets);
    set_count(stats, "http2_floods", server->http2_counts.floods);
    if (server->cache) {
        set_count(stats, "cache_hits", server->cache->hits);
        set_count(stats, "cache_misses", server->cache->misses);
        set_count(stats, "cache_stale", server->cache->stale);
        set_count(stats, "cache_waits", server->cache->waits);
        set_count(stats, "cache_purged", server->cache->purged);
        set_count(stats, "cache_bytes", server->cache->store.linked_bytes);
    }
    rb_hash_aset(stats, ID2SYM(rb_intern("responses")), response_counts(server));
    return stats;
}

/* _durations: see pel_http_durations_list */
static VALUE http_server_durations(VALUE self)
{
    return pel_http_durations_list(&pel_http_server_get(self)->durations);
}

void pel_init_http_stats(VALUE class)
{
    key_route = rb_interned_str_cstr("pelton.web.route");
    rb_gc_register_mark_object(key_route);
    route_of_files = rb_interned_str_cstr("public");
    rb_gc_register_mark_object(route_of_files);
    rb_define_method(class, "_stats", http_server_stats, 0);
    rb_define_private_method(class, "_durations", http_server_durations, 0);
}
