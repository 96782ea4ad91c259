#ifndef PELTON_CORE_MEMCACHED_SERVER_BINARY_REPLY_H
#define PELTON_CORE_MEMCACHED_SERVER_BINARY_REPLY_H

#include "core/base/buffer.h"
#include "core/memcached_server/binary_request.h"

/*
 * Appends replies of memcached's binary protocol to a buffer in which the caller has reserved enough space. These
 * functions cannot fail.
 */

struct pel_binary_reply {
    const struct pel_binary_request *request;
    enum pel_binary_status status;
    uint64_t cas;
    struct pel_slice extras, key;
    size_t value; /* the length of the value, which the caller appends */
};

/* Appends a reply without its value. */
void pel__binary_put_reply(struct pel_buffer *output, const struct pel_binary_reply *reply);

/* Appends a value, or a part of it. */
void pel__binary_put_text(struct pel_buffer *output, const char *text, size_t length);

/* Writes the lowest `size` bytes of a number in big-endian order. Returns the end of the written bytes. */
char *pel__binary_put_number(char *at, uint64_t number, int size);

/* Appends an error reply with a text, also to a quiet command. */
void pel__binary_refuse(struct pel_buffer *output, const struct pel_binary_request *request,
                        enum pel_binary_status status);

/* Appends a success reply, unless the command is quiet. */
void pel__binary_confirm(struct pel_buffer *output, const struct pel_binary_request *request, uint64_t cas);

#endif
