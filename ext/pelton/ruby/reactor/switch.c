#include "ruby/reactor/reactor.h"

#include "ruby/base/protect.h"

/* Not rb_fiber_transfer, which does not check whether the fiber has resumed another one, and then corrupts both. */
static VALUE transfer_to(VALUE fiber)
{
    return rb_fiber_transfer_kw(fiber, 0, NULL, RB_NO_KEYWORDS);
}

/* Ruby refuses to switch to a fiber that has resumed another one. The counter of arrivals alone does not show that:
 * while Ruby makes the error, a trap handler may strike, and let other fibers arrive. Nor does Ruby tell beforehand: no
 * method says whether a fiber has resumed another one, and the error's class is that of all errors of fibers. So its
 * text decides, which test/reactor/user_fibers_test.rb compares. */
int pel_switch_refused(void)
{
    static const char words[] = "attempt to transfer to";
    VALUE error = rb_errinfo(), message;

    if (!rb_obj_is_kind_of(error, rb_const_get(rb_cObject, rb_intern("FiberError"))))
        return 0;
    message = rb_attr_get(error, rb_intern("mesg"));
    return RB_TYPE_P(message, T_STRING) && RSTRING_LEN(message) >= (long)sizeof words - 1 &&
           memcmp(RSTRING_PTR(message), words, sizeof words - 1) == 0;
}

int pel_switch(struct pel_reactor *reactor, VALUE fiber, int *state)
{
    VALUE self = rb_fiber_current();
    struct pel_worker *worker = reactor->workers.current;
    uint64_t arrivals = reactor->switches.arrivals;

    if (reactor->locals.mode && worker)
        pel_locals_leave(worker);
    reactor->switches.target = fiber;
    reactor->switches.count++;
    pel_note_progress(reactor);
    /* A trap handler may run on the fiber that arrives, before it has its own worker again, and wait: it must not leave
     * its waiter with the worker that has switched away. */
    reactor->workers.current = NULL;
    pel_protect(transfer_to, fiber, state);
    reactor->workers.current = worker;
    /* Every arrival counts itself. If no fiber has arrived anywhere, the switch itself has failed. */
    if (*state && (reactor->switches.arrivals == arrivals || pel_switch_refused())) {
        reactor->switches.target = self;
        return 0;
    }
    reactor->switches.arrivals++;
    /* Ruby takes interrupts when a fiber arrives. An interrupt is meant for run, not for the fiber that happened to
     * wake. But when the switch was not Pelton's, other code has called Fiber#raise on this very fiber. */
    if (*state && reactor->switches.target == self)
        *state = pel_interrupt_run(reactor, *state);
    reactor->switches.target = self;
    return 1;
}

VALUE pel_fiber_new(VALUE proc, int inherits)
{
    VALUE options = rb_hash_new();

    rb_hash_aset(options, ID2SYM(rb_intern("blocking")), Qfalse);
#ifdef HAVE_RB_FIBER_NEW_STORAGE
    if (!inherits)
        rb_hash_aset(options, ID2SYM(rb_intern("storage")), Qnil);
#else
    (void)inherits;
#endif
    return rb_funcall_with_block_kw(rb_const_get(rb_cObject, rb_intern("Fiber")), rb_intern("new"), 1, &options, proc,
                                    RB_PASS_KEYWORDS);
}
