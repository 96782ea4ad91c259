#include "ruby/http/connection/http_connection.h"

static VALUE cExchange;

static void exchange_mark(void *data)
{
    rb_gc_mark(((struct pel_http_connection *)data)->self);
}

static const rb_data_type_t exchange_type = {.wrap_struct_name = "Pelton::HTTP::Exchange",
                                             .function = {.dmark = exchange_mark},
                                             .flags = RUBY_TYPED_FREE_IMMEDIATELY};

VALUE pel_http_exchange_new(struct pel_http_connection *connection)
{
    return rb_data_typed_object_wrap(cExchange, connection, &exchange_type);
}

void pel_http_exchange_detach(struct pel_http_connection *connection)
{
    VALUE exchange = connection->request.exchange;

    if (exchange)
        RTYPEDDATA_DATA(exchange) = NULL;
    connection->request.exchange = Qfalse;
}

struct pel_http_connection *pel_http_exchange_peek(VALUE self)
{
    return rb_check_typeddata(self, &exchange_type);
}

struct pel_http_connection *pel_http_exchange_get(VALUE self)
{
    struct pel_http_connection *connection = pel_http_exchange_peek(self);

    if (!connection)
        rb_raise(pel_eClosedError, "this exchange is over: its response was sent, or the client is gone");
    if (pel_loop_inherited(&connection->reactor->loop) || connection->reactor != pel_reactor_existing())
        rb_raise(pel_eError, "an exchange may be used on its server's thread only: see Reactor#schedule");
    return connection;
}

struct pel_http_connection *pel_http_exchange_get_open(VALUE self)
{
    struct pel_http_connection *connection = pel_http_exchange_get(self);

    if (connection->response.aborted || connection->state == PEL_HTTP_GONE)
        rb_raise(pel_eClosedError, "the client is gone");
    return connection;
}

int pel_http_wait(struct pel_http_connection *connection, VALUE exchange, struct pel_waiter **place, int64_t time)
{
    struct pel_reactor *reactor = connection->reactor;
    VALUE self = connection->self;
    int timed_out, state;

    state = pel_park_at(reactor, place, time == PEL_FOREVER ? time : reactor->loop.now + time, &timed_out);
    RB_GC_GUARD(self);
    if (state)
        pel_rethrow(state);
    pel_http_exchange_get(exchange);
    return !timed_out;
}

VALUE pel_init_http_exchange(void)
{
    cExchange = rb_define_class_under(pel_mHTTP, "Exchange", rb_cObject);
    rb_undef_alloc_func(cExchange);
    return cExchange;
}
