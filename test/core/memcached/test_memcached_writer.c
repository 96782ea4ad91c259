#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "check.h"
#include "core/memcached/memcached_parser.h"
#include "core/memcached/memcached_writer.h"

#define F(letter) PEL_MEMCACHED_FLAG(letter)
#define SLICE(text)                                                                                                    \
    {                                                                                                                  \
        text, sizeof(text) - 1                                                                                         \
    }
#define COMMAND(...) (&(struct pel_memcached_command){__VA_ARGS__})
#define KEY(...) COMMAND(.key = SLICE("key"), __VA_ARGS__)

#define TEN "0123456789"
#define FIFTY TEN TEN TEN TEN TEN

static struct pel_buffer buffer;

/* Checks the bytes that `call` writes to `buffer`. */
#define WRITES(expected, call)                                                                                         \
    do {                                                                                                               \
        CHECK_INT(0, call);                                                                                            \
        CHECK_BYTES(expected, pel_buffer_head(&buffer), pel_buffer_length(&buffer));                                   \
        pel_buffer_free(&buffer);                                                                                      \
    } while (0)

#define REFUSES(code, call)                                                                                            \
    do {                                                                                                               \
        CHECK_INT(code, call);                                                                                         \
        CHECK_INT(0, pel_buffer_length(&buffer));                                                                      \
    } while (0)

TEST(get_sends_its_flags)
{
    WRITES("mg key\r\n", pel_memcached_write_get(&buffer, KEY(.flags = 0)));
    WRITES("mg key v\r\n", pel_memcached_write_get(&buffer, KEY(.flags = F('v'))));
    WRITES("mg key c f k q s t v\r\n", pel_memcached_write_get(&buffer, KEY(.flags = F('v') | F('f') | F('c') | F('k') |
                                                                                     F('q') | F('s') | F('t'))));
    WRITES("mg key T0\r\n", pel_memcached_write_get(&buffer, KEY(.flags = F('T'), .ttl = 0)));
    WRITES("mg key T60 v\r\n", pel_memcached_write_get(&buffer, KEY(.flags = F('T') | F('v'), .ttl = 60)));
    WRITES("mg key N30 R-1 v\r\n", pel_memcached_write_get(&buffer, KEY(.flags = F('N') | F('R') | F('v'),
                                                                        .vivify_ttl = 30, .recache_ttl = -1)));
    WRITES("mg key Oabc\r\n", pel_memcached_write_get(&buffer, KEY(.flags = F('O'), .opaque = SLICE("abc"))));
}

TEST(a_field_without_its_letter_is_not_sent)
{
    WRITES(
        "ms key 1\r\nx\r\n",
        pel_memcached_write_set(
            &buffer, KEY(.client_flags = 1, .mode = 'E', .ttl = 1LL << 40, .cas = 3, .opaque = SLICE("\r\n")), "x", 1));
}

TEST(set_sends_its_flags_and_its_value)
{
    WRITES("ms key 5\r\nhello\r\n", pel_memcached_write_set(&buffer, KEY(.flags = 0), "hello", 5));
    WRITES("ms key 0\r\n\r\n", pel_memcached_write_set(&buffer, KEY(.flags = 0), "", 0));
    WRITES("ms key 0\r\n\r\n", pel_memcached_write_set(&buffer, KEY(.flags = 0), NULL, 0));
    WRITES("ms key 2 C18446744073709551615 F4294967295 ME T2592000 c q\r\nab\r\n",
           pel_memcached_write_set(&buffer,
                                   KEY(.flags = F('C') | F('F') | F('M') | F('T') | F('c') | F('q'), .cas = UINT64_MAX,
                                       .client_flags = UINT32_MAX, .mode = 'E', .ttl = 2592000),
                                   "ab", 2));
    WRITES("ms key 9\r\n\r\nmn\r\nHD\n\r\n", pel_memcached_write_set(&buffer, KEY(.flags = 0), "\r\nmn\r\nHD\n", 9));
    WRITES("ms key 1 T-1\r\nx\r\n", pel_memcached_write_set(&buffer, KEY(.flags = F('T'), .ttl = -1), "x", 1));
    WRITES("ms key 1 C0\r\nx\r\n", pel_memcached_write_set(&buffer, KEY(.flags = F('C')), "x", 1));
}

