#ifndef PELTON_RUBY_HTTP_APPLICATION_H
#define PELTON_RUBY_HTTP_APPLICATION_H

#include "ruby/http/connection.h"

/* Calls the application with the connection's request, which holds a slot, and sends the response, unless the
 * application sends it later. Runs Ruby, which may wait; another fiber runs the loop then. */
void pel_http_answer(struct pel_http_connection *connection);

void pel_init_http_application(void);

#endif
