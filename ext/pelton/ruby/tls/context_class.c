#include "ruby/tls/ruby_tls.h"

#include "ruby/reactor/reactor.h"

/* Pelton::TLS::Context: applies the settings of lib/pelton/tls/context.rb to a core context. */

#ifdef HAVE_OPENSSL_SSL_H

struct context {
    struct pel_tls_context *core;
};

static void context_free(void *data)
{
    pel_tls_context_release(((struct context *)data)->core);
    xfree(data);
}

static size_t context_size(const void *data)
{
    return sizeof(struct context) + 32768; /* OpenSSL's memory, approximately */
}

static const rb_data_type_t context_type = {
    .wrap_struct_name = "Pelton::TLS::Context",
    .function = {.dfree = context_free, .dsize = context_size},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED,
};

static VALUE context_s_allocate(VALUE class)
{
    struct context *context;
    VALUE self = TypedData_Make_Struct(class, struct context, &context_type, context);

    if (!(context->core = pel_tls_context_new()))
        rb_memerror();
    return self;
}

struct pel_tls_context *pel_tls_context_get(VALUE self)
{
    return ((struct context *)rb_check_typeddata(self, &context_type))->core;
}

static void check_configured(int code, const char *what, const char *text)
{
    VALUE error;

    if (code >= 0)
        return;
    error = rb_exc_new_str(rb_const_get(pel_mPelton, rb_intern("TLSError")), rb_sprintf("%s: %s", what, text));
    rb_exc_raise(error);
}

/* Calls a function of core for a setting with the context, the further arguments, and where to write why it failed. */
#define CONFIGURE(self, what, function, ...)                                                                           \
    do {                                                                                                               \
        char text[PEL_TLS_TEXT];                                                                                       \
        check_configured(function(pel_tls_context_get(self), __VA_ARGS__, text), what, text);                          \
    } while (0)

/* _certificate(pem, key, password or nil) */
static VALUE context_certificate(VALUE self, VALUE pem, VALUE key, VALUE password)
{
    CONFIGURE(self, "the certificate or its key cannot be used", pel_tls_context_certificate,
              pel_string_slice(StringValue(pem)), pel_string_slice(StringValue(key)), pel_tls_optional_text(password));
    RB_GC_GUARD(pem);
    RB_GC_GUARD(key);
    return Qnil;
}

static VALUE configure_bytes(VALUE self, VALUE string, const char *what,
                             int (*configure)(struct pel_tls_context *, struct pel_slice bytes, char *text))
{
    CONFIGURE(self, what, configure, pel_string_slice(StringValue(string)));
    RB_GC_GUARD(string);
    return Qnil;
}

/* _trust(pem) */
static VALUE context_trust(VALUE self, VALUE pem)
{
    return configure_bytes(self, pem, "the authorities' certificates cannot be used", pel_tls_context_trust);
}

/* _trust_folder(path); nil: the authorities that the system trusts */
static VALUE context_trust_folder(VALUE self, VALUE path)
{
    CONFIGURE(self, "the authorities cannot be read", pel_tls_context_trust_folder, pel_tls_optional_text(path));
    return Qnil;
}

/* _versions(least, most): OpenSSL's version numbers; 0: no limit */
static VALUE context_versions(VALUE self, VALUE least, VALUE most)
{
    CONFIGURE(self, "these versions cannot be set", pel_tls_context_versions, NUM2INT(least), NUM2INT(most));
    return Qnil;
}

/* _ciphers(list, suites, groups): each a String or nil */
static VALUE context_ciphers(VALUE self, VALUE list, VALUE suites, VALUE groups)
{
    CONFIGURE(self, "these ciphers, ciphersuites or groups are not known", pel_tls_context_ciphers,
              pel_tls_optional_text(list), pel_tls_optional_text(suites), pel_tls_optional_text(groups));
    return Qnil;
}

static VALUE context_security(VALUE self, VALUE level)
{
    CONFIGURE(self, "security_level", pel_tls_context_security, NUM2INT(level));
    return Qnil;
}

/* _dh(pem) */
static VALUE context_dh(VALUE self, VALUE pem)
{
    return configure_bytes(self, pem, "these Diffie-Hellman parameters cannot be used", pel_tls_context_dh);
}

/* _alpn(protocols): a String, each protocol preceded by a byte with its length */
static VALUE context_alpn(VALUE self, VALUE protocols)
{
    return configure_bytes(self, protocols, "alpn", pel_tls_context_alpn);
}

/* _plain_answer(text) */
static VALUE context_plain_answer(VALUE self, VALUE text)
{
    if (pel_tls_context_plain_answer(pel_tls_context_get(self), StringValueCStr(text)) < 0)
        rb_memerror();
    return Qnil;
}

static VALUE context_resumption(VALUE self, VALUE on)
{
    pel_tls_context_resumption(pel_tls_context_get(self), RTEST(on));
    return Qnil;
}

/* _succeed(former): takes over the keys of its session tickets. */
static VALUE context_succeed(VALUE self, VALUE former)
{
    pel_tls_context_copy_ticket_keys(pel_tls_context_get(self), pel_tls_context_get(former));
    return Qnil;
}

/* _become(other): uses the other one's core context for connections from now on. */
static VALUE context_become(VALUE self, VALUE other)
{
    struct context *context = rb_check_typeddata(self, &context_type);
    struct pel_tls_context *former = context->core;

    context->core = pel_tls_context_get(other);
    pel_tls_context_retain(context->core);
    pel_tls_context_release(former);
    return Qnil;
}

void pel_init_tls_context(void)
{
    VALUE class = rb_define_class_under(rb_define_module_under(pel_mPelton, "TLS"), "Context", rb_cObject);

    rb_define_alloc_func(class, context_s_allocate);
    rb_define_private_method(class, "_certificate", context_certificate, 3);
    rb_define_private_method(class, "_trust", context_trust, 1);
    rb_define_private_method(class, "_trust_folder", context_trust_folder, 1);
    rb_define_private_method(class, "_versions", context_versions, 2);
    rb_define_private_method(class, "_ciphers", context_ciphers, 3);
    rb_define_private_method(class, "_security", context_security, 1);
    rb_define_private_method(class, "_dh", context_dh, 1);
    rb_define_private_method(class, "_alpn", context_alpn, 1);
    rb_define_private_method(class, "_plain_answer", context_plain_answer, 1);
    rb_define_private_method(class, "_resumption", context_resumption, 1);
    rb_define_private_method(class, "_succeed", context_succeed, 1);
    rb_define_private_method(class, "_become", context_become, 1);
}

#else

void pel_init_tls_context(void)
{
}

#endif
