/*
 * The events that every backend must report. Included by test_backend_NAME.c, which defines BACKEND.
 */
#include "loop/backend_fixture.h"

LOOP_TEST(without_a_change_there_is_no_event)
{
    arm(&probe, PEL_READABLE, PEL_ONESHOT);
    arm(&second, PEL_READABLE, PEL_EDGE);
    CHECK_INT(0, poll_once(0));
    CHECK_INT(0, poll_once(1000));
    CHECK_INT(2, loop.registered);
}

LOOP_TEST(one_shot_reports_once_until_it_is_armed_again)
{
    arm(&probe, PEL_READABLE, PEL_ONESHOT);
    put(pair[1], "x");
    CHECK_INT(1, poll_once(SECOND));
    CHECK_INT(PEL_READABLE, probe.events);
    CHECK_INT(0, poll_once(0));
    arm(&probe, PEL_READABLE, PEL_ONESHOT);
    CHECK_INT(1, poll_once(SECOND)); /* the byte is still there */
    CHECK_INT(2, probe.count);
}

LOOP_TEST(one_shot_reports_both_directions_in_one_event)
{
    put(pair[1], "x");
    arm(&probe, PEL_READABLE | PEL_WRITABLE, PEL_ONESHOT);
    CHECK_INT(1, poll_once(SECOND));
    CHECK_INT(PEL_READABLE | PEL_WRITABLE, probe.events);
    CHECK_INT(0, poll_once(0));
}

LOOP_TEST(an_edge_reports_each_change_after_the_descriptor_was_drained)
{
    arm(&probe, PEL_READABLE, PEL_EDGE);
    for (int round = 1; round <= 3; round++) {
        put(pair[1], "x");
        CHECK_INT(1, poll_once(SECOND));
        CHECK_INT(round, probe.count);
        CHECK_INT(0, poll_once(0)); /* the same change, not drained */
        drain(pair[0]);
        CHECK_INT(0, pel_loop_rearm(&loop, &probe.handle, PEL_READABLE));
        CHECK_INT(0, poll_once(0));
    }
}

LOOP_TEST(an_edge_reports_writable_at_first_and_after_the_descriptor_was_full)
{
    char bytes[4096] = {0};

    arm(&probe, PEL_READABLE | PEL_WRITABLE, PEL_EDGE);
    CHECK_INT(1, poll_once(SECOND));
    CHECK_INT(PEL_WRITABLE, probe.events);
    CHECK_INT(0, poll_once(0));
    while (write(pair[0], bytes, sizeof bytes) > 0)
        ;
    CHECK_INT(EAGAIN, errno);
    pel_loop_rearm(&loop, &probe.handle, PEL_WRITABLE);
    CHECK_INT(0, poll_once(0));
    drain(pair[1]);
    CHECK_INT(1, poll_once(SECOND));
    CHECK(probe.events & PEL_WRITABLE);
}

LOOP_TEST(the_end_of_a_stream_is_reported_as_readable_and_a_hangup)
{
    arm(&probe, PEL_READABLE, PEL_ONESHOT);
    arm(&second, PEL_READABLE, PEL_EDGE);
    shutdown(pair[1], SHUT_WR);
    shutdown(other[1], SHUT_RDWR);
    CHECK_INT(2, poll_once(SECOND));
    CHECK_INT(PEL_READABLE | PEL_HANGUP, probe.events);
    CHECK((second.events & (PEL_READABLE | PEL_HANGUP)) == (PEL_READABLE | PEL_HANGUP));
    CHECK_INT(0, poll_once(0));
}

LOOP_TEST(a_failed_connection_wakes_a_writer)
{
    arm(&probe, PEL_WRITABLE, PEL_ONESHOT);
    close(pair[1]);
    CHECK_INT(1, poll_once(SECOND));
    CHECK(probe.events & PEL_WRITABLE);
    CHECK(probe.events & PEL_HANGUP);
    pair[1] = open("/dev/null", O_RDWR);
}

LOOP_TEST(a_disarmed_handle_does_not_get_its_pending_event)
{
    arm(&probe, PEL_READABLE, PEL_ONESHOT);
    arm(&second, PEL_READABLE, PEL_EDGE);
    put(pair[1], "x");
    put(other[1], "x");
    CHECK_INT(0, pel_loop_wait(&loop, SECOND));
    pel_loop_disarm(&loop, &probe.handle);
    pel_loop_disarm(&loop, &second.handle);
    CHECK_INT(0, pel_loop_dispatch(&loop));
    CHECK_INT(0, probe.count + second.count);
    CHECK_INT(0, loop.registered);
    CHECK_INT(0, poll_once(0));
    pel_loop_disarm(&loop, &probe.handle); /* legal */
}

