#pragma once

#include <stdint.h>
#include "core/base/siphash.h"
#include "core/files/folder.h"

/*
 * The names at the top of a folder, so that most paths of an application are known to name no file without a system
 * call. The folder is looked at again a second later.
 */
struct pel_listing {
    uint64_t *hashes; /* a table of the names' hashes; 0: empty */
    uint32_t capacity, count;
    int64_t checked, modified;
    unsigned settled : 1; /* the folder had not changed for two seconds */
    unsigned all : 1;     /* there are too many names, or they could not be read: any may be there */
};

#define PEL_LISTING_MOST 4096 /* names */

/* Whether there may be a file of that name, relative to the folder: its first segment is there, or, of a single one,
 * the segment with ".html". `now`: nanoseconds. A zeroed listing is valid. */
int pel_listing_may_have(struct pel_listing *listing, const struct pel_folder *folder,
                         const struct pel_siphash_seed *seed, const char *name, size_t length, int64_t now);

void pel_listing_free(struct pel_listing *listing);
