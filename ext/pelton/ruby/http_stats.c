#include "http.h"

#include <stdio.h>

/* What a server has counted, and how long its requests took. */

/* Where a request's time belongs: the bounds that Prometheus' own clients have, and shorter ones. Nanoseconds. */
static const int64_t bounds[] = {1000000,   2500000,   5000000,    10000000,   25000000,   50000000,   100000000,
                                 250000000, 500000000, 1000000000, 2500000000, 5000000000, 10000000000};

#define BOUNDS (sizeof bounds / sizeof *bounds)

_Static_assert(BOUNDS + 1 == PEL_HTTP_DURATIONS, "a bucket for each bound, and one beyond");

int64_t pel_http_count(struct pel_http_connection *connection)
{
    struct pel_http_server *server = connection->server;
    int64_t took;
    unsigned i = 0;

    if (connection->status >= 100 && connection->status < 600)
        server->responses[connection->status / 100 - 1]++;
    if (!connection->env) /* it was never a request */
        return 0;
    took = pel_now() - connection->began;
    while (i < BOUNDS && took > bounds[i])
        i++;
    server->durations[i]++;
    server->duration += took;
    return took;
}

static void put(VALUE stats, const char *name, uint64_t number)
{
    rb_hash_aset(stats, ID2SYM(rb_intern(name)), ULL2NUM(number));
}

static VALUE responses(const struct pel_http_server *server)
{
    VALUE counts = rb_hash_new();
    char class[] = "1xx";

    for (unsigned i = 0; i < PEL_HTTP_CLASSES; i++, class[0]++)
        rb_hash_aset(counts, rb_str_new_cstr(class), ULL2NUM(server->responses[i]));
    return counts;
}

/* How many took so many seconds at most, as Prometheus wants it; and the sum. */
static VALUE durations(const struct pel_http_server *server)
{
    VALUE counts = rb_hash_new();
    uint64_t count = 0;
    char bound[32];

    for (unsigned i = 0; i < BOUNDS; i++) {
        count += server->durations[i];
        snprintf(bound, sizeof bound, "%g", (double)bounds[i] / 1e9);
        rb_hash_aset(counts, rb_str_new_cstr(bound), ULL2NUM(count));
    }
    rb_hash_aset(counts, rb_str_new_cstr("+Inf"), ULL2NUM(count + server->durations[BOUNDS]));
    rb_hash_aset(counts, rb_str_new_cstr("sum"), DBL2NUM((double)server->duration / 1e9));
    return counts;
}

static VALUE server_stats(VALUE self)
{
    struct pel_http_server *server = pel_http_server_get(self);
    VALUE stats = rb_hash_new();

    put(stats, "connections", server->connections);
    put(stats, "idle", server->idle.count);
    put(stats, "running", server->running);
    put(stats, "waiting", server->waiting.count);
    put(stats, "accepted", server->accepted);
    put(stats, "requests", server->requests);
    put(stats, "refused", server->refused);
    put(stats, "overloads", server->overloads);
    put(stats, "errors", server->errors);
    rb_hash_aset(stats, ID2SYM(rb_intern("responses")), responses(server));
    rb_hash_aset(stats, ID2SYM(rb_intern("durations")), durations(server));
    return stats;
}

void pel_init_http_stats(VALUE class)
{
    rb_define_method(class, "stats", server_stats, 0);
}
