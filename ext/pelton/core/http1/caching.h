#pragma once

#include "core/http1/http1_head.h"

/*
 * The rules of a cache that is shared by all clients (RFC 9111), in a cautious form: what is not known to be harmless
 * does not go through the cache.
 */

#define PEL_HTTP1_CACHE_KEY 4096 /* the most bytes of a key */

/*
 * Writes the key of a request's response: scheme, host, target and the headers that say what is asked for (Accept,
 * X-Forwarded-Host ...), byte by byte as they were sent. Returns its length; 0: the request must not be answered from a
 * cache, nor its response kept. So it is for
 *
 * - methods other than GET and HEAD, HTTP/1.0, requests with a body, and targets that name a host
 * - a request with any header that is not known to be harmless: with Cookie, Authorization, Range, Cache-Control,
 *   Forwarded, X-Original-URL, or an unknown one; or with a header of the key that was sent twice
 * - keys that are too long
 *
 * `*hides`: whether it has headers that are not part of the key (User-Agent, X-Forwarded-For ...). A response may be
 * given to others only if the application has not seen these.
 */
size_t pel_http1_cache_key(const struct pel_http1_head *request, int secure, char *key, int *hides);

/* Whether a key is of a target that `pattern` names: the target itself; its path, with any query, where the pattern has
 * none; or, if the pattern ends with `*`, a target that begins so. Scheme, host and headers may be any. */
int pel_http1_cache_key_matches(struct pel_slice key, struct pel_slice pattern);

/* Whether a request's header of that name must be hidden from the application. */
int pel_http1_cache_hides(struct pel_slice name);

/* Whether a response's header says something about its own request, such as X-Request-Id, or only that its connection
 * ends: it is not kept. */
int pel_http1_cache_drops(struct pel_slice name, struct pel_slice value);

/* The seconds after its lifetime in which a response may still be given out (RFC 5861). */
struct pel_http1_stale {
    uint32_t while_revalidate; /* at once, while a new one is made */
    uint32_t if_error;         /* in place of a failure */
};

/*
 * The seconds for which a response may be given to others, at most a year; 0: it may not. It must have the status 200,
 * a Content-Length, and in Cache-Control `public` and a positive s-maxage or else max-age. It must not have private,
 * no-store or no-cache there; nor Set-Cookie, an Age, a Connection of its own, or a Vary by anything that
 * is not in the key. `*stale` is 0 for a response with must-revalidate or proxy-revalidate.
 */
uint32_t pel_http1_cache_lifetime(const struct pel_http1_head *response, struct pel_http1_stale *stale);

/* Whether a request's If-None-Match names the tag (by the weak comparison) or, without If-None-Match, If-Modified-Since
 * is the date. A slice of length 0: the response has none. */
int pel_http1_not_modified(const struct pel_http1_head *request, struct pel_slice tag, struct pel_slice date);
