#include "check.h"
#include "core/memcached/hash_ring.h"
#include "core/memcached/memcached_writer.h"

#define F(letter) PEL_MEMCACHED_FLAG(letter)
#define KEY(...) (&(struct pel_memcached_command){.key = {"key", 3}, __VA_ARGS__})

/* Checks the translation of the commands that the given calls write to `meta`. */
#define BECOMES(expected, ...)                                                                                         \
    do {                                                                                                               \
        struct pel_buffer meta = {0}, classic = {0}, keys = {0};                                                       \
        int codes[] = {__VA_ARGS__};                                                                                   \
        for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++)                                                    \
            CHECK_INT(0, codes[i]);                                                                                    \
        CHECK_INT(0, pel_memcached_translate(&classic, &keys, pel_buffer_head(&meta), pel_buffer_length(&meta)));      \
        CHECK_BYTES(expected, pel_buffer_head(&classic), pel_buffer_length(&classic));                                 \
        pel_buffer_free(&meta);                                                                                        \
        pel_buffer_free(&classic);                                                                                     \
        pel_buffer_free(&keys);                                                                                        \
    } while (0)

#define GET(...) pel_memcached_write_get(&meta, KEY(__VA_ARGS__))
#define SET(value, ...) pel_memcached_write_set(&meta, KEY(__VA_ARGS__), value, sizeof(value) - 1)
#define DELETE(...) pel_memcached_write_delete(&meta, KEY(__VA_ARGS__))
#define COUNT(...) pel_memcached_write_arithmetic(&meta, KEY(__VA_ARGS__))

TEST(reading_commands_are_translated)
{
    BECOMES("get key\r\n", GET(.flags = F('v')));
    BECOMES("get key\r\n", GET(.flags = F('v') | F('f')));
    BECOMES("gets key\r\n", GET(.flags = F('v') | F('c')));
    BECOMES("gets key\r\n", GET(.flags = F('v') | F('f') | F('c') | F('t') | F('R'), .recache_ttl = 30));
    BECOMES("touch key 60\r\n", GET(.flags = F('T'), .ttl = 60));
    BECOMES("touch key -1\r\n", GET(.flags = F('T'), .ttl = -1));
    BECOMES("gat 60 key\r\n", GET(.flags = F('T') | F('v') | F('f'), .ttl = 60));
    BECOMES("gats 0 key\r\n", GET(.flags = F('T') | F('v') | F('c'), .ttl = 0));
}

TEST(storing_commands_are_translated)
{
    BECOMES("set key 0 0 1\r\nx\r\n", SET("x", .flags = 0));
    BECOMES("set key 0 0 0\r\n\r\n", SET("", .flags = 0));
    BECOMES("set key 7 60 1\r\nx\r\n", SET("x", .flags = F('F') | F('T'), .client_flags = 7, .ttl = 60));
    BECOMES("add key 0 -1 1\r\nx\r\n", SET("x", .flags = F('M') | F('T'), .mode = 'E', .ttl = -1));
    BECOMES("replace key 0 0 1\r\nx\r\n", SET("x", .flags = F('M'), .mode = 'R'));
    BECOMES("append key 0 0 1\r\nx\r\n", SET("x", .flags = F('M'), .mode = 'A'));
    BECOMES("prepend key 0 0 1\r\nx\r\n", SET("x", .flags = F('M'), .mode = 'P'));
    BECOMES("cas key 1 60 2 99\r\nxy\r\n",
            SET("xy", .flags = F('C') | F('F') | F('T'), .cas = 99, .client_flags = 1, .ttl = 60));
}

TEST(a_value_is_never_read_as_a_command)
{
    BECOMES("set key 0 0 13\r\nmg a v\r\nmd b\r\r\nget key\r\n", SET("mg a v\r\nmd b\r", .flags = 0),
            GET(.flags = F('v')));
}

TEST(deleting_commands_are_translated)
{
    BECOMES("delete key\r\n", DELETE(.flags = 0));
    BECOMES("cas key 0 -1 0 5\r\n\r\n", DELETE(.flags = F('C'), .cas = 5));
}

TEST(arithmetic_commands_are_translated)
{
    BECOMES("incr key 1\r\n", COUNT(.flags = F('v') | F('M') | F('D'), .mode = 'I', .delta = 1));
    BECOMES("decr key 12\r\n", COUNT(.flags = F('v') | F('M') | F('D'), .mode = 'D', .delta = 12));
    BECOMES("add key 0 60 1\r\n5\r\nincr key 2\r\n", COUNT(.flags = F('v') | F('M') | F('D') | F('N') | F('J'),
                                                           .mode = 'I', .delta = 2, .initial = 7, .vivify_ttl = 60));
    BECOMES("add key 0 0 1\r\n9\r\ndecr key 2\r\n",
            COUNT(.flags = F('M') | F('D') | F('N') | F('J'), .mode = 'D', .delta = 2, .initial = 7));
    BECOMES("add key 0 0 20\r\n18446744073709551615\r\nincr key 1\r\n",
            COUNT(.flags = F('N') | F('J'), .mode = 'I', .delta = 1, .initial = 0));
    BECOMES("add key 0 0 20\r\n18446744073709551615\r\ndecr key 1\r\n",
            COUNT(.flags = F('M') | F('N') | F('J'), .mode = 'D', .delta = 1, .initial = UINT64_MAX));
}

TEST(classic_commands_are_copied)
{
    BECOMES("version\r\nflush_all 5\r\nstats items\r\ndelete key\r\n", pel_memcached_write_version(&meta),
            pel_memcached_write_flush_all(&meta, 5), pel_memcached_write_stats(&meta, (struct pel_slice){"items", 5}),
            DELETE(.flags = 0));
}

TEST(malformed_commands_are_refused)
{
    static const char *const wrong[] = {"mg key v",     "mg key v\n", "ms key 5\r\nab\r\n",
                                        "ms key 1\r\n", "mx key\r\n", "mg key \x7f\r\n"};
    struct pel_buffer classic = {0}, keys = {0};

    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        CHECK_INT(PEL_EARGUMENT, pel_memcached_translate(&classic, &keys, wrong[i], strlen(wrong[i])));
        pel_buffer_free(&classic);
        pel_buffer_free(&keys);
    }
    CHECK_INT(0, pel_memcached_translate(&classic, &keys, NULL, 0));
    pel_buffer_free(&classic);
}

TEST(the_keys_of_commands_that_read_a_value_are_hashed)
{
    static const char commands[] = "mg a v\r\nms b 1\r\nx\r\nmg c T5\r\nmg d T5 v\r\nmd e\r\n";
    const uint32_t expected[] = {pel_key_hash_fnv1a_32("a", 1), pel_key_hash_fnv1a_32("d", 1)};
    struct pel_buffer classic = {0}, keys = {0};

    CHECK_INT(0, pel_memcached_translate(&classic, &keys, commands, sizeof(commands) - 1));
    CHECK_INT(sizeof(expected), pel_buffer_length(&keys));
    CHECK(memcmp(expected, pel_buffer_head(&keys), sizeof(expected)) == 0);
    pel_buffer_free(&classic);
    pel_buffer_free(&keys);
}
