#include "check.h"
#include "core/loop/loop.h"

#include <errno.h>
#include <sys/resource.h>

static struct pel_loop loop;

TEST(the_clock_does_not_go_back)
{
    int64_t before = pel_now();

    for (int i = 0; i < 1000; i++) {
        int64_t now = pel_now();
        CHECK(now >= before);
        before = now;
    }
}

TEST(the_best_backend_is_the_default)
{
    CHECK_INT(0, pel_loop_open(&loop, NULL));
#ifdef HAVE_SYS_EPOLL_H
    CHECK_STRING("epoll", loop.backend->name);
#else
    CHECK_STRING("poll", loop.backend->name);
#endif
    CHECK_INT(0, loop.registered);
    CHECK_INT(0, loop.event_count);
    pel_loop_close(&loop);
}

TEST(a_loop_opens_whatever_its_memory_held)
{
    struct pel_loop *dirty = malloc(sizeof *dirty);

    CHECK(dirty != NULL);
    memset(dirty, 0xa5, sizeof *dirty);
    CHECK_INT(0, pel_loop_open(dirty, NULL));
    CHECK_INT(0, pel_loop_wait(dirty, 0));
    CHECK_INT(0, dirty->event_count);
    pel_loop_close(dirty);
    free(dirty);
}

TEST(an_unknown_backend_is_refused)
{
    CHECK_INT(PEL_EARGUMENT, pel_loop_open(&loop, "select"));
    CHECK_INT(PEL_EARGUMENT, pel_loop_open(&loop, ""));
}

TEST(a_loop_that_cannot_open_its_descriptors_leaves_none_open)
{
    const char *const names[] = {NULL, "poll"};
    struct rlimit limit, none;

    CHECK_INT(0, getrlimit(RLIMIT_NOFILE, &limit));
    none = limit;
    for (int allowed = 0; allowed < 2; allowed++) /* opening the first, or the second, descriptor fails */
        for (int i = 0; i < 2; i++) {
            int next = dup(2);
            CHECK(next >= 0);
            close(next);
            none.rlim_cur = (rlim_t)(next + (i == 0 ? allowed : 0));
            CHECK_INT(0, setrlimit(RLIMIT_NOFILE, &none));
            int code = pel_loop_open(&loop, names[i]), error = errno;
            CHECK_INT(0, setrlimit(RLIMIT_NOFILE, &limit));
            CHECK_INT(PEL_ESYSTEM, code);
            CHECK_INT(EMFILE, error);
            int after = dup(2);
            CHECK_INT(next, after);
            close(after);
        }
}

TEST(the_timeout_ends_at_the_next_timer)
{
    struct pel_timer timer = {.deadline = 0};
    int64_t now;

    CHECK_INT(0, pel_loop_open(&loop, NULL));
    now = loop.now;
    CHECK(pel_loop_timeout(&loop, now) == PEL_FOREVER);
    pel_timer_add(&loop.timers, &timer, now + 5000000);
    CHECK_INT(5000000, pel_loop_timeout(&loop, now));
    CHECK_INT(0, pel_loop_timeout(&loop, now + 5000001));
    pel_timer_add(&loop.timers, &timer, INT64_MAX);
    CHECK(pel_loop_timeout(&loop, now) == PEL_FOREVER);
    pel_timer_add(&loop.timers, &timer, now - 1);
    CHECK_INT(0, pel_loop_timeout(&loop, now));
    pel_timer_cancel(&loop.timers, &timer);
    pel_loop_close(&loop);
}

TEST(closing_a_loop_makes_its_timers_inactive)
{
    struct pel_timer timer = {.deadline = 0};

    CHECK_INT(0, pel_loop_open(&loop, NULL));
    pel_timer_add(&loop.timers, &timer, loop.now + 1);
    pel_loop_close(&loop);
    CHECK(!pel_timer_active(&timer));
}

TEST(a_wait_sets_now_to_its_end)
{
    int64_t before;

    CHECK_INT(0, pel_loop_open(&loop, NULL));
    before = pel_now();
    CHECK_INT(0, pel_loop_wait(&loop, 1000));
    CHECK(loop.now >= before);
    pel_loop_close(&loop);
}

TEST(a_loop_whose_descriptor_somebody_closed_cannot_wait)
{
#ifndef HAVE_SYS_EPOLL_H
    SKIP("this system has no epoll");
#endif
    CHECK_INT(0, pel_loop_open(&loop, "epoll"));
    close(loop.backend_fd);
    CHECK_INT(PEL_ESYSTEM, pel_loop_wait(&loop, PEL_FOREVER));
    CHECK_INT(EBADF, errno);
    pel_loop_close(&loop);
}
