#include "ruby/http/client/http2_session_class.h"

#ifdef HAVE_NGHTTP2_NGHTTP2_H

#include "ruby/base/exception.h"
#include "ruby/reactor/reactor.h"

/*
 * A client's side of a connection, without the connection: bytes in and out. It keeps the owners of its streams alive
 * until they release them, since a stream has no other way to tell its owner of news.
 */

#define WINDOW (1024 * 1024) /* bytes of a body that a server may send ahead of its reader */
#define CONTROLS 10000       /* frames that bring no response forward, at once: servers measure by PING */

static const struct pel_http2_limits limits = {
    .message = &pel_http1_default_limits, .window = WINDOW, .controls = CONTROLS};

struct session {
    struct pel_http2_session *core;
    struct pel_buffer output;
};

static void session_mark(void *data)
{
    struct session *session = data;

    if (!session->core)
        return;
    for (struct pel_http2_stream *stream = pel_http2_first(session->core); stream; stream = stream->next)
        if (stream->owner)
            rb_gc_mark((VALUE)stream->owner); /* pinned: C keeps its address */
}

static void session_free(void *data)
{
    struct session *session = data;

    if (session->core)
        pel_http2_session_free(session->core);
    pel_buffer_free(&session->output);
    xfree(session);
}

static size_t session_size(const void *data)
{
    return sizeof(struct session) + ((const struct session *)data)->output.capacity;
}

static const rb_data_type_t session_type = {
    .wrap_struct_name = "Pelton::HTTP::Http2Session",
    .function = {.dmark = session_mark, .dfree = session_free, .dsize = session_size},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY,
};

static VALUE session_s_allocate(VALUE class)
{
    struct session *session;
    VALUE self = TypedData_Make_Struct(class, struct session, &session_type, session);

    if (!(session->core = pel_http2_client_new(&limits)))
        rb_memerror();
    return self;
}

static struct session *get_session(VALUE self)
{
    return rb_check_typeddata(self, &session_type);
}

struct pel_http2_session *pel_http2_client_session(VALUE self)
{
    return get_session(self)->core;
}

/* The owners of the streams that have news. */
static VALUE owners_with_news(struct pel_http2_session *core)
{
    VALUE owners = rb_ary_new();
    struct pel_http2_stream *stream;
    unsigned news;

    while ((stream = pel_http2_next(core, &news)))
        if (stream->owner) /* it may have been released since */
            rb_ary_push(owners, (VALUE)stream->owner);
    return owners;
}

/* receive(bytes): takes what the server has sent. The owners of the streams that have news. Raises ProtocolError or
 * LimitError: the connection is over, once what `take` has left is sent. */
static VALUE session_receive(VALUE self, VALUE bytes)
{
    struct session *session = get_session(self);
    int code;

    Check_Type(bytes, T_STRING);
    code = pel_http2_receive(session->core, RSTRING_PTR(bytes), (size_t)RSTRING_LEN(bytes), pel_now());
    RB_GC_GUARD(bytes);
    if (code == PEL_EMEMORY)
        rb_memerror();
    if (code < 0)
        rb_exc_raise(pel_error_with_text(code, "the server's HTTP/2",
                                         code == PEL_ELIMIT ? "too many frames that bring no response forward"
                                                            : "the frames are not those of a server"));
    return owners_with_news(session->core);
}

/* take(most): bytes to be sent, hardly more than so many; nil if there are none. */
static VALUE session_take(VALUE self, VALUE most)
{
    struct session *session = get_session(self);
    int code = pel_http2_send(session->core, &session->output, NUM2SIZET(most));
    VALUE bytes = Qnil;

    if (code == PEL_EMEMORY)
        rb_memerror();
    if (pel_buffer_length(&session->output))
        bytes = rb_str_new(pel_buffer_head(&session->output), (long)pel_buffer_length(&session->output));
    pel_buffer_consume(&session->output, pel_buffer_length(&session->output));
    return bytes;
}

/* news: the owners of the streams that have news of what was sent. */
static VALUE session_news(VALUE self)
{
    return owners_with_news(get_session(self)->core);
}

/* allowed: how many streams the server allows at once; nil until it has said so. */
static VALUE session_allowed(VALUE self)
{
    struct session *session = get_session(self);
    return pel_http2_settings_known_p(session->core) ? UINT2NUM(pel_http2_allowed_streams(session->core)) : Qnil;
}

/* leaving?: whether the server takes no new stream any more. */
static VALUE session_leaving_p(VALUE self)
{
    return pel_http2_leaving_p(get_session(self)->core) ? Qtrue : Qfalse;
}

/* over?: whether both sides have ended the connection, or the server broke the protocol, and all was sent. */
static VALUE session_over_p(VALUE self)
{
    return pel_http2_over_p(get_session(self)->core) ? Qtrue : Qfalse;
}

/* abandon: the connection is broken. The owners of the streams that it has closed. */
static VALUE session_abandon(VALUE self)
{
    struct session *session = get_session(self);

    pel_http2_abandon(session->core);
    return owners_with_news(session->core);
}

void pel_init_http2_session(void)
{
    VALUE class = rb_define_class_under(rb_define_module_under(pel_mPelton, "HTTP"), "Http2Session", rb_cObject);

    rb_define_alloc_func(class, session_s_allocate);
    rb_define_method(class, "receive", session_receive, 1);
    rb_define_method(class, "take", session_take, 1);
    rb_define_method(class, "news", session_news, 0);
    rb_define_method(class, "allowed", session_allowed, 0);
    rb_define_method(class, "leaving?", session_leaving_p, 0);
    rb_define_method(class, "over?", session_over_p, 0);
    rb_define_method(class, "abandon", session_abandon, 0);
}

#else

void pel_init_http2_session(void)
{
}

#endif
