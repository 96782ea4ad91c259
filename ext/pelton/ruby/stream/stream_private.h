#pragma once

#include <errno.h>
#include "ruby/base/exception.h"
#include "ruby/base/protect.h"
#include "ruby/base/upcall.h"
#include "ruby/operation/operation.h"
#include "ruby/stream/stream_object.h"

/*
 * Pelton::Stream, inside. The files call one another in one direction. From the bottom: stream_object.c (the object's
 * memory), stream_receive.c, stream_write.c, stream_file.c and stream_splice.c, stream_close.c, stream_connect.c and
 * stream_delivery.c (callback style), read_queue.c and stream_read.c (direct style), stream_class.c (events, making a
 * stream, the class).
 */

/* The reasons to keep the object alive, and run going, although no Ruby code may refer to the object. */
enum stream_retainer {
    RETAINED_BY_DATA = 1,      /* on_data waits for bytes */
    RETAINED_BY_OUTPUT = 2,    /* output is still to be sent, perhaps before the stream closes */
    RETAINED_BY_CONNECT = 4,   /* on_connect waits until the stream is connected */
    RETAINED_BY_HANDSHAKE = 8, /* jobs perform the TLS handshake */
    RETAINED_BY_CLOSE = 16,    /* close was called: the rest is sent, and the peer takes it */
    RETAINED_BY_CARRIER = 32,  /* it is open, and the carrier refers to it */
    RETAINED_BY_ANY = 63
};

/* A fiber that waits until at most `below` bytes are queued. */
struct write_waiter {
    struct pel_turn turn; /* first */
    size_t below;
};

/* A fiber in the read queue: it waits until the reads before it are done. */
struct read_waiter {
    struct pel_turn turn; /* first */
    int admitted;         /* its fiber has left the queue and reads */
};

/* A write in callback style. Its operation is settled when the stream has sent everything up to `end`. */
struct write_operation {
    struct write_operation *next;
    struct pel_operation *operation;
    uint64_t end;
    size_t length;
};

/* The reads of direct style (stream_read.c, read_queue.c). */
struct stream_reads {
    struct pel_waiter *waiter; /* the fiber that reads, while it waits for bytes */
    struct pel_turns queue;    /* struct read_waiter: the fibers that read next */
    unsigned under_way : 1;    /* a fiber reads: other reads queue */
    unsigned bulk : 1;         /* the last piece was large: receive the next one straight into its String */
};

/* What is written and not yet sent (stream_write.c). */
struct stream_writes {
    struct pel_turns waiters; /* struct write_waiter */
    struct write_operation *first, **tail;
    uint64_t appended; /* bytes ever queued */
    size_t unsent;     /* of these, not sent when the stream was closed */
};

/* Callback style (stream_delivery.c). */
struct stream_delivery {
    VALUE on_connect, on_data, on_end, on_close, on_drain; /* Procs; or an object with a method for the event; or nil */
    VALUE buffer;              /* on_data's buffer, which is given to it again and again, or nil */
    unsigned offers_relay : 1; /* in bulk, on_data's object may relay the input before it is received */
    unsigned paused : 1;       /* by the user */
    unsigned running : 1;      /* run_delivery is on a stack; its callback may be parked */
    unsigned queued : 1;
    unsigned connect_queued : 1;
    unsigned ended : 1;     /* on_end was called: on_data is called no more */
    unsigned drain_due : 1; /* more than the high-water mark was queued: on_drain is called when it has drained */
};

/* How the stream closes (stream_close.c). */
struct stream_close {
    struct pel_reactor_timer timer;
    size_t pending;             /* bytes to be sent, or acknowledged, at the last progress */
    int64_t until;              /* the instant at which the stream is given up without more progress */
    unsigned begun : 1;         /* close was called; the output may still be going out */
    unsigned acknowledging : 1; /* all was sent before the stream closes; lingers for the peer's acknowledgement */
    unsigned lags : 1;          /* when close was called, the peer had not acknowledged all bytes */
};

struct stream {
    struct pel_stream core; /* first */
    struct pel_reactor *reactor;
    void *protocol; /* the HTTP connection or the like that took the stream over with an on_ready of its own; or NULL */
    void (*own_ready)(struct pel_stream *stream, unsigned events); /* the stream's own on_ready meanwhile */
    VALUE self, reactor_object;
    struct pel_root root;         /* registered while the stream is retained */
    struct pel_buffer input;      /* bytes received and not yet asked for */
    struct pel_waiter *connector; /* the fiber that waits until the stream is connected */
    struct stream_reads reads;
    struct stream_writes writes;
    struct stream_delivery delivery;
    struct stream_close close;
    struct stream_tls *tls; /* NULL until TLS begins */
    int64_t timeout;        /* nanoseconds, for each read and write without a timeout of its own */
    uint8_t retainers;      /* a set of enum stream_retainer */
};

