#pragma once

#include "ruby/http/connection/http_connection.h"

#define PEL_HTTP_MAX_UNSENT (1024 * 1024) /* bytes of output beyond which no further request is begun */

/* Parses the requests that have arrived, and answers them. May run Ruby, which may wait. */
void pel_http_read_requests(struct pel_http_connection *connection);

/* HTTP/1. */
extern const struct pel_http_protocol pel_http1_protocol;

/* A request begins whose head is `head`; `no_body`: it is complete. C only. */
void pel_http_begin_request(struct pel_http_connection *connection, const struct pel_http1_head *head, int no_body);

/* Looks for a public file that answers the request. Whether there is one: then it is in request.file, and the request
 * has an env only if somebody will look at it. C only. */
int pel_http_begin_file(struct pel_http_connection *connection, const struct pel_http1_head *head);

/* Runs the application for a request without a client, which renews the response to `client`'s. Runs no Ruby code: the
 * application is called in a job. Raises NoMemoryError. */
void pel_http_revalidate(struct pel_http_connection *client, const struct pel_http1_head *head);

/* What a request's flight has become: pel_http_jobs.resume. C only. */
void pel_http_resume(struct pel_http_connection *connection);

/* Whether the request needs no slot, and begins before those that wait. */
int pel_http_urgent_p(struct pel_http_connection *connection);

/* Answers 503: too many requests wait already. C only. */
void pel_http_refuse_overload(struct pel_http_connection *connection);

/* Calls the application with the connection's request, which holds a slot, and sends the response, unless the
 * application sends it later. Runs Ruby, which may wait; another fiber runs the loop then. */
void pel_http_answer(struct pel_http_connection *connection);

void pel_init_http_application(void);

/* Receives and drops the rest of the request's body, then goes on with the next request. C only. */
void pel_http_drain_body(struct pel_http_connection *connection);

/* Receives and drops whatever arrives, until the peer closes. C only. */
void pel_http_drain_until_end(struct pel_http_connection *connection);

/* Answers an idle connection whose request did not arrive in time, or was not understood, closes it, and tells the
 * server in a job (Server#_refused): it may be called in the middle of a tick. C only. */
void pel_http_refuse(struct pel_http_connection *connection, unsigned status, const char *text);

/* Counts a request that was refused, and tells the server in a job; without a status, it gets no response. C only. */
void pel_http_report_refusal(struct pel_http_connection *connection, VALUE status, const char *text);

/* Sets the request's env and exchange. Runs no Ruby code: the head lies in a buffer that other connections use, too. */
void pel_http_env(struct pel_http_connection *connection, const struct pel_http1_head *head);

/* Adds rack.input to the env of a request that has a body. Runs Ruby code. */
void pel_http_env_input(struct pel_http_connection *connection);

/* The peer's IP address as a String; "127.0.0.1" for a UNIX socket's; empty when the peer is gone already. */
VALUE pel_http_remote_address(struct pel_http_connection *connection);

void pel_init_http_env(void);

/* Sets a key for each header. The values of a header that was sent more than once are joined. `impersonal`: without
 * those that say who asks; the User-Agent is this server then. Runs no Ruby code. */
void pel_http_env_headers(VALUE env, const struct pel_http1_head *head, int impersonal);

/* Takes those out of an env that has them. Runs no Ruby code. */
void pel_http_env_hide(VALUE env);

void pel_init_http_env_headers(void);

/* The trailers in `head` as a Hash; nil if there are none. Runs no Ruby code. */
VALUE pel_http_trailers(const struct pel_http1_head *head);

/* Sets pelton.trailers, unless it is nil. Raises where the application has frozen the env. */
void pel_http_env_trailers(struct pel_http_connection *connection, VALUE trailers);

void pel_init_http_trailers(void);

/* Adds the reading of a request's body to Pelton::HTTP::Exchange. */
void pel_init_http_request_body(VALUE exchange);
