#include "core/http1/caching.h"

#include "check.h"

static struct pel_http1_head head;
static int hides;
static struct pel_http1_stale stale;

static void parse(enum pel_http1_kind kind, const char *text)
{
    static char bytes[5000];
    enum pel_http1_fault fault;
    size_t length = strlen(text), line;

    memcpy(bytes, text, length);
    if (pel_http1_parse_head(kind, &pel_http1_default_limits, bytes, length, &head, &line, &fault) != (ssize_t)length)
        CHECK_FAIL("not parsed: %s", text);
}

static size_t key_of(const char *line, const char *headers, char *key)
{
    char text[5000];

    snprintf(text, sizeof text, "%s\r\nHost: a\r\n%s\r\n", line, headers);
    parse(PEL_HTTP1_REQUEST, text);
    return pel_http1_cache_key(&head, 0, key, &hides);
}

static uint32_t lifetime_of(const char *headers)
{
    char text[2048];

    snprintf(text, sizeof text, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n%s\r\n", headers);
    parse(PEL_HTTP1_RESPONSE, text);
    return pel_http1_cache_lifetime(&head, &stale);
}

#define NO_HEADERS "\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n" /* the parts of those that are not there */

TEST(the_key_has_what_the_response_may_depend_on)
{
    char key[PEL_HTTP1_CACHE_KEY];
    size_t length;

    CHECK_BYTES("\n=a\n=/b?c\n" NO_HEADERS, key, key_of("GET /b?c HTTP/1.1", "", key));
    CHECK_BYTES("\n=a\n=/b\n\n=gzip, br\n\n\n\n\n\n=https\n\n\n\n\n\n\n\n\n\n\n\n", key,
                key_of("GET /b HTTP/1.1", "accept-encoding: gzip, br\r\nX-Forwarded-Proto: https\r\n", key));
    CHECK_BYTES("\n=a\n=/b\n=\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n", key,
                key_of("GET /b HTTP/1.1", "Accept:\r\n", key));
    CHECK_INT(0, hides);
    CHECK_BYTES("\n=a\n=/b\n" NO_HEADERS, key,
                key_of("HEAD /b HTTP/1.1", "User-Agent: x\r\nConnection: close , Keep-Alive,TE\r\n", key));
    CHECK_INT(1, hides);
    length = key_of("GET /b HTTP/1.1", "", key);
    CHECK_INT((int)length + 2, pel_http1_cache_key(&head, 1, key, &hides));
    CHECK_BYTES("=s\n=a\n=/b\n" NO_HEADERS, key, length + 2);
}

TEST(how_long_a_stale_response_may_be_given_out)
{
    CHECK_INT(1, lifetime_of("Cache-Control: public, max-age=1\r\n"));
    CHECK_INT(0, stale.while_revalidate);
    CHECK_INT(0, stale.if_error);
    CHECK_INT(1, lifetime_of("Cache-Control: public, s-maxage=1, stale-while-revalidate=20\r\n"
                             "Cache-Control: Stale-If-Error=\"30\"\r\n"));
    CHECK_INT(20, stale.while_revalidate);
    CHECK_INT(30, stale.if_error);
    CHECK_INT(1, lifetime_of("Cache-Control: public, max-age=1, stale-while-revalidate=20, must-revalidate\r\n"));
    CHECK_INT(0, stale.while_revalidate);
    CHECK_INT(1, lifetime_of("Cache-Control: public, max-age=1, stale-if-error=20, proxy-revalidate\r\n"));
    CHECK_INT(0, stale.if_error);
    CHECK_INT(0, lifetime_of("Cache-Control: public, max-age=1, stale-while-revalidate=x\r\n"));
    CHECK_INT(0, lifetime_of("Cache-Control: public, max-age=1, stale-if-error=1, stale-if-error=2\r\n"));
}

static int matches(const char *target, const char *pattern)
{
    char key[PEL_HTTP1_CACHE_KEY], line[100];
    size_t length;

    snprintf(line, sizeof line, "GET %s HTTP/1.1", target);
    length = key_of(line, "Accept: a\r\n", key);
    return pel_http1_cache_key_matches((struct pel_slice){key, length}, (struct pel_slice){pattern, strlen(pattern)});
}

TEST(keys_of_a_path)
{
    CHECK_INT(1, matches("/a", "/a"));
    CHECK_INT(1, matches("/a?b", "/a"));
    CHECK_INT(0, matches("/ab", "/a"));
    CHECK_INT(0, matches("/a/b", "/a"));
    CHECK_INT(0, matches("/", "/a"));
    CHECK_INT(1, matches("/a?b", "/a?b"));
    CHECK_INT(0, matches("/a?c", "/a?b"));
    CHECK_INT(0, matches("/a", "/a?b"));
    CHECK_INT(1, matches("/a/b", "/a/*"));
    CHECK_INT(0, matches("/a", "/a/*"));
    CHECK_INT(1, matches("/a*", "/a*"));
    CHECK_INT(1, matches("/", "/*"));
    CHECK_INT(1, matches("/", "*"));
    CHECK_INT(0, matches("/", ""));
}

TEST(what_is_hidden_and_what_is_dropped)
{
    CHECK(pel_http1_cache_hides((struct pel_slice){"X-Forwarded-For", 15}));
    CHECK(!pel_http1_cache_hides((struct pel_slice){"x-forwarded-foo", 15}));
    CHECK(!pel_http1_cache_hides((struct pel_slice){"accept", 6}));
    CHECK(pel_http1_cache_drops(PEL_SLICE("X-Request-ID"), PEL_SLICE("a")));
    CHECK(!pel_http1_cache_drops(PEL_SLICE("etag"), PEL_SLICE("a")));
    CHECK(pel_http1_cache_drops(PEL_SLICE("Connection"), PEL_SLICE("close")));
    CHECK(!pel_http1_cache_drops(PEL_SLICE("connection"), PEL_SLICE("close, x-own")));
}

TEST(requests_that_do_not_go_through_the_cache)
{
    static const char *const lines[] = {"POST /b HTTP/1.1", "get /b HTTP/1.1",    "GET http://a/b HTTP/1.1",
                                        "GET /b HTTP/1.0",  "OPTIONS * HTTP/1.1", "PURGE /b HTTP/1.1"};
    static const char *const headers[] = {
        "Cookie: a=b",
        "Authorization: x",
        "Range: bytes=0-1",
        "Cache-Control: no-cache",
        "Pragma: no-cache",
        "Origin: http://b",
        "Forwarded: host=evil",
        "X-Original-URL: /",
        "X-Rewrite-URL: /",
        "X-HTTP-Method-Override: POST",
        "X-Host: evil",
        "If-Match: \"a\"",
        "If-Range: \"a\"",
        "If-Unmodified-Since: x",
        "Transfer-Encoding: chunked",
        "Content-Length: 1",
        "Content-Type: a",
        "X-Unknown: x",
        "Expect: 100-continue",
        "Connection: close, x",
        "Connection: upgrade\r\nUpgrade: websocket",
        "Accept-Encoding: a\r\nAccept-Encoding: b",
        "X-Forwarded-Proto: http\r\nX-Forwarded-Proto: https",
        "Accept-Charset: x",
        "Proxy-Authorization: x",
    };
    char key[PEL_HTTP1_CACHE_KEY], text[400];

    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        CHECK_INT(0, key_of(lines[i], "", key));
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        snprintf(text, sizeof text, "%s\r\n", headers[i]);
        if (key_of("GET /b HTTP/1.1", text, key))
            CHECK_FAIL("goes through: %s", headers[i]);
    }
}

