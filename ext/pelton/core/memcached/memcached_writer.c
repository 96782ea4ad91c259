#include <string.h>

#include "core/base/base64.h"
#include "core/base/decimal.h"
#include "core/memcached/memcached_writer.h"

/* More bytes than any command needs besides its key, opaque and value: two for each letter, and the numbers. */
#define COMMAND_RESERVE 256

/* A to Z and a to z; the bits between and after them stand for no letter. */
#define LETTERS (UINT64_C(0x03ffffff) | UINT64_C(0x03ffffff) << 32)

#define ONES UINT64_C(0x0101010101010101)
#define HIGH_BITS (ONES * 0x80)

/* Whether any of eight bytes is a control character, a space or DEL. */
static int has_bad_byte(uint64_t word)
{
    uint64_t deleted = word ^ (ONES * 0x7f);

    return ((((word - ONES * 0x21) & ~word) | ((deleted - ONES) & ~deleted)) & HIGH_BITS) != 0;
}

static int check_word(const char *bytes, size_t length, size_t limit)
{
    uint64_t word;
    size_t at = 0;

    if (length == 0)
        return PEL_EARGUMENT;
    if (length > limit)
        return PEL_ELIMIT;
    for (; length - at >= 8; at += 8) {
        memcpy(&word, bytes + at, 8);
        if (has_bad_byte(word))
            return PEL_EARGUMENT;
    }
    for (; at < length; at++) {
        if ((unsigned char)bytes[at] <= ' ' || bytes[at] == 0x7f)
            return PEL_EARGUMENT;
    }
    return 0;
}

int pel_memcached_check_key(const char *key, size_t length)
{
    return check_word(key, length, PEL_MEMCACHED_KEY_LIMIT);
}

static char *write_bytes(char *at, const char *bytes, size_t length)
{
    memcpy(at, bytes, length);
    return at + length;
}

static char *write_signed(char *at, int64_t number)
{
    if (number >= 0)
        return pel_decimal_put(at, (uint64_t)number);
    *at++ = '-';
    return pel_decimal_put(at, (uint64_t)-number);
}

static int sends_flag(const struct pel_memcached_command *command, char letter)
{
    return (command->flags & PEL_MEMCACHED_FLAG(letter)) != 0;
}

static int check_ttl(const struct pel_memcached_command *command, char letter, int64_t ttl)
{
    return !sends_flag(command, letter) || (ttl >= INT32_MIN && ttl <= INT32_MAX) ? 0 : PEL_EARGUMENT;
}

static int check_key(const struct pel_memcached_command *command)
{
    if (!sends_flag(command, 'b'))
        return pel_memcached_check_key(command->key.bytes, command->key.length);
    if (command->key.length > PEL_MEMCACHED_BINARY_KEY_LIMIT)
        return PEL_ELIMIT;
    return command->key.length > 0 ? 0 : PEL_EARGUMENT;
}

/* `modes`: the modes that the verb accepts. */
static int check_command(const struct pel_memcached_command *command, const char *modes)
{
    int error = command->flags & ~LETTERS ? PEL_EARGUMENT : check_key(command);

    if (error == 0 && sends_flag(command, 'O'))
        error = check_word(command->opaque.bytes, command->opaque.length, PEL_MEMCACHED_OPAQUE_LIMIT);
    if (error == 0 && sends_flag(command, 'M') && (command->mode == '\0' || !strchr(modes, command->mode)))
        error = PEL_EARGUMENT;
    if (error == 0 && (check_ttl(command, 'T', command->ttl) < 0 || check_ttl(command, 'N', command->vivify_ttl) < 0 ||
                       check_ttl(command, 'R', command->recache_ttl) < 0))
        error = PEL_EARGUMENT;
    return error;
}

static char *write_token(char *at, const struct pel_memcached_command *command, char letter)
{
    switch (letter) {
    case 'C':
        return pel_decimal_put(at, command->cas);
    case 'D':
        return pel_decimal_put(at, command->delta);
    case 'E':
        return pel_decimal_put(at, command->new_cas);
    case 'F':
        return pel_decimal_put(at, command->client_flags);
    case 'J':
        return pel_decimal_put(at, command->initial);
    case 'M':
        *at++ = command->mode;
        return at;
    case 'N':
        return write_signed(at, command->vivify_ttl);
    case 'O':
        return write_bytes(at, command->opaque.bytes, command->opaque.length);
    case 'R':
        return write_signed(at, command->recache_ttl);
    case 'T':
        return write_signed(at, command->ttl);
    default:
        return at;
    }
}

static char *write_flags(char *at, const struct pel_memcached_command *command, uint64_t flags)
{
    for (; flags != 0; flags &= flags - 1) {
        char letter = (char)('A' + __builtin_ctzll(flags));
        *at++ = ' ';
        *at++ = letter;
        at = write_token(at, command, letter);
    }
    return at;
}

