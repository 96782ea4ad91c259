#include "ruby/http/http2/http2.h"

#include "ruby/http/http2/frames.h"

#ifdef HAVE_NGHTTP2_NGHTTP2_H

int pel_http2_serve(struct pel_http_connection *connection, const char *bytes, size_t length)
{
    struct pel_buffer *input = &connection->stream->input;

    if (!connection->server->http2_limits.streams)
        return 0;
    pel_http2_take_over(connection);
    pel_http2_take_bytes(connection, bytes, length);
    pel_buffer_free(input); /* it may have been the bytes */
    pel_http_queue_proceed(connection);
    return 1;
}

static VALUE http_s_http2_p(VALUE self)
{
    return Qtrue;
}

#else

int pel_http2_serve(struct pel_http_connection *connection, const char *bytes, size_t length)
{
    return 0;
}

static VALUE http_s_http2_p(VALUE self)
{
    return Qfalse;
}

#endif

/* http2?: whether Pelton is built with libnghttp2. */
void pel_init_http2(void)
{
    rb_define_singleton_method(pel_mHTTP, "http2?", http_s_http2_p, 0);
}
