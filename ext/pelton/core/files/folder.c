#include "core/files/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "core/base/alloc.h"
#ifdef HAVE_LINUX_OPENAT2_H
#include <linux/openat2.h>
#include <sys/syscall.h>
#endif

/* A pipe must not block, nor a terminal become this process's own. */
#define READING (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)

int pel_folder_open(struct pel_folder *folder, const char *path)
{
    char real[PATH_MAX];

    *folder = (struct pel_folder){.fd = -1};
    if (!realpath(path, real))
        return PEL_ESYSTEM;
    if (!(folder->path = pel_malloc(strlen(real) + 1)))
        return PEL_EMEMORY;
    strcpy(folder->path, real);
    folder->fd = open(real, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder->fd >= 0)
        return 0;
    pel_folder_close(folder);
    return PEL_ESYSTEM;
}

void pel_folder_close(struct pel_folder *folder)
{
    int error = errno;

    if (folder->fd >= 0)
        close(folder->fd);
    pel_free(folder->path);
    *folder = (struct pel_folder){.fd = -1};
    errno = error;
}

/* The way of systems that cannot open beneath a folder: whoever may exchange folders for links meanwhile is not kept
 * out. */
static int open_real(const struct pel_folder *folder, const char *name)
{
    char joined[PATH_MAX], real[PATH_MAX];
    size_t length = strlen(folder->path);

    if (length + 1 + strlen(name) >= sizeof joined) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(joined, folder->path, length);
    joined[length] = '/';
    strcpy(joined + length + 1, name);
    if (!realpath(joined, real))
        return -1;
    if (length > 1 && (strncmp(real, folder->path, length) || (real[length] != '/' && real[length]))) {
        errno = EXDEV;
        return -1;
    }
    return open(real, READING | O_NOFOLLOW);
}

static int open_beneath(const struct pel_folder *folder, const char *name)
{
#if defined(HAVE_LINUX_OPENAT2_H) && defined(SYS_openat2)
    struct open_how how = {.flags = READING, .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
    int fd, tries = 0;

    do /* EAGAIN: something was renamed meanwhile */
        fd = (int)syscall(SYS_openat2, folder->fd, name, &how, sizeof how);
    while (fd < 0 && (errno == EINTR || (errno == EAGAIN && ++tries < 8)));
    if (fd >= 0 || (errno != ENOSYS && errno != EPERM)) /* EPERM: a sandbox that does not know the call */
        return fd;
#endif
    return open_real(folder, name);
}

int pel_folder_open_file(const struct pel_folder *folder, const char *name, struct stat *facts)
{
    int fd = open_beneath(folder, name), error;

    if (fd < 0)
        return PEL_ESYSTEM;
    if (fstat(fd, facts) == 0) {
        if (S_ISREG(facts->st_mode))
            return fd;
        errno = S_ISDIR(facts->st_mode) ? EISDIR : ENXIO;
    }
    error = errno;
    close(fd);
    errno = error;
    return PEL_ESYSTEM;
}
