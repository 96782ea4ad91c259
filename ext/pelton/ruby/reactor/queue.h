#pragma once

#include <ruby.h>
#include <stdint.h>
#include "ruby/reactor/rank.h"

/*
 * Containers of jobs: a ring buffer or a binary heap, which grow. They use malloc, not Ruby's allocator: to enqueue
 * must not start the garbage collector, because at that moment nothing marks the objects that the job refers to.
 */

struct pel_reactor;

/* Work that is ready to run on the loop runner's fiber, or a fiber that is ready to go on. */
struct pel_job {
    void (*run)(struct pel_reactor *reactor, void *data); /* may call Ruby, raise, and park. NULL: data is a waiter */
    void (*drop)(void *data); /* releases data when the reactor leaves before the job ran; may be NULL */
    void *data;
    /* Kept alive while the job is queued and while it runs; Qfalse: none. PEL_OPERATION_JOB: data is an operation. */
    VALUE object;
    struct pel_rank rank;
    int64_t key;       /* in a heap: the least goes first; of equal ones the request that began first */
    uint64_t sequence; /* in a heap: the order of the pushes, for jobs of one request with the same key */
};

#define PEL_OPERATION_JOB Qundef

/* Zeroed: empty. Its capacity is a power of two. As a heap, head is always 0, and jobs[0] goes first. */
struct pel_queue {
    struct pel_job *jobs;
    uint32_t head, count, capacity;
    uint64_t pushes; /* onto the heap */
};

static inline struct pel_job *pel_queue_job(struct pel_queue *queue, uint32_t index)
{
    return &queue->jobs[(queue->head + index) & (queue->capacity - 1)];
}

/* Makes room for that many more jobs, and one. 0 when there is no memory. */
int pel_queue_reserve(struct pel_queue *queue, uint32_t count);

void pel_queue_free(struct pel_queue *queue);

/* The queue has room for a pushed job, and is not empty where one is popped. */

static inline void pel_queue_push(struct pel_queue *queue, const struct pel_job *job)
{
    *pel_queue_job(queue, queue->count++) = *job;
}

static inline void pel_queue_push_front(struct pel_queue *queue, const struct pel_job *job)
{
    queue->head = (queue->head - 1) & (queue->capacity - 1);
    queue->count++;
    *pel_queue_job(queue, 0) = *job;
}

static inline void pel_queue_pop(struct pel_queue *queue)
{
    queue->head = (queue->head + 1) & (queue->capacity - 1);
    queue->count--;
}

/* job->key is set. */
void pel_heap_push(struct pel_queue *heap, struct pel_job job);
void pel_heap_pop(struct pel_queue *heap);
