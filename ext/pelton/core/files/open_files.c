#include "core/files/open_files.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
#include "core/base/alloc.h"
#include "core/base/link.h"
#include "core/files/file_request.h"
#include "core/files/media_type.h"
#include "core/http1/http1_writer.h"

#define SETTLED ((int64_t)2000000000) /* nanoseconds without a change */

/* ---- one file ---------------------------------------------------------------------------------------------------- */

static void free_file(struct pel_open_file *file)
{
    int error = errno;

    if (file->fd >= 0)
        close(file->fd);
    pel_free(file->bytes);
    pel_free(file->name);
    pel_free(file);
    errno = error;
}

static int64_t modified(const struct stat *facts)
{
#ifdef __APPLE__
    return (int64_t)facts->st_mtimespec.tv_sec * 1000000000 + facts->st_mtimespec.tv_nsec;
#else
    return (int64_t)facts->st_mtim.tv_sec * 1000000000 + facts->st_mtim.tv_nsec;
#endif
}

static int same_p(const struct pel_open_file *file, const struct stat *facts)
{
    return file->settled && file->inode == (uint64_t)facts->st_ino && file->device == (uint64_t)facts->st_dev &&
           file->size == (uint64_t)facts->st_size && file->modified == modified(facts);
}

/* Reads the whole content. 0: it is not to be had; it has become shorter meanwhile. */
static int read_bytes(struct pel_open_file *file)
{
    size_t have = 0;

    if (!file->size)
        return 1;
    if (!(file->bytes = pel_malloc(file->size)))
        return 0;
    while (have < file->size) {
        ssize_t count = pread(file->fd, file->bytes + have, file->size - have, (off_t)have);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return 0;
        have += (size_t)count;
    }
    return 1;
}

/* A file that was changed just now may be changed again with the same time and size: so its tag is a weak one. */
static void describe(struct pel_open_file *file, const struct stat *facts)
{
    struct timespec now;
    struct pel_slice name = {file->name, file->name_length};
    int64_t age;

    clock_gettime(CLOCK_REALTIME, &now);
    age = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec - modified(facts);
    file->size = (uint64_t)facts->st_size;
    file->device = (uint64_t)facts->st_dev;
    file->inode = (uint64_t)facts->st_ino;
    file->modified = modified(facts);
    file->settled = age > SETTLED;
    file->type = pel_media_type(name);
    file->immutable = pel_fingerprinted_p(name) != 0;
    file->tag_length = (uint8_t)snprintf(file->tag, sizeof file->tag, "%s\"%llx-%llx-%llx\"", file->settled ? "" : "W/",
                                         (unsigned long long)file->modified, (unsigned long long)file->size,
                                         (unsigned long long)file->inode);
    pel_http1_date(file->date, facts->st_mtime);
}

