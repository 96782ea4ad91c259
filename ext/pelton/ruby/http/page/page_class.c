#include "ruby/http/page/page.h"

#include <ruby/encoding.h>
#include "core/gzip/member.h"
#include "ruby/base/upcall.h"
#include "ruby/http/connection/http_server.h"

/* Pelton::HTTP::Page: text with fragments in it. */

struct page {
    VALUE text;
    VALUE marks; /* the fragments and where they begin in the text: [offset, fragment, offset, fragment, ...] */
};

/* Text from which compressing pays, in bytes, where it lies between two fragments. It is compressed for one page alone,
 * so fast; shorter text is stored as it is. (ADR 029 has the figures.) */
#define LONG_TEXT 256

static void page_mark(void *data)
{
    struct page *page = data;

    rb_gc_mark(page->text);
    rb_gc_mark(page->marks);
}

static const rb_data_type_t page_type = {
    .wrap_struct_name = "Pelton::HTTP::Page",
    .function = {.dmark = page_mark, .dfree = RUBY_DEFAULT_FREE},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED,
};

static struct page *get(VALUE self)
{
    return rb_check_typeddata(self, &page_type);
}

static VALUE page_s_allocate(VALUE class)
{
    struct page *page;
    VALUE self = TypedData_Make_Struct(class, struct page, &page_type, page);
    VALUE text = rb_str_buf_new(4096);

    rb_enc_associate(text, rb_utf8_encoding());
    RB_OBJ_WRITE(self, &page->text, text);
    RB_OBJ_WRITE(self, &page->marks, rb_ary_new());
    return self;
}

/* ---- adding ------------------------------------------------------------------------------------------------------ */

static void add_mark(struct page *page, size_t offset, VALUE fragment)
{
    rb_ary_push(page->marks, SIZET2NUM(offset));
    rb_ary_push(page->marks, fragment);
}

static void add_page(struct page *page, const struct page *other)
{
    size_t start = (size_t)RSTRING_LEN(page->text);
    long marks = RARRAY_LEN(other->marks); /* the other one may be the same */

    rb_str_append(page->text, other->text);
    for (long i = 0; i + 1 < marks; i += 2)
        add_mark(page, start + NUM2SIZET(rb_ary_entry(other->marks, i)), rb_ary_entry(other->marks, i + 1));
}

