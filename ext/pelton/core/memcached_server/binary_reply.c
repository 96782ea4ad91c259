#include "core/memcached_server/binary_reply.h"

#include "core/memcached_server/text_reply.h"

char *pel__binary_put_number(char *at, uint64_t number, int size)
{
    for (int i = size - 1; i >= 0; i--)
        *at++ = (char)(number >> (8 * i));
    return at;
}

void pel__binary_put_reply(struct pel_buffer *output, const struct pel_binary_reply *reply)
{
    char *at = pel_buffer_tail(output);

    *at++ = (char)PEL_BINARY_REPLY_MAGIC;
    *at++ = (char)reply->request->opcode;
    at = pel__binary_put_number(at, reply->key.length, 2);
    at = pel__binary_put_number(at, reply->extras.length, 1);
    at = pel__binary_put_number(at, 0, 1);
    at = pel__binary_put_number(at, reply->status, 2);
    at = pel__binary_put_number(at, reply->extras.length + reply->key.length + reply->value, 4);
    at = pel__put(at, reply->request->opaque, sizeof reply->request->opaque);
    at = pel__binary_put_number(at, reply->cas, 8);
    if (reply->extras.length)
        at = pel__put(at, reply->extras.bytes, reply->extras.length);
    if (reply->key.length)
        at = pel__put(at, reply->key.bytes, reply->key.length);
    pel__put_end(output, at);
}

void pel__binary_put_text(struct pel_buffer *output, const char *text, size_t length)
{
    pel__put_end(output, pel__put(pel_buffer_tail(output), text, length));
}

void pel__binary_refuse(struct pel_buffer *output, const struct pel_binary_request *request,
                        enum pel_binary_status status)
{
    static const char *const texts[] = {[PEL_BINARY_NOT_FOUND] = "Not found",
                                        [PEL_BINARY_EXISTS] = "Data exists for key.",
                                        [PEL_BINARY_TOO_LARGE] = "Too large.",
                                        [PEL_BINARY_INVALID] = "Invalid arguments",
                                        [PEL_BINARY_NOT_STORED] = "Not stored.",
                                        [PEL_BINARY_NOT_A_NUMBER] = "Non-numeric server-side value for incr or decr",
                                        [PEL_BINARY_UNKNOWN] = "Unknown command",
                                        [PEL_BINARY_NO_MEMORY] = "Out of memory"};
    struct pel_binary_reply reply = {.request = request, .status = status, .value = strlen(texts[status])};

    pel__binary_put_reply(output, &reply);
    pel__binary_put_text(output, texts[status], reply.value);
}

void pel__binary_confirm(struct pel_buffer *output, const struct pel_binary_request *request, uint64_t cas)
{
    struct pel_binary_reply reply = {.request = request, .cas = cas};

    if (!request->quiet)
        pel__binary_put_reply(output, &reply);
}
