#include "core/memcached/memcached_writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/decimal.h"
#include "core/base/slice.h"
#include "core/memcached/flags.h"
#include "core/memcached/hash_ring.h"

#define TOKENS ('z' - 'A' + 1)

struct command {
    struct pel_slice key, length;
    uint64_t flags;
    struct pel_slice tokens[TOKENS]; /* the token of each letter */
};

static int has_flag(const struct command *command, char letter)
{
    return (command->flags & PEL_MEMCACHED_FLAG(letter)) != 0;
}

/* The token of a flag, or `otherwise` if the command lacks the flag. */
static struct pel_slice flag_token(const struct command *command, char letter, struct pel_slice otherwise)
{
    return has_flag(command, letter) ? command->tokens[letter - 'A'] : otherwise;
}

static uint64_t decimal_value(struct pel_slice digits)
{
    uint64_t value = 0;

    pel_decimal(digits, UINT64_MAX, &value);
    return value;
}

/* The next word of a line; empty at its end. */
static struct pel_slice next_command_word(const char **at, const char *end)
{
    const char *start = *at, *space = memchr(start, ' ', (size_t)(end - start));
    const char *stop = space ? space : end;

    *at = space ? space + 1 : end;
    return (struct pel_slice){start, (size_t)(stop - start)};
}

static int parse_meta_command(struct command *command, const char *at, const char *end, int has_value)
{
    struct pel_slice word;

    command->flags = 0;
    command->key = next_command_word(&at, end);
    command->length = has_value ? next_command_word(&at, end) : PEL_SLICE("0");
    while ((word = next_command_word(&at, end)).length) {
        char letter = word.bytes[0];
        if (letter < 'A' || letter > 'z')
            return PEL_EARGUMENT;
        command->flags |= PEL_MEMCACHED_FLAG(letter);
        command->tokens[letter - 'A'] = (struct pel_slice){word.bytes + 1, word.length - 1};
    }
    return 0;
}

/* Appends a line of words; empty words are left out. */
static int append_line(struct pel_buffer *classic, const struct pel_slice *words, size_t count)
{
    int code = 0;

    for (size_t i = 0; i < count && code == 0; i++)
        if (words[i].length && (i == 0 || (code = pel_buffer_append(classic, " ", 1)) == 0))
            code = pel_buffer_append(classic, words[i].bytes, words[i].length);
    return code < 0 ? code : pel_buffer_append(classic, "\r\n", 2);
}

#define APPEND_LINE(classic, ...)                                                                                      \
    append_line(classic, (struct pel_slice[]){__VA_ARGS__},                                                            \
                sizeof((struct pel_slice[]){__VA_ARGS__}) / sizeof(struct pel_slice))

static int translate_get(struct pel_buffer *classic, struct pel_buffer *keys, const struct command *command)
{
    struct pel_slice ttl = flag_token(command, 'T', PEL_SLICE("0"));
    uint32_t hash = pel_key_hash_fnv1a_32(command->key.bytes, command->key.length);
    int code;

    if (has_flag(command, 'T') && !has_flag(command, 'v'))
        return APPEND_LINE(classic, PEL_SLICE("touch"), command->key, ttl);
    if ((code = pel_buffer_append(keys, &hash, sizeof(hash))) < 0)
        return code;
    if (has_flag(command, 'T'))
        return APPEND_LINE(classic, has_flag(command, 'c') ? PEL_SLICE("gats") : PEL_SLICE("gat"), ttl, command->key);
    return APPEND_LINE(classic, has_flag(command, 'c') ? PEL_SLICE("gets") : PEL_SLICE("get"), command->key);
}

static int translate_set(struct pel_buffer *classic, const struct command *command)
{
    struct pel_slice verb = PEL_SLICE("set"), flags = flag_token(command, 'F', PEL_SLICE("0")),
                     ttl = flag_token(command, 'T', PEL_SLICE("0"));

    if (has_flag(command, 'C'))
        return APPEND_LINE(classic, PEL_SLICE("cas"), command->key, flags, ttl, command->length,
                           command->tokens['C' - 'A']);
    switch (flag_token(command, 'M', PEL_SLICE("S")).bytes[0] | 0x20) {
    case 'a':
        verb = PEL_SLICE("append");
        break;
    case 'e':
        verb = PEL_SLICE("add");
        break;
    case 'p':
        verb = PEL_SLICE("prepend");
        break;
    case 'r':
        verb = PEL_SLICE("replace");
        break;
    }
    return APPEND_LINE(classic, verb, command->key, flags, ttl, command->length);
}

