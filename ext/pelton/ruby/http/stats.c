#include "ruby/http/stats.h"

#include <stdio.h>

/* What a server has counted, and how long its requests took. */

/* The upper bounds of the histogram's buckets, in nanoseconds: those of Prometheus' own clients, and shorter ones. */
static const int64_t bounds[] = {1000000,   2500000,   5000000,    10000000,   25000000,   50000000,   100000000,
                                 250000000, 500000000, 1000000000, 2500000000, 5000000000, 10000000000};

#define BOUNDS (sizeof bounds / sizeof *bounds)

_Static_assert(BOUNDS + 1 == PEL_HTTP_DURATION_BUCKETS, "a bucket for each bound, and one beyond the last");

int64_t pel_http_count_exchange(struct pel_http_connection *connection)
{
    struct pel_http_server *server = connection->server;
    unsigned status = connection->response.status;
    int64_t took;
    unsigned i = 0;

    if (status >= 100 && status < 600)
        server->responses[status / 100 - 1]++;
    if (!connection->request.env) /* it was never a request */
        return 0;
    took = pel_now() - connection->request.began;
    while (i < BOUNDS && took > bounds[i])
        i++;
    server->durations[i]++;
    server->total_duration += took;
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

/* By each bound in seconds the number of requests that took at most so long, as Prometheus wants it; and the sum. */
static VALUE duration_counts(const struct pel_http_server *server)
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
    rb_hash_aset(counts, rb_str_new_cstr("sum"), DBL2NUM((double)server->total_duration / 1e9));
    return counts;
}

static VALUE http_server_stats(VALUE self)
{
    struct pel_http_server *server = pel_http_server_get(self);
    VALUE stats = rb_hash_new();

    set_count(stats, "connections", server->connections);
    set_count(stats, "idle", server->idle.count);
    set_count(stats, "running", server->running);
    set_count(stats, "waiting", server->waiting.count);
    set_count(stats, "accepted", server->accepted);
    set_count(stats, "requests", server->requests);
    set_count(stats, "refused", server->refused);
    set_count(stats, "overloads", server->overloads);
    set_count(stats, "errors", server->errors);
    rb_hash_aset(stats, ID2SYM(rb_intern("responses")), response_counts(server));
    rb_hash_aset(stats, ID2SYM(rb_intern("durations")), duration_counts(server));
    return stats;
}

void pel_init_http_stats(VALUE class)
{
    rb_define_method(class, "_stats", http_server_stats, 0);
}
