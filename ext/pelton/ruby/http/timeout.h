#ifndef PELTON_RUBY_HTTP_TIMEOUT_H
#define PELTON_RUBY_HTTP_TIMEOUT_H

#include "ruby/reactor/reactor.h"

/* A connection's timer has fired: pel_reactor_timer.on_timeout. */
void pel_http_on_timeout(struct pel_reactor *reactor, struct pel_reactor_timer *timer);

#endif
