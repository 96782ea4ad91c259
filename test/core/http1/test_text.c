#include "check.h"
#include "core/http1/text.h"

static int has(const char *list, const char *token)
{
    return pel_http1_has_token((struct pel_slice){list, strlen(list)}, token);
}

TEST(a_list_is_searched_for_a_token)
{
    CHECK(has("close", "close"));
    CHECK(has(" a ,\tClose, b", "close"));
    CHECK(!has("closed, not-close", "close"));
    CHECK(!has("", "close"));
    CHECK(!has(",,", "close"));
}

/* RFC 9110, 5.6.2. */
TEST(every_byte_belongs_to_its_classes)
{
    for (int byte = 0; byte < 256; byte++) {
        char c = (char)byte;
        int token = byte && byte < 127 &&
                    (strchr("!#$%&'*+-.^_`|~", byte) || (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
                     (byte >= 'A' && byte <= 'Z'));
        int value = byte == '\t' || (byte >= ' ' && byte != 127);
        int target = byte > ' ' && byte < 127 && byte != '#';
        CHECK_INT(token, pel_http1_all(&c, 1, PEL_HTTP1_TOKEN));
        CHECK_INT(value, pel_http1_all(&c, 1, PEL_HTTP1_VALUE));
        CHECK_INT(target, pel_http1_all(&c, 1, PEL_HTTP1_TARGET_BYTE));
    }
    CHECK(!pel_http1_all("ab c", 4, PEL_HTTP1_TOKEN));
    CHECK(pel_http1_all("", 0, PEL_HTTP1_TOKEN));
}

TEST(spaces_and_tabs_are_trimmed)
{
    static const char text[] = " \t a b\t ";
    struct pel_slice slice = pel_http1_trim(text, text + sizeof text - 1);

    CHECK_BYTES("a b", slice.bytes, slice.length);
    CHECK_INT(0, pel_http1_trim(text, text + 2).length);
}

static void check_extensions(int accepted, const char *const *texts)
{
    for (; *texts; texts++)
        if (!!pel_http1_chunk_extensions(*texts, strlen(*texts)) != accepted)
            CHECK_FAIL("%s: %s", accepted ? "refused" : "accepted", *texts);
}

#define ACCEPTED(...) check_extensions(1, (const char *const[]){__VA_ARGS__, NULL})
#define REFUSED(...) check_extensions(0, (const char *const[]){__VA_ARGS__, NULL})

/* RFC 9112, 7.1.1. */
TEST(chunk_extensions_are_accepted_or_refused)
{
    ACCEPTED("", ";a", ";a;b=c;d=\"e\"", ";a=\"\";b=\"\\\"\\\\\t \xe4;=,\"", " ;a", "; a", ";a =b", ";a=\t\"b\"",
             " ; a = b \t;\tc");
    REFUSED("a", ";", ";;a", ";a;", ";a=", ";=a", ";a=b=c", ";a=\"b", ";a=\"b\\\"", ";a=\"b\\", ";a=\"\\\x01\"",
            ";a=\"\r\"", ";a=\"b\"c", ";a=b\"c\"", ";a ", " ", "; ", ";a= ", ";a=\"b\" ", ";a b", ";\xe4");
    CHECK(!pel_http1_chunk_extensions(";a\0", 3));
}

static void check_host_name(const char *expected, const char *const *hosts)
{
    for (; *hosts; hosts++) {
        struct pel_slice name = pel_http1_host_name((struct pel_slice){*hosts, strlen(*hosts)});
        CHECK_BYTES(expected, name.bytes, name.length);
    }
}

#define HOST_NAME(expected, ...) check_host_name(expected, (const char *const[]){__VA_ARGS__, NULL})

TEST(the_name_in_a_host)
{
    HOST_NAME("a.example", "a.example", "a.example:443", "a.example:", "a.example.", "a.example.:80");
    HOST_NAME("1.2.3.4", "1.2.3.4", "1.2.3.4:80");
    HOST_NAME("[::1]", "[::1]:8080", "[::1]");
    HOST_NAME("a1", "a1");
    HOST_NAME("", "", ".", ":80");
}
