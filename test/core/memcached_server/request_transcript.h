#pragma once

/*
 * A transcript of the request parser's results, one line for each request. The bytes are fed whole, one by one, and in
 * two pieces, split at every position; each time against an unreadable page, where an over-read crashes.
 */

#include <stdio.h>

#include "check.h"
#include "core/memcached_server/request_parser.h"
#include "guarded.h"

static const char *const request_words[] = {
#define REQUEST_WORD(name, word, parser) word,
    PEL_REQUESTS(REQUEST_WORD)
#undef REQUEST_WORD
        "bad"};

static void describe_slice(FILE *out, const char *name, struct pel_slice slice)
{
    fprintf(out, " %s(%.*s)", name, (int)slice.length, slice.bytes);
}

static void describe_meta(FILE *out, const struct pel_memcached_request *request)
{
    describe_slice(out, "flags", (struct pel_slice){request->letters, (size_t)request->flag_count});
    if (request->mode)
        fprintf(out, " M=%c", request->mode);
    if (pel_request_has(request, 'T'))
        fprintf(out, " T=%lld", (long long)request->ttl);
    if (pel_request_has(request, 'N'))
        fprintf(out, " N=%lld", (long long)request->vivify_ttl);
    if (pel_request_has(request, 'R'))
        fprintf(out, " R=%lld", (long long)request->recache_ttl);
    if (pel_request_has(request, 'O'))
        describe_slice(out, "O", request->opaque);
    if (request->client_flags)
        fprintf(out, " F=%u", request->client_flags);
    if (request->compare)
        fprintf(out, " C=%llu", (unsigned long long)request->compare);
    if (request->new_cas)
        fprintf(out, " E=%llu", (unsigned long long)request->new_cas);
    if (request->initial)
        fprintf(out, " J=%llu", (unsigned long long)request->initial);
    if (request->delta != 1)
        fprintf(out, " D=%llu", (unsigned long long)request->delta);
}

static void describe(FILE *out, const struct pel_memcached_request *request)
{
    fputs(request_words[request->verb], out);
    switch (request->verb) {
    case PEL_REQUEST_BAD:
        fprintf(out, " %s", request->error ? request->error : "(close)");
        if (request->swallow)
            fprintf(out, " swallow=%llu", (unsigned long long)request->swallow);
        break;
    case PEL_REQUEST_GAT:
    case PEL_REQUEST_GATS:
        fprintf(out, " expiry=%lld", (long long)request->expiry);
        /* fall through */
    case PEL_REQUEST_GET:
    case PEL_REQUEST_GETS:
        describe_slice(out, "key", request->key);
        break;
    case PEL_REQUEST_CAS:
        fprintf(out, " cas=%llu", (unsigned long long)request->cas);
        /* fall through */
    case PEL_REQUEST_SET:
    case PEL_REQUEST_ADD:
    case PEL_REQUEST_REPLACE:
    case PEL_REQUEST_APPEND:
    case PEL_REQUEST_PREPEND:
        describe_slice(out, "key", request->key);
        fprintf(out, " flags=%u expiry=%lld length=%llu", request->client_flags, (long long)request->expiry,
                (unsigned long long)request->length);
        break;
    case PEL_REQUEST_INCR:
    case PEL_REQUEST_DECR:
        describe_slice(out, "key", request->key);
        fprintf(out, " delta=%llu", (unsigned long long)request->delta);
        break;
    case PEL_REQUEST_TOUCH:
        describe_slice(out, "key", request->key);
        fprintf(out, " expiry=%lld", (long long)request->expiry);
        break;
    case PEL_REQUEST_DELETE:
        describe_slice(out, "key", request->key);
        break;
    case PEL_REQUEST_FLUSH_ALL:
        fprintf(out, " expiry=%lld", (long long)request->expiry);
        break;
    case PEL_REQUEST_VERBOSITY:
    case PEL_REQUEST_CACHE_MEMLIMIT:
        fprintf(out, " %llu", (unsigned long long)request->delta);
        break;
    case PEL_REQUEST_META_SET:
        fprintf(out, " length=%llu", (unsigned long long)request->length);
        /* fall through */
    case PEL_REQUEST_META_GET:
    case PEL_REQUEST_META_DELETE:
    case PEL_REQUEST_META_ARITHMETIC:
    case PEL_REQUEST_META_DEBUG:
        describe_slice(out, "key", request->key);
        describe_meta(out, request);
        break;
    default:
        for (int i = 0; i < request->word_count; i++)
            describe_slice(out, "word", request->words[i]);
    }
    if (request->noreply)
        fputs(" noreply", out);
    fputc('\n', out);
}

/* Feeds the parser the first bytes, and a further piece each time it needs more. The caller frees the transcript. */
static char *transcribe(const char *bytes, size_t length, size_t first, size_t piece)
{
    struct pel_memcached_request_parser parser = {0};
    struct pel_memcached_request request;
    size_t from = 0, to = first < length ? first : length, size, used;
    char *text = NULL;
    FILE *out = open_memstream(&text, &size);

    for (;;) {
        size_t available = to - from;
        int code;
        memset(&request, 0xa5, sizeof request);
        code = pel_memcached_request_parse(&parser, guarded(bytes + from, available), available, &used, &request);
        CHECK(used <= available);
        from += used;
        if (code == 1) {
            describe(out, &request);
        } else if (code < 0) {
            fprintf(out, "%s\n", code == PEL_ELIMIT ? "(limit)" : "(protocol)");
            break;
        } else if (to == length) {
            break;
        } else {
            to = to + piece < length ? to + piece : length;
        }
    }
    fclose(out);
    return text;
}

static void check_transcript(const char *expected, char *text, size_t split)
{
    if (strcmp(expected, text))
        CHECK_FAIL("split at %zu:\n%s--- expected:\n%s", split, text, expected);
    free(text);
}

/* Checks the transcript of the bytes, whole and in pieces. */
__attribute__((unused)) static void check_requests(const char *bytes, const char *expected)
{
    size_t length = strlen(bytes);

    check_transcript(expected, transcribe(bytes, length, length, 1), length);
    check_transcript(expected, transcribe(bytes, length, 1, 1), 1);
    check_transcript(expected, transcribe(bytes, length, 7, 7), 7);
    for (size_t split = 1; split < length && length < 5000; split++)
        check_transcript(expected, transcribe(bytes, length, split, length), split);
}

__attribute__((unused)) static void check_each(const char *expected, const char *const *texts)
{
    for (; *texts; texts++)
        check_requests(*texts, expected);
}

/* Checks that each of these texts has the same transcript. */
#define CHECK_REQUESTS(expected, ...) check_each(expected, (const char *const[]){__VA_ARGS__, NULL})
