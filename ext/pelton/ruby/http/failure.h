#ifndef PELTON_RUBY_HTTP_FAILURE_H
#define PELTON_RUBY_HTTP_FAILURE_H

#include "ruby/http/connection.h"

/* The application has failed with `error`: answers, by 500 or what the error stands for, or, after the head was sent,
 * aborts the response; and reports the error, unless the client or the server is its cause. */
void pel_http_application_failed(struct pel_http_connection *connection, VALUE error);

/* Passes an error to Pelton.on_error. SystemExit and signals end run instead. */
void pel_http_report_error(struct pel_http_connection *connection, VALUE error);

#endif
