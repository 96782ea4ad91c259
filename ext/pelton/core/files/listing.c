#include "core/files/listing.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "core/base/alloc.h"

#define RECHECK ((int64_t)1000000000) /* nanoseconds */
#define SETTLED 2                     /* seconds */
#define FIRST_CAPACITY 256            /* a power of 2, as all capacities */

static uint64_t hash_of(const struct pel_siphash_seed *seed, const char *name, size_t length)
{
    uint64_t hash = pel_siphash(seed, name, length);

    return hash ? hash : 1;
}

static uint64_t *slot_of(const struct pel_listing *listing, uint64_t hash)
{
    uint32_t mask = listing->capacity - 1, at = (uint32_t)hash & mask;

    while (listing->hashes[at] && listing->hashes[at] != hash)
        at = (at + 1) & mask;
    return &listing->hashes[at];
}

/* 0: there are too many names, or there is no memory. */
static int grow(struct pel_listing *listing)
{
    struct pel_listing larger = {.capacity = listing->capacity ? listing->capacity * 2 : FIRST_CAPACITY};

    if (listing->count >= PEL_LISTING_MOST || !(larger.hashes = pel_calloc(larger.capacity, sizeof *larger.hashes)))
        return 0;
    for (uint32_t i = 0; i < listing->capacity; i++)
        if (listing->hashes[i])
            *slot_of(&larger, listing->hashes[i]) = listing->hashes[i];
    pel_free(listing->hashes);
    listing->hashes = larger.hashes;
    listing->capacity = larger.capacity;
    return 1;
}

/* 0: not all names were read. */
static int read_names(struct pel_listing *listing, const struct pel_folder *folder, const struct pel_siphash_seed *seed)
{
    int fd = openat(folder->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), complete = 1;
    DIR *names = fd < 0 ? NULL : fdopendir(fd);
    struct dirent *entry;

    if (!names) {
        if (fd >= 0)
            close(fd);
        return 0;
    }
    while (complete && (entry = readdir(names))) {
        if (listing->count >= listing->capacity / 2)
            complete = grow(listing);
        if (complete)
            *slot_of(listing, hash_of(seed, entry->d_name, strlen(entry->d_name))) =
                hash_of(seed, entry->d_name, strlen(entry->d_name));
        listing->count++;
    }
    closedir(names);
    return complete;
}

static void refresh(struct pel_listing *listing, const struct pel_folder *folder, const struct pel_siphash_seed *seed,
                    int64_t now)
{
    struct stat facts;
    int known = fstat(folder->fd, &facts) == 0;

    if (known && listing->settled && listing->modified == (int64_t)facts.st_mtime) {
        listing->checked = now;
        return;
    }
    pel_listing_free(listing);
    listing->checked = now;
    listing->modified = known ? (int64_t)facts.st_mtime : 0;
    listing->settled = known && time(NULL) - facts.st_mtime > SETTLED;
    listing->all = !known || !read_names(listing, folder, seed);
}

int pel_listing_may_have(struct pel_listing *listing, const struct pel_folder *folder,
                         const struct pel_siphash_seed *seed, const char *name, size_t length, int64_t now)
{
    static const char html[] = ".html";
    const char *slash = memchr(name, '/', length);
    size_t segment = slash ? (size_t)(slash - name) : length;
    char page[256 + sizeof html];

    if (!listing->checked || now - listing->checked >= RECHECK)
        refresh(listing, folder, seed, now);
    if (listing->all)
        return 1;
    if (!listing->count)
        return 0;
    if (*slot_of(listing, hash_of(seed, name, segment)))
        return 1;
    if (slash || length > 256)
        return 0;
    memcpy(page, name, length);
    memcpy(page + length, html, sizeof html - 1);
    return *slot_of(listing, hash_of(seed, page, length + sizeof html - 1)) != 0;
}

void pel_listing_free(struct pel_listing *listing)
{
    pel_free(listing->hashes);
    *listing = (struct pel_listing){.checked = 0};
}