TEST(a_value_may_be_longer_than_the_space_reserved_for_a_line)
{
    static char value[100000];

    memset(value, 'v', sizeof(value));
    CHECK_INT(0, pel_memcached_write_set(&buffer, KEY(.flags = 0), value, sizeof(value)));
    CHECK_INT(15 + sizeof(value) + 2, pel_buffer_length(&buffer));
    CHECK(memcmp(pel_buffer_head(&buffer), "ms key 100000\r\n", 15) == 0);
    CHECK(memcmp(pel_buffer_head(&buffer) + 15, value, sizeof(value)) == 0);
    CHECK_BYTES("\r\n", pel_buffer_tail(&buffer) - 2, 2);
    pel_buffer_free(&buffer);
}

TEST(default_flags_of_a_set_are_left_out)
{
    WRITES("ms key 1\r\nx\r\n",
           pel_memcached_write_set(&buffer, KEY(.flags = F('F') | F('T') | F('M'), .mode = 'S'), "x", 1));
}

TEST(the_head_of_a_set_announces_the_length)
{
    WRITES("ms key 1000000 F7\r\n",
           pel_memcached_write_set_head(&buffer, KEY(.flags = F('F'), .client_flags = 7), 1000000));
    WRITES("ms key 2147483645\r\n", pel_memcached_write_set_head(&buffer, KEY(.flags = 0), 2147483645));
    REFUSES(PEL_ELIMIT, pel_memcached_write_set_head(&buffer, KEY(.flags = 0), 2147483646));
    REFUSES(PEL_ELIMIT, pel_memcached_write_set_head(&buffer, KEY(.flags = 0), SIZE_MAX));
}

TEST(delete_and_arithmetic_send_their_flags)
{
    WRITES("md key\r\n", pel_memcached_write_delete(&buffer, KEY(.flags = 0)));
    WRITES("md key C5 I T30\r\n",
           pel_memcached_write_delete(&buffer, KEY(.flags = F('C') | F('I') | F('T'), .cas = 5, .ttl = 30)));
    WRITES("ma key v\r\n", pel_memcached_write_arithmetic(&buffer, KEY(.flags = F('v'))));
    WRITES("ma key v\r\n",
           pel_memcached_write_arithmetic(&buffer, KEY(.flags = F('v') | F('M') | F('D'), .mode = 'I', .delta = 1)));
    WRITES("ma key D18446744073709551615 J3 MD N0 v\r\n",
           pel_memcached_write_arithmetic(&buffer, KEY(.flags = F('v') | F('M') | F('D') | F('J') | F('N'), .mode = 'D',
                                                       .delta = UINT64_MAX, .initial = 3)));
}

TEST(commands_without_a_meta_form_are_written_or_refused)
{
    WRITES("version\r\n", pel_memcached_write_version(&buffer));
    WRITES("flush_all\r\n", pel_memcached_write_flush_all(&buffer, 0));
    WRITES("flush_all 4294967295\r\n", pel_memcached_write_flush_all(&buffer, UINT32_MAX));
    WRITES("stats\r\n", pel_memcached_write_stats(&buffer, (struct pel_slice){NULL, 0}));
    WRITES("stats items\r\n", pel_memcached_write_stats(&buffer, (struct pel_slice)SLICE("items")));
    REFUSES(PEL_EARGUMENT, pel_memcached_write_stats(&buffer, (struct pel_slice)SLICE("items\r\nflush_all")));
    REFUSES(PEL_EARGUMENT, pel_memcached_write_stats(&buffer, (struct pel_slice)SLICE("detail on")));
    REFUSES(PEL_ELIMIT, pel_memcached_write_stats(&buffer, (struct pel_slice)SLICE(FIFTY FIFTY FIFTY FIFTY FIFTY "1")));
}

