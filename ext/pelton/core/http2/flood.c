#ifdef HAVE_NGHTTP2_NGHTTP2_H

#include "core/http2/http2_private.h"

/*
 * What a client may do though it costs more work than it costs the client. Each is allowed a number of times at once,
 * and as many times again in PEL_HTTP2_CALM.
 */

#define SMALL_WINDOW 256 /* bytes: a window opened by less makes a frame for next to nothing */

int pel__http2_spend(const struct pel_http2_session *session, struct pel_http2_allowance *allowance, uint32_t most)
{
    int64_t passed = session->now - allowance->since;
    double more = passed >= PEL_HTTP2_CALM ? most : (double)most * (double)passed / (double)PEL_HTTP2_CALM;

    if (more >= 1) {
        allowance->left = more + allowance->left < most ? allowance->left + (uint32_t)more : most;
        allowance->since = session->now;
    }
    if (!allowance->left)
        return 0;
    allowance->left--;
    return 1;
}

int pel__http2_control_p(const nghttp2_frame_hd *frame)
{
    switch (frame->type) {
    case NGHTTP2_DATA:
        return frame->length == 0 && !(frame->flags & NGHTTP2_FLAG_END_STREAM);
    case NGHTTP2_HEADERS:
    case NGHTTP2_RST_STREAM: /* counted when it ends a stream */
    case NGHTTP2_WINDOW_UPDATE:
        return 0;
    case NGHTTP2_SETTINGS:
    case NGHTTP2_PING:
        return !(frame->flags & NGHTTP2_FLAG_ACK);
    default: /* CONTINUATION, PRIORITY, PRIORITY_UPDATE; nghttp2 passes over unknown ones */
        return 1;
    }
}

int pel__http2_idle_p(const nghttp2_frame *frame)
{
    if (frame->hd.type == NGHTTP2_WINDOW_UPDATE)
        return frame->window_update.window_size_increment < SMALL_WINDOW;
    return frame->hd.type == NGHTTP2_DATA && frame->hd.length && frame->hd.length == frame->data.padlen &&
           !(frame->hd.flags & NGHTTP2_FLAG_END_STREAM);
}

#else

extern int pel__http2_is_missing; /* an empty file is no C */

#endif
