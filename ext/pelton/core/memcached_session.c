#include "memcached_session.h"

#include <stdio.h>

#include "memcached_commands.h"

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

/* ---- values that come ----------------------------------------------------------------------------------------- */

/* Bytes that follow a value on the wire. */
static size_t end_length(const struct pel_memcached_session *session)
{
    return session->binary ? 0 : 2;
}

int pel__memcached_begin_upload(struct pel_memcached_session *session, const struct pel_memcached_upload *upload)
{
    struct pel_memcached_service *service = session->service;
    struct pel_store *store = &service->store;
    int code = pel_store_allocate(store, upload->key, upload->length, upload->client_flags,
                                  pel_store_instant(store, upload->expiry), &session->upload);

    session->received = 0;
    if (code == 0)
        return 0;
    session->upload = NULL;
    session->swallow = upload->length + end_length(session);
    *(code == PEL_ELIMIT ? &service->counters.store_too_large : &service->counters.store_no_memory) += 1;
    if (upload->replaces) {
        struct pel_item *old = pel_store_find(store, upload->key);
        if (old)
            pel_store_remove(store, old);
    }
    return code;
}

int pel__memcached_begin_text_upload(struct pel_memcached_session *session, const struct pel_memcached_request *request,
                                     int64_t expiry, struct pel_buffer *output)
{
    int meta = request->verb == PEL_REQUEST_META_SET;
    struct pel_memcached_upload upload = {.key = request->key,
                                          .length = request->length,
                                          .client_flags = request->client_flags,
                                          .expiry = expiry,
                                          .replaces = meta || request->verb == PEL_REQUEST_SET};
    int code = pel__memcached_begin_upload(session, &upload);

    if (code < 0 && (meta || !request->noreply))
        pel__put_line(output, code == PEL_ELIMIT ? "SERVER_ERROR object too large for cache"
                                                 : "SERVER_ERROR out of memory storing object");
    return code == 0;
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
    if (session->binary)
        memcpy(pel_item_value(item) + item->length, "\r\n", 2);
    if (memcmp(pel_item_value(item) + item->length, "\r\n", 2)) {
        if (session->meta || !session->noreply)
            pel__put_line(output, "CLIENT_ERROR bad data chunk");
    } else {
        result = pel_store_put(&service->store, item, &session->put, &cas);
        if (session->put.mode == PEL_STORE_CAS)
            count_cas(&service->counters, result);
        if (session->binary)
            pel__memcached_binary_stored(session, result, cas, output);
        else if (session->meta)
            pel__memcached_meta_stored(session, result, cas, output);
        else if (!session->noreply)
            pel__put_line(output, words[result]);
    }
    session->upload = NULL;
    pel_store_release(&service->store, item);
}

size_t pel_memcached_session_wants(const struct pel_memcached_session *session, char **bytes)
{
    if (!session->upload)
        return 0;
    *bytes = pel_item_value(session->upload) + session->received;
    return session->upload->length + end_length(session) - session->received;
}

void pel_memcached_session_wrote(struct pel_memcached_session *session, size_t length)
{
    session->received += (uint32_t)length;
}

/* ---- values that go ------------------------------------------------------------------------------------------- */

void pel__memcached_put_value(struct pel_memcached_session *session, struct pel_item *item, struct pel_buffer *output)
{
    size_t length = item->length + end_length(session);

    if (length > PEL_MEMCACHED_COPIED && pel_store_hold(item))
        session->download = item;
    else if (pel_buffer_append(output, pel_item_value(item), length) < 0)
        session->closing = 1;
}

struct pel_item *pel_memcached_session_value(struct pel_memcached_session *session, struct pel_slice *bytes)
{
    struct pel_item *item = session->download;

    session->download = NULL;
    if (item)
        *bytes = (struct pel_slice){pel_item_value(item), item->length + end_length(session)};
    return item;
}

static void tell_bytes(struct pel_slice bytes)
{
    for (size_t i = 0; i < bytes.length; i++) {
        unsigned char byte = (unsigned char)bytes.bytes[i];
        fprintf(stderr, byte < ' ' || byte == 0x7f ? "\\x%02x" : "%c", byte);
    }
}

/* For people who watch. */
static void tell(const char *word, struct pel_slice key)
{
    fprintf(stderr, "< %s ", word);
    tell_bytes(key);
    fputc('\n', stderr);
}

static void tell_text(const struct pel_memcached_request *request)
{
    static const char *const words[] = {
#define WORD(name, word, shape) word,
        PEL_REQUESTS(WORD)
#undef WORD
    };

    if (request->verb == PEL_REQUEST_BAD)
        fprintf(stderr, "< %s\n", request->error ? request->error : "(closed)");
    else
        tell(words[request->verb], request->key);
}

/* ---- the conversation ----------------------------------------------------------------------------------------- */

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

/* The next request. 1 when there may be another one. */
static int ask_text(struct pel_memcached_session *session, const char *bytes, size_t length, size_t *used,
                    struct pel_buffer *output)
{
    struct pel_memcached_request request;
    int code = pel_memcached_request_parse(&session->parser, bytes, length, used, &request);

    if (code == 0)
        return 0;
    if (code < 0) {
        session->closing = 1;
        pel__put_line(output, code == PEL_ELIMIT ? "CLIENT_ERROR line too long"
                                                 : "CLIENT_ERROR a connection is either text or binary");
        return 0;
    }
    if (session->service->verbosity > 1)
        tell_text(&request);
    execute(session, &request, output);
    return 1;
}

static int ask_binary(struct pel_memcached_session *session, const char *bytes, size_t length, size_t *used,
                      struct pel_buffer *output)
{
    struct pel_binary_request request;
    int code = pel_memcached_binary_parse(bytes, length, used, &request);

    if (code < 0)
        session->closing = 1;
    if (code <= 0)
        return 0;
    if (session->service->verbosity > 1)
        tell(pel_binary_command_name(request.command), request.key);
    pel__memcached_binary(session, &request, output);
    return 1;
}

/* The next step. 1 when there may be another one. */
static int step(struct pel_memcached_session *session, const char *bytes, size_t length, size_t *used,
                struct pel_buffer *output)
{
    *used = 0;
    if (session->closing || pel_memcached_session_full(session, output))
        return 0;
    if (pel_buffer_reserve(output, PEL_MEMCACHED_REPLY_ROOM) < 0) {
        session->closing = 1;
        return 0;
    }
    if (session->owes_end) {
        session->owes_end = 0;
        pel__put_line(output, "END");
        return 1;
    }
    if (session->upload) {
        char *at;
        size_t wanted = pel_memcached_session_wants(session, &at);
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
    if (length > 0 && !session->begun) {
        session->begun = 1;
        session->binary = (unsigned char)bytes[0] == PEL_BINARY_MAGIC;
    }
    return (session->binary ? ask_binary : ask_text)(session, bytes, length, used, output);
}

size_t pel_memcached_session_receive(struct pel_memcached_session *session, const char *bytes, size_t length,
                                     struct pel_buffer *output)
{
    size_t done = 0, used;

    while (step(session, bytes + done, length - done, &used, output))
        done += used;
    return done + used;
}
