#ifndef PEL_MEMCACHED_REQUEST_LINE_H
#define PEL_MEMCACHED_REQUEST_LINE_H

#include "memcached_request_parser.h"

/* Shared by the parser's files: one complete line, without its end, that is no retrieval. Sets the request. */
void pel__memcached_request_line(struct pel_slice line, struct pel_memcached_request *request);

/* The words of a meta command, the verb included, `ending` counting as memcached does: one more than there are. */
void pel__memcached_request_meta(struct pel_slice *words, int count, struct pel_memcached_request *request);

/* The verb that a word is; PEL_REQUEST_BAD if none. */
enum pel_request_verb pel__memcached_request_verb(struct pel_slice word);

/* Whether a verb's keys are delivered one by one. */
static inline int pel__memcached_retrieval(enum pel_request_verb verb)
{
    return verb == PEL_REQUEST_GET || verb == PEL_REQUEST_GETS || verb == PEL_REQUEST_GAT || verb == PEL_REQUEST_GATS;
}

/* Whether a byte may stand in a word, and so in a key: as memcached has it, any but those that end a word or a line.
 * Some clients' keys have other control characters. */
static inline int pel__memcached_in_word(char byte)
{
    return (unsigned char)byte > ' ' || (byte != ' ' && byte != '\r' && byte != '\n' && byte != '\0');
}

/* A decimal number, nothing else. 0 or PEL_EPROTOCOL. */
int pel__memcached_request_number(struct pel_slice word, uint64_t limit, uint64_t *number);

/* The same with a sign, of 32 bits. */
int pel__memcached_request_signed(struct pel_slice word, int64_t *number);

static inline void pel__memcached_request_bad(struct pel_memcached_request *request, const char *error)
{
    request->verb = PEL_REQUEST_BAD;
    request->error = error;
}

#define PEL_BAD_FORMAT "CLIENT_ERROR bad command line format"
#define PEL_BAD_EXPTIME "CLIENT_ERROR invalid exptime argument"

#endif
