#ifndef PELTON_RUBY_HTTP_SLOT_H
#define PELTON_RUBY_HTTP_SLOT_H

#include "ruby/http/connection.h"

/* Slots: a server runs at most `limit` requests at once, and each of them holds a slot. */

/* Takes a slot for a connection's request. 0 when none is free. C only. */
int pel_http_take_slot(struct pel_http_connection *connection);

/* Gives the slot that a connection's request holds, if it holds one, to a request that waits. C only. */
void pel_http_release_slot(struct pel_http_connection *connection);

#endif
