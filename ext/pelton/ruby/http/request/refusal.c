#include "ruby/http/request/http_request.h"

#include "ruby/base/upcall.h"
#include "ruby/http/connection/http_connection.h"
#include "ruby/http/response/http_response.h"

static void report_refusal(struct pel_reactor *reactor, void *data)
{
    VALUE refusal = (VALUE)data;

    pel_upcallv(PEL_UPCALL_request_refused, (int)RARRAY_LEN(refusal), RARRAY_CONST_PTR(refusal));
}

void pel_http_report_refusal(struct pel_http_connection *connection, VALUE status, const char *text)
{
    VALUE refusal = rb_ary_new_from_args(4, connection->server->self, pel_http_remote_address(connection), status,
                                         rb_str_new_cstr(text));

    connection->server->refused++;
    pel_enqueue(connection->reactor,
                (struct pel_job){.run = report_refusal, .data = (void *)refusal, .object = refusal});
    RB_GC_GUARD(refusal);
}

void pel_http_refuse(struct pel_http_connection *connection, unsigned status, const char *text)
{
    pel_http_report_refusal(connection, UINT2NUM(status), text);
    pel_http_respond_error(connection, status, text, 1);
}
