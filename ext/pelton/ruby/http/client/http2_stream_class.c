#include "ruby/http/client/http2_session_class.h"

#ifdef HAVE_NGHTTP2_NGHTTP2_H

#include "ruby/base/convert.h"
#include "ruby/base/exception.h"
#include "ruby/http/client/response_values.h"
#include "ruby/reactor/reactor.h"

/* A client's request, and its response. */

#define PIECE 65536 /* bytes of a body that Ruby gets at a time, at most */

struct stream {
    VALUE session;
    struct pel_http2_stream *core; /* the session's; NULL once it is released */
};

static void stream_mark(void *data)
{
    rb_gc_mark(((struct stream *)data)->session);
}

static size_t stream_size(const void *data)
{
    return sizeof(struct stream);
}

/* The session frees the core's stream: both may be garbage at once. */
static const rb_data_type_t stream_type = {
    .wrap_struct_name = "Pelton::HTTP::Http2Stream",
    .function = {.dmark = stream_mark, .dfree = RUBY_DEFAULT_FREE, .dsize = stream_size},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY,
};

static VALUE stream_s_allocate(VALUE class)
{
    struct stream *stream;
    VALUE self = TypedData_Make_Struct(class, struct stream, &stream_type, stream);

    stream->session = Qnil;
    return self;
}

static struct stream *get_stream(VALUE self)
{
    return rb_check_typeddata(self, &stream_type);
}

/* new(session, owner, head, scheme, no_body): sends a request, whose head has the lines of HTTP/1. */
static VALUE stream_initialize(VALUE self, VALUE session, VALUE owner, VALUE head, VALUE scheme, VALUE no_body)
{
    struct stream *stream = get_stream(self);

    Check_Type(head, T_STRING);
    Check_Type(scheme, T_STRING);
    rb_str_modify(head);
    stream->core = pel_http2_request(pel_http2_client_session(session), RSTRING_PTR(head), (size_t)RSTRING_LEN(head),
                                     pel_string_slice(scheme), RTEST(no_body));
    if (!stream->core)
        rb_exc_raise(pel_error_with_text(PEL_ESYSTEM, "HTTP/2", "the connection takes no request any more"));
    stream->session = session;
    stream->core->owner = (void *)owner;
    RB_GC_GUARD(head);
    return self;
}

/* head: nil until it has come; then see pel_http_response_values. Raises ProtocolError or LimitError. */
static VALUE stream_head(VALUE self)
{
    static struct pel_http1_head head; /* large, and done with before anything can switch threads */
    struct stream *stream = get_stream(self);
    int code = stream->core ? pel_http2_response(stream->core, &head) : 0;
    VALUE values;

    if (code < 0)
        rb_exc_raise(pel_error_with_text(code, "the server's response",
                                         pel_http1_fault_text((enum pel_http1_fault)stream->core->fault)));
    if (code == 0)
        return Qnil;
    values = pel_http_response_values(&head);
    pel_http2_free_head(stream->core);
    return values;
}

/* piece: bytes of the body; nil when none are there. */
static VALUE stream_piece(VALUE self)
{
    struct pel_http2_stream *core = get_stream(self)->core;
    size_t length = core ? pel_buffer_length(&core->input) : 0;
    VALUE piece;

    if (!length)
        return Qnil;
    if (length > PIECE)
        length = PIECE;
    piece = rb_str_new(pel_buffer_head(&core->input), (long)length);
    pel_http2_take(core, length);
    return piece;
}

/* ended?: whether the response is complete, and its body was taken. */
static VALUE stream_ended_p(VALUE self)
{
    struct pel_http2_stream *core = get_stream(self)->core;
    return core && core->ended && !pel_buffer_length(&core->input) ? Qtrue : Qfalse;
}

/* closed?: whether nothing more comes, and nothing can be sent. */
static VALUE stream_closed_p(VALUE self)
{
    struct pel_http2_stream *core = get_stream(self)->core;
    return !core || core->closed ? Qtrue : Qfalse;
}

/* continued?: whether the server has asked for the request's body. */
static VALUE stream_continued_p(VALUE self)
{
    struct pel_http2_stream *core = get_stream(self)->core;
    return core && core->continued ? Qtrue : Qfalse;
}

/* headed?: whether the response's head has come. */
static VALUE stream_headed_p(VALUE self)
{
    struct pel_http2_stream *core = get_stream(self)->core;
    return core && core->headed ? Qtrue : Qfalse;
}

/* write(bytes): of the request's body. Those of a closed stream are dropped. */
static VALUE stream_write(VALUE self, VALUE bytes)
{
    struct pel_http2_stream *core = get_stream(self)->core;

    Check_Type(bytes, T_STRING);
    if (core && pel_http2_append(core, RSTRING_PTR(bytes), (size_t)RSTRING_LEN(bytes)) < 0)
        rb_memerror();
    RB_GC_GUARD(bytes);
    return Qnil;
}

/* finish: the request's body is complete. */
static VALUE stream_finish(VALUE self)
{
    struct pel_http2_stream *core = get_stream(self)->core;

    if (core)
        pel_http2_finish(core);
    return Qnil;
}

/* unsent: bytes of the request's body that wait for the server's windows. */
static VALUE stream_unsent(VALUE self)
{
    struct pel_http2_stream *core = get_stream(self)->core;
    return SIZET2NUM(core ? pel_http2_unsent(core) : 0);
}

/* wants_room = true: there will be news when few bytes are unsent. */
static VALUE stream_set_wants_room(VALUE self, VALUE wants)
{
    struct pel_http2_stream *core = get_stream(self)->core;

    if (core)
        core->wants_room = RTEST(wants);
    return wants;
}

/* error: of a stream that is closed too early: [its code, whether the server has sent it, how many responses of 1xx
 * there were]. */
static VALUE stream_error(VALUE self)
{
    struct pel_http2_stream *core = get_stream(self)->core;

    if (!core)
        return Qnil;
    return rb_ary_new_from_args(3, UINT2NUM(core->error), core->reset_by_peer ? Qtrue : Qfalse,
                                UINT2NUM(core->interim));
}

/* release: the request is over. The stream is cancelled unless it is closed. */
static VALUE stream_release(VALUE self)
{
    struct stream *stream = get_stream(self);

    if (!stream->core)
        return Qnil;
    pel_http2_reset(stream->core, PEL_HTTP2_CANCEL);
    pel_http2_release(stream->core);
    stream->core = NULL;
    return Qnil;
}

void pel_init_http2_stream(void)
{
    VALUE class = rb_define_class_under(rb_define_module_under(pel_mPelton, "HTTP"), "Http2Stream", rb_cObject);

    rb_define_alloc_func(class, stream_s_allocate);
    rb_define_method(class, "initialize", stream_initialize, 5);
    rb_define_method(class, "head", stream_head, 0);
    rb_define_method(class, "headed?", stream_headed_p, 0);
    rb_define_method(class, "piece", stream_piece, 0);
    rb_define_method(class, "ended?", stream_ended_p, 0);
    rb_define_method(class, "closed?", stream_closed_p, 0);
    rb_define_method(class, "continued?", stream_continued_p, 0);
    rb_define_method(class, "write", stream_write, 1);
    rb_define_method(class, "finish", stream_finish, 0);
    rb_define_method(class, "unsent", stream_unsent, 0);
    rb_define_method(class, "wants_room=", stream_set_wants_room, 1);
    rb_define_method(class, "error", stream_error, 0);
    rb_define_method(class, "release", stream_release, 0);
}

#else

void pel_init_http2_stream(void)
{
}

#endif
