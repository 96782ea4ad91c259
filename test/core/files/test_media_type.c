#include "core/files/media_type.h"
#include "check.h"

static const char *type(const char *name)
{
    return pel_media_type((struct pel_slice){name, strlen(name)}).bytes;
}

static int fingerprinted(const char *name)
{
    return pel_fingerprinted_p((struct pel_slice){name, strlen(name)});
}

TEST(an_ending_has_its_type)
{
    CHECK_STRING("text/css; charset=utf-8", type("app.css"));
    CHECK_STRING("text/javascript; charset=utf-8", type("a.b/app.min.JS"));
    CHECK_STRING("application/json", type("app.js.map"));
    CHECK_STRING("image/x-icon", type("favicon.ico"));
    CHECK_STRING("application/manifest+json", type("site.webmanifest"));
    CHECK_STRING("font/woff2", type("a.woff2"));
}

/* The table is searched by bisection: each entry must be found. */
TEST(the_first_and_the_last_types_are_found)
{
    CHECK_STRING("application/x-7z-compressed", type("a.7z"));
    CHECK_STRING("application/zstd", type("a.zst"));
    CHECK_STRING("application/zip", type("a.zip"));
    CHECK_STRING("audio/aac", type("a.aac"));
    CHECK_STRING("image/webp", type("a.webp"));
}

TEST(others_are_bytes)
{
    CHECK_STRING("application/octet-stream", type("LICENSE"));
    CHECK_STRING("application/octet-stream", type("a."));
    CHECK_STRING("application/octet-stream", type("css"));
    CHECK_STRING("application/octet-stream", type(".css"));
    CHECK_STRING("application/octet-stream", type("a.css/b"));
    CHECK_STRING("application/octet-stream", type("a.webmanifestwebmanifest"));
}

TEST(a_digest_in_the_name_is_found)
{
    CHECK(fingerprinted("app-0123abcd.js"));
    CHECK(fingerprinted("assets/app-0123abcd.js.map"));
    CHECK(fingerprinted("app.0123abcd.css"));
    CHECK(fingerprinted("a-b-908e25f4bf641868d8683022a5b62f54bf641868d8683022a5b62f54908e25f4.css"));
    CHECK(fingerprinted("app-0123abcd.digested.js"));
}

TEST(words_dates_and_short_digits_are_no_digest)
{
    CHECK(!fingerprinted("app.js"));
    CHECK(!fingerprinted("app-0123abc.js"));
    CHECK(!fingerprinted("report-20240131.pdf"));
    CHECK(!fingerprinted("house-effacade.html"));
    CHECK(!fingerprinted("app-0123ABCD.js"));
    CHECK(!fingerprinted("app-0123abcdx.js"));
    CHECK(!fingerprinted("app0123abcd.js"));
    CHECK(!fingerprinted("0123abcd.js"));
    CHECK(!fingerprinted("app-0123abcd"));
    CHECK(!fingerprinted("app-0123abcd."));
    CHECK(!fingerprinted("app-0123abcd.d/app.js"));
}
