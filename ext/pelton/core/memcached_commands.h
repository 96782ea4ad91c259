#ifndef PEL_MEMCACHED_COMMANDS_H
#define PEL_MEMCACHED_COMMANDS_H

#include <string.h>

#include "memcached_binary_request.h"
#include "memcached_session.h"

/*
 * Shared by the session's files: what the commands do. Each appends its reply to the output, where the session has
 * reserved PEL_MEMCACHED_REPLY_ROOM bytes.
 */

void pel__memcached_classic(struct pel_memcached_session *session, const struct pel_memcached_request *request,
                            struct pel_buffer *output);
void pel__memcached_meta(struct pel_memcached_session *session, const struct pel_memcached_request *request,
                         struct pel_buffer *output);
void pel__memcached_binary(struct pel_memcached_session *session, const struct pel_binary_request *request,
                           struct pel_buffer *output);

/* After a storage command whose value has come. */
void pel__memcached_meta_stored(struct pel_memcached_session *session, enum pel_store_result result, uint64_t cas,
                                struct pel_buffer *output);
void pel__memcached_binary_stored(struct pel_memcached_session *session, enum pel_store_result result, uint64_t cas,
                                  struct pel_buffer *output);

struct pel_memcached_upload {
    struct pel_slice key;
    uint64_t length;
    uint32_t client_flags;
    int64_t expiry;
    int replaces; /* whoever meant to replace a value must not find the old one, whatever happens */
};

/* Begins to receive the value of a storage command. 0; or PEL_ELIMIT or PEL_EMEMORY: it is thrown away. */
int pel__memcached_begin_upload(struct pel_memcached_session *session, const struct pel_memcached_upload *upload);

/* The same for a text command; says why not, and returns 1 when it has begun. */
int pel__memcached_begin_text_upload(struct pel_memcached_session *session, const struct pel_memcached_request *request,
                                     int64_t expiry, struct pel_buffer *output);

/* Appends a value, to a text client with its CRLF, or has a long one sent from the item. */
void pel__memcached_put_value(struct pel_memcached_session *session, struct pel_item *item, struct pel_buffer *output);

/* ---- appending, where there is room ---- */

static inline char *pel__put(char *at, const char *bytes, size_t length)
{
    memcpy(at, bytes, length);
    return at + length;
}

#define PEL__PUT_TEXT(at, text) pel__put(at, text, sizeof(text) - 1)

static inline char *pel__put_number(char *at, uint64_t number)
{
    char digits[20];
    size_t first = sizeof digits;

    do
        digits[--first] = (char)('0' + number % 10);
    while (number /= 10);
    return pel__put(at, digits + first, sizeof digits - first);
}

static inline void pel__put_end(struct pel_buffer *output, const char *at)
{
    pel_buffer_commit(output, (size_t)(at - pel_buffer_tail(output)));
}

/* A line; `text` is a literal, or static. */
static inline void pel__put_line(struct pel_buffer *output, const char *text)
{
    char *at = pel__put(pel_buffer_tail(output), text, strlen(text));

    pel__put_end(output, PEL__PUT_TEXT(at, "\r\n"));
}

#endif
