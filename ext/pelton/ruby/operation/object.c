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

/* Of records without a producer in C. Ruby collects all its objects as soon as minor collections have met too many
 * objects without write barriers, and such operations wait by the dozen: for a connection of a pool, for example. */
static const rb_data_type_t protected_type = {
    .wrap_struct_name = "Pelton::Operation",
    .parent = &operation_type,
    .function = {.dmark = operation_mark, .dfree = operation_free, .dsize = operation_size},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED};

VALUE pel_operation_object(struct pel_operation *operation, VALUE class)
{
    VALUE self = TypedData_Wrap_Struct(class, &operation_type, operation);

    operation->references++;
    return self;
}

VALUE pel_operation_protected_object(struct pel_operation *operation, VALUE class)
{
    VALUE self = TypedData_Wrap_Struct(class, &protected_type, operation);

    operation->references++;
    return self;
}

void pel_operation_written(VALUE self)
{
    struct pel_operation *operation = pel_operation_get(self);
    VALUE values[] = {operation->callbacks, operation->errbacks, operation->result};

    for (unsigned i = 0; i < sizeof(values) / sizeof(*values); i++) {
        if (values[i] != Qundef)
            RB_OBJ_WRITTEN(self, Qundef, values[i]); /* no-op for what is no object */
    }
}

VALUE pel_operation_allocate(VALUE class)
{
    VALUE self = TypedData_Wrap_Struct(class, &protected_type, NULL);

    RTYPEDDATA_DATA(self) = pel_operation_new(pel_reactor_current(), 0);
    return self;
}

struct pel_operation *pel_operation_get(VALUE self)
{
    return rb_check_typeddata(self, &operation_type);
}
