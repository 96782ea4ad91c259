#include <ruby.h>

/* The extension's table of contents: a function for each class, in the order in which they need each other. */
#define INITS(X)                                                                                                       \
    X(error)                                                                                                           \
    X(upcall)                                                                                                          \
    X(shared_counters)                                                                                                 \
    X(huge_pages)                                                                                                      \
    X(reactor)                                                                                                         \
    X(reactor_class)                                                                                                   \
    X(run)                                                                                                             \
    X(worker)                                                                                                          \
    X(give_up)                                                                                                         \
    X(pending_exception)                                                                                               \
    X(scheduler)                                                                                                       \
    X(operation)                                                                                                       \
    X(failure)                                                                                                         \
    X(task)                                                                                                            \
    X(timer)                                                                                                           \
    X(timer_table)                                                                                                     \
    X(watchdog)                                                                                                        \
    X(stop_limit)                                                                                                      \
    X(stream)                                                                                                          \
    X(tls_context)                                                                                                     \
    X(tls_stream)                                                                                                      \
    X(tls_info)                                                                                                        \
    X(listener)                                                                                                        \
    X(inotify)                                                                                                         \
    X(hash_ring)                                                                                                       \
    X(http_parser)                                                                                                     \
    X(http2_session)                                                                                                   \
    X(http2_stream)                                                                                                    \
    X(memcached)                                                                                                       \
    X(memcached_server)                                                                                                \
    X(http)

#define DECLARE(name) void pel_init_##name(void);
INITS(DECLARE)

RUBY_FUNC_EXPORTED void Init_pelton(void);

void Init_pelton(void)
{
#define CALL(name) pel_init_##name();
    INITS(CALL)
}
