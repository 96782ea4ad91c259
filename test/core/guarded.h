#pragma once

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Fuzz targets do not include the harness. */
#ifndef CHECK
#define CHECK(condition) ((condition) ? (void)0 : abort())
#endif

#define GUARDED ((size_t)4 << 20)

/* Copies the bytes to the end of a page that an unreadable page follows, so that an over-read crashes. Each call
 * overwrites the previous copy. */
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
