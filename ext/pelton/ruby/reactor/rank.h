#pragma once

#include <stdint.h>

/*
 * The rank of work that is done for a request, and seniority: which goes first, a request that has begun or one that
 * has arrived. What has begun goes first, until it loses its seniority. From then on, such requests get as much time as
 * those that begin: with less, one that waits often would queue after all that have arrived, again after each
 * of its waits. Include reactor.h.
 */

struct pel_job;
struct pel_reactor;

/* When a request arrived, and when it began, by the loop's clock. Fibers keep it while they wait, and tasks inherit it.
 * All zero: the work belongs to no request. began is zero while the request has not begun. */
struct pel_rank {
    int64_t arrived, began;
};

#define PEL_SENIORITY_NS (250 * 1000 * 1000) /* but in tests */

struct pel_seniority {
    int64_t limit;      /* nanoseconds for which a request that has begun goes before all later ones */
    int64_t last_began; /* when the last request began: no two at once */
    int64_t job_began;  /* when the running job of a request began, 0: it is not measured */
    uint8_t job_begins; /* that job begins its request */
    int64_t owed; /* nanoseconds that requests which have lost their seniority have to get before the next begins */
};

/* The code that runs belongs to a request from now on, which has arrived at that time and begins now. */
void pel_begin_request(struct pel_reactor *reactor, int64_t arrived);

/* The code that runs belongs to no request any more. */
void pel_leave_request(struct pel_reactor *reactor);

/* The key in the heap of a job of a request that has begun, when it is pushed. */
int64_t pel_rank_key(const struct pel_reactor *reactor, const struct pel_job *job);

/* Whether the job, the first of those that have begun, goes before the request that arrived first. */
int pel_goes_first_p(struct pel_reactor *reactor, const struct pel_job *job);

/* A job of a request begins to run; its time counts until pel_count_measured_job. */
void pel_measure_job(struct pel_reactor *reactor, const struct pel_job *job);
void pel_count_measured_job(struct pel_reactor *reactor);