#define HIGH_WATER (1024 * 1024) /* bytes queued above which writers wait until half of it is left */

/* ---- the object: stream_object.c -------------------------------------------------------------------------------- */

extern const rb_data_type_t pel_stream_type;

/* The stream of a Pelton::Stream in any state. Raises TypeError. */
struct stream *pel_stream_any(VALUE self);

/* The stream, for reading, writing and the like. Raises ClosedError when it is closed or inherited from the parent
 * process, Error on a thread other than its reactor's. */
struct stream *pel_stream_get(VALUE self);

/* The deadline of an operation that begins now, with a timeout in seconds; nil: the stream's own timeout. */
int64_t pel_stream_deadline(const struct stream *stream, VALUE timeout);

/* The error that ended the stream. Its message begins with `what`. */
VALUE pel_stream_error(const struct stream *stream, const char *what);

void pel_stream_retain(struct stream *stream, enum stream_retainer retainer);
void pel_stream_release(struct stream *stream, enum stream_retainer retainers);

/* Wakes the fiber that waits for bytes. C only. */
void pel_stream_wake_reader(struct stream *stream);

/* Wakes all fibers that wait in a read or a write: the stream was closed. C only. */
void pel_stream_wake_all(struct stream *stream);

/* Calls an event's callback: a Proc, or this method of any other object. */
VALUE pel_stream_call(VALUE callback, enum pel_upcall method, int argc, const VALUE *argument);

/* TLS on a stream. The room ruby/tls, which stands above this one, sets these when it is loaded. They are called only
 * while stream->tls is not NULL, and so never where OpenSSL is missing. */
struct pel_stream_tls_hooks {
    void (*mark)(const struct stream *stream);
    void (*free)(struct stream *stream);
    void (*ready)(struct stream *stream);  /* during the handshake: bytes came, or the connection failed. C only */
    void (*closed)(struct stream *stream); /* the stream was closed: wakes or fails the handshake. C only */
    VALUE (*error)(const struct stream *stream, const char *what); /* the error if TLS failed, or nil */
};

extern struct pel_stream_tls_hooks pel_stream_tls_hooks;

/* ---- receiving: stream_receive.c -------------------------------------------------------------------------------- */

/* Takes bytes from the stream's input. Returns their number. */
size_t pel_stream_take_input(struct stream *stream, char *bytes, size_t length);

/* Takes bytes from the input, or else from the descriptor. Returns as pel_stream_receive. */
ssize_t pel_stream_receive_bytes(struct stream *stream, char *bytes, size_t length);

/* The same as a new String of at most `length` bytes, and never more than 64 KB; nil when *count is not positive. May
 * run a garbage collection. */
VALUE pel_stream_receive_string(struct stream *stream, size_t length, ssize_t *count);

/* Receives more bytes into the input. Returns as pel_stream_receive. */
ssize_t pel_stream_fill(struct stream *stream);

/* ---- writing: stream_write.c ------------------------------------------------------------------------------------ */

/* Call after output was sent, or when none can be sent any more: settles operations and wakes fibers. C only. */
void pel_stream_write_ready(struct stream *stream);

/* Parks or blocks until at most `below` bytes are queued. Raises. */
void pel_stream_wait_below(struct stream *stream, size_t below, int64_t deadline);

/* The same, but returns PEL_ETIMEOUT when the deadline passes, else 0. */
int pel_stream_await_below(struct stream *stream, size_t below, int64_t deadline);

/* ---- closing: stream_close.c ------------------------------------------------------------------------------------ */

/* Closes at once: wakes all waiting fibers, and calls on_close in a job of its own. C only: it may allocate, but calls
 * no Ruby code. */
void pel_stream_finish(struct stream *stream);

/* Stream#close: sends what is queued first. Where no reactor runs it blocks, and may raise. */
void pel_stream_close_gently(struct stream *stream);

/* The stream is closing, and all was sent or it failed: closes at once, or once the peer has the bytes. C only. */
void pel_stream_finish_or_linger(struct stream *stream);

/* The linger timer's function: the peer of a closed stream may have stopped reading. */
void pel_stream_linger_on_timeout(struct pel_reactor *reactor, struct pel_reactor_timer *timer);

/* ---- callback style: stream_connect.c, stream_delivery.c -------------------------------------------------------- */

/* Queues the call of on_connect, once the attempt has succeeded or failed. C only. */
void pel_stream_queue_connect(struct stream *stream);

/* Queues the call of on_data, when there is something to receive. C only. */
void pel_stream_queue_delivery(struct stream *stream);

/* ---- the class -------------------------------------------------------------------------------------------------- */

void pel_init_stream_write(VALUE class);
void pel_init_stream_file(VALUE class);
void pel_init_stream_splice(VALUE class);
void pel_init_stream_close(VALUE class);
void pel_init_stream_connect(VALUE class);
void pel_init_stream_delivery(VALUE class);
void pel_init_stream_read(VALUE class);
