#pragma once

#include <stdint.h>
#include "core/base/error.h"
#include "core/base/slice.h"
#include "core/memcached_server/memcached_request.h"

/* Parses one complete line, without its end, of any command except retrieval, and sets the request. */
void pel__memcached_request_line(struct pel_slice line, struct pel_memcached_request *request);

/* The verb of that name, or PEL_REQUEST_BAD. */
enum pel_request_verb pel__memcached_request_verb(struct pel_slice word);

/* Whether it is the verb of a retrieval command, which yields one request for each key. */
static inline int pel__memcached_retrieval(enum pel_request_verb verb)
{
    return verb == PEL_REQUEST_GET || verb == PEL_REQUEST_GETS || verb == PEL_REQUEST_GAT || verb == PEL_REQUEST_GATS;
}

/* Whether a byte may be part of a word, and so of a key: as in memcached, any byte that does not end a word or a line.
 * Some clients use keys with other control characters. */
static inline int pel__memcached_in_word(char byte)
{
    return (unsigned char)byte > ' ' || (byte != ' ' && byte != '\r' && byte != '\n' && byte != '\0');
}

/* Parses the words of a meta command, including its verb. */
void pel__memcached_request_meta(const struct pel_slice *words, int count, struct pel_memcached_request *request);
