#include "core/loop/stack_sample.h"

#include <errno.h>
#include <signal.h>
#include <time.h>

#define SAMPLE_SIGNAL SIGURG
#define SAMPLE_ATTEMPTS 10    /* the sampler cannot postpone the last one */
#define SAMPLE_TIMEOUT_MS 250 /* the thread may be in a call that cannot be interrupted */

/* The sampled thread owns request.sample while the state is SAMPLING. */
enum { IDLE, REQUESTED, SAMPLING, SAMPLED };

static struct {
    int state; /* atomic */
    int last;
    pthread_t thread;
    pel_stack_sampler *sampler;
    const uint64_t *counter;
    struct pel_stack_sample sample;
} request;

static struct sigaction previous_action;

static void on_sample_signal(int number, siginfo_t *info, void *context)
{
    int error = errno, requested = REQUESTED;

    if (__atomic_load_n(&request.state, __ATOMIC_ACQUIRE) == REQUESTED &&
        pthread_equal(request.thread, pthread_self()) &&
        __atomic_compare_exchange_n(&request.state, &requested, SAMPLING, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
        request.sample.counter = *request.counter;
        request.sample.length = request.sampler(request.sample.text, sizeof request.sample.text, request.last);
        __atomic_store_n(&request.state, SAMPLED, __ATOMIC_RELEASE);
    } else if (previous_action.sa_flags & SA_SIGINFO) {
        previous_action.sa_sigaction(number, info, context);
    } else if (previous_action.sa_handler != SIG_DFL && previous_action.sa_handler != SIG_IGN) {
        previous_action.sa_handler(number);
    }
    errno = error;
}

/* The handler runs on the signal stack, where there is one: a fiber's own stack may be nearly full. */
void pel_stack_sample_prepare(void)
{
    struct sigaction action = {.sa_sigaction = on_sample_signal, .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};

    sigemptyset(&action.sa_mask);
    sigaction(SAMPLE_SIGNAL, &action, &previous_action);
}

void pel_stack_sample_reset(void)
{
    request.state = IDLE;
}

static int sample_handler_installed(void)
{
    struct sigaction present;

    return sigaction(SAMPLE_SIGNAL, NULL, &present) == 0 && present.sa_sigaction == on_sample_signal;
}

static int request_sample(void)
{
    const struct timespec pause = {.tv_nsec = 1000 * 1000};
    int requested = REQUESTED;

    if (!sample_handler_installed())
        return 0;
    __atomic_store_n(&request.state, REQUESTED, __ATOMIC_RELEASE);
    pthread_kill(request.thread, SAMPLE_SIGNAL);
    for (int i = 0; i < SAMPLE_TIMEOUT_MS && __atomic_load_n(&request.state, __ATOMIC_ACQUIRE) != SAMPLED; i++)
        nanosleep(&pause, NULL);
    __atomic_compare_exchange_n(&request.state, &requested, IDLE, 0, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE);
    while (__atomic_load_n(&request.state, __ATOMIC_ACQUIRE) == SAMPLING)
        nanosleep(&pause, NULL);
    return __atomic_exchange_n(&request.state, IDLE, __ATOMIC_ACQUIRE) == SAMPLED;
}

const struct pel_stack_sample *pel_stack_sample_take(pthread_t thread, pel_stack_sampler *sampler,
                                                     const uint64_t *counter)
{
    request.thread = thread;
    request.sampler = sampler;
    request.counter = counter;
    for (int i = 1; i <= SAMPLE_ATTEMPTS; i++) {
        request.last = i == SAMPLE_ATTEMPTS;
        if (!request_sample())
            return NULL;
        if (request.sample.length)
            break;
    }
    return &request.sample;
}
