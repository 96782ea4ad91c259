#pragma once

#include <stdint.h>
#include <string.h>

#include "core/base/buffer.h"
#include "core/base/decimal.h"

/*
 * Writes replies into a buffer in which the caller has reserved enough space: functions that take `at` write there and
 * return the end of the written bytes; pel__put_end then commits all bytes up to that end.
 */

static inline char *pel__put(char *at, const char *bytes, size_t length)
{
    memcpy(at, bytes, length);
    return at + length;
}

#define PEL__PUT_TEXT(at, text) pel__put(at, text, sizeof(text) - 1)

static inline void pel__put_end(struct pel_buffer *output, const char *at)
{
    pel_buffer_commit(output, (size_t)(at - pel_buffer_tail(output)));
}

/* Appends a line. */
static inline void pel__put_line(struct pel_buffer *output, const char *text)
{
    char *at = pel__put(pel_buffer_tail(output), text, strlen(text));

    pel__put_end(output, PEL__PUT_TEXT(at, "\r\n"));
}
