#pragma once

#include "ruby/reactor/reactor.h"

/*
 * The HTTP server, inside; and what the client has in C.
 *
 * A connection of HTTP/1 is idle, or it is busy with one request. While it is busy nothing else is parsed, so the order
 * of requests and responses never changes. The application runs on the fiber that runs the loop; if it waits, only this
 * connection waits with it.
 *
 * Sub-rooms. One uses only those above it, and a file calls functions of the files above it only;
 * test/repository/c_architecture_test.rb finds any circle.
 *
 *   connection/   what all connections share: cache, flight, http_server; a connection's state, lists, deadline, jobs
 *                 and slot; its present exchange and what happens when that is over; keep-alive while the server stops;
 *                 counters
 *   response/     from Rack's [status, headers, body] to bytes: output, fields, response_body, response_head;
 *                 error_response, response_failure, event_streams, cache_entry, cached_response, purge, public_file,
 *                 http_response; what Exchange offers: response_file, exchange_class; file_answer
 *   request/      from bytes to the application: env_headers, env, trailers, request_body, application, request_begin,
 *                 refusal; http1, what that protocol does for an exchange; resume, revalidation, http_request, drain
 *   http2/        HTTP/2: streams, which are connections with one request, and the connection that they share
 *   client/       the client's side of HTTP/2, and a response as Ruby sees it
 *   page/         texts that are kept deflated, and pages of them
 *   .             a connection's deadlines and events: http_timeout, serve (which takes streams over), and http;
 *                 folder_class
 *
 * A response ends by pel_http_end_exchange, which lies below it. The only ways up are function pointers that serve sets
 * in each connection: its protocol (struct pel_http_protocol), its jobs (struct pel_http_jobs), its timer's on_timeout,
 * its root's stop, its stream's on_ready.
 */

/* Adds Pelton::HTTP::Server#serve. */
void pel_init_http_serve(VALUE server);

/* Defines Pelton::HTTP::Folder. */
void pel_init_http_folder(void);

/* A connection's timer has fired: pel_reactor_timer.on_timeout. */
void pel_http_on_timeout(struct pel_reactor *reactor, struct pel_reactor_timer *timer);
