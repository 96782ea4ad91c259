#ifndef PELTON_RUBY_HTTP_ENV_H
#define PELTON_RUBY_HTTP_ENV_H

#include "ruby/http/connection.h"

/* Sets the request's env and exchange. Runs no Ruby code: the head lies in a buffer that other connections use, too. */
void pel_http_env(struct pel_http_connection *connection, const struct pel_http1_head *head);

/* Adds rack.input to the env of a request that has a body. Runs Ruby code. */
void pel_http_env_input(struct pel_http_connection *connection);

/* The peer's IP address as a String; "127.0.0.1" for a UNIX socket's; empty when the peer is gone already. */
VALUE pel_http_remote_address(struct pel_http_connection *connection);

void pel_init_http_env(void);

#endif