TEST(commands_are_appended)
{
    CHECK_INT(0, pel_memcached_write_get(&buffer, KEY(.flags = F('v'))));
    CHECK_INT(PEL_EARGUMENT, pel_memcached_write_get(&buffer, COMMAND(.key = SLICE("a b"))));
    CHECK_INT(0, pel_memcached_write_set(&buffer, KEY(.flags = 0), "x", 1));
    WRITES("mg key v\r\nms key 1\r\nx\r\nversion\r\n", pel_memcached_write_version(&buffer));
}

TEST(binary_keys_are_sent_as_base64)
{
    WRITES("mg AA== b v\r\n", pel_memcached_write_get(&buffer, COMMAND(.key = SLICE("\0"), .flags = F('b') | F('v'))));
    WRITES("md AAE= b\r\n", pel_memcached_write_delete(&buffer, COMMAND(.key = SLICE("\0\1"), .flags = F('b'))));
    WRITES("ma AAEC b\r\n", pel_memcached_write_arithmetic(&buffer, COMMAND(.key = SLICE("\0\1\2"), .flags = F('b'))));
    WRITES("ms +/v//g== 1 b\r\nx\r\n",
           pel_memcached_write_set(&buffer, COMMAND(.key = SLICE("\xfb\xfb\xff\xfe"), .flags = F('b')), "x", 1));
    WRITES("mg a2V5IHdpdGgNCg== b\r\n",
           pel_memcached_write_get(&buffer, COMMAND(.key = SLICE("key with\r\n"), .flags = F('b'))));
}

TEST(a_binary_key_longer_than_the_limit_is_refused)
{
    char key[187];

    memset(key, 0xff, sizeof(key));
    CHECK_INT(0, pel_memcached_write_get(&buffer, COMMAND(.key = {key, 186}, .flags = F('b'))));
    CHECK_INT(3 + 248 + 2 + 2, pel_buffer_length(&buffer));
    pel_buffer_free(&buffer);
    REFUSES(PEL_ELIMIT, pel_memcached_write_get(&buffer, COMMAND(.key = {key, 187}, .flags = F('b'))));
    REFUSES(PEL_EARGUMENT, pel_memcached_write_get(&buffer, COMMAND(.key = {key, 0}, .flags = F('b'))));
}

/* Each byte at each position of keys of each length up to 40. */
TEST(a_key_has_no_control_character_and_no_space)
{
    char key[40];

    for (size_t length = 1; length <= sizeof(key); length++) {
        for (size_t position = 0; position < length; position++) {
            for (int byte = 0; byte < 256; byte++) {
                memset(key, position % 2 ? 0x80 : 'k', length);
                key[position] = (char)byte;
                CHECK_INT(byte <= 0x20 || byte == 0x7f ? PEL_EARGUMENT : 0, pel_memcached_check_key(key, length));
            }
        }
    }
}

TEST(empty_and_too_long_keys_are_refused)
{
    static const char key[] = FIFTY FIFTY FIFTY FIFTY FIFTY "1";

    CHECK_INT(PEL_EARGUMENT, pel_memcached_check_key("", 0));
    CHECK_INT(PEL_EARGUMENT, pel_memcached_check_key(NULL, 0));
    CHECK_INT(0, pel_memcached_check_key(key, 250));
    CHECK_INT(PEL_ELIMIT, pel_memcached_check_key(key, 251));
    CHECK_INT(PEL_ELIMIT, pel_memcached_check_key(key, SIZE_MAX));
}

