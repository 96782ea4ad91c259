#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "core/files/public_path.h"

#define CHECK(condition) ((condition) ? (void)0 : abort())

/*
 * For any path: a name that is not refused is relative, ends with a NUL within its buffer, and has neither an empty
 * segment nor one that begins with a dot (but for .well-known), no backslash, and no control character.
 */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_segment(const char *name, size_t start, size_t end)
{
    CHECK(end > start);
    CHECK(name[start] != '.' || (start == 0 && end == 11 && !memcmp(name, ".well-known", 11)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *path = malloc(size + 1), *name = malloc(PEL_PUBLIC_PATH);
    size_t start = 0;
    ssize_t length;

    CHECK(path && name);
    memcpy(path, data, size);
    length = pel_public_path((struct pel_slice){path, size}, name);
    if (length > 0) {
        CHECK(length < PEL_PUBLIC_PATH && (size_t)length < size && name[length] == '\0');
        for (size_t i = 0; i < (size_t)length; i++) {
            CHECK((unsigned char)name[i] >= ' ' && name[i] != 0x7f && name[i] != '\\');
            if (name[i] != '/')
                continue;
            check_segment(name, start, i);
            start = i + 1;
        }
        check_segment(name, start, (size_t)length);
    }
    free(path);
    free(name);
    return 0;
}
