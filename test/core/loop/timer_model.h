#pragma once

/*
 * A naive model of timers: an array that is searched linearly. A program of bytes, random or from the fuzzer, drives
 * the model and the real timers, and both must agree after every step.
 */

#include "core/loop/timer.h"

#include <stdint.h>
#include <string.h>

#define MODEL_TIMERS 300

enum model_state { MODEL_INACTIVE, MODEL_WAITING, MODEL_EXPIRED };

struct model_timer {
    struct pel_timer timer;
    enum model_state state;
    int64_t deadline;
    uint64_t order;
};

struct model {
    struct pel_timers timers;
    struct model_timer entries[MODEL_TIMERS];
    size_t size; /* entries in use */
    int64_t now;
    uint64_t order;
    const uint8_t *program;
    size_t left;
};

static uint8_t model_byte(struct model *model)
{
    if (model->left == 0)
        return 0;
    model->left--;
    return *model->program++;
}

static int64_t model_sum(int64_t a, int64_t b)
{
    int64_t sum;

    return __builtin_add_overflow(a, b, &sum) ? (b < 0 ? INT64_MIN : INT64_MAX) : sum;
}

/* Any distance up to 2^62 ns, short ones as likely as long ones; 2^52 ns is 52 days. */
static int64_t model_distance(struct model *model)
{
    int64_t mantissa = model_byte(model);

    return mantissa << (model_byte(model) % 55);
}

static struct model_timer *model_entry(struct model *model)
{
    size_t index = model_byte(model);

    return &model->entries[(index << 8 | model_byte(model)) % model->size];
}

static int64_t model_deadline(struct model *model)
{
    switch (model_byte(model) % 16) {
    case 0:
        return INT64_MAX;
    case 1:
        return INT64_MAX - 1;
    case 2:
        return INT64_MIN;
    case 3:
        return model->now;
    case 4:
        return model_sum(model->now, -model_distance(model));
    case 5:
    case 6:
    case 7:
    case 8:
        return model_entry(model)->deadline;
    default:
        return model_sum(model->now, model_distance(model));
    }
}

static void model_add(struct model *model)
{
    struct model_timer *entry = model_entry(model);

    entry->deadline = model_deadline(model);
    entry->order = model->order++;
    entry->state = MODEL_WAITING;
    pel_timer_add(&model->timers, &entry->timer, entry->deadline);
}

static void model_cancel(struct model *model)
{
    struct model_timer *entry = model_entry(model);

    entry->state = MODEL_INACTIVE;
    pel_timer_cancel(&model->timers, &entry->timer);
}

static void model_expire(struct model *model, int64_t now)
{
    if (now > model->now)
        model->now = now;
    for (size_t i = 0; i < model->size; i++) {
        struct model_timer *entry = &model->entries[i];

        if (entry->state == MODEL_WAITING && entry->deadline <= model->now && entry->deadline != INT64_MAX)
            entry->state = MODEL_EXPIRED;
    }
    pel_timers_expire(&model->timers, now);
}

static const char *model_pop(struct model *model, int *popped)
{
    struct model_timer *first = NULL;
    struct pel_timer *timer;

    for (size_t i = 0; i < model->size; i++) {
        struct model_timer *entry = &model->entries[i];

        if (entry->state == MODEL_EXPIRED && (!first || entry->deadline < first->deadline ||
                                              (entry->deadline == first->deadline && entry->order < first->order)))
            first = entry;
    }
    timer = pel_timers_pop(&model->timers);
    *popped = first != NULL;
    if (timer != (first ? &first->timer : NULL))
        return first ? "pop: another timer was due" : "pop: no timer was due";
    if (first)
        first->state = MODEL_INACTIVE;
    return NULL;
}

static int64_t model_earliest(const struct model *model)
{
    int64_t earliest = INT64_MAX;

    for (size_t i = 0; i < model->size; i++)
        if (model->entries[i].state == MODEL_WAITING && model->entries[i].deadline < earliest)
            earliest = model->entries[i].deadline;
    return earliest;
}

/* Advances from one result of pel_timers_next to the next until a timer expires: each must make progress, and the
 * number of steps is bounded. */
static const char *model_advance(struct model *model)
{
    int64_t earliest = model_earliest(model);

    for (int step = 0; step <= PEL_TIMER_LEVELS; step++) {
        int64_t next = pel_timers_next(&model->timers);

        if (earliest == INT64_MAX)
            return next == INT64_MAX ? NULL : "next: there is no timer";
        if (next < model->now || (step > 0 && next == model->now))
            return "next makes no progress";
        if (next > earliest && next != model->now)
            return "next is late";
        model_expire(model, next);
        if (next >= earliest)
            return NULL;
    }
    return "next takes too many steps";
}

static const char *model_compare(struct model *model)
{
    size_t count = 0;

    for (size_t i = 0; i < model->size; i++) {
        if (pel_timer_active(&model->entries[i].timer) != (model->entries[i].state != MODEL_INACTIVE))
            return "active differs";
        count += model->entries[i].state != MODEL_INACTIVE;
    }
    return count == pel_timers_count(&model->timers) ? NULL : "count differs";
}

static const char *model_step(struct model *model)
{
    const char *wrong = NULL;
    int popped = 1;

    switch (model_byte(model) % 16) {
    case 0:
    case 1:
    case 2:
    case 3:
    case 4:
    case 5:
        model_add(model);
        break;
    case 6:
    case 7:
    case 8:
        model_cancel(model);
        break;
    case 9:
        model_expire(model, model_sum(model->now, model_distance(model)));
        break;
    case 10:
        model_expire(model, model_sum(model->now, -model_distance(model)));
        break;
    case 11:
        return model_advance(model);
    case 12: {
        int64_t next = pel_timers_next(&model->timers), earliest = model_earliest(model);

        return next >= model->now && (next <= earliest || next == model->now) ? NULL : "next is wrong";
    }
    case 13:
        while (popped && !wrong)
            wrong = model_pop(model, &popped);
        break;
    default:
        wrong = model_pop(model, &popped);
    }
    return wrong;
}

/*
 * Runs the program and then expires all timers. Returns NULL if the real timers agreed with the model, otherwise a
 * description of the difference. The caller need not initialize the model.
 */
static const char *model_run(struct model *model, const uint8_t *program, size_t length)
{
    static const size_t sizes[] = {1, 4, 30, MODEL_TIMERS};
    static const int64_t starts[] = {0, -1, INT64_C(1) << 52, INT64_MIN};
    const char *wrong = NULL;
    int popped = 1;

    memset(model, 0, sizeof *model);
    model->program = program;
    model->left = length;
    model->size = sizes[model_byte(model) % 4];
    model->now = starts[model_byte(model) % 4];
    pel_timers_init(&model->timers, model->now);
    while (model->left > 0 && !wrong) {
        wrong = model_step(model);
        if (!wrong)
            wrong = model_compare(model);
    }
    if (!wrong)
        model_expire(model, INT64_MAX);
    while (popped && !wrong)
        wrong = model_pop(model, &popped);
    if (!wrong)
        wrong = model_compare(model);
    pel_timers_free(&model->timers);
    for (size_t i = 0; i < model->size && !wrong; i++)
        if (pel_timer_active(&model->entries[i].timer))
            wrong = "active after free";
    return wrong;
}
