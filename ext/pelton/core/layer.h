#ifndef PEL_LAYER_H
#define PEL_LAYER_H

#include <sys/types.h>
#include <sys/uio.h>
#include "buffer.h"

/*
 * A layer: what stands between a stream's bytes and those on its descriptor, such as TLS. The stream keeps its queue,
 * its readiness and its flush once a tick; the layer opens what comes, and seals what goes.
 */

struct pel_stream;
struct pel_layer;

struct pel_layer_type {
    /* As pel_stream_receive, of plain bytes. It takes the descriptor's by pel__stream_receive. After PEL_EAGAIN the
     * stream must not be readable; after anything else it is, if more may be there. */
    ssize_t (*receive)(struct pel_stream *stream, void *bytes, size_t length);
    /* Appends to layer->sealed what sends all these bytes. 0 or, after pel__stream_fail, PEL_ESYSTEM. */
    int (*seal)(struct pel_stream *stream, const void *bytes, size_t length);
    /* Appends what tells the peer that this side sends no more. Called once. */
    void (*end)(struct pel_stream *stream);
    /* It has come to another stream, of the same descriptor. */
    void (*moved)(struct pel_layer *layer, struct pel_stream *stream);
    /* The stream is closed: frees the layer's own, not layer->sealed. */
    void (*free)(struct pel_layer *layer);
};

struct pel_layer {
    const struct pel_layer_type *type;
    struct pel_buffer sealed; /* goes to the descriptor as it is */
    size_t covers;            /* plain bytes that are not sent before all of sealed is */
    unsigned open : 1;        /* bytes may pass. Before, reads find nothing, and what is written waits */
    unsigned ended : 1;       /* type->end was called */
};

/* Puts a layer (its type is set, the rest zeroed) on a stream that has none. What was queued before goes out as it is.
 * 0; PEL_EMEMORY: nothing has changed. */
int pel__layer_put_on(struct pel_stream *stream, struct pel_layer *layer);

/* Frees a layer, or NULL, that was taken off its stream. */
void pel_layer_drop(struct pel_layer *layer);

/* As pel_stream_flush, for a stream with a layer. */
int pel__layer_flush(struct pel_stream *stream);

/* As pel_stream_send_now, once everything it asks of the stream was asked. */
ssize_t pel__layer_send_now(struct pel_stream *stream, const void *bytes, size_t length);

/* Sends what is sealed. 0 when all of it was sent, PEL_EAGAIN or PEL_ESYSTEM. */
int pel__layer_send(struct pel_stream *stream);

/* ---- stream.c, for layers ------------------------------------------------------------------------------------- */

/* From the descriptor: as pel_stream_receive, but the end of file is not kept. */
ssize_t pel__stream_receive(struct pel_stream *stream, void *bytes, size_t length);

/* To the descriptor, once. Bytes taken, PEL_EAGAIN or PEL_ESYSTEM. */
ssize_t pel__stream_send(struct pel_stream *stream, struct iovec *parts, int count);

/* Ends the stream with an errno, unless it has one. Returns PEL_ESYSTEM. */
int pel__stream_fail(struct pel_stream *stream, int error);

#endif
