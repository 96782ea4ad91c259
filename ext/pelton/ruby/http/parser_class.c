#include "ruby/http/http.h"

#include "core/base/buffer.h"
#include "core/http1/http1_parser.h"
#include "ruby/base/convert.h"
#include "ruby/base/exception.h"
#include "ruby/http/client/response_values.h"
#include "ruby/reactor/reactor.h"

struct parser {
    struct pel_http1_parser core;
    struct pel_http1_limits limits;
    enum pel_http1_kind kind;
    struct pel_buffer input; /* bytes not parsed yet */
};

static void parser_free(void *data)
{
    pel_buffer_free(&((struct parser *)data)->input);
    xfree(data);
}

static size_t parser_size(const void *data)
{
    return sizeof(struct parser) + ((const struct parser *)data)->input.capacity;
}

static const rb_data_type_t parser_type = {
    .wrap_struct_name = "Pelton::HTTP::Parser",
    .function = {.dfree = parser_free, .dsize = parser_size},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED,
};

static VALUE parser_s_allocate(VALUE class)
{
    struct parser *parser;
    VALUE self = TypedData_Make_Struct(class, struct parser, &parser_type, parser);

    parser->limits = pel_http1_default_limits;
    parser->limits.host_optional = 1;
    parser->kind = PEL_HTTP1_RESPONSE;
    pel_http1_parser_init(&parser->core, parser->kind, &parser->limits);
    return self;
}

static struct parser *get_parser(VALUE self)
{
    return rb_check_typeddata(self, &parser_type);
}

/* new(kind): whether the peer sends requests (:request) or responses (:response) */
static VALUE parser_initialize(VALUE self, VALUE kind)
{
    struct parser *parser = get_parser(self);

    if (kind != ID2SYM(rb_intern("request")) && kind != ID2SYM(rb_intern("response")))
        rb_raise(rb_eArgError, "the kind must be :request or :response");
    parser->kind = kind == ID2SYM(rb_intern("request")) ? PEL_HTTP1_REQUEST : PEL_HTTP1_RESPONSE;
    pel_http1_parser_init(&parser->core, parser->kind, &parser->limits);
    return self;
}

NORETURN(static void raise_fault(struct parser *parser, int code));
static void raise_fault(struct parser *parser, int code)
{
    rb_exc_raise(pel_error_with_text(code, parser->kind == PEL_HTTP1_REQUEST ? "the request" : "the server's response",
                                     pel_http1_fault_text(pel_http1_parser_fault(&parser->core))));
}

/* [method, path, query or nil, "HTTP/1.1", [[name, value], ...] as they were sent, 100-continue expected?] */
static VALUE request_event(const struct pel_http1_head *head)
{
    VALUE headers = rb_ary_new_capa((long)head->header_count);

    for (unsigned i = 0; i < head->header_count; i++)
        rb_ary_push(headers,
                    rb_assoc_new(pel_slice_string(head->headers[i].name), pel_slice_string(head->headers[i].value)));
    return rb_ary_new_from_args(6, pel_slice_string(head->method),
                                pel_slice_string(head->path.length ? head->path : head->target),
                                head->query.length ? pel_slice_string(head->query) : Qnil,
                                rb_sprintf("HTTP/1.%u", head->minor), headers, head->expects_continue ? Qtrue : Qfalse);
}

/* feed(bytes): appends bytes that were received */
static VALUE parser_feed(VALUE self, VALUE bytes)
{
    StringValue(bytes);
    if (pel_buffer_append(&get_parser(self)->input, RSTRING_PTR(bytes), (size_t)RSTRING_LEN(bytes)) < 0)
        rb_memerror();
    RB_GC_GUARD(bytes);
    return self;
}

/* next: the next event. An Array for a head, see above; a String for a part of the body; a Hash of trailers for the end
 * of a message; nil when more bytes are needed. Raises ProtocolError or LimitError, and does so from then on. */
