#ifndef PELTON_RUBY_HTTP_EVENT_STREAMS_H
#define PELTON_RUBY_HTTP_EVENT_STREAMS_H

#include "ruby/http/connection.h"

/* A response has begun whose body goes on by itself: if it is an event stream, the server ends it when it stops. C
 * only. */
void pel_http_track_event_stream(struct pel_http_connection *connection, VALUE headers);

void pel_init_http_event_streams(VALUE server);

#endif
