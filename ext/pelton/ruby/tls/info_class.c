#include "ruby/stream/stream_private.h"

/* The result of a TLS handshake, for Pelton::TLS::Info. */

#ifdef HAVE_OPENSSL_SSL_H

#include "core/tls/tls.h"
#include "ruby/tls/ruby_tls.h"

static VALUE info_text(const char *bytes)
{
    return bytes ? rb_str_freeze(rb_str_new_cstr(bytes)) : Qnil;
}

static VALUE info_peer(struct stream *stream, int chain)
{
    struct pel_buffer pem = {0};
    VALUE string = Qnil;

    if (pel_tls_peer(&stream->core, chain, &pem) == 0 && pel_buffer_length(&pem))
        string = rb_str_freeze(rb_str_new(pel_buffer_head(&pem), (long)pel_buffer_length(&pem)));
    pel_buffer_free(&pem);
    return string;
}

/* _tls: the members of TLS::Info, in their order; nil without TLS, before the handshake is done, and when the stream is
 * closed. */
static VALUE stream_tls(VALUE self)
{
    struct stream *stream = pel_stream_any(self);
    struct pel_tls_info info;

    if (!pel_tls_info(&stream->core, &info) || !info.protocol)
        return Qnil;
    return rb_ary_new_from_args(
        9, info_text(info.protocol), info_text(info.cipher), INT2FIX(info.bits), info_text(info.name),
        info.alpn ? rb_str_freeze(rb_str_new((const char *)info.alpn, info.alpn_length)) : Qnil, info_peer(stream, 0),
        info_peer(stream, 1), info.resumed ? Qtrue : Qfalse, info.verified ? Qtrue : Qfalse);
}

/* _tls_choice: the TLS::Choice of a server with several contexts, or nil. */
static VALUE stream_tls_choice(VALUE self)
{
    struct stream *stream = pel_stream_any(self);

    return stream->tls ? stream->tls->choice : Qnil;
}

/* _tls_meets?(context): see pel_tls_meets. */
static VALUE stream_tls_meets(VALUE self, VALUE context)
{
    return pel_tls_meets(&pel_stream_any(self)->core, pel_tls_context_get(context)) ? Qtrue : Qfalse;
}

#else

static VALUE stream_tls(VALUE self)
{
    return Qnil;
}

#endif

void pel_init_tls_info(void)
{
    rb_define_private_method(pel_cStream, "_tls", stream_tls, 0);
#ifdef HAVE_OPENSSL_SSL_H
    rb_define_private_method(pel_cStream, "_tls_choice", stream_tls_choice, 0);
    rb_define_private_method(pel_cStream, "_tls_meets?", stream_tls_meets, 1);
#endif
}
