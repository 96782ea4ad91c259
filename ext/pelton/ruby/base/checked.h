#pragma once

#include <ruby.h>
#include <string.h>

/* What the build of bin/test (PELTON_CHECKED) looks for by itself: the use of an object that is gone. */

#ifdef PELTON_CHECKED

#define PEL_FREED 0xdb /* each byte of a struct that was freed */

/* Frees a struct. A later use of it meets no value that could pass for a good one. */
#define PEL_FREE(pointer) (memset((pointer), PEL_FREED, sizeof *(pointer)), xfree(pointer))

/* Ends the process when the condition is true, with the message that says what happened and what to look for. */
#define PEL_CHECK_NOT(condition, ...)                                                                                  \
    do {                                                                                                               \
        if (condition)                                                                                                 \
            rb_bug("Pelton: " __VA_ARGS__);                                                                            \
    } while (0)

#else

#define PEL_FREE(pointer) xfree(pointer)
#define PEL_CHECK_NOT(condition, ...) ((void)0)

#endif
