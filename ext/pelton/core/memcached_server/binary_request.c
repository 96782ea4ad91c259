#include "core/memcached_server/binary_request.h"

#include <string.h>

#include "core/base/error.h"
#include "core/store/store.h"

static const struct command_shape {
    const char *name;
    uint8_t opcode, quiet, extras, key, value;
} command_shapes[] = {
#define SHAPE(name, opcode, quiet, extras, key, value) {#name, opcode, quiet, extras, key, value},
    PEL_BINARY_COMMANDS(SHAPE)
#undef SHAPE
        {"BAD", 0, 0, 0, 0, 0}};

const char *pel_binary_command_name(enum pel_binary_command command)
{
    return command_shapes[command].name;
}

static uint64_t big_endian_number(const char *bytes, int size)
{
    uint64_t result = 0;

    for (int i = 0; i < size; i++)
        result = result << 8 | (unsigned char)bytes[i];
    return result;
}

static enum pel_binary_command find_binary_command(uint8_t opcode)
{
    int command = 0;

    while (command < PEL_BINARY_BAD &&
           !(command_shapes[command].opcode == opcode || (opcode && command_shapes[command].quiet == opcode)))
        command++;
    return (enum pel_binary_command)command;
}

/* Whether the lengths are those of the command. A flush may lack its delay, and a stat command its key. */
static int lengths_fit(enum pel_binary_command command, size_t extras, size_t key, size_t body)
{
    const struct command_shape *command_shape = &command_shapes[command];

    if (extras != command_shape->extras && !(command == PEL_BINARY_FLUSH && extras == 0))
        return 0;
    if ((key > 0) != command_shape->key && command != PEL_BINARY_STAT)
        return 0;
    return command_shape->value || body == extras + key;
}

static void parse_extras(const char *extras, size_t length, struct pel_binary_request *request)
{
    if (length == 4) {
        request->expiry = (uint32_t)big_endian_number(extras, 4);
    } else if (length == 8) {
        request->client_flags = (uint32_t)big_endian_number(extras, 4);
        request->expiry = (uint32_t)big_endian_number(extras + 4, 4);
    } else if (length == 20) {
        request->delta = big_endian_number(extras, 8);
        request->initial = big_endian_number(extras + 8, 8);
        request->expiry = (uint32_t)big_endian_number(extras + 16, 4);
    }
}

static int bad_binary_request(struct pel_binary_request *request, enum pel_binary_status status, int closing,
                              size_t length)
{
    request->command = PEL_BINARY_BAD;
    request->status = status;
    request->closing = closing;
    request->length = closing ? 0 : (uint32_t)length;
    return 1;
}

int pel_memcached_binary_parse(const char *bytes, size_t length, size_t *consumed, struct pel_binary_request *request)
{
    size_t key, extras, body;

    *consumed = 0;
    if (length == 0)
        return 0;
    if ((unsigned char)bytes[0] != PEL_BINARY_MAGIC)
        return PEL_EPROTOCOL;
    if (length < PEL_BINARY_HEADER)
        return 0;
    memset(request, 0, sizeof *request);
    request->opcode = (uint8_t)bytes[1];
    memcpy(request->opaque, bytes + 12, sizeof request->opaque);
    request->cas = big_endian_number(bytes + 16, 8);
    request->command = find_binary_command(request->opcode);
    request->quiet = request->opcode && request->opcode == command_shapes[request->command].quiet;
    key = big_endian_number(bytes + 2, 2);
    extras = (unsigned char)bytes[4];
    body = big_endian_number(bytes + 8, 4);

    *consumed = PEL_BINARY_HEADER;
    if (key + extras > body)
        return bad_binary_request(request, PEL_BINARY_UNKNOWN, 1, 0);
    if (key > PEL_STORE_KEY_LIMIT)
        return bad_binary_request(request, PEL_BINARY_INVALID, 1, 0);
    if (request->command == PEL_BINARY_BAD)
        return bad_binary_request(request, PEL_BINARY_UNKNOWN, 0, body);
    if (!lengths_fit(request->command, extras, key, body))
        return bad_binary_request(request, PEL_BINARY_INVALID, 1, 0);
    *consumed = 0;
    if (length < PEL_BINARY_HEADER + extras + key)
        return 0;
    *consumed = PEL_BINARY_HEADER + extras + key;
    parse_extras(bytes + PEL_BINARY_HEADER, extras, request);
    request->key = (struct pel_slice){bytes + PEL_BINARY_HEADER + extras, key};
    request->length = (uint32_t)(body - extras - key);
    return 1;
}