/* Takes the descriptor, also when it fails: NULL, and errno. */
static struct pel_open_file *make_file(struct pel_open_files *files, const char *name, size_t length, int fd,
                                       const struct stat *facts)
{
    struct pel_open_file *file = pel_calloc(1, sizeof *file);

    if (!file || !(file->name = pel_malloc(length + 1))) {
        pel_free(file);
        close(fd);
        errno = ENOMEM;
        return NULL;
    }
    memcpy(file->name, name, length);
    file->name[length] = '\0';
    file->name_length = length;
    file->files = files;
    file->fd = fd;
    describe(file, facts);
    if (file->size > PEL_OPEN_FILE_SMALL)
        return file;
    if (!read_bytes(file)) {
        free_file(file);
        errno = EAGAIN;
        return NULL;
    }
    close(file->fd);
    file->fd = -1;
    return file;
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

struct pel_open_files *pel_open_files_new(const char *folder)
{
    struct pel_open_files *files = pel_calloc(1, sizeof *files);

    if (files && pel_folder_open(&files->folder, folder) == 0 && pel_siphash_seed(&files->seed) == 0) {
        files->references = 1;
        return files;
    }
    if (files && files->folder.path)
        pel_folder_close(&files->folder);
    pel_free(files);
    return NULL;
}

static void release_table(struct pel_open_files *files)
{
    if (--files->references)
        return;
    pel_listing_free(&files->listing);
    pel_folder_close(&files->folder);
    pel_free(files);
}

void pel_open_file_release(struct pel_open_file *file)
{
    struct pel_open_files *files = file->files;

    if (--file->references == 0)
        free_file(file);
    release_table(files);
}

static struct pel_open_file *hold(struct pel_open_file *file)
{
    file->references++;
    file->files->references++;
    return file;
}

static struct pel_open_file **place_of(struct pel_open_files *files, uint64_t hash, const char *name, size_t length)
{
    struct pel_open_file **at = &files->buckets[hash % PEL_OPEN_FILES_MOST];

    while (*at && ((*at)->hash != hash || (*at)->name_length != length || memcmp((*at)->name, name, length)))
        at = &(*at)->next;
    return at;
}

/* Keeps the file no more. 1: it had a descriptor, which is closed now. */
static unsigned forget(struct pel_open_files *files, struct pel_open_file *file)
{
    unsigned closed = file->fd >= 0 && file->references == 1;

    PEL_CHAIN_REMOVE(files->buckets[file->hash % PEL_OPEN_FILES_MOST], file, next);
    files->slots[file->slot] = NULL;
    files->count--;
    files->descriptors -= file->fd >= 0;
    files->bytes -= file->fd >= 0 ? 0 : file->size;
    pel_open_file_release(file);
    return closed;
}

static int full_p(const struct pel_open_files *files)
{
    return files->count >= PEL_OPEN_FILES_MOST || files->descriptors >= PEL_OPEN_FILES_DESCRIPTORS ||
           files->bytes > PEL_OPEN_FILES_BYTES - PEL_OPEN_FILE_SMALL;
}

/* Makes room, and leaves the hand at a free slot. A file that was used since the hand came by is spared once. */
static void make_room(struct pel_open_files *files)
{
    while (full_p(files) || files->slots[files->hand]) {
        struct pel_open_file *file = files->slots[files->hand];
        if (file && full_p(files) && !file->used)
            forget(files, file);
        else
            files->hand = (files->hand + 1) % PEL_OPEN_FILES_MOST;
        if (file && full_p(files))
            file->used = 0;
    }
}

static void keep(struct pel_open_files *files, struct pel_open_file *file, uint64_t hash)
{
    make_room(files);
    file->hash = hash;
    file->slot = files->hand;
    file->next = files->buckets[hash % PEL_OPEN_FILES_MOST];
    files->buckets[hash % PEL_OPEN_FILES_MOST] = files->slots[files->hand] = hold(file);
    files->count++;
    files->descriptors += file->fd >= 0;
    files->bytes += file->fd >= 0 ? 0 : file->size;
}

unsigned pel_open_files_drop(struct pel_open_files *files)
{
    unsigned closed = 0;

    for (uint32_t i = 0; i < PEL_OPEN_FILES_MOST && files->count; i++)
        if (files->slots[i])
            closed += forget(files, files->slots[i]);
    return closed;
}

void pel_open_files_release(struct pel_open_files *files)
{
    if (!files)
        return;
    pel_open_files_drop(files);
    release_table(files);
}

/* ---- looking up -------------------------------------------------------------------------------------------------- */

/* Which compressed forms lie beside the file. */
static uint8_t siblings_of(const struct pel_open_files *files, const struct pel_open_file *file)
{
    static const struct {
        const char *ending;
        uint8_t coding;
    } forms[] = {{".br", PEL_FILE_BROTLI}, {".zst", PEL_FILE_ZSTD}, {".gz", PEL_FILE_GZIP}};
    char name[4096];
    struct stat facts;
    uint8_t found = 0;

    if (file->name_length + sizeof ".zst" > sizeof name)
        return 0;
    memcpy(name, file->name, file->name_length);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        strcpy(name + file->name_length, forms[i].ending);
        if (fstatat(files->folder.fd, name, &facts, 0) == 0 && S_ISREG(facts.st_mode))
            found |= forms[i].coding;
    }
    return found;
}

struct pel_open_file *pel_open_files_find(struct pel_open_files *files, const char *name, size_t length, int64_t now)
{
    uint64_t hash = pel_siphash(&files->seed, name, length);
    struct pel_open_file *file = *place_of(files, hash, name, length), *known = file;
    struct stat facts;
    int fd;

    if (file && now - file->checked < PEL_OPEN_FILES_RECHECK) {
        file->used = 1;
        return hold(file);
    }
    fd = pel_folder_open_file(&files->folder, name, &facts);
    if (known && fd >= 0 && same_p(known, &facts)) {
        close(fd);
        hold(known);
    } else {
        if (fd < 0 && (errno == EMFILE || errno == ENFILE))
            return NULL;
        if (known)
            forget(files, known);
        if (fd < 0 || !(file = make_file(files, name, length, fd, &facts)))
            return NULL;
        file->references = 0;
        hold(file);
        keep(files, file, hash);
    }
    file->checked = now;
    file->siblings = siblings_of(files, file);
    return file;
}
