#include "ruby/http/response/response.h"

#define SEND_AT 65536 /* bytes of output that do not wait for the tick's end */

void pel_http_write_failed(int code)
{
    if (code == PEL_EMEMORY)
        rb_memerror();
    rb_raise(pel_eClosedError, "the client is gone");
}

void pel_http_send_soon(struct pel_http_connection *connection)
{
    struct pel_stream *core = &connection->stream->core;

    if (pel_stream_pending(core) >= SEND_AT && core->writable)
        pel_stream_flush(core);
    if (pel_stream_pending(core) && core->writable)
        pel_stream_flush_later(core);
}
