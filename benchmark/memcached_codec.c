/*
 * Measures the memcached codec: nanoseconds per parsed reply and per written command. The same interleaved rounds
 * measure the obvious implementations: finding each line by memchr and comparing its word (which does less: no flags,
 * no checks), and formatting by snprintf.
 *
 *   cc -O2 -std=gnu99 -Iext/pelton benchmark/memcached_codec.c ext/pelton/core/memcached/{line,parser,writer}.c \
 *       ext/pelton/core/base/{buffer,base64}.c -o /tmp/memcached_codec && /tmp/memcached_codec
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/memcached/parser.h"
#include "core/memcached/writer.h"

#define ROUNDS 11
#define REPETITIONS 40
#define COUNT 2000
#define F(letter) PEL_MEMCACHED_FLAG(letter)

static char replies[256 * 1024];
static size_t replies_length;
static struct pel_buffer commands;

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void require(int condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "wrong result: %s\n", what);
    exit(1);
}

/* Returns the number of replies. */
static int parse_with_pelton(void)
{
    static struct pel_memcached_parser parser;
    struct pel_memcached_reply reply;
    const char *at = replies, *end = replies + replies_length;
    size_t consumed;
    int count = 0;

    pel_memcached_parser_init(&parser);
    while (pel_memcached_parse(&parser, at, (size_t)(end - at), &consumed, &reply) == 1) {
        at += consumed;
        count++;
    }
    return at + consumed == end ? count : -1;
}

static int parse_with_memchr(void)
{
    static const char *const words[] = {"VA ", "HD", "EN", "NF", "VALUE "};
    const char *at = replies, *end = replies + replies_length;
    int count = 0;

    while (at < end) {
        const char *next = memchr(at, '\n', (size_t)(end - at));
        size_t kind = 0;
        if (!next)
            return -1;
        while (kind < 5 && strncmp(at, words[kind], strlen(words[kind])))
            kind++;
        if (kind == 0)
            next += strtoul(at + 3, NULL, 10) + 2;
        else if (kind == 4)
            next += strtoul(at + 10, NULL, 10) + 2;
        else if (kind == 5)
            return -1;
        at = next + 1;
        count++;
    }
    return count;
}

static int get_with_pelton(void)
{
    commands.end = commands.start;
    for (int i = 0; i < COUNT; i++)
        pel_memcached_write_get(
            &commands, &(struct pel_memcached_command){.key = {"user:12345:name", 15}, .flags = F('v') | F('f')});
    return COUNT;
}

static int get_with_snprintf(void)
{
    commands.end = commands.start;
    for (int i = 0; i < COUNT; i++) {
        pel_buffer_reserve(&commands, 300);
        pel_buffer_commit(&commands,
                          (size_t)snprintf(pel_buffer_tail(&commands), 300, "mg %s f v\r\n", "user:12345:name"));
    }
    return COUNT;
}

static int set_with_pelton(void)
{
    commands.end = commands.start;
    for (int i = 0; i < COUNT; i++)
        pel_memcached_write_set(
            &commands,
            &(struct pel_memcached_command){
                .key = {"user:12345:name", 15}, .flags = F('F') | F('T'), .client_flags = 17, .ttl = 3600},
            "a value of 24 characters", 24);
    return COUNT;
}

static int set_with_snprintf(void)
{
    commands.end = commands.start;
    for (int i = 0; i < COUNT; i++) {
        pel_buffer_reserve(&commands, 300);
        pel_buffer_commit(&commands, (size_t)snprintf(pel_buffer_tail(&commands), 300, "ms %s %d F%u T%d\r\n%s\r\n",
                                                      "user:12345:name", 24, 17, 3600, "a value of 24 characters"));
    }
    return COUNT;
}

static int compare(const void *left, const void *right)
{
    double difference = *(const double *)left - *(const double *)right;

    return (difference > 0) - (difference < 0);
}

static void measure(const char *name, int (*pelton)(void), int (*other)(void), const char *other_name)
{
    double ours[ROUNDS], theirs[ROUNDS];

    require(pelton() == COUNT && other() == COUNT, name);
    for (int round = 0; round < ROUNDS; round++) {
        double start = now();
        for (int i = 0; i < REPETITIONS; i++)
            pelton();
        ours[round] = (now() - start) / REPETITIONS / COUNT;
        start = now();
        for (int i = 0; i < REPETITIONS; i++)
            other();
        theirs[round] = (now() - start) / REPETITIONS / COUNT;
    }
    qsort(ours, ROUNDS, sizeof(double), compare);
    qsort(theirs, ROUNDS, sizeof(double), compare);
    printf("%-28s %6.1f ns [%.1f..%.1f]   %s %6.1f ns   %.2fx\n", name, ours[ROUNDS / 2], ours[0], ours[ROUNDS - 1],
           other_name, theirs[ROUNDS / 2], ours[ROUNDS / 2] / theirs[ROUNDS / 2]);
}

static void measure_replies(const char *name, const char *reply)
{
    size_t length = strlen(reply);

    for (int i = 0; i < COUNT; i++)
        memcpy(replies + (size_t)i * length, reply, length);
    replies_length = COUNT * length;
    measure(name, parse_with_pelton, parse_with_memchr, "memchr  ");
}

static void measure_commands(const char *name, int (*pelton)(void), int (*other)(void))
{
    char *written;
    size_t length;

    pelton();
    length = pel_buffer_length(&commands);
    written = malloc(length);
    memcpy(written, pel_buffer_head(&commands), length);
    other();
    require(length == pel_buffer_length(&commands) && !memcmp(written, pel_buffer_head(&commands), length), name);
    free(written);
    measure(name, pelton, other, "snprintf");
}

int main(void)
{
    measure_replies("parse HD", "HD\r\n");
    measure_replies("parse EN", "EN\r\n");
    measure_replies("parse VA, 24 bytes, f", "VA 24 f0\r\na value of 24 characters\r\n");
    measure_replies("parse VA, 24 bytes, f c t", "VA 24 f0 c123456789 t-1\r\na value of 24 characters\r\n");
    measure_replies("parse VALUE, 24 bytes", "VALUE k 0 24\r\na value of 24 characters\r\n");
    measure_commands("write get", get_with_pelton, get_with_snprintf);
    measure_commands("write set, 24 bytes", set_with_pelton, set_with_snprintf);
    pel_buffer_free(&commands);
    return 0;
}
