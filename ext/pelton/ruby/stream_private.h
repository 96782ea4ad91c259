#ifndef PEL_STREAM_PRIVATE_H
#define PEL_STREAM_PRIVATE_H

#include <errno.h>
#include "error.h"
#include "operation.h"
#include "protect.h"
#include "stream.h"

/*
 * Pelton::Stream, inside. Its parts: stream_class.c (the object, the loop's events), stream_close.c, stream_connect.c,
 * stream_tls.c, stream_tls_hooks.c and stream_tls_info.c, stream_receive.c, stream_read.c and stream_read_turn.c
 * (direct style), stream_write.c, stream_delivery.c (callbacks).
 */

/* Why the object is kept, and run kept going, although nobody may refer to it. */
enum stream_hold {
    HELD_BY_DATA = 1,     /* on_data waits for bytes */
    HELD_BY_OUTPUT = 2,   /* bytes are still to be sent, perhaps before it is closed */
    HELD_BY_CONNECT = 4,  /* on_connect waits until it is connected */
    HELD_BY_HANDSHAKE = 8 /* of TLS, which jobs go on with */
};

/* A fiber that waits for the output to go down to so many bytes. */
struct write_waiter {
    struct pel_waiter *waiter;
    struct write_waiter *next;
    size_t below;
};

/* A fiber that waits for its turn to read. */
struct read_turn {
    struct pel_waiter *waiter;
    struct read_turn *next;
    int taken;
};

/* A write in callback style: settled when the stream has sent everything up to its end. */
struct write_operation {
    struct write_operation *next;
    struct pel_operation *operation;
    uint64_t end;
    size_t length;
};

struct stream {
    struct pel_stream core; /* first */
    struct pel_reactor *reactor;
    void *protocol; /* of whom took the stream over, with an on_ready of its own; or NULL */
    void (*own_ready)(struct pel_stream *stream, unsigned events); /* the stream's meanwhile */
    VALUE self, reactor_object;
    VALUE on_connect, on_data, on_end, on_close, on_drain; /* Procs, their owner instead, or nil */
    VALUE buffer;                                          /* given to on_data, again and again, or nil */
    struct pel_listed listed;                              /* while it is held */
    struct pel_buffer input;                               /* read and not yet asked for */
    struct pel_waiter *reader;    /* the fiber whose turn it is to read, while it waits for bytes */
    struct pel_waiter *connector; /* the fiber that waits until it is connected */
    struct read_turn *turns;      /* fibers behind the reader, in their order */
    struct write_waiter *writers;
    struct write_operation *writes, **writes_tail;
    uint64_t appended;      /* bytes ever queued */
    size_t unsent;          /* of them, when it was closed */
    int64_t timeout;        /* nanoseconds, for each read and write that has none of its own */
    struct stream_tls *tls; /* NULL: it never had any */
    struct pel_alarm linger;
    size_t lingering; /* bytes that were to be sent when the alarm was set */
    uint8_t holds;
    unsigned reading : 1;    /* it is somebody's turn to read */
    unsigned bulk : 1;       /* the last piece was large: receive into its string at once */
    unsigned relays : 1;     /* what comes in bulk is offered to on_data's object first */
    unsigned paused : 1;     /* by the user */
    unsigned delivering : 1; /* run_delivery is under way; its callback may be parked */
    unsigned delivery_queued : 1;
    unsigned connect_queued : 1;
    unsigned ended : 1;   /* on_end was called: on_data gets nothing more */
    unsigned closing : 1; /* close was called; the output may still be going out */
    unsigned full : 1;    /* more than the high-water mark was queued, and on_drain is due */
};

#define HIGH_WATER (1024 * 1024) /* bytes queued at which writers wait, until half is left */

/* The stream of an object, whatever its state. */
struct stream *pel_stream_any(VALUE self);

/* The stream, for reading, writing and the like. Raises ClosedError when it is closed or the parent's, Error on another
 * thread than its reactor's. */
struct stream *pel_stream_get(VALUE self);

/* A new one without a descriptor. */
struct stream *pel_stream_new(struct pel_reactor *reactor, VALUE class);

/* When an operation of `timeout` seconds, or nil, that begins now is over. */
int64_t pel_stream_deadline(const struct stream *stream, VALUE timeout);

/* The error that ended it, beginning with `what`. */
VALUE pel_stream_error(const struct stream *stream, const char *what);

void pel_stream_hold(struct stream *stream, enum stream_hold hold);
void pel_stream_release(struct stream *stream, enum stream_hold hold);

