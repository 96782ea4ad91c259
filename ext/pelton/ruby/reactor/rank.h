#ifndef PELTON_RUBY_REACTOR_RANK_H
#define PELTON_RUBY_REACTOR_RANK_H

#include <stdint.h>

/*
 * The rank of work that is done for a request, or for anything else that is begun and should end soon: when it arrived,
 * and when it began, by the loop's clock. Fibers keep it while they wait, and tasks inherit it. All zero: the work
 * belongs to no request. began is zero while the request has not begun.
 */
struct pel_rank {
    int64_t arrived, began;
};

#endif