TEST(a_bad_key_is_refused_by_every_command)
{
    static const struct pel_slice bad[] = {SLICE(""),      SLICE("a b"),   SLICE("a\r\nflush_all\r\n"),
                                           SLICE("a\nb"),  SLICE("a\0b"),  SLICE("a\tb"),
                                           SLICE("a\x7f"), SLICE("key\r"), SLICE(" key")};

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        const struct pel_memcached_command command = {.key = bad[i]};
        REFUSES(PEL_EARGUMENT, pel_memcached_write_get(&buffer, &command));
        REFUSES(PEL_EARGUMENT, pel_memcached_write_set(&buffer, &command, "x", 1));
        REFUSES(PEL_EARGUMENT, pel_memcached_write_set_head(&buffer, &command, 1));
        REFUSES(PEL_EARGUMENT, pel_memcached_write_delete(&buffer, &command));
        REFUSES(PEL_EARGUMENT, pel_memcached_write_arithmetic(&buffer, &command));
    }
}

TEST(bad_tokens_are_refused)
{
    static const int64_t ttls[] = {(int64_t)INT32_MAX + 1, (int64_t)INT32_MIN - 1, INT64_MAX, INT64_MIN};

    for (size_t i = 0; i < sizeof(ttls) / sizeof(ttls[0]); i++) {
        REFUSES(PEL_EARGUMENT, pel_memcached_write_get(&buffer, KEY(.flags = F('T'), .ttl = ttls[i])));
        REFUSES(PEL_EARGUMENT, pel_memcached_write_get(&buffer, KEY(.flags = F('N'), .vivify_ttl = ttls[i])));
        REFUSES(PEL_EARGUMENT, pel_memcached_write_get(&buffer, KEY(.flags = F('R'), .recache_ttl = ttls[i])));
    }
    WRITES("mg key T-2147483648\r\n", pel_memcached_write_get(&buffer, KEY(.flags = F('T'), .ttl = INT32_MIN)));

    REFUSES(PEL_EARGUMENT, pel_memcached_write_get(&buffer, KEY(.flags = F('O'))));
    REFUSES(PEL_EARGUMENT, pel_memcached_write_get(&buffer, KEY(.flags = F('O'), .opaque = SLICE("1 v"))));
    REFUSES(PEL_EARGUMENT, pel_memcached_write_get(&buffer, KEY(.flags = F('O'), .opaque = SLICE("1\r\nmn\r\n"))));
    REFUSES(PEL_ELIMIT, pel_memcached_write_get(&buffer, KEY(.flags = F('O'), .opaque = SLICE(TEN TEN TEN "12"))));

    REFUSES(PEL_EARGUMENT, pel_memcached_write_set(&buffer, KEY(.flags = F('M')), "x", 1));
    REFUSES(PEL_EARGUMENT, pel_memcached_write_set(&buffer, KEY(.flags = F('M'), .mode = '\r'), "x", 1));
    REFUSES(PEL_EARGUMENT, pel_memcached_write_set(&buffer, KEY(.flags = F('M'), .mode = 'I'), "x", 1));
    REFUSES(PEL_EARGUMENT, pel_memcached_write_arithmetic(&buffer, KEY(.flags = F('M'), .mode = 'E')));
    REFUSES(PEL_EARGUMENT, pel_memcached_write_get(&buffer, KEY(.flags = F('M'), .mode = 'E')));
}

TEST(flags_that_are_no_letter_are_refused)
{
    for (int bit = 0; bit < 64; bit++) {
        int letter = (bit < 26) || (bit >= 32 && bit < 58);
        int code =
            pel_memcached_write_get(&buffer, KEY(.flags = UINT64_C(1) << bit, .opaque = SLICE("1"), .mode = 'E'));
        CHECK_INT(letter && bit != 'M' - 'A' ? 0 : PEL_EARGUMENT, code);
    }
    pel_buffer_free(&buffer);
}

