#ifndef PELTON_CORE_BASE_MIN_H
#define PELTON_CORE_BASE_MIN_H

#include <stddef.h>

static inline size_t pel_min(size_t one, size_t other)
{
    return one < other ? one : other;
}

#endif
