#include "ruby/base/exception.h"
#include "ruby/memcached/memcached_connection.h"

/* Errors that name the server. */

static VALUE cServerError;

VALUE pel_memcached_server_error(struct pel_memcached_connection *connection, const struct pel_memcached_reply *reply)
{
    VALUE text = rb_sprintf("memcached at %" PRIsVALUE " answered %s %.*s", connection->address,
                            pel_memcached_kind_name(reply->kind), (int)reply->text.length, reply->text.bytes);

    return rb_exc_new_str(cServerError, text);
}

VALUE pel_memcached_error(struct pel_memcached_connection *connection, int code, int error_number, const char *what)
{
    VALUE message = rb_sprintf("memcached at %" PRIsVALUE ": %s", connection->address, what);
    VALUE error = pel_error_new(code, error_number, StringValueCStr(message));

    RB_GC_GUARD(message);
    return error;
}

void pel_init_memcached_error(VALUE module)
{
    cServerError = rb_define_class_under(module, "ServerError", pel_eError);
}
