#pragma once

#include "ruby/reactor/reactor.h"

/* Yielding, and the budget of operations that need not wait: they yield when it is spent. */

/* Lets all other ready jobs run first, and the loop make one iteration. */
void pel_yield(struct pel_reactor *reactor);

/* Yields because the budget is exhausted, unless the fiber is inside Pelton.without_yielding. */
void pel_budget_exhausted(struct pel_reactor *reactor);

/* An operation that was done without waiting calls this. When the budget is exhausted the loop makes one iteration, so
 * that ready data starves no other connection. cost: 1 + kilobytes moved / 4. */
static inline void pel_spend(struct pel_reactor *reactor, int32_t cost)
{
    if ((reactor->budget -= cost) <= 0)
        pel_budget_exhausted(reactor);
}
