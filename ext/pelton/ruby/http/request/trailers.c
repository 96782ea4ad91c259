#include "ruby/http/request/http_request.h"

#include "ruby/base/convert.h"

static VALUE key_trailers;

static VALUE trailers_hash(const struct pel_http1_head *head)
{
    VALUE trailers = rb_hash_new();

    for (unsigned i = 0; i < head->header_count; i++) {
        VALUE name = pel_slice_string(head->headers[i].name);
        for (char *byte = RSTRING_PTR(name); byte < RSTRING_END(name); byte++)
            *byte = *byte >= 'A' && *byte <= 'Z' ? (char)(*byte | 32) : *byte;
        rb_hash_aset(trailers, name, pel_slice_string(head->headers[i].value));
    }
    return trailers;
}

VALUE pel_http_trailers(const struct pel_http1_head *head)
{
    return head->header_count ? trailers_hash(head) : Qnil;
}

void pel_http_env_trailers(struct pel_http_connection *connection, VALUE trailers)
{
    if (!NIL_P(trailers))
        rb_hash_aset(connection->request.env, key_trailers, trailers);
}

void pel_init_http_trailers(void)
{
    key_trailers = rb_interned_str_cstr("pelton.trailers");
    rb_gc_register_mark_object(key_trailers);
}
