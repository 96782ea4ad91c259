#ifndef PELTON_RUBY_HTTP_HTTP_H
#define PELTON_RUBY_HTTP_HTTP_H

/*
 * The HTTP server, inside.
 *
 * A connection is idle, or it is busy with one request. While it is busy nothing else is parsed, so the order of
 * requests and responses never changes. The application runs on the fiber that runs the loop; if it waits, only this
 * connection waits with it.
 *
 * Layers. A file calls functions of the files above it only; test/c_architecture_test.rb finds any circle.
 *
 *   cache, server          what all connections share: application, limits, timeouts, counters
 *   connection_list, deadline, job, slot, connection
 *                          a connection's lists, time limits, jobs and end; how many requests run at once
 *   stop, stats            keep-alive while the server stops; what the server has counted
 *   exchange, exchange_end one request and its response; what happens when both are over
 *   output, fields, response_body, response_head, error_response, failure, event_streams, cached_response, response
 *                          from Rack's [status, headers, body] to bytes
 *   env_headers, env, request_body, response_file, exchange_class, application
 *                          what the application sees, and its call
 *   refusal, request, drain, timeout, serve
 *                          bytes, events and deadlines of a connection; serve takes streams over
 *   http                   defines the classes
 *
 * A response ends by pel_http_end_exchange, which lies below it. The only ways up are function pointers that serve sets
 * in each connection: its two jobs (struct pel_http_jobs), its timer's on_timeout, its root's stop, its stream's
 * on_ready.
 */

void pel_init_http(void);

#endif
