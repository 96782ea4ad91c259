#ifndef PELTON_RUBY_HTTP_CONNECTION_STOP_H
#define PELTON_RUBY_HTTP_CONNECTION_STOP_H

#include "ruby/http/connection/connection.h"

/* Before the response's head is written: decides whether the connection goes on after it. C only. */
void pel_http_decide_keep_alive(struct pel_http_connection *connection);

/* Closes a connection that is idle, unless its next request has arrived. Whether it did. C only. */
int pel_http_close_idle(struct pel_http_connection *connection);

/* Closes some idle connections when descriptors have run out: pel_reclaimer.close_some. */
unsigned pel_http_close_some_idle(struct pel_reclaimer *reclaimer);

void pel_init_http_stop(VALUE server);

#endif
