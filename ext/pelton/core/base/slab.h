#pragma once

#include <stddef.h>

/* With ASAN records are malloc's, so that it reports the use of a returned record. Older versions of clang tell only by
 * __has_feature. */
#ifdef __SANITIZE_ADDRESS__
#define PEL_SLAB_IS_MALLOC 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PEL_SLAB_IS_MALLOC 1
#endif
#endif

/*
 * A slab allocator for many small records of one size. A free list keeps the returned records for reuse. Taking and
 * returning a record cost a few instructions, and do not bring the next garbage collection nearer, since Ruby counts
 * only the bytes of its own allocator. Slabs go back to the system in pel_slab_free alone. Not thread-safe.
 */
struct pel_slab {
    size_t size;      /* of a record, in bytes: at least the size of a pointer */
    void *free_first; /* the free list, linked through the records' first bytes */
    void *slabs;      /* all slabs, linked through their first bytes */
};

/* The initializer of an empty slab allocator for records of this type. */
#define PEL_SLAB(type)                                                                                                 \
    {                                                                                                                  \
        .size = sizeof(type)                                                                                           \
    }

/* Returns a zeroed record, or NULL when out of memory. */
void *pel_slab_take(struct pel_slab *slab);

/* Returns a record to the free list. */
void pel_slab_give(struct pel_slab *slab, void *record);

/* Frees all slabs, including the records that were never returned. */
void pel_slab_free(struct pel_slab *slab);
