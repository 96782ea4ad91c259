#include "memcached_request_line.h"

#include <string.h>

/* The forms of what follows a verb. */
enum shape { RETRIEVAL, STORAGE, META, PLAIN, DELETION, ARITHMETIC, TOUCHING, FLUSHING, LEVEL };

static const struct verb {
    const char *word;
    uint8_t length, shape;
} verbs[] = {
#define VERB(name, word, shape) {word, sizeof(word) - 1, shape},
    PEL_REQUESTS(VERB)
#undef VERB
};

static int is(struct pel_slice word, const char *text)
{
    return word.length == strlen(text) && !memcmp(word.bytes, text, word.length);
}

enum pel_request_verb pel__memcached_request_verb(struct pel_slice word)
{
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++)
        if (verbs[i].length == word.length && !memcmp(verbs[i].word, word.bytes, word.length))
            return (enum pel_request_verb)i;
    return PEL_REQUEST_BAD;
}

int pel__memcached_request_number(struct pel_slice word, uint64_t limit, uint64_t *number)
{
    uint64_t result = 0;

    if (word.length == 0)
        return PEL_EPROTOCOL;
    for (size_t i = 0; i < word.length; i++) {
        unsigned digit = (unsigned)(unsigned char)word.bytes[i] - '0';
        if (digit > 9 || result > (UINT64_MAX - digit) / 10)
            return PEL_EPROTOCOL;
        result = result * 10 + digit;
    }
    *number = result;
    return result <= limit ? 0 : PEL_EPROTOCOL;
}

int pel__memcached_request_signed(struct pel_slice word, int64_t *number)
{
    int negative = word.length > 0 && word.bytes[0] == '-';
    uint64_t magnitude;

    word.bytes += negative;
    word.length -= (size_t)negative;
    if (pel__memcached_request_number(word, negative ? UINT64_C(1) << 31 : INT32_MAX, &magnitude) < 0)
        return PEL_EPROTOCOL;
    *number = negative ? -(int64_t)magnitude : (int64_t)magnitude;
    return 0;
}

/* Splits at spaces. The number of words, or PEL_EPROTOCOL for a NUL or a CR. Words beyond the last count, but are
 * not kept: no command has so many. */
static int split(struct pel_slice line, struct pel_slice *words)
{
    int count = 0;

    for (size_t at = 0; at < line.length;) {
        size_t start = at;
        while (at < line.length && pel__memcached_in_word(line.bytes[at]))
            at++;
        if (at < line.length && line.bytes[at] != ' ')
            return PEL_EPROTOCOL;
        if (at > start && count < PEL_MEMCACHED_REQUEST_WORDS)
            words[count++] = (struct pel_slice){line.bytes + start, at - start};
        at++;
    }
    return count;
}

static void bad(struct pel_memcached_request *request, const char *error)
{
    pel__memcached_request_bad(request, error);
}

/* "noreply" is known by its place, at the end; who wants it need not have been understood otherwise. */
static void see_noreply(struct pel_memcached_request *request, const struct pel_slice *words, int count)
{
    request->noreply = is(words[count - 1], "noreply");
}

static int take_key(struct pel_memcached_request *request, struct pel_slice word)
{
    request->key = word;
    if (word.length <= PEL_STORE_KEY_LIMIT)
        return 1;
    bad(request, PEL_BAD_FORMAT);
    return 0;
}

/* set key flags expiry length [noreply], cas key flags expiry length cas [noreply] */
static void storage(const struct pel_slice *words, int count, struct pel_memcached_request *request)
{
    int wanted = request->verb == PEL_REQUEST_CAS ? 6 : 5;
    uint64_t client_flags = 0;

    if (count != wanted && count != wanted + 1) {
        bad(request, "ERROR");
        return;
    }
    see_noreply(request, words, count);
    if (!take_key(request, words[1]))
        return;
    if (pel__memcached_request_number(words[2], UINT32_MAX, &client_flags) < 0 ||
        pel__memcached_request_signed(words[3], &request->expiry) < 0 ||
        pel__memcached_request_number(words[4], PEL_MEMCACHED_MAX_VALUE, &request->length) < 0 ||
        (wanted == 6 && pel__memcached_request_number(words[5], UINT64_MAX, &request->cas) < 0))
        bad(request, PEL_BAD_FORMAT);
    request->client_flags = (uint32_t)client_flags;
}

