#pragma once

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "check.h"

/* A folder for one test, /tmp/.../public, whose parent has a file "secret". */

static char parent[64], public[128];

static const char *path_of(const char *name)
{
    static char path[512];

    snprintf(path, sizeof path, "%s/%s", public, name);
    return path;
}

/* Writes a file that seems to have been changed `age` seconds ago. */
__attribute__((unused)) static void write_file(const char *name, const char *text, int age)
{
    struct timespec times[2] = {{.tv_sec = time(NULL) - age}, {.tv_sec = time(NULL) - age}};
    int fd = open(path_of(name), O_WRONLY | O_CREAT | O_TRUNC, 0600);

    CHECK(fd >= 0);
    CHECK_INT(strlen(text), write(fd, text, strlen(text)));
    CHECK_INT(0, futimens(fd, times));
    close(fd);
}

static void make_folder(void)
{
    strcpy(parent, "/tmp/pelton-files-XXXXXX");
    CHECK(mkdtemp(parent));
    snprintf(public, sizeof public, "%s/public", parent);
    CHECK_INT(0, mkdir(public, 0700));
    write_file("../secret", "secret", 60);
}

static void remove_folder(void)
{
    char command[128];

    snprintf(command, sizeof command, "rm -r %s", parent);
    CHECK_INT(0, system(command));
}
