#ifdef HAVE_OPENSSL_SSL_H

#include "stream_tls.h"
#include "tls_context.h"

/* Blocks of the user's that a handshake asks: whether a certificate is accepted, which context belongs to a name. */

struct call {
    VALUE block, arguments[4];
    int count;
};

static VALUE call(VALUE argument)
{
    struct call *called = (struct call *)argument;
    return rb_proc_call_with_block(called->block, called->count, called->arguments, Qnil);
}

/* A context, or nil. */
static VALUE call_for_context(VALUE argument)
{
    VALUE context = call(argument);

    if (!NIL_P(context))
        pel_tls_context_get(context);
    return context;
}

/* Its value; nil when it raised: then nothing else is asked in this handshake. */
static VALUE ask(struct stream_tls *tls, VALUE (*function)(VALUE), struct call *called)
{
    if (tls->state)
        return Qnil;
    return pel_protect(function, (VALUE)called, &tls->state);
}

static int on_verify(void *owner, const struct pel_tls_certificate *certificate)
{
    struct stream_tls *tls = ((struct stream *)owner)->tls;
    struct call called = {.block = tls->verify, .count = 3};

    called.arguments[0] = rb_str_new(certificate->pem, (long)certificate->length);
    called.arguments[1] = INT2FIX(certificate->depth);
    called.arguments[2] = certificate->reason ? rb_str_new_cstr(certificate->reason) : Qnil;
    return RTEST(ask(tls, call, &called));
}

static struct pel_tls_context *on_choose(void *owner, const char *name)
{
    struct stream_tls *tls = ((struct stream *)owner)->tls;
    struct call called = {.block = tls->choose, .count = 1};
    VALUE context;

    called.arguments[0] = name ? rb_str_new_cstr(name) : Qnil;
    context = ask(tls, call_for_context, &called);
    return NIL_P(context) ? NULL : pel_tls_context_get(context);
}

struct pel_tls_hooks pel_stream_tls_hooks(const struct stream_tls *tls)
{
    return (struct pel_tls_hooks){.verify = NIL_P(tls->verify) ? NULL : on_verify,
                                  .choose = NIL_P(tls->choose) ? NULL : on_choose};
}

#endif