/* For pel_job.mark. */
void pel_stream_mark_job(void *data);

/* ---- stream_close.c ------------------------------------------------------------------------------------------- */

/* Closes for good: whoever waits is told, and on_close is called in a job of its own. C only: it may need memory, but
 * calls no Ruby. */
void pel_stream_finish(struct stream *stream);

/* As Stream#close: what is queued is sent first. Where no reactor runs it blocks, and may raise. */
void pel_stream_close_gently(struct stream *stream);

/* Wakes everybody who waits in a read or a write, because it was closed. */
void pel_stream_wake_all(struct stream *stream);

/* The alarm of a closed stream whose peer does not read. */
void pel_stream_ring_linger(struct pel_reactor *reactor, struct pel_alarm *alarm);
void pel_init_stream_close(VALUE class);

/* ---- stream_receive.c ----------------------------------------------------------------------------------------- */

/* Whether receiving can bring something, be it the end or an error. */
int pel_stream_ready(const struct stream *stream);

/* Takes what is there of the input. */
size_t pel_stream_take_input(struct stream *stream, char *bytes, size_t length);

/* From the input, or else from the descriptor: as pel_stream_receive. */
ssize_t pel_stream_receive_bytes(struct stream *stream, char *bytes, size_t length);

/* The same as a new string of at most length bytes (64 KB are as many as there will be); nil when *count is not
 * positive. May run a garbage collection. */
VALUE pel_stream_receive_string(struct stream *stream, size_t length, ssize_t *count);

/* One piece more into the input: as pel_stream_receive. */
ssize_t pel_stream_fill(struct stream *stream);

/* ---- stream_read_turn.c --------------------------------------------------------------------------------------- */

/* Wake who waits for bytes, and who wait for their turn. C only. */
void pel_stream_wake_reader(struct stream *stream);
void pel_stream_wake_turns(struct stream *stream);

/* ---- stream_read.c -------------------------------------------------------------------------------------------- */

void pel_init_stream_read(VALUE class);

/* ---- stream_write.c ------------------------------------------------------------------------------------------- */

/* After output was sent, or can be sent no more: settles and wakes whom it concerns. C only. */
void pel_stream_write_ready(struct stream *stream);

/* Parks or blocks until no more than `below` bytes are queued. Raises. */
void pel_stream_wait_below(struct stream *stream, size_t below, int64_t deadline);

/* The same, but PEL_ETIMEOUT is returned; else 0. */
int pel_stream_await_below(struct stream *stream, size_t below, int64_t deadline);
void pel_init_stream_write(VALUE class);

/* ---- stream_file.c -------------------------------------------------------------------------------------------- */

void pel_init_stream_file(VALUE class);

/* ---- stream_splice.c ------------------------------------------------------------------------------------------ */

void pel_init_stream_splice(VALUE class);

/* ---- stream_delivery.c ---------------------------------------------------------------------------------------- */

/* Has on_data called with what there is to receive. C only. */
void pel_stream_queue_delivery(struct stream *stream);

/* Has on_close called. C only. */
void pel_stream_queue_close(struct stream *stream);

/* Calls it now, where no reactor runs to do so. */
void pel_stream_tell_close(struct stream *stream);

/* Calls a Proc; or, when an object is told instead, its method of this name. */
VALUE pel_stream_call(VALUE told, ID method, int argc, const VALUE *argv);
void pel_init_stream_delivery(VALUE class);

/* ---- stream_connect.c ----------------------------------------------------------------------------------------- */

/* Has on_connect called, when the attempt has come to its end. C only. */
void pel_stream_queue_connect(struct stream *stream);
void pel_init_stream_connect(VALUE class);

/* ---- stream_tls.c --------------------------------------------------------------------------------------------- */

/* While the handshake goes on: something came, or the connection failed. C only. */
void pel_stream_tls_ready(struct stream *stream);

/* The stream was closed: whoever waits for the handshake is told. C only. */
void pel_stream_tls_closed(struct stream *stream);

/* The error when it was TLS that failed, beginning with `what`; nil. */
VALUE pel_stream_tls_error(const struct stream *stream, const char *what);

void pel_stream_tls_mark(const struct stream *stream);
void pel_stream_tls_free(struct stream *stream);
void pel_init_stream_tls(VALUE class);

/* ---- stream_tls_info.c ---------------------------------------------------------------------------------------- */

void pel_init_stream_tls_info(VALUE class);

#endif
