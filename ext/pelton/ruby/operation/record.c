#include "ruby/operation/operation.h"

#include "core/base/slab.h"

/* From a slab, because records come and go by the hundred thousand. Guarded by the GVL. */
static struct pel_slab operations = PEL_SLAB(struct pel_operation);

struct pel_operation *pel_operation_new(struct pel_reactor *reactor, int keeps_running)
{
    struct pel_operation *operation = pel_slab_take(&operations);

    if (!operation)
        rb_memerror();
    operation->reactor = reactor;
    operation->result = Qundef;
    operation->references = 1;
    operation->keeps_running = keeps_running;
    if (keeps_running)
        reactor->references++;
    return operation;
}

void pel_operation_keep_running(struct pel_operation *operation)
{
    if (operation->keeps_running || operation->state != PEL_PENDING)
        return;
    operation->keeps_running = 1;
    operation->reactor->references++;
}

void pel_operation_release(struct pel_operation *operation)
{
    if (--operation->references == 0)
        pel_slab_give(&operations, operation);
}

void pel_operation_mark(struct pel_operation *operation)
{
    if (operation->callbacks)
        rb_gc_mark(operation->callbacks);
    if (operation->errbacks)
        rb_gc_mark(operation->errbacks);
    if (operation->result != Qundef)
        rb_gc_mark(operation->result);
}
