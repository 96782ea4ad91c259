#pragma once

#include "ruby/http/connection/http_connection.h"
#include "ruby/http/response/output.h"
#include "ruby/http/response/response_head.h"

/* Sends [status, headers, body], and ends the exchange, unless the body goes on by itself. May run Ruby, and wait. */
void pel_http_respond(struct pel_http_connection *connection, VALUE response);

/* Whether a response says that the response comes later, by async.callback: its status is -1. */
int pel_http_deferred_p(VALUE response);

/* Closes the body of a response that is not sent, or of nil. */
void pel_http_discard_response(VALUE response);

void pel_init_http_response(void);

/* Answers with a response of the server's own, a status and a line of text, or, for clients that ask for JSON, a
 * problem document, and ends the exchange. Legal for an idle connection whose request did not arrive, or was not
 * understood. `last`: the connection ends with it. C only. */
void pel_http_respond_error(struct pel_http_connection *connection, unsigned status, const char *text, int last);

void pel_init_http_error_response(void);

/* A response has begun whose body goes on by itself: if it is an event stream, the server ends it when it stops. C
 * only. */
void pel_http_track_event_stream(struct pel_http_connection *connection, VALUE headers);

void pel_init_http_event_streams(VALUE server);

/* Adds the public methods to Pelton::HTTP::Exchange. */
void pel_init_http_exchange_class(VALUE exchange);

/* The application has failed with `error`: answers, by 500 or what the error stands for, or, after the head was sent,
 * aborts the response; and reports the error, unless the client or the server is its cause. */
void pel_http_application_failed(struct pel_http_connection *connection, VALUE error);

/* Passes an error of the request with this env to Pelton.on_error. SystemExit and signals end run instead. */
void pel_http_report_error(struct pel_http_connection *connection, VALUE error, VALUE env);

/* Writes early hints (`hints` is 1), or the last chunk with trailers (0). `hash`: their fields, or nil. Writes all of
 * them, or, when one is malformed, none, and raises. */
void pel_http_write_fields(struct pel_http_connection *connection, VALUE hash, int hints);

/* Appends a part of the response's body, a String, to the output, as a chunk if the body is chunked. It does not wait.
 * Raises; a part beyond content-length ends the exchange as well. */
void pel_http_write_body(struct pel_http_connection *connection, VALUE part);

/* Appends the end of the body, with trailers: a Hash, or nil. Raises; a body shorter than its content-length ends the
 * exchange as well. */
void pel_http_finish_body(struct pel_http_connection *connection, VALUE trailers);

/* Adds the sending of files to Pelton::HTTP::Exchange. */
void pel_init_http_response_file(VALUE exchange);

/* Sends `length` bytes of a file, from `from` on, as a part of a body that has a length; the connection is
 * `exchange`'s. Returns the number of bytes sent, fewer when the file is shorter; -1 when the body has no length, or is
 * shorter. Parks; raises. */
int64_t pel_http_send_file(VALUE exchange, int fd, off_t from, size_t length);

/* ---- public files (public_file.c, file_answer.c) -------------------------------------------------------------- */

/* Looks for the file of the server's public folder that the request names which has just begun, and for the part and
 * the form of it that the request wants. Whether there is one: then it is in request.file. C only. */
int pel_http_find_file(struct pel_http_connection *connection, const struct pel_http1_head *head);

/* Whether the file that was found can be sent without waiting. */
int pel_http_file_at_hand_p(const struct pel_http_connection *connection);

/* Sends what was found, which is at hand, and ends the exchange. C only, but for NoMemoryError. */
void pel_http_answer_file_at_hand(struct pel_http_connection *connection);

/* Sends what was found, and ends the exchange. May park. */
void pel_http_answer_file(struct pel_http_connection *connection);

/* ---- cached responses (cached_response.c) --------------------------------------------------------------------- */

/* Responses into the server's cache, and out of it. Which ones, core/http1/caching.h says. */

struct pel_item;

/* What a request gets from the cache. */
struct pel_http_cached {
    struct pel_item *item; /* NULL: nothing. Answering releases it */
    unsigned not_modified : 1;
    unsigned revalidate : 1; /* the response is stale, and nobody makes a new one yet */
};

/* Looks the request up that has just begun. If its response may be kept, the request remembers so. Raises
 * NoMemoryError. */
struct pel_http_cached pel_http_cache_find(struct pel_http_connection *connection, const struct pel_http1_head *head);

/* A request that renews a response: it leads its key's flight, and sees nothing of the client. */
void pel_http_cache_begin_revalidation(struct pel_http_connection *connection, const struct pel_http1_head *head);

/* The application has failed, and nothing was sent: answers with a stale response, if one may be (stale-if-error), and
 * ends the exchange. Whether it did. C only. */
int pel_http_cache_rescue(struct pel_http_connection *connection);

/* The same for a request that has waited for a flight. */
struct pel_http_cached pel_http_cache_find_again(struct pel_http_connection *connection);

/* Sends what was found, and ends the exchange. C only, but for NoMemoryError. */
void pel_http_cache_answer(struct pel_http_connection *connection, struct pel_http_cached cached);

/* Keeps a response, if it may be kept. `mark`: where its head begins in the output; `parts`: the whole body, Strings of
 * `length` bytes. */
void pel_http_cache_keep(struct pel_http_connection *connection, size_t mark, VALUE parts, size_t length);

/* Adds Server#_purge. */
void pel_init_http_purge(VALUE server);

/* A response has begun that is not kept: nobody waits for it any more. */
void pel_http_cache_pass(struct pel_http_connection *connection);
