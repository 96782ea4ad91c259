#include "ruby/http/response/http_response.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>
#include "core/files/open_files.h"
#include "core/http1/http1_writer.h"
#include "ruby/http/connection/http_connection.h"

/* Files of the public folder, sent in the application's place: public_file.c has found them. */

#define LEND_FROM 8192 /* bytes that are sent from where they lie, not copied */

/* ---- the head ---------------------------------------------------------------------------------------------------- */

static struct pel_slice tag_of(const struct pel_open_file *file)
{
    return (struct pel_slice){file->tag, file->tag_length};
}

static struct pel_slice date_of(const struct pel_open_file *file)
{
    return (struct pel_slice){file->date, PEL_HTTP1_DATE};
}

static void write_field(struct pel_buffer *output, struct pel_slice name, struct pel_slice value)
{
    pel_http_check_written(pel_http1_write_header(output, name, value));
}

static void write_cache_control(struct pel_http_connection *connection, struct pel_buffer *output, int immutable)
{
    char value[64];
    uint32_t age = connection->server->file_age;

    if (immutable) {
        write_field(output, PEL_SLICE("cache-control"), PEL_SLICE("public, max-age=31536000, immutable"));
    } else if (age) {
        int length = snprintf(value, sizeof value, "public, max-age=%u", age);
        write_field(output, PEL_SLICE("cache-control"), (struct pel_slice){value, (size_t)length});
    } else {
        write_field(output, PEL_SLICE("cache-control"), PEL_SLICE("no-cache"));
    }
}

static void write_range(struct pel_buffer *output, const struct pel_http_file *file)
{
    char value[96];
    unsigned long long from = file->from, length = file->length, size = file->open->size;
    int written = file->status == 416
                      ? snprintf(value, sizeof value, "bytes */%llu", size)
                      : snprintf(value, sizeof value, "bytes %llu-%llu/%llu", from, from + length - 1, size);

    write_field(output, PEL_SLICE("content-range"), (struct pel_slice){value, (size_t)written});
}

/* What describes the content, which a 304 does not have. */
static void write_content_fields(struct pel_buffer *output, const struct pel_http_file *file)
{
    if (file->status == 206 || file->status == 416)
        write_range(output, file);
    if (file->status != 416) {
        write_field(output, PEL_SLICE("content-type"), file->type);
        if (file->coding.length)
            write_field(output, PEL_SLICE("content-encoding"), file->coding);
    }
    pel_http_check_written(pel_http1_write_number(output, PEL_SLICE("content-length"), file->length));
}

static void write_head(struct pel_http_connection *connection, const struct pel_http_file *file)
{
    struct pel_buffer *output = connection->protocol->lines(connection);

    pel_http_check_written(pel_http1_write_status_line(output, file->status));
    if (file->status != 304)
        write_content_fields(output, file);
    if (file->status != 416) {
        write_field(output, PEL_SLICE("etag"), tag_of(file->open));
        write_field(output, PEL_SLICE("last-modified"), date_of(file->open));
        write_cache_control(connection, output, file->immutable);
        if (file->varies)
            write_field(output, PEL_SLICE("vary"), PEL_SLICE("accept-encoding"));
    }
    write_field(output, PEL_SLICE("accept-ranges"), PEL_SLICE("bytes"));
    write_field(output, PEL_SLICE("date"), (struct pel_slice){pel_http_date(connection->server), PEL_HTTP1_DATE});
    if (!connection->response.keep_alive)
        write_field(output, PEL_SLICE("connection"), PEL_SLICE("close"));
    else if (!connection->request.minor_version)
        write_field(output, PEL_SLICE("connection"), PEL_SLICE("keep-alive"));
    pel_http_check_written(pel_http1_write_end(output));
    connection->response.head_sent = 1;
}

/* ---- the body ---------------------------------------------------------------------------------------------------- */

static void give_back(struct pel_lender *lender, uintptr_t owner)
{
    pel_open_file_release((struct pel_open_file *)owner);
}

static struct pel_lender lender = {.give_back = give_back};

/* Sends a file that is kept as bytes. The stream holds it until they are sent. */
static void send_bytes(struct pel_http_connection *connection, struct pel_open_file *file, uint64_t from, size_t length)
{
    const struct pel_http_protocol *protocol = connection->protocol;
    const char *bytes = file->bytes + from;
    int code;

    if (length < LEND_FROM) {
        pel_http_check_written(protocol->append(connection, bytes, length));
        return;
    }
    file->references++;
    file->files->references++;
    code = protocol->lend(connection, bytes, length, (uintptr_t)file, &lender);
    if (code < 0)
        pel_open_file_release(file);
    pel_http_check_written(code);
}

