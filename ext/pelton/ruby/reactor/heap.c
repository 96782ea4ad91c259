#include "ruby/reactor/job.h"

#include "ruby/reactor/reactor.h"

static int goes_before(const struct pel_job *one, const struct pel_job *other)
{
    if (one->turn != other->turn)
        return one->turn < other->turn;
    if (one->rank.began != other->rank.began)
        return one->rank.began < other->rank.began;
    return one->order < other->order;
}

void pel_heap_push(struct pel_queue *heap, struct pel_job job)
{
    uint32_t place = heap->count++;

    for (; place && goes_before(&job, &heap->jobs[(place - 1) / 2]); place = (place - 1) / 2)
        heap->jobs[place] = heap->jobs[(place - 1) / 2];
    heap->jobs[place] = job;
}

void pel_heap_remove_first(struct pel_queue *heap)
{
    struct pel_job last = heap->jobs[--heap->count];
    uint32_t place = 0, child;

    while ((child = 2 * place + 1) < heap->count) {
        if (child + 1 < heap->count && goes_before(&heap->jobs[child + 1], &heap->jobs[child]))
            child++;
        if (!goes_before(&heap->jobs[child], &last))
            break;
        heap->jobs[place] = heap->jobs[child];
        place = child;
    }
    heap->jobs[place] = last;
}
