#include "stream_private.h"

/* What TLS has agreed upon, for Pelton::TLS::Info. */

#ifdef HAVE_OPENSSL_SSL_H

#include "../core/tls.h"

static VALUE text(const char *bytes)
{
    return bytes ? rb_str_freeze(rb_str_new_cstr(bytes)) : Qnil;
}

static VALUE peer(struct stream *stream, int chain)
{
    struct pel_buffer pem = {0};
    VALUE string = Qnil;

    if (pel_tls_peer(&stream->core, chain, &pem) == 0 && pel_buffer_length(&pem))
        string = rb_str_freeze(rb_str_new(pel_buffer_head(&pem), (long)pel_buffer_length(&pem)));
    pel_buffer_free(&pem);
    return string;
}

/* _tls: what TLS::Info has, in its order; nil without TLS, before it is there, and when the stream is closed. */
static VALUE stream_tls(VALUE self)
{
    struct stream *stream = pel_stream_any(self);
    struct pel_tls_facts facts;

    if (!pel_tls_facts(&stream->core, &facts) || !facts.protocol)
        return Qnil;
    return rb_ary_new_from_args(
        9, text(facts.protocol), text(facts.cipher), INT2FIX(facts.bits), text(facts.name),
        facts.alpn ? rb_str_freeze(rb_str_new((const char *)facts.alpn, facts.alpn_length)) : Qnil, peer(stream, 0),
        peer(stream, 1), facts.resumed ? Qtrue : Qfalse, facts.verified ? Qtrue : Qfalse);
}

#else

static VALUE stream_tls(VALUE self)
{
    return Qnil;
}

#endif

void pel_init_stream_tls_info(VALUE class)
{
    rb_define_private_method(class, "_tls", stream_tls, 0);
}