/* self << part */
static VALUE page_add(VALUE self, VALUE part)
{
    struct page *page = get(self);
    const struct pel_http_fragment *fragment;

    rb_check_frozen(self);
    if (RB_TYPE_P(part, T_STRING)) {
        rb_str_append(page->text, part);
    } else if ((fragment = pel_http_fragment_peek(part))) {
        size_t offset = (size_t)RSTRING_LEN(page->text);
        rb_str_append(page->text, fragment->text);
        add_mark(page, offset, part);
    } else if (rb_typeddata_is_kind_of(part, &page_type)) {
        add_page(page, get(part));
    } else {
        rb_raise(rb_eTypeError,
                 "a page is made of Strings, Fragments and Pages, not of %" PRIsVALUE ": call to_s on it",
                 rb_obj_class(part));
    }
    return self;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

/* A frozen copy that shares its bytes with the page, until the page changes. */
static VALUE page_text(VALUE self)
{
    return rb_str_new_frozen(get(self)->text);
}

static VALUE page_bytesize(VALUE self)
{
    return LONG2NUM(RSTRING_LEN(get(self)->text));
}

static VALUE page_fragments(VALUE self)
{
    VALUE marks = get(self)->marks, fragments = rb_ary_new();

    for (long i = 1; i < RARRAY_LEN(marks); i += 2)
        rb_ary_push(fragments, rb_ary_entry(marks, i));
    return fragments;
}

/* Text, followed by a fragment: NULL at the page's end. */
struct part {
    size_t start, length; /* of the text */
    const struct pel_http_fragment *fragment;
};

static struct part next_part(VALUE text, VALUE marks, const struct part *last, long index)
{
    struct part part = {.start = last->start + last->length};

    if (last->fragment)
        part.start += (size_t)RSTRING_LEN(last->fragment->text);
    part.length = (size_t)RSTRING_LEN(text) - part.start;
    if (2 * index + 1 < RARRAY_LEN(marks)) {
        part.length = NUM2SIZET(rb_ary_entry(marks, 2 * index)) - part.start;
        part.fragment = pel_http_fragment_peek(rb_ary_entry(marks, 2 * index + 1));
    }
    return part;
}

/* Adds one to the index. `last` and `index` are zero at the page's beginning. Returns 0 after the page's end. */
static int each_part(VALUE text, VALUE marks, struct part *part, long *index)
{
    if (*index && !part->fragment)
        return 0;
    *part = next_part(text, marks, part, (*index)++);
    return 1;
}

static void add_fragment(struct pel_gzip_member *member, const struct pel_http_fragment *fragment)
{
    struct pel_gzip_fragment core = {
        .deflated = pel_string_slice(fragment->deflated),
        .crc = fragment->crc,
        .shift = fragment->shift,
        .length = (size_t)RSTRING_LEN(fragment->text),
    };

    pel_gzip_add_fragment(member, &core);
}

/* The text between two fragments, if it is long, as another fragment; else nil. Calls Ruby. */
static VALUE deflate_text(VALUE self, VALUE text, const struct part *part)
{
    if (part->length < LONG_TEXT)
        return Qnil;
    return pel_upcall(deflate_text, rb_str_subseq(text, (long)part->start, (long)part->length));
}

/* The page as a gzip member. Where Ruby is called other threads may add to the page: so its text and marks are copied,
 * which costs nothing until then. */
static VALUE page_gzip(VALUE self)
{
    VALUE text = page_text(self), marks = rb_ary_dup(get(self)->marks), long_texts = rb_ary_new(), result;
    struct pel_gzip_member member;
    size_t space = PEL_GZIP_FRAME;
    struct part part = {0};

    for (long i = 0; each_part(text, marks, &part, &i);) {
        VALUE deflated = deflate_text(self, text, &part);
        rb_ary_push(long_texts, deflated);
        space += NIL_P(deflated) ? pel_gzip_stored_length(part.length)
                                 : (size_t)RSTRING_LEN(pel_http_fragment_peek(deflated)->deflated);
        space += part.fragment ? (size_t)RSTRING_LEN(part.fragment->deflated) : 0;
    }
    result = rb_str_new(NULL, (long)space);
    pel_gzip_begin(&member, RSTRING_PTR(result));
    part = (struct part){0};
    for (long i = 0; each_part(text, marks, &part, &i);) {
        VALUE deflated = rb_ary_entry(long_texts, i - 1);
        if (NIL_P(deflated))
            pel_gzip_add_text(&member, (struct pel_slice){RSTRING_PTR(text) + part.start, part.length});
        else
            add_fragment(&member, pel_http_fragment_peek(deflated));
        if (part.fragment)
            add_fragment(&member, part.fragment);
    }
    rb_str_set_len(result, pel_gzip_end(&member) - RSTRING_PTR(result));
    RB_GC_GUARD(text);
    RB_GC_GUARD(marks);
    RB_GC_GUARD(long_texts);
    return result;
}

/* Bytes that only equal pages have in common: for each part the length of its text, the text, and its fragment's
 * digest. */
static VALUE page_outline(VALUE self)
{
    VALUE text = get(self)->text, marks = get(self)->marks, outline = rb_str_buf_new(2048);
    struct part part = {0};

    for (long i = 0; each_part(text, marks, &part, &i);) {
        uint64_t length = part.length;
        rb_str_buf_cat(outline, (const char *)&length, sizeof length);
        rb_str_buf_cat(outline, RSTRING_PTR(text) + part.start, (long)part.length);
        if (part.fragment)
            rb_str_buf_cat(outline, RSTRING_PTR(part.fragment->digest), RSTRING_LEN(part.fragment->digest));
    }
    RB_GC_GUARD(text);
    RB_GC_GUARD(marks);
    return outline;
}

void pel_init_http_page(void)
{
    VALUE page = rb_define_class_under(pel_mHTTP, "Page", rb_cObject);

    rb_define_alloc_func(page, page_s_allocate);
    rb_undef_method(page, "initialize_copy");
    rb_define_method(page, "<<", page_add, 1);
    rb_define_method(page, "text", page_text, 0);
    rb_define_method(page, "bytesize", page_bytesize, 0);
    rb_define_method(page, "fragments", page_fragments, 0);
    rb_define_method(page, "gzip", page_gzip, 0);
    rb_define_private_method(page, "outline", page_outline, 0);
}