struct transfer {
    struct pel_http_connection *connection;
    const struct pel_http_file *file;
};

NORETURN(static void fail_shorter(const struct pel_http_file *file));
static void fail_shorter(const struct pel_http_file *file)
{
    rb_raise(
        pel_eError,
        "the public file %s became shorter while it was sent: replace files by renaming others, do not rewrite them",
        file->open->name);
}

static VALUE transfer_file(VALUE argument)
{
    const struct transfer *transfer = (const struct transfer *)argument;
    const struct pel_http_file *file = transfer->file;
    struct pel_http_connection *connection = transfer->connection;
    VALUE exchange = connection->request.exchange;
    int64_t sent;

    if (!exchange)
        PEL_HTTP_KEEP(connection, request.exchange, exchange = pel_http_exchange_new(connection));
    sent = pel_http_send_file(exchange, file->open->fd, (off_t)file->from, (size_t)file->length);
    if (sent < (int64_t)file->length)
        fail_shorter(file);
    RB_GC_GUARD(exchange);
    return Qnil;
}

/* Sends a file by its descriptor. Returns 0; or a state to rethrow, when the connection is closed. While it waits the
 * request counts as one that the application has, so nobody else ends its exchange. */
static int send_descriptor(struct pel_http_connection *connection, const struct pel_http_file *file)
{
    struct transfer transfer = {connection, file};
    VALUE error = Qnil;
    int state;

    connection->request.in_application = 1;
    PEL_HTTP_KEEP(connection, request.fiber, rb_fiber_current());
    pel_protect(transfer_file, (VALUE)&transfer, &state);
    connection->request.in_application = 0;
    connection->request.fiber = Qfalse;
    if (!state)
        return 0;
    error = pel_take_error(state);
    if (NIL_P(error)) {
        pel_http_close(connection);
        return state;
    }
    pel_http_application_failed(connection, error);
    if (connection->state == PEL_HTTP_BUSY && connection->response.aborted)
        pel_http_end_exchange(connection);
    return 0;
}

/* ---- the answer -------------------------------------------------------------------------------------------------- */

int pel_http_file_at_hand_p(const struct pel_http_connection *connection)
{
    const struct pel_http_request *request = &connection->request;

    return request->file.open->fd < 0 || !request->file.length || request->file.status == 304 ||
           request->method == PEL_HTTP_HEAD;
}

/* Writes the head. The file is the caller's from now on. */
static struct pel_http_file begin_answer(struct pel_http_connection *connection)
{
    struct pel_http_file file = connection->request.file;
    struct pel_http_response *response = &connection->response;

    connection->request.file.open = NULL;
    pel_http_list_remove(connection);
    if (connection->state != PEL_HTTP_BUSY)
        pel_http_become(connection, PEL_HTTP_BUSY);
    response->status = file.status;
    response->body = (struct pel_http_response_body){
        .none = connection->request.method == PEL_HTTP_HEAD || file.status == 304, .has_length = 1};
    pel_http_decide_keep_alive(connection);
    write_head(connection, &file);
    return file;
}

static void end_answer(struct pel_http_connection *connection)
{
    pel_http_send_soon(connection);
    pel_http_end_exchange(connection);
}

void pel_http_answer_file_at_hand(struct pel_http_connection *connection)
{
    struct pel_http_file file = begin_answer(connection);

    if (!connection->response.body.none && file.length) {
        send_bytes(connection, file.open, file.from, (size_t)file.length);
        connection->response.body.sent = file.length;
    }
    pel_open_file_release(file.open);
    end_answer(connection);
}

void pel_http_answer_file(struct pel_http_connection *connection)
{
    struct pel_http_file file;
    VALUE self = connection->self;
    uint32_t number = connection->requests;
    int state;

    if (pel_http_file_at_hand_p(connection)) {
        pel_http_answer_file_at_hand(connection);
        return;
    }
    file = begin_answer(connection);
    connection->response.body.left = file.length;
    pel_http_send_soon(connection);
    state = send_descriptor(connection, &file);
    pel_open_file_release(file.open);
    if (state)
        pel_rethrow(state);
    if (connection->requests == number && connection->state == PEL_HTTP_BUSY)
        end_answer(connection);
    RB_GC_GUARD(self);
}
