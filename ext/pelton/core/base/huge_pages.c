#include "core/base/huge_pages.h"

#ifdef __linux__
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

/* Of Linux 6.1; the C library's headers may be older. */
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

#define SETTINGS "/sys/kernel/mm/transparent_hugepage/"

/* Of x86-64, and of ARM with small pages of 4 KB. Where they are larger, huge pages are far larger than any heap. */
enum { SMALL = 4096, HUGE = 2 << 20, PIECES = HUGE / SMALL, ENOUGH = PIECES - PIECES / 8 };

/* Bytes. What is longer is a reservation, as ASAN's of 16 TB, which would take seconds to look through. */
#define LONGEST ((unsigned long)64 << 30)

/* As /proc/self/pagemap has it: bit 63 of each entry. */
#define PRESENT ((uint64_t)1 << 63)

/* Reads a setting of the kernel. Returns `text`, which is empty if there is no such setting. */
static const char *setting(const char *path, char *text, size_t size)
{
    FILE *file = fopen(path, "re");

    if (!file || !fgets(text, (int)size, file))
        *text = '\0';
    if (file)
        fclose(file);
    return text;
}

static int possible(void)
{
    char text[64];

    return sysconf(_SC_PAGESIZE) == SMALL && atol(setting(SETTINGS "hpage_pmd_size", text, sizeof text)) == HUGE &&
           !strstr(setting(SETTINGS "enabled", text, sizeof text), "[never]");
}

/* Whether enough of the HUGE bytes from `address` on are in memory. */
static int in_use(int pagemap, uintptr_t address)
{
    uint64_t entries[PIECES];
    int present = 0;

    if (pread(pagemap, entries, sizeof entries, (off_t)(address / SMALL * sizeof *entries)) != (ssize_t)sizeof entries)
        return 0;
    for (int i = 0; i < PIECES; i++)
        present += (entries[i] & PRESENT) != 0;
    return present >= ENOUGH;
}

/*
 * Ruby forbids huge pages for its process, since a write to one that is shared with a child would once copy all of it
 * (Linux copies 4 KB since 5.8). They are allowed for this call only, so that no memory becomes huge before it is used.
 */
static int join(uintptr_t address)
{
    int forbidden = prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0) == 1, code;

    if (forbidden)
        prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0);
    code = madvise((void *)address, HUGE, MADV_COLLAPSE); /* 0 as well if it is huge already */
    if (forbidden)
        prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
    return code == 0;
}

/* Where huge pages begin and end in the memory that a line of /proc/self/maps is about. 0: this memory is shared, a
 * file's, the main stack or only reserved. */
static int heap(const char *line, uintptr_t *begin, uintptr_t *end)
{
    unsigned long from, to, inode;
    char permissions[5], path[16] = "";

    if (sscanf(line, "%lx-%lx %4s %*s %*s %lu %15s", &from, &to, permissions, &inode, path) < 4)
        return 0;
    *begin = (from + HUGE - 1) / HUGE * HUGE;
    *end = to / HUGE * HUGE;
    return to - from <= LONGEST && !strcmp(permissions, "rw-p") && !inode && (!*path || !strcmp(path, "[heap]"));
}

size_t pel_huge_pages_join(void)
{
    FILE *maps = possible() ? fopen("/proc/self/maps", "re") : NULL;
    int pagemap = maps ? open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC) : -1;
    char *line = NULL;
    size_t size = 0, joined = 0;
    uintptr_t begin, end;

    while (pagemap >= 0 && getline(&line, &size, maps) > 0) {
        if (!heap(line, &begin, &end))
            continue;
        for (; begin < end; begin += HUGE)
            joined += in_use(pagemap, begin) && join(begin);
    }
    free(line);
    if (pagemap >= 0)
        close(pagemap);
    if (maps)
        fclose(maps);
    return joined;
}
#else
size_t pel_huge_pages_join(void)
{
    return 0;
}
#endif
