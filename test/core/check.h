#pragma once

/*
 * The harness of core's C tests. Each test_NAME.c is one program: it includes this file once and contains only TESTs,
 * since main is here.
 *
 *   #include "core/base/buffer.h"
 *   #include "check.h"
 *
 *   TEST(an_empty_buffer_has_no_bytes)
 *   {
 *       struct pel_buffer buffer = {0};
 *       CHECK_INT(0, pel_buffer_length(&buffer));
 *   }
 *
 * A CHECK that fails ends its test (by longjmp, so it also works in helper functions), and the program continues with
 * the next test. `./test_buffer WORD` runs the tests whose name contains WORD. A test may take CHECK_SECONDS seconds.
 * The last line is "base/test_buffer: 3 passed, 0 failed, 0 skipped"; the exit status is 1 when a test failed.
 */

#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef CHECK_SECONDS
#define CHECK_SECONDS 60
#endif

struct check_test {
    const char *name;
    void (*body)(void);
    struct check_test *next;
};

enum { CHECK_FAILED = 1, CHECK_SKIPPED = 2 };

static struct check_test *check_first, **check_last = &check_first;
static const char *volatile check_running = "";
static jmp_buf check_leave;

#define TEST(title)                                                                                                    \
    static void title(void);                                                                                           \
    __attribute__((constructor)) static void check_register_##title(void)                                              \
    {                                                                                                                  \
        static struct check_test test = {#title, title, NULL};                                                         \
        *check_last = &test;                                                                                           \
        check_last = &test.next;                                                                                       \
    }                                                                                                                  \
    static void title(void)

/* A test between what prepares it and what cleans up. Files whose tests share both define their own kind of test by it.
 */
#define TEST_BETWEEN(before, title, after)                                                                             \
    static void title##_between(void);                                                                                 \
    TEST(title)                                                                                                        \
    {                                                                                                                  \
        before;                                                                                                        \
        title##_between();                                                                                             \
        after;                                                                                                         \
    }                                                                                                                  \
    static void title##_between(void)

#define CHECK_FAIL(...)                                                                                                \
    do {                                                                                                               \
        fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, check_running);                                             \
        fprintf(stderr, __VA_ARGS__);                                                                                  \
        fputc('\n', stderr);                                                                                           \
        longjmp(check_leave, CHECK_FAILED);                                                                            \
    } while (0)

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            CHECK_FAIL("not true: %s", #condition);                                                                    \
    } while (0)

/* Integers of any type, enums, and sizes below 2^63. */
#define CHECK_INT(expected, actual)                                                                                    \
    do {                                                                                                               \
        long long check_e = (long long)(expected), check_a = (long long)(actual);                                      \
        if (check_e != check_a)                                                                                        \
            CHECK_FAIL("%s is %lld, expected %lld", #actual, check_a, check_e);                                        \
    } while (0)

#define CHECK_POINTER(expected, actual)                                                                                \
    do {                                                                                                               \
        const void *check_e = (expected), *check_a = (actual);                                                         \
        if (check_e != check_a)                                                                                        \
            CHECK_FAIL("%s is %p, expected %p", #actual, check_a, check_e);                                            \
    } while (0)

#define CHECK_STRING(expected, actual)                                                                                 \
    do {                                                                                                               \
        const char *check_e = (expected), *check_a = (actual);                                                         \
        if (!check_a || strcmp(check_e, check_a))                                                                      \
            CHECK_FAIL("%s is \"%s\", expected \"%s\"", #actual, check_a ? check_a : "(null)", check_e);               \
    } while (0)

/* `expected` is a C string without NUL bytes; `bytes` need not end with one. */
#define CHECK_BYTES(expected, bytes, length) check_bytes(__FILE__, __LINE__, #bytes, expected, bytes, length)

#define SKIP(reason)                                                                                                   \
    do {                                                                                                               \
        printf("%s skipped: %s\n", check_running, reason);                                                             \
        longjmp(check_leave, CHECK_SKIPPED);                                                                           \
    } while (0)

__attribute__((unused)) static void check_bytes(const char *file, int line, const char *what, const char *expected,
                                                const void *bytes, size_t length)
{
    size_t wanted = strlen(expected);
    if (wanted == length && (length == 0 || !memcmp(expected, bytes, length)))
        return;
    fprintf(stderr, "%s:%d: %s: %s is \"", file, line, check_running, what);
    for (size_t i = 0; i < length && i < 200; i++) {
        unsigned char byte = ((const unsigned char *)bytes)[i];
        fprintf(stderr, byte >= 32 && byte < 127 ? "%c" : "\\x%02x", byte);
    }
    fprintf(stderr, "\" (%zu bytes), expected \"%.200s\" (%zu bytes)\n", length, expected, wanted);
    longjmp(check_leave, CHECK_FAILED);
}

static void check_hung(int signal)
{
    static const char text[] = ": hangs\n";
    (void)signal;
    if (write(2, check_running, strlen(check_running)) < 0 || write(2, text, sizeof text - 1) < 0)
        _exit(2);
    abort();
}

/* The last folder and the file: "http1/test_parser". */
static const char *check_name(const char *path)
{
    const char *name = path + strlen(path);
    int slashes = 0;

    while (name > path && (slashes += name[-1] == '/') < 2)
        name--;
    return name;
}

int main(int argc, char **argv)
{
    /* Volatile, since their values must survive longjmp. */
    volatile int passed = 0, failed = 0, skipped = 0;

    /* Line buffering, so that the output up to a crash is not lost. */
    setvbuf(stdout, NULL, _IOLBF, 0);
    signal(SIGALRM, check_hung);
    for (struct check_test *volatile test = check_first; test; test = test->next) {
        if (argc > 1 && !strstr(test->name, argv[1]))
            continue;
        check_running = test->name;
        alarm(CHECK_SECONDS);
        switch (setjmp(check_leave)) {
        case 0:
            test->body();
            passed++;
            break;
        case CHECK_SKIPPED:
            skipped++;
            break;
        default:
            failed++;
        }
    }
    alarm(0);
    printf("%s: %d passed, %d failed, %d skipped\n", check_name(argv[0]), passed, failed, skipped);
    return failed > 0 || passed + skipped == 0;
}
