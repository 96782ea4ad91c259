#include "core/memcached_server/request_line.h"

#include <string.h>
#include "core/base/decimal.h"

/* Splits a line at spaces. Returns the number of words, at most PEL_MEMCACHED_REQUEST_WORDS, since no command has more;
 * or PEL_EPROTOCOL for a NUL or a CR. */
static int split_words(struct pel_slice line, struct pel_slice *words)
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

/* "noreply" is recognized at the end of the line alone, also when the rest of the line is malformed. */
static void parse_noreply(struct pel_memcached_request *request, const struct pel_slice *words, int count)
{
    request->noreply = pel_slice_equals(words[count - 1], "noreply");
}

/* Refuses the request unless it has so many words; 1: it has. */
static int check_count(struct pel_memcached_request *request, int count, int least, int most)
{
    if (count >= least && count <= most)
        return 1;
    pel__memcached_request_bad(request, "ERROR");
    return 0;
}

static int parse_key(struct pel_memcached_request *request, struct pel_slice word)
{
    request->key = word;
    if (word.length <= PEL_STORE_KEY_LIMIT)
        return 1;
    pel__memcached_request_bad(request, PEL_BAD_FORMAT);
    return 0;
}

/* set key flags expiry length [noreply], cas key flags expiry length cas [noreply] */
static void parse_storage(const struct pel_slice *words, int count, struct pel_memcached_request *request)
{
    int wanted = request->verb == PEL_REQUEST_CAS ? 6 : 5;
    uint64_t client_flags = 0;

    if (!check_count(request, count, wanted, wanted + 1))
        return;
    parse_noreply(request, words, count);
    if (!parse_key(request, words[1]))
        return;
    if (pel_decimal(words[2], UINT32_MAX, &client_flags) < 0 || pel_decimal_signed(words[3], &request->expiry) < 0 ||
        pel_decimal(words[4], PEL_MEMCACHED_MAX_VALUE, &request->length) < 0 ||
        (wanted == 6 && pel_decimal(words[5], UINT64_MAX, &request->cas) < 0))
        pel__memcached_request_bad(request, PEL_BAD_FORMAT);
    request->client_flags = (uint32_t)client_flags;
}

/* delete key [0] [noreply] */
static void parse_deletion(const struct pel_slice *words, int count, struct pel_memcached_request *request)
{
    if (!check_count(request, count, 2, 4))
        return;
    if (count > 2) {
        int zero = pel_slice_equals(words[2], "0");
        parse_noreply(request, words, count);
        if (count == 3 ? !zero && !request->noreply : !zero || !request->noreply) {
            pel__memcached_request_bad(request, "CLIENT_ERROR bad command line format.  Usage: delete <key> [noreply]");
            return;
        }
    }
    parse_key(request, words[1]);
}

/* incr key delta [noreply], touch key expiry [noreply] */
static void parse_arithmetic(const struct pel_slice *words, int count, struct pel_memcached_request *request)
{
    if (!check_count(request, count, 3, 4))
        return;
    parse_noreply(request, words, count);
    if (!parse_key(request, words[1]))
        return;
    if (request->verb == PEL_REQUEST_TOUCH) {
        if (pel_decimal_signed(words[2], &request->expiry) < 0)
            pel__memcached_request_bad(request, PEL_BAD_EXPTIME);
    } else if (pel_decimal(words[2], UINT64_MAX, &request->delta) < 0) {
        pel__memcached_request_bad(request, "CLIENT_ERROR invalid numeric delta argument");
    }
}

/* flush_all [expiry] [noreply] */
static void parse_flush_all(const struct pel_slice *words, int count, struct pel_memcached_request *request)
{
    request->expiry = 0;
    if (!check_count(request, count, 1, 3))
        return;
    parse_noreply(request, words, count);
    if (count - request->noreply > 1 && pel_decimal_signed(words[1], &request->expiry) < 0)
        pel__memcached_request_bad(request, PEL_BAD_EXPTIME);
}

/* verbosity level [noreply], cache_memlimit megabytes [noreply] */
static void parse_level(const struct pel_slice *words, int count, struct pel_memcached_request *request)
{
    if (!check_count(request, count, 2, 3))
        return;
    parse_noreply(request, words, count);
    if (pel_decimal(words[1], UINT32_MAX, &request->delta) < 0)
        pel__memcached_request_bad(request, request->verb == PEL_REQUEST_VERBOSITY ? PEL_BAD_FORMAT : "ERROR");
}

static void refuse_unknown(const struct pel_slice *words, int count, struct pel_memcached_request *request)
{
    struct pel_slice last = words[count - 1];
    int http = last.length >= 5 && !memcmp(last.bytes, "HTTP/", 5);

    /* A malicious page can make a browser send requests here whose headers could be commands. */
    pel__memcached_request_bad(request, http ? NULL : "ERROR");
}

/* Those without arguments, and stats. */
static void parse_plain(const struct pel_slice *words, int count, struct pel_memcached_request *request)
{
    request->words = words + 1;
    request->word_count = count - 1;
}

static const struct verb {
    struct pel_slice word;
    void (*parse)(const struct pel_slice *words, int count, struct pel_memcached_request *request);
} verbs[] = {
#define VERB(name, word, parser) {PEL_SLICE(word), parser},
    PEL_REQUESTS(VERB)
#undef VERB
};

enum pel_request_verb pel__memcached_request_verb(struct pel_slice word)
{
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++)
        if (verbs[i].word.length == word.length && !memcmp(verbs[i].word.bytes, word.bytes, word.length))
            return (enum pel_request_verb)i;
    return PEL_REQUEST_BAD;
}

void pel__memcached_request_line(struct pel_slice line, struct pel_memcached_request *request)
{
    struct pel_slice *words = request->word_memory;
    int count = split_words(line, words);

    request->noreply = 0;
    request->swallow = 0;
    request->flags = 0;
    request->key = (struct pel_slice){"", 0};
    if (count < 0 || (count > 0 && words[0].length < 2) || count == 0) {
        pel__memcached_request_bad(request, count < 0 ? PEL_BAD_FORMAT : "ERROR");
        return;
    }
    request->verb = pel__memcached_request_verb(words[0]);
    if (request->verb == PEL_REQUEST_BAD)
        refuse_unknown(words, count, request);
    else
        verbs[request->verb].parse(words, count, request);
}
