#include <math.h>
#include <time.h>

#include "ruby/memcached/commands.h"

/* The bits of an item's flags that belong to the codec, Pelton::Memcached::Value. */
#define CODEC_FLAGS 0x3

static ID id_dump;

void pel_memcached_begin_for_key(struct pel_memcached_call *call, int argc, VALUE *argv, VALUE self,
                                 enum pel_memcached_options known)
{
    VALUE key, options = Qnil;

    if (argc == 1 && !rb_keyword_given_p())
        key = argv[0];
    else
        rb_scan_args(argc, argv, "1:", &key, &options);
    pel_memcached_begin(call, self, options, known);
    pel_memcached_set_key(call, key);
}

/* memcached reads a number above 30 days as seconds since 1970, so a longer ttl is sent as its end in that form. It
 * cannot read a date after 2038, so a ttl that ends later is sent as 0, no end. Fractions are rounded up. */
int64_t pel_memcached_ttl(VALUE seconds)
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

uint64_t pel_memcached_number(VALUE number, const char *name, uint64_t limit)
{
    uint64_t value = 0;
    int sign;

    if (!RB_INTEGER_TYPE_P(number))
        rb_raise(rb_eTypeError, "%s is an Integer, not %+" PRIsVALUE, name, number);
    sign = rb_integer_pack(number, &value, 1, sizeof(value), 0,
                           INTEGER_PACK_LSWORD_FIRST | INTEGER_PACK_NATIVE_BYTE_ORDER);
    if (sign < 0 || sign > 1 || value > limit) /* sign 2: more than 64 bits */
        rb_raise(rb_eArgError, "%s is 0 to %llu, not %+" PRIsVALUE, name, (unsigned long long)limit, number);
    return value;
}

void pel_memcached_take_cas(const struct pel_memcached_call *call, struct pel_memcached_command *command)
{
    VALUE cas = call->options[PEL_MEMCACHED_CAS_OPTION];

    if (NIL_P(cas))
        return;
    command->flags |= PEL_MEMCACHED_FLAG('C');
    command->cas = pel_memcached_number(cas, "cas:", UINT64_MAX);
}

void pel_memcached_take_ttl(const struct pel_memcached_call *call, struct pel_memcached_command *command)
{
    VALUE ttl = call->options[PEL_MEMCACHED_TTL_OPTION];

    if (NIL_P(ttl))
        return;
    command->flags |= PEL_MEMCACHED_FLAG('T');
    command->ttl = pel_memcached_ttl(ttl);
}

int pel_memcached_uses_codec(const struct pel_memcached_call *call)
{
    return !NIL_P(call->client->codec) && !RTEST(call->options[PEL_MEMCACHED_RAW_OPTION]);
}

struct pel_memcached_encoded pel_memcached_encode(struct pel_memcached_call *call, VALUE value)
{
    VALUE flags = call->options[PEL_MEMCACHED_FLAGS_OPTION];
    struct pel_memcached_encoded bytes = {.string = value};

    if (!NIL_P(flags))
        bytes.flags = (uint32_t)pel_memcached_number(flags, "flags:", UINT32_MAX);
    if (pel_memcached_uses_codec(call)) {
        VALUE dumped = rb_funcall(call->client->codec, id_dump, 1, value);
        if (bytes.flags & CODEC_FLAGS)
            rb_raise(rb_eArgError, "the last two bits of flags: are reserved for the serializer and the compression");
        Check_Type(dumped, T_ARRAY);
        bytes.string = rb_ary_entry(dumped, 0);
        bytes.flags |= NUM2UINT(rb_ary_entry(dumped, 1));
    }
    if (!RB_TYPE_P(bytes.string, T_STRING))
        rb_raise(rb_eTypeError,
                 "a value is a String (it was %" PRIsVALUE "): give the client a serializer, or make it one",
                 rb_obj_class(bytes.string));
    return bytes;
}

#define SEND_UNCOPIED 16384

int pel_memcached_write_value(struct pel_memcached_connection *connection, const struct pel_memcached_command *command,
                              VALUE value)
{
    struct pel_stream *stream = &connection->stream;
    const char *bytes = RSTRING_PTR(value);
    size_t length = (size_t)RSTRING_LEN(value);
    ssize_t sent = 0;
    int code;

    if (length < SEND_UNCOPIED || !connection->connected)
        return pel_memcached_write_set(&stream->output, command, bytes, length);
    if ((code = pel_memcached_write_set_head(&stream->output, command, length)) < 0)
        return code;
    if (pel_stream_flush(stream) == 0 && (sent = pel_stream_send_now(stream, bytes, length)) < 0)
        sent = 0; /* the flush at the tick's end meets the error again and ends the connection */
    if (pel_buffer_append(&stream->output, bytes + sent, length - (size_t)sent) == 0 &&
        pel_buffer_append(&stream->output, "\r\n", 2) == 0)
        return 0;
    pel_memcached_fail(connection, PEL_EMEMORY, 0, "a command was cut short");
    return PEL_EMEMORY;
}

void pel_init_memcached_arguments(void)
{
    id_dump = rb_intern("dump");
}
