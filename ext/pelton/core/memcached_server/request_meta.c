#include <string.h>

#include "core/base/base64.h"
#include "core/base/decimal.h"
#include "core/base/error.h"
#include "core/memcached_server/request_line.h"

#define MAX_META_WORDS 19 /* the words of a meta command, including its verb */
#define OPAQUE_LIMIT 32   /* bytes, including the letter */
#define BAD_TOKEN "CLIENT_ERROR bad token in command line format"

static const char opaque_too_long[] = "CLIENT_ERROR opaque token too long";

static int decode_base64_key(struct pel_memcached_request *request)
{
    size_t length;

    if (pel_base64_decode(request->key_memory, &length, request->key) < 0 || length == 0)
        return PEL_EPROTOCOL;
    request->key = (struct pel_slice){request->key_memory, length};
    return 0;
}

/* Parses one flag and its token. Returns NULL or an error. */
static const char *parse_meta_flag(struct pel_slice word, struct pel_memcached_request *request)
{
    struct pel_slice token = {word.bytes + 1, word.length - 1};
    uint64_t number = 0;

    switch (word.bytes[0]) {
    case 'b':
        return decode_base64_key(request) < 0 ? "CLIENT_ERROR error decoding key" : NULL;
    case 'N':
        return pel_decimal_signed(token, &request->vivify_ttl) < 0 ? BAD_TOKEN : NULL;
    case 'T':
        return pel_decimal_signed(token, &request->ttl) < 0 ? BAD_TOKEN : NULL;
    case 'R':
        return pel_decimal_signed(token, &request->recache_ttl) < 0 ? BAD_TOKEN : NULL;
    case 'F':
        if (pel_decimal(token, UINT32_MAX, &number) < 0)
            return PEL_BAD_FORMAT;
        request->client_flags = (uint32_t)number;
        return NULL;
    case 'C':
        return pel_decimal(token, UINT64_MAX, &request->compare) < 0 ? BAD_TOKEN : NULL;
    case 'E':
        return pel_decimal(token, UINT64_MAX, &request->new_cas) < 0 ? BAD_TOKEN : NULL;
    case 'J':
        return pel_decimal(token, UINT64_MAX, &request->initial) < 0 ? "CLIENT_ERROR invalid numeric initial value"
                                                                     : NULL;
    case 'D':
        return pel_decimal(token, UINT64_MAX, &request->delta) < 0 ? "CLIENT_ERROR invalid numeric delta value" : NULL;
    case 'M':
        request->mode = token.length == 1 ? token.bytes[0] : 0;
        return token.length == 1 ? NULL : "CLIENT_ERROR incorrect length for M token";
    case 'O':
        request->opaque = token;
        return NULL;
    default:
        return NULL;
    }
}

/* Parses all flags. Returns NULL or an error: the last error of a token, or the first error of a letter. */
static const char *parse_meta_flags(const struct pel_slice *words, int count, struct pel_memcached_request *request)
{
    const char *error = NULL;

    for (int i = 0; i < count; i++) {
        char letter = words[i].bytes[0];
        const char *flag_error;
        if (letter < 'A' || letter > 'z' || !strchr("bNTRlOPLkstcfvhuqFCEMJDI", letter))
            return (unsigned char)letter >= 127 ? "CLIENT_ERROR duplicate flag" : "CLIENT_ERROR invalid flag";
        if (pel_request_has(request, letter))
            return "CLIENT_ERROR duplicate flag";
        request->flags |= PEL_MEMCACHED_FLAG(letter);
        request->letters[request->flag_count++] = letter;
        flag_error = parse_meta_flag(words[i], request);
        if (flag_error && !(letter == 'F' && error)) /* memcached has no error of its own for F */
            error = flag_error;
    }
    if (error)
        return error;
    return pel_request_has(request, 'O') && request->opaque.length >= OPAQUE_LIMIT ? opaque_too_long : NULL;
}

static const char *check_meta_mode(const struct pel_memcached_request *request)
{
    if (request->mode == 0)
        return NULL;
    if (request->verb == PEL_REQUEST_META_SET && !strchr("EAPRS", request->mode))
        return "CLIENT_ERROR invalid mode for ms M token";
    if (request->verb == PEL_REQUEST_META_ARITHMETIC && !strchr("I+D-", request->mode))
        return "CLIENT_ERROR invalid mode for ma M token";
    return NULL;
}

void pel__memcached_request_meta(const struct pel_slice *words, int count, struct pel_memcached_request *request)
{
    enum pel_request_verb verb = request->verb;
    int head = verb == PEL_REQUEST_META_SET ? 3 : 2;
    const char *error = NULL;

    request->flag_count = 0;
    request->mode = 0;
    request->client_flags = 0;
    request->compare = request->new_cas = request->initial = 0;
    request->ttl = 0;
    request->delta = 1;
    if (count < 2) {
        pel__memcached_request_bad(request, verb == PEL_REQUEST_META_DEBUG ? PEL_BAD_FORMAT : "ERROR");
        return;
    }
    request->key = words[1];
    if (words[1].length > PEL_STORE_KEY_LIMIT || count < head)
        error = PEL_BAD_FORMAT;
    else if (verb == PEL_REQUEST_META_DEBUG) /* memcached parses one letter and ignores other words */
        count = count > 2 && words[2].length == 1 && words[2].bytes[0] == 'b' ? 3 : 2;
    else if (count > MAX_META_WORDS)
        error = verb == PEL_REQUEST_META_GET ? "CLIENT_ERROR options flags are too long"
                                             : "CLIENT_ERROR options flags too long";
    else if (verb == PEL_REQUEST_META_SET && pel_decimal(words[2], PEL_MEMCACHED_MAX_VALUE, &request->length) < 0)
        error = PEL_BAD_FORMAT;
    if (error) {
        pel__memcached_request_bad(request, error);
        return;
    }
    error = parse_meta_flags(words + head, count - head, request);
    if (error && verb == PEL_REQUEST_META_DEBUG)
        error = PEL_BAD_FORMAT;
    else if (error && (verb == PEL_REQUEST_META_DELETE || verb == PEL_REQUEST_META_ARITHMETIC) &&
             error != opaque_too_long)
        error = "CLIENT_ERROR invalid or duplicate flag";
    if (!error)
        error = check_meta_mode(request);
    request->noreply = pel_request_has(request, 'q');
    if (!error)
        return;
    pel__memcached_request_bad(request, error);
    request->noreply = 0;             /* errors are always reported */
    if (verb == PEL_REQUEST_META_SET) /* the value of a refused command is discarded if its length is known */
        request->swallow = request->length + 2;
}