/* delete key [0] [noreply] */
static void deletion(const struct pel_slice *words, int count, struct pel_memcached_request *request)
{
    if (count != 2 && count != 3 && count != 4) {
        bad(request, "ERROR");
        return;
    }
    if (count > 2) {
        int held = is(words[2], "0");
        see_noreply(request, words, count);
        if (count == 3 ? !held && !request->noreply : !held || !request->noreply) {
            bad(request, "CLIENT_ERROR bad command line format.  Usage: delete <key> [noreply]");
            return;
        }
    }
    take_key(request, words[1]);
}

/* incr key delta [noreply], touch key expiry [noreply] */
static void arithmetic(const struct pel_slice *words, int count, struct pel_memcached_request *request)
{
    if (count != 3 && count != 4) {
        bad(request, "ERROR");
        return;
    }
    see_noreply(request, words, count);
    if (!take_key(request, words[1]))
        return;
    if (request->verb == PEL_REQUEST_TOUCH) {
        if (pel__memcached_request_signed(words[2], &request->expiry) < 0)
            bad(request, PEL_BAD_EXPTIME);
    } else if (pel__memcached_request_number(words[2], UINT64_MAX, &request->delta) < 0) {
        bad(request, "CLIENT_ERROR invalid numeric delta argument");
    }
}

/* flush_all [expiry] [noreply] */
static void flushing(const struct pel_slice *words, int count, struct pel_memcached_request *request)
{
    request->expiry = 0;
    if (count > 3) {
        bad(request, "ERROR");
        return;
    }
    see_noreply(request, words, count);
    if (count - request->noreply > 1 && pel__memcached_request_signed(words[1], &request->expiry) < 0)
        bad(request, PEL_BAD_EXPTIME);
}

/* verbosity level [noreply], cache_memlimit megabytes [noreply] */
static void level(const struct pel_slice *words, int count, struct pel_memcached_request *request)
{
    if (count != 2 && count != 3) {
        bad(request, "ERROR");
        return;
    }
    see_noreply(request, words, count);
    if (pel__memcached_request_number(words[1], UINT32_MAX, &request->delta) < 0)
        bad(request, request->verb == PEL_REQUEST_VERBOSITY ? PEL_BAD_FORMAT : "ERROR");
}

static void unknown(const struct pel_slice *words, int count, struct pel_memcached_request *request)
{
    struct pel_slice last = words[count - 1];
    int http = last.length >= 5 && !memcmp(last.bytes, "HTTP/", 5);

    /* A browser led here by a malicious page sends headers that could be commands. */
    bad(request, http ? NULL : "ERROR");
}

void pel__memcached_request_line(struct pel_slice line, struct pel_memcached_request *request)
{
    struct pel_slice *words = request->word_memory;
    int count = split(line, words);

    request->noreply = 0;
    request->swallow = 0;
    request->flags = 0;
    request->key = (struct pel_slice){"", 0};
    if (count < 0 || (count > 0 && words[0].length < 2) || count == 0) {
        bad(request, count < 0 ? PEL_BAD_FORMAT : "ERROR");
        return;
    }
    request->verb = pel__memcached_request_verb(words[0]);
    if (request->verb == PEL_REQUEST_BAD) {
        unknown(words, count, request);
        return;
    }
    switch ((enum shape)verbs[request->verb].shape) {
    case RETRIEVAL:
        break;
    case STORAGE:
        storage(words, count, request);
        break;
    case META:
        pel__memcached_request_meta(words, count, request);
        break;
    case DELETION:
        deletion(words, count, request);
        break;
    case ARITHMETIC:
    case TOUCHING:
        arithmetic(words, count, request);
        break;
    case FLUSHING:
        flushing(words, count, request);
        break;
    case LEVEL:
        level(words, count, request);
        break;
    case PLAIN:
        request->words = words + 1;
        request->word_count = count - 1;
        break;
    }
}
