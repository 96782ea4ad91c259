#ifndef PELTON_RUBY_HTTP_CONNECTION_DURATIONS_H
#define PELTON_RUBY_HTTP_CONNECTION_DURATIONS_H

#include <ruby.h>
#include <stdint.h>

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

#endif
