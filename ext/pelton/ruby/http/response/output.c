#include "ruby/http/response/output.h"

void pel_http_write_failed(int code)
{
    if (code == PEL_EMEMORY)
        rb_memerror();
    rb_raise(pel_eClosedError, "the client is gone");
}

void pel_http_send_soon(struct pel_http_connection *connection)
{
    connection->protocol->send_soon(connection);
}
