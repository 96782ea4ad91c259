#include "ruby/http/client/response_values.h"

#include <ctype.h>

/* The name of a header in lower case, as an interned string. */
static VALUE header_name(struct pel_slice name)
{
    char lower[64];

    if (name.length > sizeof lower) {
        VALUE string = rb_usascii_str_new(name.bytes, (long)name.length);
        for (char *byte = RSTRING_PTR(string); byte < RSTRING_END(string); byte++)
            *byte = (char)tolower((unsigned char)*byte);
        return rb_str_to_interned_str(string);
    }
    for (size_t i = 0; i < name.length; i++)
        lower[i] = (char)tolower((unsigned char)name.bytes[i]);
    return rb_interned_str(lower, (long)name.length);
}

VALUE pel_http_headers_hash(const struct pel_http1_head *head)
{
    VALUE headers = rb_hash_new();

    for (unsigned i = 0; i < head->header_count; i++) {
        VALUE name = header_name(head->headers[i].name), before = rb_hash_lookup(headers, name);
        VALUE value = rb_utf8_str_new(head->headers[i].value.bytes, (long)head->headers[i].value.length);
        if (NIL_P(before))
            rb_hash_aset(headers, name, value);
        else if (RB_TYPE_P(before, T_ARRAY))
            rb_ary_push(before, value);
        else
            rb_hash_aset(headers, name, rb_assoc_new(before, value));
    }
    return headers;
}

VALUE pel_http_response_values(const struct pel_http1_head *head)
{
    return rb_ary_new_from_args(7, UINT2NUM(head->status),
                                rb_utf8_str_new(head->reason.bytes, (long)head->reason.length), UINT2NUM(head->minor),
                                pel_http_headers_hash(head), head->keep_alive ? Qtrue : Qfalse,
                                head->framing == PEL_HTTP1_LENGTH ? ULL2NUM(head->length) : Qnil,
                                head->framing == PEL_HTTP1_NO_BODY ? Qfalse : Qtrue);
}
