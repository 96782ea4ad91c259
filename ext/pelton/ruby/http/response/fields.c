#include "ruby/http/response/http_response.h"

#include "core/http1/http1_writer.h"

/* Header fields outside of a response's head: early hints, or trailers after the last chunk. */

struct fields {
    struct pel_buffer *output;
    VALUE fields;
    int hints, chunked;
};

/* Of a String or Symbol; *value becomes the String that holds the bytes. */
static struct pel_slice field_slice(VALUE *value)
{
    if (SYMBOL_P(*value))
        *value = rb_sym2str(*value);
    Check_Type(*value, T_STRING); /* other objects would have to be converted by code of the application */
    return pel_string_slice(*value);
}

static void write_field(struct fields *fields, VALUE name, VALUE value)
{
    struct pel_slice name_slice = field_slice(&name), value_slice;
    int framing = pel_http1_equal(name_slice, "content-length") || pel_http1_equal(name_slice, "transfer-encoding") ||
                  pel_http1_equal(name_slice, "host");

    if (FIXNUM_P(value))
        value = rb_fix2str(value, 10);
    value_slice = field_slice(&value);
    if (framing || pel_http1_write_header(fields->output, name_slice, value_slice) < 0)
        rb_raise(rb_eArgError, "the %s %" PRIsVALUE " is malformed, or not allowed here",
                 fields->hints ? "hint" : "trailer", rb_str_inspect(name));
    RB_GC_GUARD(name);
    RB_GC_GUARD(value);
}

static int write_values(VALUE name, VALUE value, VALUE argument)
{
    struct fields *fields = (struct fields *)argument;

    if (fields->hints && RB_TYPE_P(value, T_STRING))
        value = rb_str_split(value, "\n");
    if (!RB_TYPE_P(value, T_ARRAY)) {
        write_field(fields, name, value);
        return ST_CONTINUE;
    }
    for (long i = 0; i < RARRAY_LEN(value); i++)
        write_field(fields, name, RARRAY_AREF(value, i));
    RB_GC_GUARD(value);
    return ST_CONTINUE;
}

static VALUE write_all_fields(VALUE argument)
{
    struct fields *fields = (struct fields *)argument;

    if (fields->hints)
        pel_http_check_written(pel_http1_write_status_line(fields->output, 103));
    else if (fields->chunked)
        pel_http_check_written(pel_http1_write_chunk(fields->output, 0));
    if (!NIL_P(fields->fields))
        rb_hash_foreach(fields->fields, write_values, argument);
    pel_http_check_written(pel_http1_write_end(fields->output));
    return Qnil;
}

void pel_http_write_fields(struct pel_http_connection *connection, VALUE hash, int hints)
{
    struct fields fields = {connection->protocol->lines(connection), hash, hints, connection->response.body.chunked};
    size_t before = pel_buffer_length(fields.output);
    int state;

    if (!NIL_P(hash))
        Check_Type(hash, T_HASH);
    pel_protect(write_all_fields, (VALUE)&fields, &state);
    if (!state)
        return;
    fields.output->end -= pel_buffer_length(fields.output) - before;
    pel_rethrow(state);
}