static char *write_key(char *at, const struct pel_memcached_command *command)
{
    return sends_flag(command, 'b') ? pel_base64_encode(at, command->key)
                                    : write_bytes(at, command->key.bytes, command->key.length);
}

/* Appends a command without a value. The caller has checked the arguments. */
static int write_command(struct pel_buffer *buffer, const char *verb, const struct pel_memcached_command *command,
                         uint64_t flags)
{
    char *start, *at;
    int error = pel_buffer_reserve(buffer, PEL_MEMCACHED_KEY_LIMIT + PEL_MEMCACHED_OPAQUE_LIMIT + COMMAND_RESERVE);

    if (error < 0)
        return error;
    start = pel_buffer_tail(buffer);
    at = write_bytes(start, verb, 3);
    at = write_key(at, command);
    at = write_flags(at, command, flags);
    at = write_bytes(at, "\r\n", 2);
    pel_buffer_commit(buffer, (size_t)(at - start));
    return 0;
}

int pel_memcached_write_get(struct pel_buffer *buffer, const struct pel_memcached_command *command)
{
    int error = check_command(command, "");

    return error < 0 ? error : write_command(buffer, "mg ", command, command->flags);
}

/* Appends the whole command, or, without a value, its head. */
static int write_set(struct pel_buffer *buffer, const struct pel_memcached_command *command, const char *value,
                     size_t length)
{
    uint64_t flags = command->flags;
    char *start, *at;
    int error = check_command(command, "EAPRSeaprs");

    if (error < 0)
        return error;
    if (length > PEL_MEMCACHED_VALUE_LIMIT)
        return PEL_ELIMIT;
    error = pel_buffer_reserve(buffer, PEL_MEMCACHED_KEY_LIMIT + PEL_MEMCACHED_OPAQUE_LIMIT + COMMAND_RESERVE +
                                           (value ? length : 0));
    if (error < 0)
        return error;
    if (command->client_flags == 0)
        flags &= ~PEL_MEMCACHED_FLAG('F');
    if (command->ttl == 0)
        flags &= ~PEL_MEMCACHED_FLAG('T');
    if (command->mode == 'S')
        flags &= ~PEL_MEMCACHED_FLAG('M');

    start = pel_buffer_tail(buffer);
    at = write_bytes(start, "ms ", 3);
    at = write_key(at, command);
    *at++ = ' ';
    at = pel_decimal_put(at, length);
    at = write_flags(at, command, flags);
    at = write_bytes(at, "\r\n", 2);
    if (value) {
        at = write_bytes(at, value, length);
        at = write_bytes(at, "\r\n", 2);
    }
    pel_buffer_commit(buffer, (size_t)(at - start));
    return 0;
}

int pel_memcached_write_set(struct pel_buffer *buffer, const struct pel_memcached_command *command, const char *value,
                            size_t length)
{
    return write_set(buffer, command, value ? value : "", length);
}

int pel_memcached_write_set_head(struct pel_buffer *buffer, const struct pel_memcached_command *command, size_t length)
{
    return write_set(buffer, command, NULL, length);
}

int pel_memcached_write_delete(struct pel_buffer *buffer, const struct pel_memcached_command *command)
{
    int error = check_command(command, "");

    return error < 0 ? error : write_command(buffer, "md ", command, command->flags);
}

int pel_memcached_write_arithmetic(struct pel_buffer *buffer, const struct pel_memcached_command *command)
{
    uint64_t flags = command->flags;
    int error = check_command(command, "IDid");

    if (command->mode == 'I')
        flags &= ~PEL_MEMCACHED_FLAG('M');
    if (command->delta == 1)
        flags &= ~PEL_MEMCACHED_FLAG('D');
    return error < 0 ? error : write_command(buffer, "ma ", command, flags);
}

int pel_memcached_write_version(struct pel_buffer *buffer)
{
    return pel_buffer_append(buffer, "version\r\n", 9);
}

int pel_memcached_write_flush_all(struct pel_buffer *buffer, uint32_t delay)
{
    char line[32];
    char *at = write_bytes(line, "flush_all", 9);

    if (delay > 0) {
        *at++ = ' ';
        at = pel_decimal_put(at, delay);
    }
    at = write_bytes(at, "\r\n", 2);
    return pel_buffer_append(buffer, line, (size_t)(at - line));
}

int pel_memcached_write_stats(struct pel_buffer *buffer, struct pel_slice what)
{
    char line[PEL_MEMCACHED_KEY_LIMIT + 9];
    char *at = write_bytes(line, "stats", 5);
    int error;

    if (what.length > 0) {
        error = check_word(what.bytes, what.length, PEL_MEMCACHED_KEY_LIMIT);
        if (error < 0)
            return error;
        *at++ = ' ';
        at = write_bytes(at, what.bytes, what.length);
    }
    at = write_bytes(at, "\r\n", 2);
    return pel_buffer_append(buffer, line, (size_t)(at - line));
}
