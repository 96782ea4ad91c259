#ifndef PELTON_RUBY_HTTP_RESPONSE_CACHED_RESPONSE_H
#define PELTON_RUBY_HTTP_RESPONSE_CACHED_RESPONSE_H

#include "ruby/http/connection/connection.h"

/* Responses into the server's cache, and out of it. Which ones, core/http1/caching.h says. */

struct pel_item;

/* What a request gets from the cache. */
struct pel_http_cached {
    struct pel_item *item; /* NULL: nothing. Answering releases it */
    unsigned not_modified : 1;
};

/* Looks the request up that has just begun. If its response may be kept, the request remembers so. Raises
 * NoMemoryError. */
struct pel_http_cached pel_http_cache_find(struct pel_http_connection *connection, const struct pel_http1_head *head);

/* Sends what was found, and ends the exchange. C only, but for NoMemoryError. */
void pel_http_cache_answer(struct pel_http_connection *connection, struct pel_http_cached cached);

/* Keeps a response, if it may be kept. `mark`: where its head begins in the output; `parts`: the whole body, Strings of
 * `length` bytes. */
void pel_http_cache_keep(struct pel_http_connection *connection, size_t mark, VALUE parts, size_t length);

#endif
