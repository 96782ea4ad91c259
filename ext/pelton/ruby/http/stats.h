#ifndef PELTON_RUBY_HTTP_STATS_H
#define PELTON_RUBY_HTTP_STATS_H

#include "ruby/http/connection.h"

/* Counts an exchange that is over. Returns the nanoseconds that it took; 0 if there was no request, only bytes that
 * were refused. C only. */
int64_t pel_http_count_exchange(struct pel_http_connection *connection);

void pel_init_http_stats(VALUE class);

#endif
