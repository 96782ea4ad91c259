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

#define EXTENSIONS(text) pel_http1_chunk_extensions(text, sizeof(text) - 1)

/* RFC 9112, 7.1.1. */
TEST(chunk_extensions_are_accepted_or_refused)
{
    CHECK(EXTENSIONS(""));
    CHECK(EXTENSIONS(";a"));
    CHECK(EXTENSIONS(";a;b=c;d=\"e\""));
    CHECK(EXTENSIONS(";a=\"\";b=\"\\\"\\\\\t \xe4;=,\""));
    CHECK(!EXTENSIONS("a"));
    CHECK(!EXTENSIONS(";"));
    CHECK(!EXTENSIONS(";;a"));
    CHECK(!EXTENSIONS(";a;"));
    CHECK(!EXTENSIONS(";a="));
    CHECK(!EXTENSIONS(";=a"));
    CHECK(!EXTENSIONS(";a=b=c"));
    CHECK(!EXTENSIONS(";a=\"b"));
    CHECK(!EXTENSIONS(";a=\"b\\\""));
    CHECK(!EXTENSIONS(";a=\"b\\"));
    CHECK(!EXTENSIONS(";a=\"\\\x01\""));
    CHECK(!EXTENSIONS(";a=\"\r\""));
    CHECK(!EXTENSIONS(";a=\"b\"c"));
    CHECK(!EXTENSIONS(";a=b\"c\""));
    CHECK(EXTENSIONS(" ;a"));
    CHECK(EXTENSIONS("; a"));
    CHECK(!EXTENSIONS(";a "));
    CHECK(EXTENSIONS(";a =b"));
    CHECK(EXTENSIONS(";a=\t\"b\""));
    CHECK(EXTENSIONS(" ; a = b \t;\tc"));
    CHECK(!EXTENSIONS(" "));
    CHECK(!EXTENSIONS("; "));
    CHECK(!EXTENSIONS(";a= "));
    CHECK(!EXTENSIONS(";a=\"b\" "));
    CHECK(!EXTENSIONS(";a b"));
    CHECK(!EXTENSIONS(";\xe4"));
    CHECK(!EXTENSIONS(";a\0"));
}

static const char *host_name(const char *host)
{
    static char name[50];
    struct pel_slice slice = pel_http1_host_name((struct pel_slice){host, strlen(host)});

    snprintf(name, sizeof name, "%.*s", (int)slice.length, slice.bytes);
    return name;
}

TEST(the_name_in_a_host)
{
    CHECK_STRING("a.example", host_name("a.example"));
    CHECK_STRING("a.example", host_name("a.example:443"));
    CHECK_STRING("a.example", host_name("a.example:"));
    CHECK_STRING("a.example", host_name("a.example."));
    CHECK_STRING("a.example", host_name("a.example.:80"));
    CHECK_STRING("1.2.3.4", host_name("1.2.3.4"));
    CHECK_STRING("1.2.3.4", host_name("1.2.3.4:80"));
    CHECK_STRING("[::1]", host_name("[::1]:8080"));
    CHECK_STRING("[::1]", host_name("[::1]"));
    CHECK_STRING("a1", host_name("a1"));
    CHECK_STRING("", host_name(""));
    CHECK_STRING("", host_name("."));
    CHECK_STRING("", host_name(":80"));
}
