#ifndef PELTON_RUBY_HTTP_CONNECTION_EXCHANGE_END_H
#define PELTON_RUBY_HTTP_CONNECTION_EXCHANGE_END_H

#include "ruby/http/connection/connection.h"

/* The response is complete, or never will be: ends the exchange, queues its callbacks, and has the connection go on
 * with the next request, or close. C only. */
void pel_http_end_exchange(struct pel_http_connection *connection);

/* Ends the exchange and hands the connection's stream, which is returned, to the application. C only. */
VALUE pel_http_hijack(struct pel_http_connection *connection);

/* Queues the callbacks of the exchange's end: rack.response_finished, and the log. C only. */
void pel_http_notify_finished(struct pel_http_connection *connection);

/* Queues the callbacks of the client's leaving: async.close. Each is called once. C only. */
void pel_http_notify_client_closed(struct pel_http_connection *connection);

#endif