/* The sanitizers and the buffer's own assertion would fail if the reserve were too small. */
TEST(the_longest_command_fits_its_reserve)
{
    struct pel_memcached_command command = {.key = SLICE(FIFTY FIFTY FIFTY FIFTY FIFTY),
                                            .client_flags = UINT32_MAX,
                                            .mode = 'E',
                                            .ttl = INT32_MIN,
                                            .vivify_ttl = INT32_MIN,
                                            .recache_ttl = INT32_MIN,
                                            .cas = UINT64_MAX,
                                            .new_cas = UINT64_MAX,
                                            .delta = UINT64_MAX,
                                            .initial = UINT64_MAX,
                                            .opaque = SLICE(TEN TEN TEN "1")};

    for (char letter = 'A'; letter <= 'Z'; letter++)
        command.flags |= F(letter) | F(letter + 32);
    command.flags &= ~F('b');
    CHECK_INT(0, pel_memcached_write_set_head(&buffer, &command, PEL_MEMCACHED_VALUE_LIMIT));
    CHECK_INT(3 + 250 + 11 + 51 * 2 + 10 + 1 + 3 * 11 + 4 * 20 + 31 + 2, pel_buffer_length(&buffer));
    pel_buffer_free(&buffer);
    CHECK_INT(0, pel_memcached_write_set(&buffer, &command, "x", 1));
    pel_buffer_free(&buffer);
}

/* A memcached process that listens on a socket in a folder of its own. */
struct server {
    char folder[64], path[80];
    pid_t pid;
    int socket;
};

static void stop_server(struct server *server)
{
    if (server->socket >= 0)
        close(server->socket);
    kill(server->pid, SIGKILL);
    waitpid(server->pid, NULL, 0);
    unlink(server->path);
    rmdir(server->folder);
}

/* Returns 0 if memcached is not installed. */
static int start_server(struct server *server)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    strcpy(server->folder, "/tmp/pelton_writer_XXXXXX");
    CHECK(mkdtemp(server->folder));
    snprintf(server->path, sizeof(server->path), "%s/socket", server->folder);
    strcpy(address.sun_path, server->path);
    server->socket = -1;
    server->pid = fork();
    if (server->pid == 0) {
        execlp("memcached", "memcached", "-u", "root", "-s", server->path, (char *)NULL);
        _exit(127);
    }
    /* Waits until it listens or has exited; the harness bounds the wait. */
    while (waitpid(server->pid, NULL, WNOHANG) == 0) {
        server->socket = socket(AF_UNIX, SOCK_STREAM, 0);
        if (connect(server->socket, (struct sockaddr *)&address, sizeof(address)) == 0)
            return 1;
        close(server->socket);
        server->socket = -1;
        poll(NULL, 0, 10);
    }
    rmdir(server->folder);
    return 0;
}

/* Sends `buffer` and a noop, and collects the kinds and values of the replies up to the noop's: "HD VA=abc EN ". */
static void send_commands(struct server *server, char *replies, size_t size)
{
    static struct pel_memcached_parser parser;
    struct pel_memcached_reply reply = {.kind = PEL_MEMCACHED_HD};
    static char bytes[4096];
    size_t length = 0, start = 0, consumed, used = 0;
    int code;

    pel_memcached_parser_init(&parser);
    if (pel_buffer_append(&buffer, "mn\r\n", 4) < 0 ||
        write(server->socket, pel_buffer_head(&buffer), pel_buffer_length(&buffer)) !=
            (ssize_t)pel_buffer_length(&buffer))
        return;
    pel_buffer_free(&buffer);
    while (reply.kind != PEL_MEMCACHED_MN) {
        code = pel_memcached_parse(&parser, bytes + start, length - start, &consumed, &reply);
        start += consumed;
        if (code < 0)
            break;
        if (code == 0) {
            ssize_t count = read(server->socket, bytes, sizeof(bytes));
            if (count <= 0)
                break;
            start = 0;
            length = (size_t)count;
            continue;
        }
        used += (size_t)snprintf(replies + used, size - used, "%s", pel_memcached_kind_name(reply.kind));
        if (reply.kind == PEL_MEMCACHED_VA)
            used += (size_t)snprintf(replies + used, size - used, "=%.*s", (int)reply.value.length, reply.value.bytes);
        else if (reply.kind == PEL_MEMCACHED_CLIENT_ERROR)
            used += (size_t)snprintf(replies + used, size - used, "(%.*s)", (int)reply.text.length, reply.text.bytes);
        used += (size_t)snprintf(replies + used, size - used, " ");
    }
}

