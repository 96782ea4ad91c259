#pragma once

#include <ruby.h>

/*
 * The methods of lib/ that C calls: no other one. The file that defines a method registers it when it is loaded:
 *
 *     Pelton.register_upcalls(send_body: Body.method(:deliver), conclude: Decoding.instance_method(:conclude))
 *
 * An instance method is called on the first argument. architecture.md lists them, and the architecture test compares.
 */
#define PEL_UPCALLS(X)                                                                                                 \
    X(report_error)                                                                                                    \
    X(report_stall)                                                                                                    \
    X(report_silence)                                                                                                  \
    X(report_given_up)                                                                                                 \
    X(waiting_places)                                                                                                  \
    X(long_call)                                                                                                       \
    X(observe_task)                                                                                                    \
    X(inherit)                                                                                                         \
    X(timer_failed)                                                                                                    \
    X(stream_connected)                                                                                                \
    X(stream_received)                                                                                                 \
    X(stream_relay)                                                                                                    \
    X(stream_closed)                                                                                                   \
    X(stream_tls)                                                                                                      \
    X(request_input)                                                                                                   \
    X(request_refused)                                                                                                 \
    X(check_host)                                                                                                      \
    X(check_body)                                                                                                      \
    X(send_body)                                                                                                       \
    X(deflate_text)                                                                                                    \
    X(take_io)                                                                                                         \
    X(request_began)                                                                                                   \
    X(client_closed)                                                                                                   \
    X(exchange_ended)                                                                                                  \
    X(many_busy)                                                                                                       \
    X(find_connection)                                                                                                 \
    X(recheck_servers)                                                                                                 \
    X(command_began)                                                                                                   \
    X(conclude)                                                                                                        \
    X(decode_value)                                                                                                    \
    X(decode_values)                                                                                                   \
    X(decode_gets)                                                                                                     \
    X(decode_item)                                                                                                     \
    X(make_item)                                                                                                       \
    X(binary_clients)

enum pel_upcall {
#define PEL_UPCALL(name) PEL_UPCALL_##name,
    PEL_UPCALLS(PEL_UPCALL)
#undef PEL_UPCALL
        PEL_UPCALL_COUNT
};

/* Raises Pelton::Error when the file that defines the method is not loaded. */
VALUE pel_upcallv(enum pel_upcall which, int argc, const VALUE *argv);

/* pel_upcall(send_body, exchange, body, env) */
#define pel_upcall(name, ...)                                                                                          \
    pel_upcallv(PEL_UPCALL_##name, (int)(sizeof((VALUE[]){__VA_ARGS__}) / sizeof(VALUE)), (VALUE[]){__VA_ARGS__})

/* Events that somebody subscribes to (Pelton::Notifications), and values that tasks inherit (Pelton::Inherited): C does
 * nothing for others. */
#define PEL_EVENTS(X)                                                                                                  \
    X(inheritance)                                                                                                     \
    X(task)                                                                                                            \
    X(request)                                                                                                         \
    X(command)

enum pel_observable {
#define PEL_EVENT(name) PEL_EVENT_##name,
    PEL_EVENTS(PEL_EVENT)
#undef PEL_EVENT
        PEL_EVENT_COUNT
};

extern int pel_observed[PEL_EVENT_COUNT];

/* The registered method's name. */
ID pel_upcall_id(enum pel_upcall which);
