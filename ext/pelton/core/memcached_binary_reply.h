#ifndef PEL_MEMCACHED_BINARY_REPLY_H
#define PEL_MEMCACHED_BINARY_REPLY_H

#include "buffer.h"
#include "memcached_binary_request.h"

/*
 * memcached's binary protocol: replies -> bytes, at the end of a buffer in which the caller has reserved room for all
 * of them. Nothing here fails.
 */

struct pel_binary_reply {
    const struct pel_binary_request *request;
    enum pel_binary_status status;
    uint64_t cas;
    struct pel_slice extras, key;
    size_t value; /* bytes that the caller appends */
};

/* All but the value. */
void pel__binary_put_reply(struct pel_buffer *output, const struct pel_binary_reply *reply);

/* A value, or a piece of it. */
void pel__binary_put_text(struct pel_buffer *output, const char *text, size_t length);

/* Writes the lowest `size` bytes of a number, the highest first. Returns what is behind them. */
char *pel__binary_put_number(char *at, uint64_t number, int size);

/* A reply that says why not, for people, too. Also to a quiet command. */
void pel__binary_refuse(struct pel_buffer *output, const struct pel_binary_request *request,
                        enum pel_binary_status status);

/* Done: a quiet command does not say so. */
void pel__binary_confirm(struct pel_buffer *output, const struct pel_binary_request *request, uint64_t cas);

#endif
