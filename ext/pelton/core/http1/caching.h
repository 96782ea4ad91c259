#ifndef PELTON_CORE_HTTP1_CACHING_H
#define PELTON_CORE_HTTP1_CACHING_H

#include "core/http1/head.h"

/*
 * The rules of a cache that is shared by all clients (RFC 9111), in a cautious form: what is not known to be harmless
 * does not go through the cache.
 */

#define PEL_HTTP1_CACHE_KEY 250 /* the most bytes of a key */

/*
 * Writes the key of a request's response: scheme, host, target, Accept-Encoding and X-Forwarded-Proto, byte by byte as
 * they were sent. Returns its length; 0: the request must not be answered from a cache, nor its response kept. So it is
 * for
 *
 * - methods other than GET and HEAD, HTTP/1.0, requests with a body, and targets that name a host
 * - a request with any header beside those that the RFC or browsers send in each request, and that say nothing about
 * who asks: with Cookie, Authorization, Range, Cache-Control, X-Forwarded-Host, or one that nobody has heard of
 * - keys that are too long
 */
size_t pel_http1_cache_key(const struct pel_http1_head *request, int secure, char *key);

/*
 * The seconds for which a response may be given to others, at most a year; 0: it may not. It must have the status 200,
 * a Content-Length, and in Cache-Control `public` and a positive s-maxage or else max-age. It must not have private,
 * no-store or no-cache there; nor Set-Cookie, an Age, a Connection of its own, or a Vary by anything but
 * Accept-Encoding.
 */
uint32_t pel_http1_cache_lifetime(const struct pel_http1_head *response);

/* Whether a request's If-None-Match names the tag (by the weak comparison) or, without If-None-Match, If-Modified-Since
 * is the date. A slice of length 0: the response has none. */
int pel_http1_not_modified(const struct pel_http1_head *request, struct pel_slice tag, struct pel_slice date);

#endif