TEST(memcached_understands_every_command)
{
    static const char binary[] = "\0\r\n \xff";
    static char replies[2000];
    char longest[186];
    struct server server;

    if (!start_server(&server))
        SKIP("memcached is not installed");
    memset(longest, 0xfe, sizeof(longest));
    pel_memcached_write_get(&buffer, KEY(.flags = F('v') | F('f')));
    pel_memcached_write_set(&buffer, KEY(.flags = F('M'), .mode = 'R'), "x", 1);
    pel_memcached_write_set(&buffer,
                            KEY(.flags = F('F') | F('T') | F('M') | F('c'), .client_flags = 3, .ttl = 100, .mode = 'E'),
                            "hello", 5);
    pel_memcached_write_set(&buffer, KEY(.flags = F('M'), .mode = 'A'), "!", 1);
    pel_memcached_write_set(&buffer, KEY(.flags = F('M'), .mode = 'P'), ">", 1);
    pel_memcached_write_get(&buffer, KEY(.flags = F('v') | F('f') | F('c') | F('t') | F('k') | F('s') | F('h') |
                                                  F('l') | F('u') | F('T') | F('O'),
                                         .ttl = -1, .opaque = SLICE(TEN TEN TEN "1")));
    pel_memcached_write_get(&buffer, KEY(.flags = F('v') | F('N'), .vivify_ttl = 30));
    pel_memcached_write_set(&buffer, KEY(.flags = F('C'), .cas = UINT64_MAX), "x", 1);
    pel_memcached_write_set_head(&buffer, COMMAND(.key = SLICE("n")), 2);
    pel_buffer_append(&buffer, "40\r\n", 4);
    pel_memcached_write_arithmetic(&buffer, COMMAND(.key = SLICE("n"), .flags = F('v') | F('D'), .delta = 2));
    pel_memcached_write_arithmetic(&buffer, COMMAND(.key = SLICE("n"), .flags = F('v') | F('M'), .mode = 'D'));
    pel_memcached_write_arithmetic(&buffer, COMMAND(.key = SLICE("new"), .flags = F('v') | F('N') | F('J'),
                                                    .vivify_ttl = 9, .initial = UINT64_MAX));
    pel_memcached_write_delete(&buffer, COMMAND(.key = SLICE("n"), .flags = F('I') | F('T'), .ttl = 30));
    pel_memcached_write_delete(&buffer, COMMAND(.key = SLICE("n"), .flags = F('q')));
    pel_memcached_write_delete(&buffer, COMMAND(.key = SLICE("n")));
    pel_memcached_write_set(&buffer, COMMAND(.key = {binary, 5}, .flags = F('b')), "bin", 3);
    pel_memcached_write_get(&buffer, COMMAND(.key = {binary, 5}, .flags = F('b') | F('v')));
    pel_memcached_write_set(&buffer, COMMAND(.key = {longest, 186}, .flags = F('b')), "long", 4);
    pel_memcached_write_get(&buffer, COMMAND(.key = {longest, 186}, .flags = F('b') | F('v')));
    pel_memcached_write_set(&buffer, COMMAND(.key = SLICE(FIFTY FIFTY FIFTY FIFTY FIFTY)), "x", 1);
    pel_memcached_write_version(&buffer);
    pel_memcached_write_stats(&buffer, (struct pel_slice)SLICE("reset"));
    pel_memcached_write_flush_all(&buffer, 0);
    pel_memcached_write_flush_all(&buffer, 100);

    send_commands(&server, replies, sizeof(replies));
    stop_server(&server);
    CHECK_STRING("EN NS HD HD HD VA=>hello! VA= EX HD VA=42 VA=41 VA=18446744073709551615 HD NF HD VA=bin HD VA=long "
                 "HD VERSION RESET OK OK MN ",
                 replies);
}
