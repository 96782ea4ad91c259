#ifndef PEL_SLAB_H
#define PEL_SLAB_H

#include <stddef.h>

/*
 * Memory for many small records of one size: taken from slabs, given back to a list for the next. Taking and giving
 * cost a few instructions, and the garbage collector, which counts what Ruby's allocator hands out, is not hurried by
 * them. Slabs are not returned to the system before the free function. Not thread-safe.
 */
struct pel_slab {
    size_t size;      /* of a record, in bytes: at least a pointer's */
    void *free_first; /* records to take, linked through their first bytes */
    void *slabs;      /* linked through their first bytes */
};

/* For a static one. */
#define PEL_SLAB(type)                                                                                                 \
    {                                                                                                                  \
        .size = sizeof(type)                                                                                           \
    }

/* A record, zeroed; NULL when memory is out. */
void *pel_slab_take(struct pel_slab *slab);

/* Takes a record back. */
void pel_slab_give(struct pel_slab *slab, void *record);

/* Frees all slabs, with the records that were not given back. */
void pel_slab_free(struct pel_slab *slab);

#endif
