#include "http1_parser_class.h"

#include <ruby.h>
#include "../core/http1_parser.h"

struct request_parser {
    struct pel_http1_parser parser;
    struct pel_http1_limits limits;
    VALUE rest; /* bytes that were not consumed, String or nil */
};

static void request_parser_mark(void *data)
{
    const struct request_parser *self = data;
    rb_gc_mark(self->rest);
}

static size_t request_parser_size(const void *data)
{
    (void)data;
    return sizeof(struct request_parser);
}

static const rb_data_type_t request_parser_type = {
    .wrap_struct_name = "Pelton::HTTP::RequestParser",
    .function = {.dmark = request_parser_mark, .dfree = RUBY_DEFAULT_FREE, .dsize = request_parser_size},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY};

static VALUE request_parser_allocate(VALUE class)
{
    struct request_parser *parser;
    VALUE self = TypedData_Make_Struct(class, struct request_parser, &request_parser_type, parser);

    parser->rest = Qnil;
    parser->limits = pel_http1_default_limits;
    parser->limits.host_optional = 1;
    pel_http1_parser_init(&parser->parser, PEL_HTTP1_REQUEST, &parser->limits);
    return self;
}

static VALUE string_of(struct pel_slice slice)
{
    return rb_str_new(slice.bytes, (long)slice.length);
}

/* [:head, method, path, query or nil, "HTTP/1.1", [[name, value], ...], whether 100-continue is expected] */
static VALUE head_event(const struct pel_http1_head *head)
{
    VALUE headers = rb_ary_new_capa((long)head->header_count);

    for (unsigned i = 0; i < head->header_count; i++)
        rb_ary_push(headers, rb_assoc_new(string_of(head->headers[i].name), string_of(head->headers[i].value)));
    return rb_ary_new_from_args(7, ID2SYM(rb_intern("head")), string_of(head->method),
                                string_of(head->path.length ? head->path : head->target),
                                head->query.length ? string_of(head->query) : Qnil,
                                rb_sprintf("HTTP/1.%u", head->minor), headers, head->expects_continue ? Qtrue : Qfalse);
}

static VALUE fault_event(const struct pel_http1_parser *parser)
{
    enum pel_http1_fault fault = pel_http1_parser_fault(parser);
    return rb_ary_new_from_args(3, ID2SYM(rb_intern("fault")), UINT2NUM(pel_http1_fault_status(fault)),
                                rb_str_new_cstr(pel_http1_fault_text(fault)));
}

/*
 * parse(data): the events that are complete with these bytes, as Arrays: [:head, ...], [:data, String], [:end], and
 * [:fault, status, text], after which there is nothing more.
 */
static VALUE request_parser_parse(VALUE self, VALUE data)
{
    struct request_parser *parser = rb_check_typeddata(self, &request_parser_type);
    VALUE events = rb_ary_new(), bytes;
    struct pel_http1_head head;
    struct pel_slice part;
    size_t at = 0, consumed, length;
    int event;

    StringValue(data);
    bytes = NIL_P(parser->rest) ? rb_str_new_frozen(data) : rb_str_append(parser->rest, data);
    parser->rest = Qnil;
    length = (size_t)RSTRING_LEN(bytes);
    do {
        event = pel_http1_parse(&parser->parser, RSTRING_PTR(bytes) + at, length - at, &consumed, &head, &part);
        at += event < 0 ? 0 : consumed;
        if (event < 0)
            rb_ary_push(events, fault_event(&parser->parser));
        else if (event == PEL_HTTP1_HEAD)
            rb_ary_push(events, head_event(&head));
        else if (event == PEL_HTTP1_DATA)
            rb_ary_push(events, rb_assoc_new(ID2SYM(rb_intern("data")), string_of(part)));
        else if (event == PEL_HTTP1_END)
            rb_ary_push(events, rb_ary_new_from_args(1, ID2SYM(rb_intern("end"))));
    } while (event > 0);
    if (event == PEL_HTTP1_MORE && at < length)
        parser->rest = rb_str_new(RSTRING_PTR(bytes) + at, (long)(length - at));
    RB_GC_GUARD(bytes);
    return events;
}

void pel_init_http1_parser(void)
{
    VALUE http = rb_define_module_under(rb_define_module("Pelton"), "HTTP");
    VALUE class = rb_define_class_under(http, "RequestParser", rb_cObject);

    rb_define_alloc_func(class, request_parser_allocate);
    rb_define_method(class, "parse", request_parser_parse, 1);
}
