#include "whereabouts.h"

#include <errno.h>
#include <signal.h>
#include <time.h>

#define QUESTION_SIGNAL SIGURG
#define QUESTIONS 10  /* until an answer that is put off must be given */
#define ANSWER_MS 250 /* the thread may be in a call that cannot be interrupted */

/* The asked thread owns the answer while it gives it. */
enum { NOBODY, ASKED, ANSWERING, ANSWERED };

static struct {
    int state; /* atomic */
    int last;
    pthread_t thread;
    pel_whereabouts *tell;
    const uint64_t *counter;
    struct pel_answer answer;
} question;

static struct sigaction previous;

static void on_signal(int number, siginfo_t *info, void *context)
{
    int error = errno, asked = ASKED;

    if (__atomic_load_n(&question.state, __ATOMIC_ACQUIRE) == ASKED && pthread_equal(question.thread, pthread_self()) &&
        __atomic_compare_exchange_n(&question.state, &asked, ANSWERING, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
        question.answer.count = *question.counter;
        question.answer.length = question.tell(question.answer.text, sizeof question.answer.text, question.last);
        __atomic_store_n(&question.state, ANSWERED, __ATOMIC_RELEASE);
    } else if (previous.sa_flags & SA_SIGINFO) {
        previous.sa_sigaction(number, info, context);
    } else if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) {
        previous.sa_handler(number);
    }
    errno = error;
}

/* On the signal stack, where there is one: a fiber's own may be nearly full. */
void pel_whereabouts_prepare(void)
{
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};

    sigemptyset(&action.sa_mask);
    sigaction(QUESTION_SIGNAL, &action, &previous);
}

void pel_whereabouts_forget(void)
{
    question.state = NOBODY;
}

static int handler_is_ours(void)
{
    struct sigaction present;

    return sigaction(QUESTION_SIGNAL, NULL, &present) == 0 && present.sa_sigaction == on_signal;
}

static int ask_once(void)
{
    const struct timespec pause = {.tv_nsec = 1000 * 1000};
    int asked = ASKED;

    if (!handler_is_ours())
        return 0;
    __atomic_store_n(&question.state, ASKED, __ATOMIC_RELEASE);
    pthread_kill(question.thread, QUESTION_SIGNAL);
    for (int i = 0; i < ANSWER_MS && __atomic_load_n(&question.state, __ATOMIC_ACQUIRE) != ANSWERED; i++)
        nanosleep(&pause, NULL);
    __atomic_compare_exchange_n(&question.state, &asked, NOBODY, 0, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE);
    while (__atomic_load_n(&question.state, __ATOMIC_ACQUIRE) == ANSWERING)
        nanosleep(&pause, NULL);
    return __atomic_exchange_n(&question.state, NOBODY, __ATOMIC_ACQUIRE) == ANSWERED;
}

const struct pel_answer *pel_whereabouts_ask(pthread_t thread, pel_whereabouts *tell, const uint64_t *counter)
{
    question.thread = thread;
    question.tell = tell;
    question.counter = counter;
    for (int i = 1; i <= QUESTIONS; i++) {
        question.last = i == QUESTIONS;
        if (!ask_once())
            return NULL;
        if (question.answer.length)
            break;
    }
    return &question.answer;
}
