#include "ruby/http/page/page.h"

#include "core/gzip/member.h"
#include "ruby/http/connection/http_server.h"

static void fragment_mark(void *data)
{
    struct pel_http_fragment *fragment = data;

    rb_gc_mark(fragment->text);
    rb_gc_mark(fragment->deflated);
    rb_gc_mark(fragment->digest);
}

static const rb_data_type_t fragment_type = {
    .wrap_struct_name = "Pelton::HTTP::Fragment",
    .function = {.dmark = fragment_mark, .dfree = RUBY_DEFAULT_FREE},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED,
};

static struct pel_http_fragment *get(VALUE self)
{
    return rb_check_typeddata(self, &fragment_type);
}

const struct pel_http_fragment *pel_http_fragment_peek(VALUE object)
{
    return rb_typeddata_is_kind_of(object, &fragment_type) ? get(object) : NULL;
}

/* _make(text, deflated, digest): frozen strings; deflated as core/gzip/member.h wants it */
static VALUE fragment_s_make(VALUE class, VALUE text, VALUE deflated, VALUE digest)
{
    struct pel_http_fragment *fragment;
    VALUE self;

    Check_Type(text, T_STRING);
    Check_Type(deflated, T_STRING);
    Check_Type(digest, T_STRING);
    self = TypedData_Make_Struct(class, struct pel_http_fragment, &fragment_type, fragment);
    RB_OBJ_WRITE(self, &fragment->text, rb_str_new_frozen(text));
    RB_OBJ_WRITE(self, &fragment->deflated, rb_str_new_frozen(deflated));
    RB_OBJ_WRITE(self, &fragment->digest, rb_str_new_frozen(digest));
    fragment->crc = pel_crc32(0, pel_string_slice(text));
    fragment->shift = pel_crc32_shift((uint64_t)RSTRING_LEN(text));
    return rb_obj_freeze(self);
}

/* _stored(text): the text as deflate's stored blocks, which are not compressed */
static VALUE fragment_s_stored(VALUE class, VALUE text)
{
    VALUE stored;

    Check_Type(text, T_STRING);
    stored = rb_str_new(NULL, (long)pel_gzip_stored_length((size_t)RSTRING_LEN(text)));
    pel_gzip_store(RSTRING_PTR(stored), pel_string_slice(text));
    RB_GC_GUARD(text);
    return stored;
}

static VALUE fragment_text(VALUE self)
{
    return get(self)->text;
}

static VALUE fragment_deflated(VALUE self)
{
    return get(self)->deflated;
}

static VALUE fragment_digest(VALUE self)
{
    return get(self)->digest;
}

void pel_init_http_fragment(void)
{
    VALUE fragment = rb_define_class_under(pel_mHTTP, "Fragment", rb_cObject);

    rb_undef_alloc_func(fragment);
    rb_define_singleton_method(fragment, "_make", fragment_s_make, 3);
    rb_define_singleton_method(fragment, "_stored", fragment_s_stored, 1);
    rb_define_method(fragment, "text", fragment_text, 0);
    rb_define_method(fragment, "deflated", fragment_deflated, 0);
    rb_define_method(fragment, "digest", fragment_digest, 0);
}
