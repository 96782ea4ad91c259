#ifndef PEL_STREAM_TLS_H
#define PEL_STREAM_TLS_H

#include "../core/tls.h"
#include "stream_private.h"

/* A stream's TLS, while it has or had one. For its own files, where there is OpenSSL. */
struct stream_tls {
    struct pel_tls_failure failure;
    VALUE verify, choose;            /* blocks or nil */
    int state;                       /* of what a block raised or threw, 0 */
    struct pel_waiter *waiter;       /* the fiber that shakes hands */
    struct pel_operation *operation; /* or what is settled when jobs have done so */
    struct pel_alarm alarm;          /* for jobs: when their time is over */
    struct stream *stream;           /* whose it is */
    unsigned queued : 1, stepping : 1;
};

/* What core's handshake calls: the blocks of the user's, if there are any. The first that raises or throws leaves its
 * state, and none is called after it. */
struct pel_tls_hooks pel_stream_tls_hooks(const struct stream_tls *tls);

#endif
