/* The extension's table of contents: a line for each class. */
#include "ruby/reactor/reactor.h"

#include "ruby/base/error.h"
#include "ruby/base/upcall.h"
#include "ruby/http/http.h"
#include "ruby/memcached/hash_ring.h"
#include "ruby/memcached/memcached.h"
#include "ruby/operation/operation.h"
#include "ruby/scheduler/scheduler.h"
#include "ruby/stream/stream.h"
#include "ruby/tls/tls.h"

RUBY_FUNC_EXPORTED void Init_pelton(void);

void Init_pelton(void)
{
    pel_init_error();
    pel_init_upcall();
    pel_init_reactor();
    pel_init_reactor_class();
    pel_init_run();
    pel_init_worker();
    pel_init_give_up();
    pel_init_pending_exception();
    pel_init_scheduler();
    pel_init_operation();
    pel_init_failure();
    pel_init_task();
    pel_init_timer();
    pel_init_timer_table();
    pel_init_watchdog();
    pel_init_stop_limit();
    pel_init_stream();
    pel_init_tls_context();
    pel_init_tls_stream();
    pel_init_tls_info();
    pel_init_listener();
    pel_init_inotify();
    pel_init_hash_ring();
    pel_init_http_parser();
    pel_init_memcached();
    pel_init_memcached_server();
    pel_init_http();
}
