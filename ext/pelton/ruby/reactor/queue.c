#include "ruby/reactor/queue.h"

#include "core/base/alloc.h"

static int grow(struct pel_queue *queue)
{
    uint32_t capacity = queue->capacity ? queue->capacity * 2 : 64;
    struct pel_job *jobs = pel_malloc(capacity * sizeof *jobs);

    if (!jobs)
        return 0;
    for (uint32_t i = 0; i < queue->count; i++)
        jobs[i] = *pel_queue_job(queue, i);
    pel_free(queue->jobs);
    queue->jobs = jobs;
    queue->head = 0;
    queue->capacity = capacity;
    return 1;
}

int pel_queue_reserve(struct pel_queue *queue, uint32_t count)
{
    while (queue->count + count >= queue->capacity)
        if (!grow(queue))
            return 0;
    return 1;
}

void pel_queue_free(struct pel_queue *queue)
{
    pel_free(queue->jobs);
}

/* ---- heaps ---------------------------------------------------------------------------------------------------- */

static int goes_before(const struct pel_job *one, const struct pel_job *other)
{
    if (one->key != other->key)
        return one->key < other->key;
    if (one->rank.began != other->rank.began)
        return one->rank.began < other->rank.began;
    return one->sequence < other->sequence;
}

void pel_heap_push(struct pel_queue *heap, struct pel_job job)
{
    uint32_t place = heap->count++;

    job.sequence = heap->pushes++;
    for (; place && goes_before(&job, &heap->jobs[(place - 1) / 2]); place = (place - 1) / 2)
        heap->jobs[place] = heap->jobs[(place - 1) / 2];
    heap->jobs[place] = job;
}

void pel_heap_pop(struct pel_queue *heap)
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
