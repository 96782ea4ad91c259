#ifndef PEL_SLICE_H
#define PEL_SLICE_H

#include <stddef.h>

/* Bytes that belong to someone else. Never freed through the slice; how long they live is said where one is handed out.
 */
struct pel_slice {
    const char *bytes;
    size_t length;
};

#endif
