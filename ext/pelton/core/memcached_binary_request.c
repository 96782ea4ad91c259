#include "memcached_binary_request.h"

#include <string.h>

#include "error.h"
#include "store.h"

static const struct shape {
    const char *name;
    uint8_t opcode, quiet, extras, key, value;
} shapes[] = {
#define SHAPE(name, opcode, quiet, extras, key, value) {#name, opcode, quiet, extras, key, value},
    PEL_BINARY_COMMANDS(SHAPE)
#undef SHAPE
        {"BAD", 0, 0, 0, 0, 0}};

const char *pel_binary_command_name(enum pel_binary_command command)
{
    return shapes[command].name;
}

static uint64_t number(const char *bytes, int size)
{
    uint64_t result = 0;

    for (int i = 0; i < size; i++)
        result = result << 8 | (unsigned char)bytes[i];
    return result;
}

static enum pel_binary_command command_of(uint8_t opcode)
{
    int command = 0;

    while (command < PEL_BINARY_BAD &&
           !(shapes[command].opcode == opcode || (opcode && shapes[command].quiet == opcode)))
        command++;
    return (enum pel_binary_command)command;
}

/* Some parts may be left out: flush's time, and of what statistics are wanted. */
static int fits(enum pel_binary_command command, size_t extras, size_t key, size_t body)
{
    const struct shape *shape = &shapes[command];

    if (extras != shape->extras && !(command == PEL_BINARY_FLUSH && extras == 0))
        return 0;
    if ((key > 0) != shape->key && command != PEL_BINARY_STAT)
        return 0;
    return shape->value || body == extras + key;
}

static void take_extras(const char *extras, size_t length, struct pel_binary_request *request)
{
    if (length == 4) {
        request->expiry = (uint32_t)number(extras, 4);
    } else if (length == 8) {
        request->client_flags = (uint32_t)number(extras, 4);
        request->expiry = (uint32_t)number(extras + 4, 4);
    } else if (length == 20) {
        request->delta = number(extras, 8);
        request->initial = number(extras + 8, 8);
        request->expiry = (uint32_t)number(extras + 16, 4);
    }
}

static int bad(struct pel_binary_request *request, enum pel_binary_status status, int closing, size_t length)
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
    request->cas = number(bytes + 16, 8);
    request->command = command_of(request->opcode);
    request->quiet = request->opcode && request->opcode == shapes[request->command].quiet;
    key = number(bytes + 2, 2);
    extras = (unsigned char)bytes[4];
    body = number(bytes + 8, 4);

    *consumed = PEL_BINARY_HEADER;
    if (key + extras > body)
        return bad(request, PEL_BINARY_UNKNOWN, 1, 0);
    if (key > PEL_STORE_KEY_LIMIT)
        return bad(request, PEL_BINARY_INVALID, 1, 0);
    if (request->command == PEL_BINARY_BAD)
        return bad(request, PEL_BINARY_UNKNOWN, 0, body);
    if (!fits(request->command, extras, key, body))
        return bad(request, PEL_BINARY_INVALID, 1, 0);
    *consumed = 0;
    if (length < PEL_BINARY_HEADER + extras + key)
        return 0;
    *consumed = PEL_BINARY_HEADER + extras + key;
    take_extras(bytes + PEL_BINARY_HEADER, extras, request);
    request->key = (struct pel_slice){bytes + PEL_BINARY_HEADER + extras, key};
    request->length = (uint32_t)(body - extras - key);
    return 1;
}