TEST(keys_of_any_length)
{
    static char key[PEL_HTTP1_CACHE_KEY + 1], line[4300], path[4200];
    int rest = 6 + 19; /* of what stands round the target */

    memset(path, 'x', sizeof path);
    key[PEL_HTTP1_CACHE_KEY] = 'e';
    for (int length = 1; length <= 4200; length++) {
        snprintf(line, sizeof line, "GET /%.*s HTTP/1.1", length - 1, path);
        CHECK_INT(length + rest <= PEL_HTTP1_CACHE_KEY ? length + rest : 0, key_of(line, "", key));
    }
    CHECK_INT('e', key[PEL_HTTP1_CACHE_KEY]);
}

TEST(how_long_a_response_is_fresh)
{
    CHECK_INT(60, lifetime_of("Cache-Control: public, max-age=60\r\n"));
    CHECK_INT(60, lifetime_of("cache-control: PUBLIC\r\ncache-control: Max-Age=\"60\" , immutable\r\n"));
    CHECK_INT(7, lifetime_of("Cache-Control: public, max-age=60, s-maxage=7\r\n"));
    CHECK_INT(0, lifetime_of("Cache-Control: public, max-age=60, s-maxage=0\r\n"));
    CHECK_INT(365 * 86400, lifetime_of("Cache-Control: public, max-age=99999999999999999999999\r\n"));
    CHECK_INT(5, lifetime_of("Cache-Control: public, max-age=5\r\nVary: Accept-Encoding\r\n"));
    CHECK_INT(5, lifetime_of("Cache-Control: public, x=\"private, y\", max-age=5, , must-revalidate\r\nVary: ,\r\n"));
}

