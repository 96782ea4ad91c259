#pragma once

#include "core/http2/http2_session.h"

/*
 * A client's side of an HTTP/2 connection. A stream is made by its request, and then used as a server's: its input is
 * the response's body, its output the request's. pel_http2_append, _finish, _take, _reset, _release and _trailers serve
 * both sides.
 */

/* NULL when there is no memory. The limits belong to the caller; `streams` and `resets` are not used. */
struct pel_http2_session *pel_http2_client_new(const struct pel_http2_limits *limits);

/* How many streams the server allows at once; 0 until it has said so by its SETTINGS, or if it allows none. */
uint32_t pel_http2_allowed_streams(const struct pel_http2_session *session);

/* Whether the server's SETTINGS have come. */
int pel_http2_settings_known_p(const struct pel_http2_session *session);

/* Whether the server takes no new stream any more (GOAWAY), or no number is left for one. */
int pel_http2_leaving_p(const struct pel_http2_session *session);

/* Begins a stream. The lines are the whole head of a request by HTTP/1 with Host in its second line; their names become
 * lower case. The body follows unless there is none. NULL when there is no memory, or the session takes no stream. */
struct pel_http2_stream *pel_http2_request(struct pel_http2_session *session, char *lines, size_t length,
                                           struct pel_slice scheme, int no_body);

/* Parses the response's head once it is complete (1), or there is none yet (0). PEL_EPROTOCOL, or PEL_ELIMIT:
 * stream->fault says why. The slices are valid until pel_http2_free_head. */
int pel_http2_response(struct pel_http2_stream *stream, struct pel_http1_head *head);
