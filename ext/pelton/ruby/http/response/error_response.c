#include "ruby/http/response/http_response.h"

#include <stdio.h>
#include <string.h>
#include "core/http1/http1_writer.h"
#include "ruby/http/connection/http_connection.h"

#define LONGEST_BODY 512 /* bytes: the texts are this server's own */

static VALUE key_accept;

static int contains_p(VALUE text, const char *word)
{
    return memmem(RSTRING_PTR(text), (size_t)RSTRING_LEN(text), word, strlen(word)) != NULL;
}

/* Whether the client asks for JSON, as programs do, and not for a page. */
static int json_wanted_p(const struct pel_http_request *request)
{
    VALUE accept = request->env ? rb_hash_lookup(request->env, key_accept) : Qnil;

    return RB_TYPE_P(accept, T_STRING) && contains_p(accept, "json") && !contains_p(accept, "text/html");
}

/* Writes a problem document (RFC 9457). Returns its length. */
static size_t write_problem(char *body, unsigned status, const char *text)
{
    char detail[LONGEST_BODY / 2], *at = detail;

    for (; *text && at < detail + sizeof detail - 2; text++) {
        if (*text == '"' || *text == '\\')
            *at++ = '\\';
        *at++ = *text;
    }
    *at = 0;
    return (size_t)snprintf(body, LONGEST_BODY, "{\"title\":\"%s\",\"status\":%u,\"detail\":\"%s\"}\n",
                            pel_http1_reason(status), status, detail);
}

void pel_http_respond_error(struct pel_http_connection *connection, unsigned status, const char *text, int last)
{
    const struct pel_http_protocol *protocol = connection->protocol;
    struct pel_buffer *output = protocol->lines(connection);
    struct pel_http_request *request = &connection->request;
    struct pel_http_response *response = &connection->response;
    char body[LONGEST_BODY];
    size_t length;
    int json;

    if (connection->state == PEL_HTTP_IDLE) { /* there is no request */
        *request = (struct pel_http_request){.minor_version = 1};
        *response = (struct pel_http_response){.keep_alive = 1};
    }
    json = json_wanted_p(request);
    length = json ? write_problem(body, status, text)
                  : (size_t)snprintf(body, sizeof body, "%.*s\n", LONGEST_BODY - 2, text);
    pel_http_list_remove(connection);
    if (connection->state != PEL_HTTP_BUSY)
        pel_http_become(connection, PEL_HTTP_BUSY);
    if (last)
        response->keep_alive = 0;
    response->status = (uint16_t)status;
    response->body = (struct pel_http_response_body){.none = request->method == PEL_HTTP_HEAD};
    pel_http_check_written(pel_http1_write_status_line(output, status));
    pel_http_check_written(pel_http1_write_header(
        output, PEL_SLICE("content-type"), json ? PEL_SLICE("application/problem+json") : PEL_SLICE("text/plain")));
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
        pel_http_check_written(protocol->append(connection, body, length));
        response->body.sent = length;
    }
    pel_http_send_soon(connection);
    pel_http_end_exchange(connection);
}

void pel_init_http_error_response(void)
{
    key_accept = rb_interned_str_cstr("HTTP_ACCEPT");
    rb_gc_register_mark_object(key_accept);
}