TEST(responses_that_are_not_kept)
{
    static const char *const headers[] = {
        "X: y",
        "Cache-Control: public",
        "Cache-Control: max-age=60",
        "Cache-Control: public, max-age=0",
        "Cache-Control: public, max-age=",
        "Cache-Control: public, max-age",
        "Cache-Control: public, max-age=-1",
        "Cache-Control: public, max-age=1.5",
        "Cache-Control: public, max-age=60x",
        "Cache-Control: public, max-age=60, max-age=60",
        "Cache-Control: public, max-age=60, private",
        "Cache-Control: public, max-age=60, private=\"x\"",
        "Cache-Control: public, max-age=60\r\nCache-Control: no-store",
        "Cache-Control: public, max-age=60, no-cache=\"set-cookie\"",
        "Cache-Control: public, max-age=60, No-Cache",
        "Cache-Control: \"public, max-age=60\"",
        "Cache-Control: publicity, max-age=60",
        "Cache-Control: public, max-age=60\r\nSet-Cookie: a=b",
        "Cache-Control: public, max-age=60\r\nVary: *",
        "Cache-Control: public, max-age=60\r\nVary: Cookie",
        "Cache-Control: public, max-age=60\r\nVary: Accept-Encoding\r\nVary: Origin",
        "Cache-Control: public, max-age=60\r\nAge: 1",
        "Cache-Control: public, max-age=60\r\nConnection: close",
        "Cache-Control: public, max-age=60\r\nContent-Range: bytes 0-2/3",
        "Expires: Fri, 01 Jan 2100 00:00:00 GMT",
    };
    char text[400];

    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        snprintf(text, sizeof text, "%s\r\n", headers[i]);
        if (lifetime_of(text))
            CHECK_FAIL("kept: %s", headers[i]);
    }
    parse(PEL_HTTP1_RESPONSE, "HTTP/1.1 404 x\r\nContent-Length: 1\r\nCache-Control: public, max-age=60\r\n\r\n");
    CHECK_INT(0, pel_http1_cache_lifetime(&head, &stale));
    parse(PEL_HTTP1_RESPONSE, "HTTP/1.1 206 x\r\nContent-Length: 1\r\nCache-Control: public, max-age=60\r\n\r\n");
    CHECK_INT(0, pel_http1_cache_lifetime(&head, &stale));
    parse(PEL_HTTP1_RESPONSE,
          "HTTP/1.1 200 x\r\nTransfer-Encoding: chunked\r\nCache-Control: public, max-age=60\r\n\r\n");
    CHECK_INT(0, pel_http1_cache_lifetime(&head, &stale));
}

static int not_modified(const char *headers, const char *tag, const char *date)
{
    char key[PEL_HTTP1_CACHE_KEY];

    key_of("GET / HTTP/1.1", headers, key);
    return pel_http1_not_modified(&head, (struct pel_slice){tag, strlen(tag)}, (struct pel_slice){date, strlen(date)});
}

TEST(conditions)
{
    CHECK_INT(1, not_modified("If-None-Match: \"a\"\r\n", "\"a\"", ""));
    CHECK_INT(1, not_modified("If-None-Match: W/\"a\"\r\n", "\"a\"", ""));
    CHECK_INT(1, not_modified("If-None-Match: \"b,\" , \"a\"\r\n", "W/\"a\"", ""));
    CHECK_INT(1, not_modified("If-None-Match: *\r\n", "\"a\"", ""));
    CHECK_INT(0, not_modified("If-None-Match: \"b\"\r\n", "\"a\"", ""));
    CHECK_INT(0, not_modified("If-None-Match: \r\n", "", ""));
    CHECK_INT(0, not_modified("", "\"a\"", "x"));
    CHECK_INT(1, not_modified("If-Modified-Since: Mon\r\n", "\"a\"", "Mon"));
    CHECK_INT(0, not_modified("If-Modified-Since: Mon\r\n", "\"a\"", "Tue"));
    CHECK_INT(0, not_modified("If-Modified-Since: Mon\r\nIf-None-Match: \"b\"\r\n", "\"a\"", "Mon"));
    CHECK_INT(0, not_modified("If-Modified-Since: \r\n", "", ""));
    parse(PEL_HTTP1_REQUEST, "GET / HTTP/1.1\r\nIf-None-Match: \"a\"\r\nHost: a\r\n\r\n");
    CHECK_INT(1, pel_http1_not_modified(&head, PEL_SLICE("\"a\""), PEL_SLICE("")));
}
