#ifndef PELTON_RUBY_HTTP_JOB_H
#define PELTON_RUBY_HTTP_JOB_H

#include "ruby/http/connection.h"

/* Queues jobs->proceed, unless it is queued already, a request is being answered, or the connection is gone. C only. */
void pel_http_queue_proceed(struct pel_http_connection *connection);

/* Queues jobs->answer. C only. */
void pel_http_queue_answer(struct pel_http_connection *connection);

#endif
