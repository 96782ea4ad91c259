#ifndef PELTON_RUBY_REACTOR_HEAP_H
#define PELTON_RUBY_REACTOR_HEAP_H

/*
 * A queue of jobs as a heap, by their turns: the first job is jobs[0], and the queue's head is always 0. Jobs with the
 * same turn follow the beginnings of their requests, those of one request the order in which they were pushed.
 */

struct pel_job;
struct pel_queue;

/* The queue has room for the job. */
void pel_heap_push(struct pel_queue *heap, struct pel_job job);

/* The queue is not empty. */
void pel_heap_remove_first(struct pel_queue *heap);

#endif
