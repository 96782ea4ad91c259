#ifndef PELTON_RUBY_HTTP_CONNECTION_EXCHANGE_H
#define PELTON_RUBY_HTTP_CONNECTION_EXCHANGE_H

#include "ruby/http/connection/connection.h"

/*
 * Pelton::HTTP::Exchange: one request and its response, as the application has it in hand. When the exchange is over
 * the object refers to nothing, so a late call changes no other response.
 */

VALUE pel_http_exchange_new(struct pel_http_connection *connection);

/* The connection of an exchange, NULL when the exchange is over. */
struct pel_http_connection *pel_http_exchange_peek(VALUE self);

/* The same, but raises ClosedError when the exchange is over, and Error on another thread than the server's. */
struct pel_http_connection *pel_http_exchange_get(VALUE self);

/* The same, but raises ClosedError also when the response cannot be completed. */
struct pel_http_connection *pel_http_exchange_get_open(VALUE self);

/* Makes a connection's exchange, if it has one, refer to nothing. C only. */
void pel_http_exchange_detach(struct pel_http_connection *connection);

/* Defines the class, which is returned. */
VALUE pel_init_http_exchange(void);

#endif
