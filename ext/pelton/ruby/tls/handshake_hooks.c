#ifdef HAVE_OPENSSL_SSL_H

#include "ruby/tls/ruby_tls.h"

/* The user's blocks that a handshake calls: to accept a certificate, to choose the context for a server name. */

struct hook_call {
    VALUE block, arguments[4];
    int count;
};

static VALUE call_hook(VALUE argument)
{
    struct hook_call *call = (struct hook_call *)argument;
    return rb_proc_call_with_block(call->block, call->count, call->arguments, Qnil);
}

/* Returns [context, level, block or nil, TLS::Choice or nil], or nil. Raises TypeError for any other object. */
static VALUE call_choose_hook(VALUE argument)
{
    VALUE choice = call_hook(argument);

    if (!NIL_P(choice)) {
        Check_Type(choice, T_ARRAY);
        pel_tls_context_get(RARRAY_AREF(choice, 0));
        NUM2INT(RARRAY_AREF(choice, 1));
    }
    return choice;
}

/* Returns the block's value; nil when it raised. After that no block is called in this handshake. */
static VALUE run_hook(struct stream_tls *tls, VALUE (*function)(VALUE), struct hook_call *call)
{
    if (tls->state)
        return Qnil;
    return pel_protect(function, (VALUE)call, &tls->state);
}

static int verify_certificate(void *owner, const struct pel_tls_certificate *certificate)
{
    struct stream_tls *tls = ((struct stream *)owner)->tls;
    struct hook_call call = {.block = tls->verify, .count = 3};

    call.arguments[0] = rb_str_new(certificate->pem, (long)certificate->length);
    call.arguments[1] = INT2FIX(certificate->depth);
    call.arguments[2] = certificate->reason ? rb_str_new_cstr(certificate->reason) : Qnil;
    return RTEST(run_hook(tls, call_hook, &call));
}

static int choose_context(void *owner, const struct pel_tls_hello *hello, struct pel_tls_choice *choice)
{
    struct stream_tls *tls = ((struct stream *)owner)->tls;
    struct hook_call call = {.block = tls->choose, .count = 2};
    VALUE chosen;

    call.arguments[0] = hello->name ? rb_str_new_cstr(hello->name) : Qnil;
    call.arguments[1] = hello->protocol.length ? rb_str_new(hello->protocol.bytes, (long)hello->protocol.length) : Qnil;
    chosen = run_hook(tls, call_choose_hook, &call);
    if (NIL_P(chosen))
        return 0;
    choice->context = pel_tls_context_get(RARRAY_AREF(chosen, 0));
    choice->verify = (enum pel_tls_verify)NUM2INT(RARRAY_AREF(chosen, 1));
    tls->verify = RARRAY_AREF(chosen, 2);
    tls->choice = RARRAY_AREF(chosen, 3);
    choice->on_verify = NIL_P(tls->verify) ? NULL : verify_certificate;
    RB_GC_GUARD(chosen);
    return 1;
}

struct pel_tls_hooks pel_tls_handshake_hooks(const struct stream_tls *tls)
{
    return (struct pel_tls_hooks){.verify = NIL_P(tls->verify) ? NULL : verify_certificate,
                                  .choose = NIL_P(tls->choose) ? NULL : choose_context};
}

#endif
