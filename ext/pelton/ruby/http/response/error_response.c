#include "ruby/http/response/http_response.h"

#include <string.h>
#include "core/http1/http1_writer.h"
#include "ruby/http/connection/http_connection.h"

void pel_http_respond_error(struct pel_http_connection *connection, unsigned status, const char *text, int last)
{
    const struct pel_http_protocol *protocol = connection->protocol;
    struct pel_buffer *output = protocol->lines(connection);
    struct pel_http_request *request = &connection->request;
    struct pel_http_response *response = &connection->response;
    size_t length = strlen(text) + 1;

    if (connection->state == PEL_HTTP_IDLE) { /* there is no request */
        *request = (struct pel_http_request){.minor_version = 1};
        *response = (struct pel_http_response){.keep_alive = 1};
    }
    pel_http_list_remove(connection);
    if (connection->state != PEL_HTTP_BUSY)
        pel_http_become(connection, PEL_HTTP_BUSY);
    if (last)
        response->keep_alive = 0;
    response->status = (uint16_t)status;
    response->body = (struct pel_http_response_body){.none = request->method == PEL_HTTP_HEAD};
    pel_http_check_written(pel_http1_write_status_line(output, status));
    pel_http_check_written(pel_http1_write_header(output, PEL_SLICE("content-type"), PEL_SLICE("text/plain")));
    pel_http_check_written(pel_http1_write_number(output, PEL_SLICE("content-length"), length));
    if (status == 503)
        pel_http_check_written(pel_http1_write_number(output, PEL_SLICE("retry-after"), 1));
    pel_http_check_written(pel_http1_write_header(
        output, PEL_SLICE("date"), (struct pel_slice){pel_http_date(connection->server), PEL_HTTP1_DATE}));
    pel_http_decide_keep_alive(connection);
    if (!response->keep_alive)
        pel_http_check_written(pel_http1_write_header(output, PEL_SLICE("connection"), PEL_SLICE("close")));
    else if (!request->minor_version)
        pel_http_check_written(pel_http1_write_header(output, PEL_SLICE("connection"), PEL_SLICE("keep-alive")));
    pel_http_check_written(pel_http1_write_end(output));
    response->head_sent = 1;
    if (!response->body.none) {
        pel_http_check_written(protocol->append(connection, text, length - 1));
        pel_http_check_written(protocol->append(connection, "\n", 1));
        response->body.sent = length;
    }
    pel_http_send_soon(connection);
    pel_http_end_exchange(connection);
}
