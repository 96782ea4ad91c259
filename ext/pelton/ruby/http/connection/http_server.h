#pragma once

#include <ruby.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include "core/http1/http1_head.h"
#include "core/http2/http2_session.h"
#include "ruby/reactor/reactor.h"

struct pel_http_connection;

/* Limits how many bytes all response bodies write per tick (share.c). */
struct pel_http_share {
    struct pel_turns turns; /* of the fibers that wait */
    uint64_t tick;          /* the reactor's iteration to which `used` belongs */
    size_t used;
    unsigned queued : 1; /* the job that grants turns is on the ready queue */
};

/* A body has written `bytes`, or is about to begin (0). Parks until it is the body's turn to produce more, if other
 * bodies wait or the tick's share is used. Raises when the fiber is cancelled. The exchange may be over afterwards. */
void pel_http_share(struct pel_http_connection *connection, size_t bytes);

/* How long requests took, by their method, status and route: the histogram http.server.request.duration of
 * OpenTelemetry. There are 500 series at most. Beyond, requests are counted without their route. */

struct pel_http_series;

struct pel_http_durations {
    struct pel_http_series *slots; /* a table by method, status and route; NULL until the first request */
    uint32_t capacity, count;
};

/* Counts a request. `route` is any object that stands for the route, or nil; it is kept alive from now on. C only. */
void pel_http_durations_add(struct pel_http_durations *durations, unsigned method, unsigned status, VALUE route,
                            int64_t nanoseconds);

/* An Array of [method, status, route, counts]; counts has by each bound in seconds the number of requests that took so
 * long at most, and their sum in seconds. Raises. */
VALUE pel_http_durations_list(const struct pel_http_durations *durations);

void pel_http_durations_mark(const struct pel_http_durations *durations);
void pel_http_durations_free(struct pel_http_durations *durations);
size_t pel_http_durations_size(const struct pel_http_durations *durations);

/* A list of connections. Each connection is on one list at most. */
struct pel_http_list {
    struct pel_http_connection *first, *last;
    uint32_t count;
};

/* Puts a connection at the list's end, and takes it off the list that it was on. C only. */
void pel_http_list_add(struct pel_http_list *list, struct pel_http_connection *connection);

/* Takes a connection off its list. No-op when it is on none. C only. */
void pel_http_list_remove(struct pel_http_connection *connection);

/* Of HTTP/2, since the server was made. */
struct pel_http2_counts {
    uint64_t connections, streams;
    uint64_t resets; /* requests that their client has cancelled while they were answered */
    uint64_t floods; /* connections that were ended because their client did too much of what only costs work */
};

/* Pelton::HTTP::Server: what all of its connections share. */

#define PEL_HTTP_STATUS_CLASSES 5 /* 1xx to 5xx */

struct pel_http_cache;
struct pel_open_files;

struct pel_http_server {
    struct pel_reclaimer reclaimer; /* first; among the reactor's while there are connections */
    struct pel_reactor *reactor;    /* of all connections, while there are any */
    unsigned fork_generation;
    VALUE self, app, log; /* log: nil, or called with the facts of each exchange that has ended */
    VALUE env_template;   /* env without what a request adds; Qfalse until the first request */
    VALUE urgent_paths;   /* an Array: requests for them take no slot; Qfalse */
    VALUE host;           /* the last Host header, whose name and port the template has; Qfalse */
    VALUE on_change;      /* a Proc, while the server stops; Qfalse */
    struct pel_http1_limits limits;
    struct pel_http2_limits http2_limits; /* streams: 0 where HTTP/2 is not served */
    struct pel_http2_counts http2_counts;
    struct pel_http_cache *cache;                                         /* of public responses, or NULL */
    struct pel_open_files *files;                                         /* of the public folder, or NULL */
    int64_t header_timeout, idle_timeout, request_timeout, write_timeout; /* nanoseconds */
    uint32_t limit;          /* requests that run at once: the number of slots */
    uint32_t queue_limit;    /* requests that wait for a slot */
    uint32_t requests_limit; /* of one connection */
    uint32_t body_rate;      /* bytes a second at which a request's body must arrive; 0: any */
    uint32_t file_age;       /* seconds for which clients may keep a public file unasked */
    uint32_t running, connections;
    uint32_t held; /* of the running: those that have a slot, and begin when others wait or have ended */
    uint64_t accepted, requests, refused, overloads, errors;
    uint64_t responses[PEL_HTTP_STATUS_CLASSES];
    struct pel_http_durations durations;
    struct pel_http_list idle;          /* connections between two requests, the longest idle first */
    struct pel_http_list waiting;       /* connections whose request waits for a slot */
    struct pel_http_list http2;         /* connections of HTTP/2 that have streams */
    struct pel_http_list event_streams; /* connections whose response goes on as long as the client likes */
    struct pel_http_share share;        /* of the loop, among response bodies */
    time_t date_time;                   /* the time that `date` says */
    char date[32];
    int64_t stopping_since; /* 0: the server does not stop */
    uint8_t secure;
    uint8_t tls_only;    /* requests that came without TLS are the application's, which redirects them */
    uint8_t early_hints; /* the application may send them */
    uint8_t host_has_port;
    uint8_t peaked; /* IdleMemory waits for the end of a peak */
};

struct pel_http_server *pel_http_server_get(VALUE self);

/* Whether the server may serve on this reactor: all of its connections belong to one reactor. Connections inherited
 * through a fork are forgotten. */
int pel_http_server_usable_p(struct pel_http_server *server, struct pel_reactor *reactor);

/* One connection more, or less. Adding sets server->reactor; reclaimer.close_some must be set. C only. */
void pel_http_server_add(struct pel_http_server *server, struct pel_reactor *reactor);
void pel_http_server_hold(struct pel_http_server *server, struct pel_reactor *reactor); /* none that was accepted */
void pel_http_server_remove(struct pel_http_server *server, struct pel_reactor *reactor);

/* Wakes Server#stop: the last connection has ended, or something has begun that has to end. */
void pel_http_server_changed(struct pel_http_server *server, struct pel_reactor *reactor);

/* The present time as headers have it: PEL_HTTP1_DATE bytes. */
const char *pel_http_date(struct pel_http_server *server);

extern VALUE pel_mHTTP;

/* Defines Pelton::HTTP and Pelton::HTTP::Server, which is returned. */
VALUE pel_init_http_server(void);

/* The memory of a peak, which Ruby and malloc keep until it is asked back: lib/pelton/http/idle_memory.rb. */

#define PEL_HTTP_PEAK 64 /* busy connections, from which on the memory is worth asking for */

/* So many connections are busy: has IdleMemory wait for the peak's end, unless it does already. C only. */
void pel_http_peak_reached(struct pel_http_server *server);

void pel_init_http_peak(VALUE server);

/* Adds Server#_requests. */
void pel_init_http_requests(VALUE class);

/* Counts an exchange that is over. Returns the nanoseconds that it took; 0 if there was no request, only bytes that
 * were refused. C only. */
int64_t pel_http_count_exchange(struct pel_http_connection *connection);

void pel_init_http_stats(VALUE class);