static VALUE parser_next(VALUE self)
{
    struct parser *parser = get_parser(self);
    struct pel_http1_head head;
    struct pel_slice data;
    size_t consumed;
    VALUE event = Qnil;
    int code = pel_http1_parse(&parser->core, pel_buffer_head(&parser->input), pel_buffer_length(&parser->input),
                               &consumed, &head, &data);

    if (code < 0)
        raise_fault(parser, code);
    if (code == PEL_HTTP1_HEAD)
        event = parser->kind == PEL_HTTP1_REQUEST ? request_event(&head) : pel_http_response_values(&head);
    else if (code == PEL_HTTP1_DATA)
        event = pel_slice_string(data);
    else if (code == PEL_HTTP1_END)
        event = pel_http_headers_hash(&head);
    pel_buffer_consume(&parser->input, consumed);
    return event;
}

/* fault: [status, text] of a response to a message that was refused. */
static VALUE parser_fault(VALUE self)
{
    enum pel_http1_fault fault = pel_http1_parser_fault(&get_parser(self)->core);
    return rb_assoc_new(UINT2NUM(pel_http1_fault_status(fault)), rb_str_new_cstr(pel_http1_fault_text(fault)));
}

/* finish: the peer sends no more. Returns trailers if that ends a body, nil between two messages. Raises ProtocolError
 * within a message. */
static VALUE parser_finish(VALUE self)
{
    struct parser *parser = get_parser(self);
    struct pel_http1_head head;
    int code = pel_http1_parse_end(&parser->core, &head);

    if (code < 0)
        raise_fault(parser, code);
    return code == PEL_HTTP1_END ? rb_hash_new() : Qnil;
}

/* no_body = true: the next response answers a HEAD, so it has no body. */
static VALUE parser_set_no_body(VALUE self, VALUE no_body)
{
    get_parser(self)->core.no_body = RTEST(no_body);
    return no_body;
}

/* left: bytes of the body, or of its chunk, that are still to come and may be received past the parser. */
static VALUE parser_left(VALUE self)
{
    struct parser *parser = get_parser(self);
    return pel_buffer_length(&parser->input) ? INT2FIX(0) : ULL2NUM(pel_http1_parser_left(&parser->core));
}

/* skip(length): so many bytes were received past the parser. */
static VALUE parser_skip(VALUE self, VALUE length)
{
    if (pel_http1_parser_skip(&get_parser(self)->core, NUM2ULL(length)) < 0)
        rb_raise(rb_eArgError, "fewer bytes of the body are left");
    return Qnil;
}

/* rest: takes the bytes after a head that changed the protocol. */
static VALUE parser_rest(VALUE self)
{
    struct parser *parser = get_parser(self);
    VALUE rest = rb_str_new(pel_buffer_head(&parser->input), (long)pel_buffer_length(&parser->input));

    pel_buffer_free(&parser->input);
    return rest;
}

/* within?: whether a message has begun and not ended. */
static VALUE parser_within_p(VALUE self)
{
    struct parser *parser = get_parser(self);
    return pel_buffer_length(&parser->input) || pel_http1_parser_within(&parser->core) ? Qtrue : Qfalse;
}

void pel_init_http_parser(void)
{
    VALUE class = rb_define_class_under(rb_define_module_under(pel_mPelton, "HTTP"), "Parser", rb_cObject);

    rb_define_alloc_func(class, parser_s_allocate);
    rb_define_method(class, "initialize", parser_initialize, 1);
    rb_define_method(class, "feed", parser_feed, 1);
    rb_define_method(class, "next", parser_next, 0);
    rb_define_method(class, "fault", parser_fault, 0);
    rb_define_method(class, "finish", parser_finish, 0);
    rb_define_method(class, "no_body=", parser_set_no_body, 1);
    rb_define_method(class, "left", parser_left, 0);
    rb_define_method(class, "skip", parser_skip, 1);
    rb_define_method(class, "rest", parser_rest, 0);
    rb_define_method(class, "within?", parser_within_p, 0);
}
