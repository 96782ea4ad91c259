#include "core/memcached_server/memcached_session.h"

#include <stdio.h>

#include "core/memcached_server/text_reply.h"
#include "core/memcached_server/transfer.h"

void pel_memcached_session_init(struct pel_memcached_session *session, struct pel_memcached_service *service)
{
    memset(session, 0, sizeof *session);
    session->service = service;
}

void pel_memcached_session_end(struct pel_memcached_session *session)
{
    if (session->upload)
        pel_store_release(&session->service->store, session->upload);
    if (session->download)
        pel_store_release(&session->service->store, session->download);
    session->upload = session->download = NULL;
}

static void count_cas(struct pel_memcached_counters *counters, enum pel_store_result result)
{
    counters->cas_hits += result == PEL_STORE_STORED;
    counters->cas_badval += result == PEL_STORE_EXISTS;
    counters->cas_misses += result == PEL_STORE_NOT_FOUND;
}

static void finish_upload(struct pel_memcached_session *session, struct pel_buffer *output)
{
    static const char *const words[] = {[PEL_STORE_STORED] = "STORED",
                                        [PEL_STORE_NOT_STORED] = "NOT_STORED",
                                        [PEL_STORE_EXISTS] = "EXISTS",
                                        [PEL_STORE_NOT_FOUND] = "NOT_FOUND"};
    struct pel_memcached_service *service = session->service;
    struct pel_item *item = session->upload;
    enum pel_store_result result;
    uint64_t cas;

    service->counters.cmd_set++;
    if (memcmp(pel_item_value(item) + item->length, "\r\n", 2)) {
        if (session->meta || !session->noreply)
            pel__put_line(output, "CLIENT_ERROR bad data chunk");
    } else {
        result = pel_store_put(&service->store, item, &session->put, &cas);
        if (session->put.mode == PEL_STORE_CAS)
            count_cas(&service->counters, result);
        if (session->meta)
            pel__memcached_meta_stored(session, result, cas, output);
        else if (!session->noreply)
            pel__put_line(output, words[result]);
    }
    session->upload = NULL;
    pel_store_release(&service->store, item);
}

/* Logs a command to stderr, for verbosity 2. */
static void log_key(const char *word, struct pel_slice key)
{
    fprintf(stderr, "< %s ", word);
    for (size_t i = 0; i < key.length; i++) {
        unsigned char byte = (unsigned char)key.bytes[i];
        fprintf(stderr, byte < ' ' || byte == 0x7f ? "\\x%02x" : "%c", byte);
    }
    fputc('\n', stderr);
}

static void log_request(const struct pel_memcached_request *request)
{
    static const char *const words[] = {
#define WORD(name, word, parser) word,
        PEL_REQUESTS(WORD)
#undef WORD
    };

    if (request->verb == PEL_REQUEST_BAD)
        fprintf(stderr, "< %s\n", request->error ? request->error : "(closed)");
    else
        log_key(words[request->verb], request->key);
}

/* ---- requests ------------------------------------------------------------------------------------------------- */

static void execute(struct pel_memcached_session *session, const struct pel_memcached_request *request,
                    struct pel_buffer *output)
{
    switch (request->verb) {
    case PEL_REQUEST_META_GET:
    case PEL_REQUEST_META_SET:
    case PEL_REQUEST_META_DELETE:
    case PEL_REQUEST_META_ARITHMETIC:
    case PEL_REQUEST_META_DEBUG:
        pel__memcached_meta(session, request, output);
        break;
    case PEL_REQUEST_BAD:
        if (!request->error)
            session->closing = 1;
        else if (!request->noreply)
            pel__put_line(output, request->error);
        session->swallow = request->swallow;
        break;
    default:
        pel__memcached_classic(session, request, output);
        break;
    }
}

/* Executes the next request. Returns 1 when another one may follow. */
static int next_request(struct pel_memcached_session *session, const char *bytes, size_t length, size_t *used,
                        struct pel_buffer *output)
{
    struct pel_memcached_request request;
    int code = pel_memcached_request_parse(&session->parser, bytes, length, used, &request);

    if (code == 0)
        return 0;
    if (code < 0) {
        session->closing = 1;
        session->service->binary_clients += code != PEL_ELIMIT;
        pel__put_line(output, code == PEL_ELIMIT ? "CLIENT_ERROR line too long"
                                                 : "CLIENT_ERROR the binary protocol is not supported");
        return 0;
    }
    if (session->service->verbosity > 1)
        log_request(&request);
    execute(session, &request, output);
    return 1;
}

/* Makes one step. Returns 1 when another one may follow. */
static int session_step(struct pel_memcached_session *session, const char *bytes, size_t length, size_t *used,
                        struct pel_buffer *output)
{
    *used = 0;
    if (session->closing || pel_memcached_session_full(session, output))
        return 0;
    if (pel_buffer_reserve(output, PEL_MEMCACHED_REPLY_SPACE) < 0) {
        session->closing = 1;
        return 0;
    }
    if (session->end_after_value) {
        session->end_after_value = 0;
        pel__put_line(output, "END");
        return 1;
    }
    if (session->upload) {
        char *at;
        size_t wanted = pel_memcached_upload_space(session, &at);
        *used = wanted < length ? wanted : length;
        if (*used)
            memcpy(at, bytes, *used);
        session->received += (uint32_t)*used;
        if (*used < wanted)
            return 0;
        finish_upload(session, output);
        return 1;
    }
    if (session->swallow) {
        *used = session->swallow < length ? (size_t)session->swallow : length;
        session->swallow -= *used;
        return session->swallow == 0;
    }
    return next_request(session, bytes, length, used, output);
}

size_t pel_memcached_session_receive(struct pel_memcached_session *session, const char *bytes, size_t length,
                                     struct pel_buffer *output)
{
    size_t done = 0, used;

    while (session_step(session, bytes + done, length - done, &used, output))
        done += used;
    return done + used;
}
