#pragma once

#include <sys/types.h>
#include <sys/uio.h>
#include "core/base/buffer.h"

/*
 * A layer, such as TLS, transforms the bytes between a stream and its descriptor. The stream keeps its queue, its
 * readiness and its flush once a tick; the layer opens (decrypts) received bytes and seals (encrypts) sent bytes.
 */

struct pel_stream;
struct pel_layer;

struct pel_layer_type {
    /* Receives plain bytes; returns as pel_stream_receive does. It reads from the descriptor by pel__stream_receive.
     * When it returns PEL_EAGAIN, the stream must not be readable; otherwise the stream is readable if more bytes may
     * be available. */
    ssize_t (*receive)(struct pel_stream *stream, void *bytes, size_t length);
    /* Appends the sealed form of all these bytes to layer->sealed. Returns 0, or PEL_ESYSTEM after pel__stream_fail. */
    int (*seal)(struct pel_stream *stream, const void *bytes, size_t length);
    /* Appends the message by which this side ends its output, such as TLS's close_notify. Called once. */
    void (*end)(struct pel_stream *stream);
    /* The layer was moved to another stream of the same descriptor. */
    void (*moved)(struct pel_layer *layer, struct pel_stream *stream);
    /* The stream is closed: frees the layer and everything it owns except layer->sealed. */
    void (*free)(struct pel_layer *layer);
};

struct pel_layer {
    const struct pel_layer_type *type;
    struct pel_buffer sealed; /* bytes to send to the descriptor unchanged */
    size_t plain_pending;     /* the plain bytes that `sealed` contains: all count as pending until all of it is sent */
    unsigned open : 1;        /* bytes may pass; before, reads return PEL_EAGAIN and output stays queued */
    unsigned ended : 1;       /* type->end was called */
};

/* Puts a layer (the caller has set its type and zeroed the rest) on a stream without one. Output that was queued before
 * is sent unsealed. Returns 0, or PEL_EMEMORY: then nothing has changed. */
int pel__layer_put_on(struct pel_stream *stream, struct pel_layer *layer);

/* Frees a layer that was taken from its stream. Does nothing for NULL. */
void pel_layer_drop(struct pel_layer *layer);

/* pel_stream_flush for a stream with a layer. */
int pel__layer_flush(struct pel_stream *stream);

/* pel_stream_send_now for a stream with a layer, after the checks of the stream's state. */
ssize_t pel__layer_send_now(struct pel_stream *stream, const void *bytes, size_t length);

/* Sends the sealed bytes. Returns 0 when all of them were sent, PEL_EAGAIN or PEL_ESYSTEM. */
int pel__layer_send(struct pel_stream *stream);