static int translate_delete(struct pel_buffer *classic, const struct command *command)
{
    int code;

    if (!has_flag(command, 'C'))
        return APPEND_LINE(classic, PEL_SLICE("delete"), command->key);
    code = APPEND_LINE(classic, PEL_SLICE("cas"), command->key, PEL_SLICE("0"), PEL_SLICE("-1"), PEL_SLICE("0"),
                       command->tokens['C' - 'A']);
    return code < 0 ? code : pel_buffer_append(classic, "\r\n", 2);
}

/* Adds the counter with the number from which one step leads to the initial number. So incr or decr returns the initial
 * number, and no other client can get the same number in between. A decrement stops at 0, so the number before it is
 * capped at 2^64 - 1. */
static int add_initial(struct pel_buffer *classic, const struct command *command, int down, struct pel_slice step)
{
    uint64_t initial = decimal_value(flag_token(command, 'J', PEL_SLICE("0"))), before = initial - decimal_value(step);
    char digits[24], length[24];
    struct pel_slice value = {digits, 0}, size = {length, 0};
    int code;

    if (down && __builtin_add_overflow(initial, decimal_value(step), &before))
        before = UINT64_MAX;
    value.length = (size_t)snprintf(digits, sizeof(digits), "%" PRIu64, before);
    size.length = (size_t)snprintf(length, sizeof(length), "%zu", value.length);
    code = APPEND_LINE(classic, PEL_SLICE("add"), command->key, PEL_SLICE("0"),
                       flag_token(command, 'N', PEL_SLICE("0")), size);
    return code < 0 ? code : APPEND_LINE(classic, value);
}

static int translate_arithmetic(struct pel_buffer *classic, const struct command *command)
{
    int down = (flag_token(command, 'M', PEL_SLICE("I")).bytes[0] | 0x20) == 'd', code = 0;
    struct pel_slice step = flag_token(command, 'D', PEL_SLICE("1"));

    if (has_flag(command, 'N'))
        code = add_initial(classic, command, down, step);
    return code < 0 ? code : APPEND_LINE(classic, down ? PEL_SLICE("decr") : PEL_SLICE("incr"), command->key, step);
}

/* Translates a command whose meta verb has this second letter. */
static int translate_command(struct pel_buffer *classic, struct pel_buffer *keys, char verb,
                             const struct command *command)
{
    switch (verb) {
    case 'g':
        return translate_get(classic, keys, command);
    case 's':
        return translate_set(classic, command);
    case 'd':
        return translate_delete(classic, command);
    case 'a':
        return translate_arithmetic(classic, command);
    default:
        return PEL_EARGUMENT;
    }
}

int pel_memcached_translate(struct pel_buffer *classic, struct pel_buffer *keys, const char *bytes, size_t length)
{
    const char *at = bytes, *end = length ? bytes + length : bytes;

    while (at < end) {
        const char *line = at, *stop = memchr(at, '\n', (size_t)(end - at));
        struct command command;
        size_t value;
        int code;
        if (!stop || stop - line < 2 || stop[-1] != '\r')
            return PEL_EARGUMENT;
        at = stop + 1;
        if (stop - line < 4 || line[0] != 'm' || line[2] != ' ') {
            if ((code = pel_buffer_append(classic, line, (size_t)(at - line))) < 0)
                return code;
            continue;
        }
        if ((code = parse_meta_command(&command, line + 3, stop - 1, line[1] == 's')) < 0 ||
            (code = translate_command(classic, keys, line[1], &command)) < 0)
            return code;
        if (line[1] != 's')
            continue;
        value = (size_t)decimal_value(command.length);
        if ((size_t)(end - at) < 2 || (size_t)(end - at) - 2 < value)
            return PEL_EARGUMENT;
        if ((code = pel_buffer_append(classic, at, value + 2)) < 0)
            return code;
        at += value + 2;
    }
    return 0;
}
