#include "ruby/reactor/reactor.h"

void pel_begin_request(struct pel_reactor *reactor, int64_t arrived)
{
    int64_t *last = &reactor->seniority.last_began, now = reactor->loop.now;

    *last = now > *last ? now : *last + 1;
    reactor->rank = (struct pel_rank){.arrived = arrived, .began = *last};
}

void pel_leave_request(struct pel_reactor *reactor)
{
    reactor->rank = (struct pel_rank){.arrived = 0};
}

/* What has yielded lets all others go first. A waiter that was taken off its queue has left an empty job. */
static int yields(const struct pel_job *job)
{
    const struct pel_waiter *waiter = job->run ? NULL : job->data;

    return waiter && waiter->yields;
}

/* A request's key is the time of its arrival, so it goes before all that have arrived later. But when it has been under
 * way for longer than the time of its seniority, it falls back by as much, and so lets through what waits longer. */
int64_t pel_rank_key(const struct pel_reactor *reactor, const struct pel_job *job)
{
    int64_t late = reactor->loop.now - job->rank.began - reactor->seniority.limit;

    if (yields(job))
        return pel_now();
    return job->rank.arrived + (late > 0 ? late : 0);
}

static int senior_p(struct pel_reactor *reactor, const struct pel_job *job)
{
    struct pel_queue *arrived = &reactor->queues.arrived;

    return !arrived->count || job->key <= pel_queue_job(arrived, 0)->rank.arrived;
}

int pel_goes_first_p(struct pel_reactor *reactor, const struct pel_job *job)
{
    return senior_p(reactor, job) || (reactor->seniority.owed > 0 && !yields(job));
}

/* Only they can be owed time. */
static int others_under_way_p(const struct pel_reactor *reactor)
{
    return reactor->parked.begun || reactor->queues.begun.count;
}

void pel_measure_job(struct pel_reactor *reactor, const struct pel_job *job)
{
    struct pel_seniority *seniority = &reactor->seniority;

    seniority->job_begins = !job->rank.began;
    if (seniority->job_begins ? others_under_way_p(reactor) : !senior_p(reactor, job))
        seniority->job_began = pel_now();
}

void pel_count_measured_job(struct pel_reactor *reactor)
{
    struct pel_seniority *seniority = &reactor->seniority;
    int64_t time;

    if (!seniority->job_began)
        return;
    time = pel_now() - seniority->job_began;
    seniority->job_began = 0;
    seniority->owed += seniority->job_begins ? time : -time;
    if (seniority->owed < 0)
        seniority->owed = 0;
    else if (seniority->owed > PEL_SENIORITY_NS)
        seniority->owed = PEL_SENIORITY_NS;
}
