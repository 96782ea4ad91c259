#pragma once

#include <ruby.h>

struct pel_memcached_connection;
struct pel_memcached_reply;

/* What has ended a connection. */
struct pel_memcached_failure {
    VALUE error; /* or nil: none, or not made yet, of what follows */
    int code, error_number;
    const char *what;  /* a literal; NULL: no failure */
    unsigned idle : 1; /* nothing was pending */
};

/* The ServerError for an error reply. */
VALUE pel_memcached_server_error(struct pel_memcached_connection *connection, const struct pel_memcached_reply *reply);

/* An error whose message names the server. */
VALUE pel_memcached_error(struct pel_memcached_connection *connection, int code, int error_number, const char *what);

/* Closes the connection and fails all pending operations with such an error. No-op on a closed connection. `what` must
 * be a literal. */
void pel_memcached_fail(struct pel_memcached_connection *connection, int code, int error_number, const char *what);

/* The same with an error of the caller's. Plain C except that it may allocate. */
void pel_memcached_fail_with(struct pel_memcached_connection *connection, VALUE error);

/* The error that ended the connection, or nil. Makes the error if need be, so the connection must not be garbage. */
VALUE pel_memcached_failure(struct pel_memcached_connection *connection);

/* Releases the descriptor, the buffers and the timer. Legal when they are released. */
void pel_memcached_release_stream(struct pel_memcached_connection *connection);

void pel_init_memcached_error(VALUE module);
