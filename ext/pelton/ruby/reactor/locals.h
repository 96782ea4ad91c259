#pragma once

#include <ruby.h>

/* Fiber-locals (Thread.current[:x]) that are carried from fiber to fiber. Include reactor.h. */

struct pel_reactor;
struct pel_worker;

/* Whether workers carry fiber-locals from fiber to fiber, and so share one set, the loop's. */
enum pel_locals_mode {
    PEL_LOCALS_APART,    /* each fiber has its own */
    PEL_LOCALS_CARRIED,  /* the workers share a set */
    PEL_LOCALS_OF_CALLER /* run's caller shares the set as well: it provides the first one, and takes over the last */
};

struct pel_locals {
    enum pel_locals_mode mode;
    VALUE set; /* the loop's, a Hash or nil, while no worker's fiber holds it */
};

/* Call it before a fiber of the worker hands the loop over: saves the fiber's set, for the next worker to continue
 * with. Costs a call of Thread#keys when there are no fiber-locals. */
void pel_locals_leave(struct pel_worker *worker);

/* Call it when the worker is back in the loop: adds the changes that its callback has made to the loop's set, and gives
 * that set to the worker. */
void pel_locals_return(struct pel_worker *worker);

/* Begins and ends the carrying. Before run, on the fiber that calls it: that fiber's set becomes the loop's set, and
 * the end gives the loop's set back to it. Within run: callbacks share a set from now on. */
void pel_locals_begin(struct pel_reactor *reactor);
void pel_locals_end(struct pel_reactor *reactor);

/* Calls the function, which may wait, with an empty set. Servers use it: a request sees nothing of the request before,
 * and leaves nothing to the callbacks that run while it waits. The present set is restored only if fiber-locals are
 * carried; otherwise a worker's set is just what an earlier callback has left there. */
VALUE pel_locals_fresh(struct pel_reactor *reactor, VALUE (*function)(VALUE), VALUE argument);

/* The block as it is to be called later, with what the calling fiber passes on: Pelton::Inherited. Most fibers have
 * nothing, and get the block itself. */
VALUE pel_inherit(VALUE block);

/* The same as pel_locals_fresh, but the present set is restored in any case. */
VALUE pel_locals_clean(struct pel_reactor *reactor, VALUE (*function)(VALUE), VALUE argument);
