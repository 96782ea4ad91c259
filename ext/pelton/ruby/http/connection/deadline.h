#ifndef PELTON_RUBY_HTTP_CONNECTION_DEADLINE_H
#define PELTON_RUBY_HTTP_CONNECTION_DEADLINE_H

#include "ruby/http/connection/connection.h"

/* Nanoseconds in which a client may not know yet that the server stops: its next request may be on its way. */
#define PEL_HTTP_GRACE ((int64_t)1000 * 1000 * 1000)

/* Sets a connection's deadline: `time` nanoseconds from the loop's time on; PEL_FOREVER takes it away. C only. */
void pel_http_set_timeout(struct pel_http_connection *connection, int64_t time);

/* The same with PEL_HTTP_GRACE from now on, for an idle connection while the server stops. C only. */
void pel_http_set_grace_timeout(struct pel_http_connection *connection);

/* The timer has fired: whether the deadline has come. If not, sets the timer again. C only. */
int pel_http_deadline_reached(struct pel_http_connection *connection);

#endif
