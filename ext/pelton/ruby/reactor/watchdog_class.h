#pragma once

#include <ruby.h>
#include "core/loop/watchdog.h"

/* The watch over a reactor, and its stalls. Include reactor.h. */

struct pel_reactor;

struct pel_stalls {
    struct pel_watch watch; /* makes progress with each tick, job and switch */
    struct pel_stall *past; /* those that are over and not yet reported to Ruby, in their order */
    uint64_t count;
    int64_t longest;
    VALUE task; /* the Pelton::Task that ran when the last stall was noticed; Qfalse: none */
};

/* Begins and ends the watch over a reactor that runs on this thread. */
void pel_watch(struct pel_reactor *reactor);
void pel_unwatch(struct pel_reactor *reactor);

void pel_stalls_mark(struct pel_reactor *reactor);

/* Counts a stall that is over, and enqueues its report. */
void pel_end_stall(struct pel_reactor *reactor);
