#include <math.h>
#include <time.h>

#include "error.h"
#include "memcached_call.h"

/* Pelton::Memcached::Client's commands. The same functions serve `client.later`. */

static VALUE cKeyError;

/* A key is a String, or a Symbol, or what is like a String. May call Ruby code. */
static VALUE key_string(VALUE key)
{
    if (RB_TYPE_P(key, T_STRING))
        return key;
    return RB_SYMBOL_P(key) ? rb_sym2str(key) : rb_str_to_str(key);
}

/* Taken when nothing can park any more, and so nobody can change the String. */
static struct pel_slice slice_of(VALUE key)
{
    return (struct pel_slice){RSTRING_PTR(key), (size_t)RSTRING_LEN(key)};
}

NORETURN(static void refuse(int code, VALUE key));

static void refuse(int code, VALUE key)
{
    if (code == PEL_EMEMORY)
        rb_memerror();
    if (code == PEL_ELIMIT && RSTRING_LEN(key) <= PEL_MEMCACHED_KEY_LIMIT)
        rb_raise(rb_const_get(pel_mPelton, rb_intern("LimitError")),
                 "the value is longer than memcached's protocol can say");
    rb_raise(cKeyError, "a key has 1 to %d bytes, and no space or control character: %+" PRIsVALUE,
             PEL_MEMCACHED_KEY_LIMIT, key);
}

/* get(key, timeout:) */
static VALUE client_get(int argc, VALUE *argv, VALUE self)
{
    struct pel_memcached_call call;
    struct pel_memcached_command command = {.flags = PEL_MEMCACHED_FLAG('v')};
    VALUE key, options = Qnil;
    int code;

    if (argc == 1 && !rb_keyword_given_p())
        key = argv[0];
    else
        rb_scan_args(argc, argv, "1:", &key, &options);
    pel_memcached_begin(&call, self, options, PEL_MEMCACHED_TIMEOUT);
    key = key_string(key);
    if (!pel_memcached_ready(&call))
        return pel_memcached_refused(&call);
    command.key = slice_of(key);
    if ((code = pel_memcached_write_get(&call.connection->stream.output, &command)) < 0)
        refuse(code, key);
    return pel_memcached_finish(&call, PEL_MEMCACHED_GET);
}

/* memcached reads more than 30 days as a date since 1970: such a ttl is sent as the date it means. It reads no date
 * after 2038, so a ttl that ends then has no end. A part of a second counts as one. May call Ruby code. */
static int64_t ttl_of(VALUE seconds)
{
    double ttl = ceil(NUM2DBL(seconds));
    struct timespec now;

    if (isnan(ttl))
        rb_raise(rb_eArgError, "ttl: is a number of seconds");
    if (signbit(ttl))
        return -1;
    if (ttl <= 60 * 60 * 24 * 30)
        return (int64_t)ttl;
    clock_gettime(CLOCK_REALTIME, &now);
    return ttl < (double)(INT32_MAX - (int64_t)now.tv_sec) ? (int64_t)now.tv_sec + (int64_t)ttl : 0;
}

#define SEND_UNCOPIED 16384

/* A long value goes out without being copied, as far as the socket takes it. */
static int write_value(struct pel_memcached_connection *connection, const struct pel_memcached_command *command,
                       const char *value, size_t length)
{
    struct pel_stream *stream = &connection->stream;
    ssize_t sent = 0;
    int code;

    if (length < SEND_UNCOPIED || !connection->connected)
        return pel_memcached_write_set(&stream->output, command, value, length);
    if ((code = pel_memcached_write_set_head(&stream->output, command, length)) < 0)
        return code;
    if (pel_stream_flush(stream) == 0 && (sent = pel_stream_send_now(stream, value, length)) < 0)
        sent = 0; /* the flush at the tick's end meets the error again, and ends the connection */
    if (pel_buffer_append(&stream->output, value + sent, length - (size_t)sent) == 0 &&
        pel_buffer_append(&stream->output, "\r\n", 2) == 0)
        return 0;
    pel_memcached_fail(connection, PEL_EMEMORY, 0, "a command was cut short");
    return PEL_EMEMORY;
}

/* set(key, value, ttl:, timeout:) */
static VALUE client_set(int argc, VALUE *argv, VALUE self)
{
    struct pel_memcached_call call;
    struct pel_memcached_command command = {.flags = 0};
    VALUE key, value, options = Qnil;
    int code;

    if (argc == 2 && !rb_keyword_given_p()) {
        key = argv[0];
        value = argv[1];
    } else {
        rb_scan_args(argc, argv, "2:", &key, &value, &options);
    }
    pel_memcached_begin(&call, self, options, PEL_MEMCACHED_TTL);
    key = key_string(key);
    if (!RB_TYPE_P(value, T_STRING))
        rb_raise(rb_eTypeError, "a value is a String (it was %" PRIsVALUE "): serialize it first", rb_obj_class(value));
    if (!NIL_P(call.ttl)) {
        command.flags |= PEL_MEMCACHED_FLAG('T');
        command.ttl = ttl_of(call.ttl);
    }
    if (!pel_memcached_ready(&call))
        return pel_memcached_refused(&call);
    command.key = slice_of(key);
    code = write_value(call.connection, &command, RSTRING_PTR(value), (size_t)RSTRING_LEN(value));
    if (code < 0)
        refuse(code, key);
    RB_GC_GUARD(value);
    return pel_memcached_finish(&call, PEL_MEMCACHED_SET);
}

/* delete(key, timeout:) */
static VALUE client_delete(int argc, VALUE *argv, VALUE self)
{
    struct pel_memcached_call call;
    struct pel_memcached_command command = {.flags = 0};
    VALUE key, options = Qnil;
    int code;

    if (argc == 1 && !rb_keyword_given_p())
        key = argv[0];
    else
        rb_scan_args(argc, argv, "1:", &key, &options);
    pel_memcached_begin(&call, self, options, PEL_MEMCACHED_TIMEOUT);
    key = key_string(key);
    if (!pel_memcached_ready(&call))
        return pel_memcached_refused(&call);
    command.key = slice_of(key);
    if ((code = pel_memcached_write_delete(&call.connection->stream.output, &command)) < 0)
        refuse(code, key);
    return pel_memcached_finish(&call, PEL_MEMCACHED_DELETE);
}

/* version(timeout:) */
static VALUE client_version(int argc, VALUE *argv, VALUE self)
{
    struct pel_memcached_call call;
    VALUE options;

    rb_scan_args(argc, argv, "0:", &options);
    pel_memcached_begin(&call, self, options, PEL_MEMCACHED_TIMEOUT);
    if (!pel_memcached_ready(&call))
        return pel_memcached_refused(&call);
    if (pel_memcached_write_version(&call.connection->stream.output) < 0)
        rb_memerror();
    return pel_memcached_finish(&call, PEL_MEMCACHED_GET_VERSION);
}

static void define_commands(VALUE class)
{
    rb_define_method(class, "get", client_get, -1);
    rb_define_method(class, "set", client_set, -1);
    rb_define_method(class, "delete", client_delete, -1);
    rb_define_method(class, "version", client_version, -1);
}

void pel_init_memcached(void)
{
    VALUE module = rb_define_module_under(pel_mPelton, "Memcached");
    VALUE client = rb_define_class_under(module, "Client", rb_cObject);
    VALUE later = rb_define_class_under(module, "Later", rb_cObject);

    cKeyError = rb_define_class_under(module, "KeyError", pel_eError);
    pel_init_memcached_connection();
    pel_init_memcached_call(client, later);
    define_commands(client);
    define_commands(later);
}
