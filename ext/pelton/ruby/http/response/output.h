#pragma once

#include "ruby/http/connection/http_connection.h"

/* Bytes could not be appended to a connection's output: raises NoMemoryError, or ClosedError. */
NORETURN(void pel_http_write_failed(int code));

/* Raises when `code`, which a function that appends to the output has returned, is negative. */
static inline void pel_http_check_written(int code)
{
    if (code < 0)
        pel_http_write_failed(code);
}

/* Has the output sent: at the tick's end, or at once when there is much of it. C only. */
void pel_http_send_soon(struct pel_http_connection *connection);
