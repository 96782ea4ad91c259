#ifndef GUARDED_H
#define GUARDED_H

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* The fuzz targets have no harness. */
#ifndef CHECK
#define CHECK(condition) ((condition) ? (void)0 : abort())
#endif

#define GUARDED ((size_t)4 << 20)

/* A copy of the bytes against an unreadable page, where an over-read crashes. It lies over the copy before. */
static char *guarded(const char *bytes, size_t length)
{
    static char *memory;

    if (!memory) {
        memory = mmap(NULL, GUARDED + 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        CHECK(memory != MAP_FAILED);
        CHECK(mprotect(memory + GUARDED, 65536, PROT_NONE) == 0);
    }
    CHECK(length <= GUARDED);
    return length ? memcpy(memory + GUARDED - length, bytes, length) : memory + GUARDED;
}

#endif
