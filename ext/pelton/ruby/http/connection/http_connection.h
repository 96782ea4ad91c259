#pragma once

#include "ruby/http/connection/http_state.h"

/* What a connection does. */

/* A new connection on a stream, in no list and without a deadline. The caller keeps its `self` alive until it is a GC
 * root, and sets the function pointers. Raises. */
struct pel_http_connection *pel_http_connection_new(struct pel_http_server *server, VALUE stream_object);

/* The connection of a Ruby object; NULL when it is something else. */
struct pel_http_connection *pel_http_connection_p(VALUE object);

/* Wakes the fibers that wait for the request's body, or for space to write. C only. */
void pel_http_wake_waiters(struct pel_http_connection *connection);

/* Lets go of the file that was to answer the request, if there is one. C only. */
void pel_http_drop_file(struct pel_http_connection *connection);

/* Becomes idle: waits for the next request. C only. */
void pel_http_become_idle(struct pel_http_connection *connection);

/* Joins the server's idle connections, if all was sent and no request has begun to arrive. C only. */
void pel_http_join_idle(struct pel_http_connection *connection);

/* After the last response: closes when all is sent. Closing while bytes of the peer are on their way would destroy what
 * the peer has not read yet: then only our side is shut, and what arrives is dropped. C only. */
void pel_http_close_when_sent(struct pel_http_connection *connection);

/* The connection lingers, and all of its last response was sent: closes, or waits for the peer's end. C only. */
void pel_http_last_response_sent(struct pel_http_connection *connection);

/* Closes at once. C only. */
void pel_http_close(struct pel_http_connection *connection);

/* The connection is gone, but not its stream. C only. */
void pel_http_leave_server(struct pel_http_connection *connection);

/* Gives the stream up without closing it: the application has it from now on. C only. */
void pel_http_detach_stream(struct pel_http_connection *connection);

/* Queues jobs->proceed, unless it is queued already, a request is being answered, or the connection is gone. C only. */
void pel_http_queue_proceed(struct pel_http_connection *connection);

/* Queues jobs->answer. C only. */
void pel_http_queue_answer(struct pel_http_connection *connection);

/* Slots: a server runs at most `limit` requests at once, and each of them holds a slot. */

/* Takes a slot for a connection's request. 0 when none is free. C only. */
int pel_http_take_slot(struct pel_http_connection *connection);

/* Gives the slot that a connection's request holds, if it holds one, to a request that waits. C only. */
void pel_http_release_slot(struct pel_http_connection *connection);

/* ---- deadlines (http_deadline.c) -------------------------------------------------------------------------------- */

/* Nanoseconds in which a client may not know yet that the server stops: its next request may be on its way. */
#define PEL_HTTP_GRACE ((int64_t)1000 * 1000 * 1000)

/* Sets a connection's deadline: `time` nanoseconds from the loop's time on; PEL_FOREVER takes it away. C only. */
void pel_http_set_timeout(struct pel_http_connection *connection, int64_t time);

/* The same with PEL_HTTP_GRACE from now on, for an idle connection while the server stops. C only. */
void pel_http_set_grace_timeout(struct pel_http_connection *connection);

/* The timer has fired: whether the deadline has come. If not, sets the timer again. C only. */
int pel_http_deadline_reached(struct pel_http_connection *connection);

/* ---- ending connections (http_stop.c) --------------------------------------------------------------------------- */

/* Before the response's head is written: decides whether the connection goes on after it. C only. */
void pel_http_decide_keep_alive(struct pel_http_connection *connection);

/* The server stops: closes an idle connection of HTTP/1, unless its client was busy just now. C only. */
void pel_http_stop_idle(struct pel_http_connection *connection);

/* Closes a connection that is idle, unless its next request has arrived. Whether it did. C only. */
int pel_http_close_idle(struct pel_http_connection *connection);

/* Closes public files that nobody is being sent, or else some idle connections, when descriptors have run out:
 * pel_reclaimer.close_some. */
unsigned pel_http_close_some_idle(struct pel_reclaimer *reclaimer);

void pel_init_http_stop(VALUE server);