/* The callback of the first of two handles: closes the second's descriptor and reuses its number. */
static struct probe third;

static void replace_victim(struct pel_handle *handle, unsigned events)
{
    struct probe *victim = handle == &probe.handle ? &second : &probe;
    int number = victim->handle.fd, fresh[2];

    on_probe_event(handle, events);
    if (third.handle.fd)
        return;
    pel_loop_disarm(&loop, &victim->handle);
    close(number);
    open_pair(fresh);
    CHECK_INT(number, fresh[0]);
    close(fresh[1]);
    prepare(&third, number);
    arm(&third, PEL_PRIORITY, PEL_EDGE); /* reuses the slot that has become free, too */
}

LOOP_TEST(an_event_does_not_reach_another_descriptor_of_the_same_number)
{
    memset(&third, 0, sizeof third);
    probe.handle.on_event = second.handle.on_event = replace_victim;
    arm(&probe, PEL_READABLE, PEL_ONESHOT);
    arm(&second, PEL_READABLE, PEL_ONESHOT);
    put(pair[1], "x");
    put(other[1], "x");
    CHECK_INT(1, poll_once(SECOND));
    CHECK_INT(1, probe.count + second.count);
    CHECK_INT(0, third.count);
}

LOOP_TEST(only_the_events_of_the_last_wait_are_reported)
{
    arm(&probe, PEL_READABLE, PEL_EDGE);
    arm(&second, PEL_READABLE, PEL_EDGE);
    put(pair[1], "x");
    put(other[1], "x");
    CHECK_INT(2, poll_once(SECOND));
    drain(pair[0]);
    drain(other[0]);
    arm(&probe, PEL_READABLE, PEL_EDGE);
    put(pair[1], "y");
    CHECK_INT(1, poll_once(SECOND));
}

LOOP_TEST(an_event_of_an_earlier_shot_is_not_reported_for_the_next_one)
{
    arm(&probe, PEL_READABLE, PEL_ONESHOT);
    put(pair[1], "x");
    CHECK_INT(0, pel_loop_wait(&loop, SECOND));
    drain(pair[0]);
    arm(&probe, PEL_READABLE, PEL_ONESHOT); /* another owner waits for that number now */
    CHECK_INT(0, pel_loop_dispatch(&loop));
    CHECK_INT(0, poll_once(0));
    put(pair[1], "y");
    CHECK_INT(1, poll_once(SECOND)); /* a later change is reported */
}

LOOP_TEST(a_descriptor_that_another_owner_replaced_is_registered_again)
{
    arm(&probe, PEL_READABLE, PEL_ONESHOT);
    CHECK_INT(pair[0], dup2(other[0], pair[0])); /* closes the registered descriptor */
    put(other[1], "x");
    arm(&probe, PEL_READABLE, PEL_ONESHOT);
    CHECK_INT(1, poll_once(SECOND));
    CHECK_INT(1, probe.count);
}

LOOP_TEST(a_closed_descriptor_is_refused)
{
    close(pair[0]);
    CHECK_INT(PEL_ESYSTEM, pel_loop_arm(&loop, &probe.handle, PEL_READABLE, PEL_ONESHOT));
    CHECK_INT(EBADF, errno);
    CHECK_INT(PEL_UNREGISTERED, probe.handle.slot);
    CHECK_INT(0, loop.registered);
    CHECK_INT(0, poll_once(0));
    pair[0] = open("/dev/null", O_RDWR);
}

TEST(a_plain_file_is_ready_or_refused_with_EPERM)
{
    char path[] = "/tmp/backend_suite_XXXXXX";
    int fd = mkstemp(path), code;

    unlink(path);
    open_loop();
    prepare(&probe, fd);
    code = pel_loop_arm(&loop, &probe.handle, PEL_READABLE, PEL_ONESHOT);
    if (code < 0)
        CHECK_INT(EPERM, errno);
    else
        CHECK_INT(1, poll_once(SECOND));
    close(fd);
    close_loop();
}
