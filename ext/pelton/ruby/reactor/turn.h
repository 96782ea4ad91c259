#pragma once

#include "ruby/reactor/job.h"

/*
 * Turns: which goes first, a request that has begun or one that has arrived. What has begun goes first, until it loses
 * its seniority. From then on, such requests get as much time as those that begin: with less, one that waits often
 * would queue after all that have arrived, again after each of its waits. Include reactor.h.
 */

/* The turn of a job of a request that has begun, when it is put on its queue. */
int64_t pel_turn_of(const struct pel_reactor *reactor, const struct pel_job *job);

/* Whether the job, the first of those that have begun, goes before the request that arrived first. */
int pel_goes_first_p(struct pel_reactor *reactor, const struct pel_job *job);

/* A job of a request begins to run; its time counts until pel_count_measured_job. */
void pel_measure_job(struct pel_reactor *reactor, const struct pel_job *job);
void pel_count_measured_job(struct pel_reactor *reactor);
