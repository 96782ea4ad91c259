#include <stdlib.h>
#include <string.h>
#include "core/http1/http1_parser.h"
#include "core/http1/http1_writer.h"

#define CHECK(condition) ((condition) ? (void)0 : abort())

/*
 * For any names, values, statuses and bodies: a refused call leaves the buffer unchanged, and the accepted calls make
 * one response that the parser reads back unchanged. So no value can inject a header or a second response.
 */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FIELDS 8

static const uint8_t *next, *end;

static unsigned take_byte(void)
{
    return next < end ? *next++ : 0;
}

/* Takes a slice of the input; the first byte is its length. */
static struct pel_slice take(void)
{
    size_t length = take_byte() & 63;
    struct pel_slice slice = {(const char *)next, length < (size_t)(end - next) ? length : (size_t)(end - next)};

    next += slice.length;
    return slice;
}

/* Returns 1 if the call has written; otherwise checks that the buffer is unchanged. */
static int written(const struct pel_buffer *buffer, size_t before, int code)
{
    CHECK(code == 0 || code == PEL_EARGUMENT);
    CHECK(code == 0 ? pel_buffer_length(buffer) > before : pel_buffer_length(buffer) == before);
    return code == 0;
}

#define WRITE(buffer, call) written(buffer, pel_buffer_length(buffer), call)

static int slices_equal(struct pel_slice one, struct pel_slice other)
{
    return one.length == other.length && (!one.length || !memcmp(one.bytes, other.bytes, one.length));
}

static unsigned write_fields(struct pel_buffer *buffer, struct pel_http1_header *fields, unsigned most)
{
    unsigned count = 0;

    for (unsigned i = 0; i < most; i++) {
        struct pel_slice name = take(), value = take();
        fields[count] = (struct pel_http1_header){name, pel_http1_trim(value.bytes, value.bytes + value.length)};
        count += (unsigned)WRITE(buffer, pel_http1_write_header(buffer, name, value));
    }
    return count;
}

static void compare(const struct pel_http1_head *head, const struct pel_http1_header *fields, unsigned from,
                    unsigned count)
{
    CHECK(head->header_count == from + count);
    for (unsigned i = 0; i < count; i++) {
        CHECK(slices_equal(head->headers[from + i].name, fields[i].name));
        CHECK(slices_equal(head->headers[from + i].value, fields[i].value));
    }
}

/* Checks the parser's next event. Returns 0 if the parser refuses the message, whose headers contradict each other. */
static int expect(struct pel_http1_parser *parser, struct pel_buffer *buffer, int expected, struct pel_http1_head *head,
                  struct pel_slice *part)
{
    size_t consumed;
    int event = pel_http1_parse(parser, pel_buffer_head(buffer), pel_buffer_length(buffer), &consumed, head, part);

    if (event < 0)
        return 0;
    CHECK(event == expected);
    buffer->start += consumed; /* the slices stay valid */
    return 1;
}

static void check_trailers(struct pel_http1_parser *parser, struct pel_buffer *buffer, struct pel_http1_head *head,
                           const struct pel_http1_header *trailers, unsigned count)
{
    struct pel_slice part;

    if (!expect(parser, buffer, PEL_HTTP1_END, head, &part))
        return;
    compare(head, trailers, 0, count);
    CHECK(pel_buffer_length(buffer) == 0);
}

/* A response with a chunked body and trailers. */
static void check_chunked(struct pel_buffer *buffer)
{
    struct pel_http1_parser parser;
    struct pel_http1_head head;
    struct pel_http1_header fields[FIELDS], trailers[FIELDS];
    struct pel_slice body, part;
    unsigned count, trailer_count;

    CHECK(WRITE(buffer, pel_http1_write_header(buffer, PEL_SLICE("transfer-encoding"), PEL_SLICE("chunked"))));
    count = write_fields(buffer, fields, take_byte() % FIELDS);
    CHECK(pel_http1_write_end(buffer) == 0);
    body = take();
    if (body.length) {
        CHECK(pel_http1_write_chunk(buffer, body.length) == 0);
        CHECK(pel_buffer_append(buffer, body.bytes, body.length) == 0);
        CHECK(pel_http1_write_end(buffer) == 0);
    }
    CHECK(pel_http1_write_chunk(buffer, 0) == 0);
    trailer_count = write_fields(buffer, trailers, take_byte() % FIELDS);
    CHECK(pel_http1_write_end(buffer) == 0);

    pel_http1_parser_init(&parser, PEL_HTTP1_RESPONSE, &pel_http1_default_limits);
    if (!expect(&parser, buffer, PEL_HTTP1_HEAD, &head, &part))
        return;
    compare(&head, fields, 1, count);
    if (head.framing != PEL_HTTP1_CHUNKED) /* such as a 204, for which a server writes no body */
        return;
    if (body.length) {
        CHECK(expect(&parser, buffer, PEL_HTTP1_DATA, &head, &part));
        CHECK(slices_equal(part, body));
    }
    check_trailers(&parser, buffer, &head, trailers, trailer_count);
}

static void check_length(struct pel_buffer *buffer)
{
    struct pel_http1_parser parser;
    struct pel_http1_head head;
    struct pel_http1_header fields[FIELDS];
    struct pel_slice body = take(), part;
    unsigned count;

    CHECK(WRITE(buffer, pel_http1_write_number(buffer, PEL_SLICE("content-length"), body.length)));
    count = write_fields(buffer, fields, take_byte() % FIELDS);
    CHECK(pel_http1_write_end(buffer) == 0);
    CHECK(pel_buffer_append(buffer, body.bytes, body.length) == 0);

    pel_http1_parser_init(&parser, PEL_HTTP1_RESPONSE, &pel_http1_default_limits);
    if (!expect(&parser, buffer, PEL_HTTP1_HEAD, &head, &part))
        return;
    compare(&head, fields, 1, count);
    CHECK(head.has_length && head.length == body.length);
    if (body.length && head.framing == PEL_HTTP1_LENGTH) {
        CHECK(expect(&parser, buffer, PEL_HTTP1_DATA, &head, &part));
        CHECK(slices_equal(part, body));
    }
    CHECK(expect(&parser, buffer, PEL_HTTP1_END, &head, &part));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pel_buffer buffer = {0};
    unsigned status;
    int chunked;

    next = data;
    end = data + size;
    chunked = take_byte() & 1;
    status = take_byte() * 5;
    if (WRITE(&buffer, pel_http1_write_status_line(&buffer, status)))
        chunked ? check_chunked(&buffer) : check_length(&buffer);
    else
        CHECK(status < 100 || status > 999);
    pel_buffer_free(&buffer);
    return 0;
}
