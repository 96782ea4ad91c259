#include "ruby/operation/operation.h"

/* The Ruby object of a record. */

VALUE pel_cOperation;

static void operation_mark(void *data)
{
    struct pel_operation *operation = data;

    if (!operation)
        return;
    pel_operation_mark(operation);
    rb_gc_mark(operation->reactor->self); /* the object may outlive the thread */
}

static void operation_free(void *data)
{
    struct pel_operation *operation = data;

    if (!operation)
        return;
    if (operation->unhandled)
        pel_failure_collected(operation);
    pel_operation_release(operation);
}

static size_t operation_size(const void *data)
{
    return data ? sizeof(struct pel_operation) : 0;
}

/* Deliberately without RUBY_TYPED_WB_PROTECTED: the producer writes to the record, and does not know the object. */
static const rb_data_type_t operation_type = {
    .wrap_struct_name = "Pelton::Operation",
    .function = {.dmark = operation_mark, .dfree = operation_free, .dsize = operation_size},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY};

VALUE pel_operation_object(struct pel_operation *operation, VALUE class)
{
    VALUE self = TypedData_Wrap_Struct(class, &operation_type, operation);

    operation->references++;
    return self;
}

VALUE pel_operation_allocate(VALUE class)
{
    VALUE self = TypedData_Wrap_Struct(class, &operation_type, NULL);

    RTYPEDDATA_DATA(self) = pel_operation_new(pel_reactor_current(), 0);
    return self;
}

struct pel_operation *pel_operation_get(VALUE self)
{
    return rb_check_typeddata(self, &operation_type);
}
