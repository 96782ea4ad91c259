#include "ruby/reactor/reactor.h"

/* What has yielded lets all others go first. A waiter that was taken off its queue has left an empty job. */
static int yields(const struct pel_job *job)
{
    const struct pel_waiter *waiter = job->run ? NULL : job->data;

    return waiter && waiter->yields;
}

/* A request's turn is that of its arrival, so it goes before all that have arrived later. But when it has been under
 * way for longer than the time of its seniority, it falls back by as much, and so lets through what waits longer. */
int64_t pel_turn_of(const struct pel_reactor *reactor, const struct pel_job *job)
{
    int64_t late = reactor->loop.now - job->rank.began - reactor->queues.seniority;

    if (yields(job))
        return pel_now();
    return job->rank.arrived + (late > 0 ? late : 0);
}

static int senior_p(struct pel_reactor *reactor, const struct pel_job *job)
{
    struct pel_queue *arrived = &reactor->queues.arrived;

    return !arrived->count || job->turn <= pel_queue_job(arrived, 0)->rank.arrived;
}

int pel_goes_first_p(struct pel_reactor *reactor, const struct pel_job *job)
{
    return senior_p(reactor, job) || (reactor->batch.owed > 0 && !yields(job));
}

/* Only they can be owed time. */
static int others_under_way_p(const struct pel_reactor *reactor)
{
    return reactor->parked.begun || reactor->queues.begun.count;
}

void pel_measure_job(struct pel_reactor *reactor, const struct pel_job *job)
{
    struct pel_batch *batch = &reactor->batch;

    batch->begins = !job->rank.began;
    if (batch->begins ? others_under_way_p(reactor) : !senior_p(reactor, job))
        batch->measured = pel_now();
}

void pel_count_measured_job(struct pel_reactor *reactor)
{
    struct pel_batch *batch = &reactor->batch;
    int64_t time;

    if (!batch->measured)
        return;
    time = pel_now() - batch->measured;
    batch->measured = 0;
    batch->owed += batch->begins ? time : -time;
    if (batch->owed < 0)
        batch->owed = 0;
    else if (batch->owed > PEL_SENIORITY_NS)
        batch->owed = PEL_SENIORITY_NS;
}
