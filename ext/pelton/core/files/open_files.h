#pragma once

#include <stdint.h>
#include "core/base/siphash.h"
#include "core/base/slice.h"
#include "core/files/folder.h"
#include "core/files/listing.h"

/*
 * The files of a folder that are being served, or were a moment ago: small ones as bytes, others as open descriptors.
 * What is kept is looked at again a second later, so a change is seen by then. Not thread-safe. A look-up may read from
 * the disk.
 */

#define PEL_OPEN_FILES_MOST 1024                     /* files kept, */
#define PEL_OPEN_FILES_DESCRIPTORS 256               /* descriptors among them, */
#define PEL_OPEN_FILES_BYTES (16 * 1024 * 1024)      /* and bytes */
#define PEL_OPEN_FILE_SMALL (32 * 1024)              /* bytes of a file up to which it is kept as bytes */
#define PEL_OPEN_FILE_TAG (2 + 2 + 3 * 16 + 2)       /* bytes of an ETag at most */
#define PEL_OPEN_FILES_RECHECK ((int64_t)1000000000) /* nanoseconds */

struct pel_open_files;

struct pel_open_file {
    struct pel_open_files *files;
    struct pel_open_file *next; /* of its bucket */
    char *name;
    size_t name_length;
    uint64_t hash;
    uint32_t references;
    uint32_t slot;
    int fd;        /* -1: `bytes` are the content */
    char *bytes;   /* NULL where fd is set, or of an empty file */
    uint64_t size; /* of the content, when it was looked at */
    uint64_t device, inode;
    int64_t modified; /* nanoseconds since 1970 */
    int64_t checked;  /* on the loop's clock */
    struct pel_slice type;
    char tag[PEL_OPEN_FILE_TAG];
    uint8_t tag_length;
    char date[32];          /* Last-Modified, PEL_HTTP1_DATE bytes */
    uint8_t siblings;       /* enum pel_file_coding: those that lie beside it as NAME.br, NAME.zst, NAME.gz */
    unsigned settled : 1;   /* it had not changed for two seconds, so its time and size tell versions apart */
    unsigned immutable : 1; /* pel_fingerprinted_p */
    unsigned used : 1;      /* since it was last considered for eviction */
};

struct pel_open_files {
    struct pel_folder folder;
    struct pel_listing listing; /* of the folder's top */
    struct pel_siphash_seed seed;
    uint32_t references; /* of the owner, and one for each file that is held */
    uint32_t count, descriptors, hand;
    uint64_t bytes;
    struct pel_open_file *buckets[PEL_OPEN_FILES_MOST], *slots[PEL_OPEN_FILES_MOST];
};

/* NULL: errno says why. */
struct pel_open_files *pel_open_files_new(const char *folder);

/* The owner's reference is gone: nothing is kept any more but files that are held. */
void pel_open_files_release(struct pel_open_files *files);

/* The file of that name below the folder, which ends with a NUL. The caller holds it until pel_open_file_release. NULL:
 * there is none that may be sent; errno as pel_folder_open_file has it. `now`: on the loop's clock. */
struct pel_open_file *pel_open_files_find(struct pel_open_files *files, const char *name, size_t length, int64_t now);

void pel_open_file_release(struct pel_open_file *file);

/* Keeps no file any more. Returns the number of descriptors that this closed. */
unsigned pel_open_files_drop(struct pel_open_files *files);
