/* The table of contents: one line per class. */
#include "reactor.h"

#include "alarms_class.h"
#include "error.h"
#include "hash_ring.h"
#include "http_parser_class.h"
#include "inotify.h"
#include "http.h"
#include "late.h"
#include "locals.h"
#include "memcached.h"
#include "memcached_server_class.h"
#include "operation.h"
#include "scheduler.h"
#include "stream.h"
#include "tls_context.h"

RUBY_FUNC_EXPORTED void Init_pelton(void);

void Init_pelton(void)
{
    pel_mPelton = rb_define_module("Pelton");
    pel_init_error();
    pel_init_reactor();
    pel_init_run();
    pel_init_fiber();
    pel_init_late();
    pel_init_locals();
    pel_init_scheduler();
    pel_init_operation();
    pel_init_operation_timeout();
    pel_init_task();
    pel_init_timer();
    pel_init_alarms();
    pel_init_watchdog();
    pel_init_stream();
    pel_init_tls_context();
    pel_init_listener();
    pel_init_inotify();
    pel_init_hash_ring();
    pel_init_http_parser();
    pel_init_memcached();
    pel_init_memcached_server();
    pel_init_http();
}
