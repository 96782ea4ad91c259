#include "ruby/http/page/page.h"

#include <ruby.h>
#include <ruby/encoding.h>
#include "core/base/decimal.h"
#include "ruby/http/connection/http_server.h"

/*
 * A key is "[" and for each part its length in bytes, a mark and its text. The lengths keep ["a", "b"] and ["ab"]
 * apart, whatever the texts contain. The marks keep nil and "nil" apart, and an Array and a text that looks like the
 * key of one.
 */

#define USUAL 150 /* bytes that a key has room for at first */
#define DEPTH 100 /* of Arrays within each other: an Array may contain itself */

static VALUE key_of(VALUE parts, int depth);

static void add_bytes(VALUE key, char mark, const char *bytes, long length)
{
    char head[24], *end = head + sizeof head, *start = end;

    *--start = mark;
    start = pel_decimal_before(start, (uint64_t)length);
    rb_str_cat(key, start, end - start);
    rb_str_cat(key, bytes, length);
}

static void add_number(VALUE key, long number)
{
    char digits[24], *end = digits + sizeof digits;
    char *start = pel_decimal_before(end, number < 0 ? 0 - (unsigned long)number : (unsigned long)number);

    if (number < 0)
        *--start = '-';
    add_bytes(key, ':', start, end - start);
}

/* The guard keeps the text where it is, too: an object that the stack refers to is not moved. */
static void add(VALUE key, char mark, VALUE text)
{
    add_bytes(key, mark, RSTRING_PTR(text), RSTRING_LEN(text));
    RB_GC_GUARD(text);
}

static void add_part(VALUE key, VALUE part, int depth)
{
    if (RB_TYPE_P(part, T_STRING))
        add(key, ':', part);
    else if (FIXNUM_P(part))
        add_number(key, FIX2LONG(part));
    else if (RB_TYPE_P(part, T_ARRAY))
        add(key, ';', key_of(part, depth + 1));
    else if (NIL_P(part))
        add_bytes(key, '!', "nil", 3);
    else if (part == Qtrue)
        add_bytes(key, '!', "true", 4);
    else if (part == Qfalse)
        add_bytes(key, '!', "false", 5);
    else if (SYMBOL_P(part))
        add(key, ':', rb_sym2str(part));
    else
        add(key, ':', rb_str_to_str(rb_yield(part)));
}

/* The block may change the Array. */
static VALUE key_of(VALUE parts, int depth)
{
    VALUE key = depth ? rb_str_new(NULL, 0) : rb_str_buf_new(USUAL);

    rb_str_cat(key, "[", 1);

    if (depth > DEPTH)
        rb_raise(rb_eArgError, "the key of a fragment is nested more than %d levels deep", DEPTH);
    for (long i = 0; i < RARRAY_LEN(parts); i++)
        add_part(key, rb_ary_entry(parts, i), depth);
    return key;
}

/* key(parts) { |part| text of a part that is no String, Symbol, small Integer, nil, true, false or Array } */
static VALUE fragment_s_key(VALUE class, VALUE parts)
{
    (void)class;
    Check_Type(parts, T_ARRAY);
    return rb_enc_associate(key_of(parts, 0), rb_utf8_encoding());
}

void pel_init_http_fragment_key(void)
{
    VALUE fragment = rb_const_get(pel_mHTTP, rb_intern("Fragment"));

    rb_define_singleton_method(fragment, "key", fragment_s_key, 1);
}
