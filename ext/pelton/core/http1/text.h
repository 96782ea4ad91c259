#pragma once

#include "core/base/slice.h"

/* The lexical rules of HTTP/1, for its parser and its writer. */

/* Whether a comma-separated list contains the token (given in lower case), regardless of case. */
int pel_http1_has_token(struct pel_slice list, const char *token);

/* Whether the list contains the token before its last comma. */
int pel_http1_has_inner_token(struct pel_slice list, const char *token);

/* Whether it is host, host:port or [address]:port (RFC 3986, 3.2.2; the port 1 to 65535, or empty), or empty. */
int pel_http1_host_valid(struct pel_slice host);

/* The name in a Host header, without the port and the root's dot. */
struct pel_slice pel_http1_host_name(struct pel_slice host);

/* Whether the slice equals the word (given in lower case), regardless of case. */
int pel_http1_equal(struct pel_slice slice, const char *word);

/* The character classes of a byte. */
enum pel_http1_class { PEL_HTTP1_TOKEN = 1, PEL_HTTP1_VALUE = 2, PEL_HTTP1_TARGET_BYTE = 4, PEL_HTTP1_HOST_BYTE = 8 };

/* Whether all bytes belong to the class. */
int pel_http1_all(const char *bytes, size_t length, enum pel_http1_class class);

/* The bytes between `from` and `to` without the spaces and tabs at both ends. */
struct pel_slice pel_http1_trim(const char *from, const char *to);

/* Whether the bytes are chunk extensions: *( ";" token [ "=" ( token / quoted-string ) ] ) of RFC 9112, 7.1.1, with
 * spaces and tabs before and after each ";" and "=", which the RFC forbids to senders, but wants parsed. */
int pel_http1_chunk_extensions(const char *bytes, size_t length);

/* Whether `length` bytes equal those of the word (given in lower case), regardless of case. */
int pel__http1_same(const char *bytes, const char *word, size_t length);
