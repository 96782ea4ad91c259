#pragma once

#include <sys/stat.h>
#include "core/base/error.h"

/* A folder whose files may be read, and none outside of it. */

struct pel_folder {
    int fd;     /* -1: closed */
    char *path; /* without symbolic links */
};

/* Returns 0, PEL_EMEMORY, or PEL_ESYSTEM with errno: then there is nothing to close. */
int pel_folder_open(struct pel_folder *folder, const char *path);

void pel_folder_close(struct pel_folder *folder);

/*
 * Opens a regular file for reading. A symbolic link is followed only as long as it does not leave the folder; on
 * Linux one that begins with a slash does. Returns the descriptor, and fills in `facts`; or PEL_ESYSTEM with errno:
 * EISDIR for a folder, ENXIO for what is neither (a pipe, a device), EXDEV for what lies outside.
 */
int pel_folder_open_file(const struct pel_folder *folder, const char *name, struct stat *facts);
