#include <stdlib.h>
#include <string.h>

#include "core/memcached/memcached_writer.h"

/* For any arguments: the writer appends one well-formed command, and no bytes that could be read as a second one. */

#define CHECK(condition) ((condition) ? (void)0 : abort())

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Checks one line with its CRLF: words of visible bytes, separated by single spaces. */
static void check_line(const char *line, size_t length)
{
    CHECK(length > 4 && line[length - 2] == '\r' && line[length - 1] == '\n');
    CHECK(length <= 2048 && line[length - 3] != ' ');
    for (size_t i = 0; i < length - 2; i++) {
        CHECK((unsigned char)line[i] >= ' ' && line[i] != 0x7f);
        CHECK(line[i] != ' ' || line[i + 1] != ' ');
    }
}

static void check_command(int code, struct pel_buffer *buffer, size_t before, const char *verb, size_t value)
{
    const char *command;
    size_t length = pel_buffer_length(buffer) - before;

    if (code < 0) {
        CHECK(code == PEL_EARGUMENT || code == PEL_ELIMIT);
        CHECK(length == 0);
        return;
    }
    command = pel_buffer_head(buffer) + before;
    CHECK(code == 0 && length > value && memcmp(command, verb, strlen(verb)) == 0);
    check_line(command, length - value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pel_memcached_command command = {0};
    struct pel_buffer buffer = {0};
    size_t before, opaque;
    int code;

    /* The numbers come first, then the opaque, then the key. */
    if (size < sizeof(command) + 1)
        return 0;
    memcpy(&command, data, sizeof(command));
    data += sizeof(command);
    size -= sizeof(command);
    opaque = data[0] % 40;
    data++;
    size--;
    if (opaque > size)
        opaque = size;
    command.opaque = (struct pel_slice){(const char *)data, opaque};
    command.key = (struct pel_slice){(const char *)data + opaque, size - opaque};

#define WRITE(call, verb, value)                                                                                       \
    do {                                                                                                               \
        before = pel_buffer_length(&buffer);                                                                           \
        code = call;                                                                                                   \
        check_command(code, &buffer, before, verb, value);                                                             \
    } while (0)

    WRITE(pel_memcached_write_get(&buffer, &command), "mg ", 0);
    WRITE(pel_memcached_write_set_head(&buffer, &command, (size_t)command.cas), "ms ", 0);
    WRITE(pel_memcached_write_delete(&buffer, &command), "md ", 0);
    WRITE(pel_memcached_write_arithmetic(&buffer, &command), "ma ", 0);
    WRITE(pel_memcached_write_stats(&buffer, command.key), "stats", 0);
    WRITE(pel_memcached_write_flush_all(&buffer, command.client_flags), "flush_all", 0);

    /* The value is the key's bytes: whatever they are, they appear only behind the line. */
    before = pel_buffer_length(&buffer);
    code = pel_memcached_write_set(&buffer, &command, command.key.bytes, command.key.length);
    check_command(code, &buffer, before, "ms ", code < 0 ? 0 : command.key.length + 2);
    if (code == 0) {
        const char *end = pel_buffer_tail(&buffer);
        CHECK(memcmp(end - 2, "\r\n", 2) == 0);
        CHECK(memcmp(end - 2 - command.key.length, command.key.bytes, command.key.length) == 0);
    }
    CHECK((code == PEL_ELIMIT) == (pel_memcached_write_get(&buffer, &command) == PEL_ELIMIT));
    pel_buffer_free(&buffer);
    return 0;
}
