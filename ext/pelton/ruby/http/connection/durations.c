#include "ruby/http/connection/http_server.h"

#include <stdio.h>
#include "core/base/alloc.h"
#include "ruby/http/connection/method.h"

/* The upper bounds of the buckets, in nanoseconds: those of OpenTelemetry's semantic conventions. */
static const int64_t bounds[] = {5000000,   10000000,  25000000,   50000000,   75000000,   100000000,  250000000,
                                 500000000, 750000000, 1000000000, 2500000000, 5000000000, 7500000000, 10000000000};

#define BOUNDS (sizeof bounds / sizeof *bounds)
#define FIRST_CAPACITY 64 /* a power of 2, as all capacities */
#define MOST_SERIES 500   /* so a worker can report them to its master in one message */

struct pel_http_series {
    VALUE route; /* nil: not known; Qfalse: the slot is empty */
    uint16_t method, status;
    uint64_t counts[BOUNDS + 1]; /* not cumulative */
    int64_t sum;                 /* nanoseconds */
};

/* ---- the table --------------------------------------------------------------------------------------------------- */

static struct pel_http_series *find_slot(const struct pel_http_durations *durations, unsigned method, unsigned status,
                                         VALUE route)
{
    uint32_t mask = durations->capacity - 1;
    uint32_t at = ((uint32_t)(route >> 3) ^ (status << 4) ^ method) * 2654435761u >> 16 & mask;
    struct pel_http_series *slot;

    for (;; at = (at + 1) & mask) {
        slot = &durations->slots[at];
        if (!slot->route || (slot->route == route && slot->method == method && slot->status == status))
            return slot;
    }
}

/* 0 when there is no memory; then the table is as it was. */
static int grow(struct pel_http_durations *durations)
{
    struct pel_http_durations larger = {.count = durations->count,
                                        .capacity = durations->capacity ? durations->capacity * 2 : FIRST_CAPACITY};

    if (!(larger.slots = pel_calloc(larger.capacity, sizeof *larger.slots)))
        return 0;
    for (uint32_t i = 0; i < durations->capacity; i++) {
        const struct pel_http_series *slot = &durations->slots[i];
        if (slot->route)
            *find_slot(&larger, slot->method, slot->status, slot->route) = *slot;
    }
    pel_free(durations->slots);
    *durations = larger;
    return 1;
}

void pel_http_durations_add(struct pel_http_durations *durations, unsigned method, unsigned status, VALUE route,
                            int64_t nanoseconds)
{
    struct pel_http_series *slot;
    unsigned i = 0;

    if (!durations->slots && !grow(durations))
        return;
    slot = find_slot(durations, method, status, route);
    if (!slot->route && durations->count >= MOST_SERIES)
        slot = find_slot(durations, method, status, route = Qnil);
    if (!slot->route) {
        if (durations->count + 1 > durations->capacity / 2) {
            if (!grow(durations))
                return;
            slot = find_slot(durations, method, status, route);
        }
        *slot = (struct pel_http_series){.route = route, .method = (uint16_t)method, .status = (uint16_t)status};
        durations->count++;
    }
    while (i < BOUNDS && nanoseconds > bounds[i])
        i++;
    slot->counts[i]++;
    slot->sum += nanoseconds;
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

void pel_http_durations_mark(const struct pel_http_durations *durations)
{
    for (uint32_t i = 0; i < durations->capacity; i++)
        if (durations->slots[i].route)
            rb_gc_mark(durations->slots[i].route); /* pinned: the table is by its address */
}

void pel_http_durations_free(struct pel_http_durations *durations)
{
    pel_free(durations->slots);
}

size_t pel_http_durations_size(const struct pel_http_durations *durations)
{
    return durations->capacity * sizeof *durations->slots;
}

/* ---- what Ruby sees ---------------------------------------------------------------------------------------------- */

static VALUE cumulative_counts(const struct pel_http_series *series)
{
    VALUE counts = rb_hash_new();
    uint64_t count = 0;
    char bound[32];

    for (unsigned i = 0; i < BOUNDS; i++) {
        count += series->counts[i];
        snprintf(bound, sizeof bound, "%g", (double)bounds[i] / 1e9);
        rb_hash_aset(counts, rb_str_new_cstr(bound), ULL2NUM(count));
    }
    rb_hash_aset(counts, rb_str_new_cstr("+Inf"), ULL2NUM(count + series->counts[BOUNDS]));
    rb_hash_aset(counts, rb_str_new_cstr("sum"), DBL2NUM((double)series->sum / 1e9));
    return counts;
}

VALUE pel_http_durations_list(const struct pel_http_durations *durations)
{
    VALUE list = rb_ary_new();

    for (uint32_t i = 0; i < durations->capacity; i++) {
        struct pel_http_series series = durations->slots[i]; /* a copy: the list is made on any thread */
        const char *method = series.method < PEL_HTTP_OTHER ? pel_http_method_names[series.method] : "_OTHER";
        if (series.route)
            rb_ary_push(list, rb_ary_new_from_args(4, rb_str_new_cstr(method), UINT2NUM(series.status), series.route,
                                                   cumulative_counts(&series)));
    }
    return list;
}
