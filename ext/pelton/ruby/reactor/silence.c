#include "ruby/reactor/reactor.h"

#include "ruby/base/upcall.h"

/* Waits that nothing ends, such as Queue.new.pop, are reported once in a run. They are no error: a trap handler may end
 * them. */

int pel_silent(const struct pel_reactor *reactor, int64_t timeout)
{
    return timeout == PEL_FOREVER && reactor->phase == PEL_RUNNING && !reactor->loop.registered &&
           reactor->tick.silence != PEL_FOREVER;
}

static void report_silence(struct pel_reactor *reactor, void *nothing)
{
    (void)nothing;
    /* A thread that computes may wake a fiber yet: later, and less often. */
    if (RTEST(pel_upcall(report_silence, reactor->self)))
        reactor->tick.silence = PEL_FOREVER;
    else
        reactor->tick.silence *= 2;
}

void pel_note_silence(struct pel_reactor *reactor)
{
    pel_enqueue(reactor, (struct pel_job){.run = report_silence});
}
