#ifndef PEL_LOCALS_H
#define PEL_LOCALS_H

#include "reactor.h"

/* Fiber-locals (Thread.current[:x]): who sees whose. */

/* Before a fiber of the worker gives control away: leaves the loop's set for the next. Costs a call of Thread#keys when
 * there are none. */
void pel_locals_leave(struct pel_worker *worker);

/* When the worker is back in the loop: what its callback has changed is added to the loop's set, which becomes its own.
 */
void pel_locals_return(struct pel_worker *worker);

/* Before run, on the fiber that calls it: its set becomes the loop's, and in the end the loop's its own. Within run:
 * callbacks share theirs from now on. */
void pel_locals_begin(struct pel_reactor *reactor);
void pel_locals_end(struct pel_reactor *reactor);

/* Calls the function, which may wait, with an empty set. For servers: a request sees nothing of the one before, and
 * leaves nothing to the callbacks that run while it waits. The present set is put back only where they are carried:
 * otherwise a worker's are what somebody has left there. */
VALUE pel_locals_fresh(struct pel_reactor *reactor, VALUE (*function)(VALUE), VALUE argument);

void pel_init_locals(void);

#endif
