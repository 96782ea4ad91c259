#include "ruby/reactor/reactor.h"

#include "core/base/alloc.h"

struct pel_mutex_queue {
    VALUE mutex;
    struct pel_mutex_waiter *first, *last;
    struct pel_mutex_queue *next;
};

struct pel_mutex_queue *pel_mutex_queues;

static unsigned fork_generation; /* of the queues */

/* A child has none of the fibers that wait in its parent. */
static void drop_inherited_queues(void)
{
    if (fork_generation == pel_fork_generation)
        return;
    fork_generation = pel_fork_generation;
    while (pel_mutex_queues) {
        struct pel_mutex_queue *queue = pel_mutex_queues;
        pel_mutex_queues = queue->next;
        pel_free(queue);
    }
}

static struct pel_mutex_queue *queue_of(VALUE mutex)
{
    struct pel_mutex_queue *queue = pel_mutex_queues;

    while (queue && queue->mutex != mutex)
        queue = queue->next;
    return queue;
}

/* ---- waking --------------------------------------------------------------------------------------------------- */

static int goes_before_p(const struct pel_mutex_waiter *entry, const struct pel_mutex_waiter *other)
{
    return entry->waiter.rank.began && other->waiter.rank.began && entry->waiter.rank.began < other->waiter.rank.began;
}

/* The first one, or if that belongs to a request, the oldest of all requests. An abandoned fiber never goes on, so the
 * wake-up is for another one. */
static void wake_next(struct pel_mutex_queue *queue)
{
    struct pel_mutex_waiter *next = NULL;

    for (struct pel_mutex_waiter *entry = queue->first; entry; entry = entry->next)
        if (!entry->waiter.abandoned && (!next || goes_before_p(entry, next)))
            next = entry;
    if (next)
        pel_waiter_unblock(next->reactor, &next->waiter);
}

/* Not while it is locked: its holder wakes the fiber, which would else count as one that has been given it. */
void pel_mutex_wake(VALUE mutex)
{
    struct pel_mutex_queue *queue;

    drop_inherited_queues();
    if (!RTEST(rb_mutex_locked_p(mutex)) && (queue = queue_of(mutex)))
        wake_next(queue);
}

void pel_mutex_wake_all_free(void)
{
    drop_inherited_queues();
    for (struct pel_mutex_queue *queue = pel_mutex_queues; queue; queue = queue->next)
        if (!RTEST(rb_mutex_locked_p(queue->mutex)))
            wake_next(queue);
}

/* ---- waiting -------------------------------------------------------------------------------------------------- */

void pel_mutex_enter(VALUE mutex, struct pel_mutex_waiter *entry)
{
    struct pel_mutex_queue *queue;

    drop_inherited_queues();
    if (!(queue = queue_of(mutex))) {
        if (!(queue = pel_calloc(1, sizeof *queue)))
            rb_memerror();
        *queue = (struct pel_mutex_queue){.mutex = mutex, .next = pel_mutex_queues};
        pel_mutex_queues = queue;
    }
    *(queue->last ? &queue->last->next : &queue->first) = entry;
    queue->last = entry;
}

/* Takes the entries of a reactor out, or one entry alone. */
static void take_out(struct pel_mutex_queue *queue, const struct pel_mutex_waiter *entry,
                     const struct pel_reactor *reactor)
{
    struct pel_mutex_waiter **link = &queue->first, *before = NULL;

    while (*link) {
        if (*link != entry && (*link)->reactor != reactor) {
            before = *link;
            link = &before->next;
            continue;
        }
        *link = (*link)->next;
        if (entry && *link)
            return;
    }
    queue->last = before;
}

static void drop_queue(struct pel_mutex_queue *queue)
{
    PEL_CHAIN_REMOVE(pel_mutex_queues, queue, next);
    pel_free(queue);
}

/* The queue is looked up: a child after a fork has dropped it. */
void pel_mutex_leave(VALUE mutex, struct pel_mutex_waiter *entry)
{
    struct pel_mutex_queue *queue;

    drop_inherited_queues();
    if (!(queue = queue_of(mutex)))
        return;
    take_out(queue, entry, NULL);
    if (!queue->first)
        drop_queue(queue);
}

void pel_mutex_forget(struct pel_reactor *reactor)
{
    struct pel_mutex_queue *queue, *next;

    drop_inherited_queues();
    for (queue = pel_mutex_queues; queue; queue = next) {
        next = queue->next;
        take_out(queue, NULL, reactor);
        if (!queue->first)
            drop_queue(queue);
    }
}
