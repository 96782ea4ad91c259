#ifndef PEL_HTTP1_TEXT_H
#define PEL_HTTP1_TEXT_H

#include "slice.h"

/* What bytes mean in HTTP/1, for its parser and its writer. */

/* Whether a comma-separated list holds the token (in lower case). */
int pel_http1_has_token(struct pel_slice list, const char *token);

/* Whether the slice is that word (in lower case), in any case. */
int pel_http1_equal(struct pel_slice slice, const char *word);

/* What a byte may be part of. */
enum pel_http1_class { PEL_HTTP1_TOKEN = 1, PEL_HTTP1_VALUE = 2, PEL_HTTP1_TARGET_BYTE = 4, PEL_HTTP1_HOST_BYTE = 8 };

/* Whether all bytes are of the class. */
int pel_http1_all(const char *bytes, size_t length, enum pel_http1_class class);

/* Without the spaces and tabs at both ends. */
struct pel_slice pel_http1_trim(const char *from, const char *to);

/* Whether that is what may follow a chunk's size: *( ";" token [ "=" ( token / quoted-string ) ] ) of RFC 9112, 7.1.1,
 * without the blanks that no sender may put there. */
int pel_http1_chunk_extensions(const char *bytes, size_t length);

/* Whether length bytes are the word's (in lower case), in any case. */
int pel__http1_same(const char *bytes, const char *word, size_t length);

#endif
