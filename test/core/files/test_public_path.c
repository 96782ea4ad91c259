#include "core/files/public_path.h"
#include "check.h"

static char name[PEL_PUBLIC_PATH];

static const char *decoded(const char *path)
{
    ssize_t length = pel_public_path((struct pel_slice){path, strlen(path)}, name);

    if (length < 0)
        return "refused";
    CHECK_INT(strlen(name), length);
    return name;
}

TEST(a_path_names_a_file_of_the_folder)
{
    CHECK_STRING("", decoded("/"));
    CHECK_STRING("app.css", decoded("/app.css"));
    CHECK_STRING("assets/app-1.css", decoded("/assets/app-1.css"));
    CHECK_STRING("docs", decoded("/docs/"));
    CHECK_STRING("a..b", decoded("/a..b"));
}

TEST(percent_encodings_are_decoded_once)
{
    CHECK_STRING("a b\xc3\xa4", decoded("/a%20b%c3%A4"));
    CHECK_STRING("a%2e", decoded("/a%252e"));
    CHECK_STRING("refused", decoded("/a%"));
    CHECK_STRING("refused", decoded("/a%4"));
    CHECK_STRING("refused", decoded("/a%4x"));
    CHECK_STRING("refused", decoded("/a%x4"));
}

TEST(no_path_leads_upwards)
{
    CHECK_STRING("refused", decoded("/.."));
    CHECK_STRING("refused", decoded("/../a"));
    CHECK_STRING("refused", decoded("/a/../b"));
    CHECK_STRING("refused", decoded("/a/.."));
    CHECK_STRING("refused", decoded("/%2e%2E/a"));
    CHECK_STRING("refused", decoded("/.%2e/a"));
    CHECK_STRING("refused", decoded("/..%2fa"));
    CHECK_STRING("refused", decoded("/a%2Fb"));
    CHECK_STRING("refused", decoded("/..%5ca"));
    CHECK_STRING("refused", decoded("/..\\a"));
    CHECK_STRING("refused", decoded("/./a"));
    CHECK_STRING("refused", decoded("a"));
    CHECK_STRING("refused", decoded(""));
}

TEST(hidden_files_are_not_looked_for_but_well_known_ones)
{
    CHECK_STRING("refused", decoded("/.env"));
    CHECK_STRING("refused", decoded("/a/.git/config"));
    CHECK_STRING("refused", decoded("/.well-known2/a"));
    CHECK_STRING("refused", decoded("/a/.well-known/b"));
    CHECK_STRING(".well-known/a", decoded("/.well-known/a"));
    CHECK_STRING("refused", decoded("/.well-known/.a"));
}

TEST(empty_segments_and_control_characters_are_refused)
{
    CHECK_STRING("refused", decoded("//"));
    CHECK_STRING("refused", decoded("//a"));
    CHECK_STRING("refused", decoded("/a//b"));
    CHECK_STRING("refused", decoded("/a//"));
    CHECK_STRING("refused", decoded("/a%00.css"));
    CHECK_STRING("refused", decoded("/a%0a"));
    CHECK_STRING("refused", decoded("/a%7f"));
}

TEST(a_path_may_be_as_long_as_the_buffer)
{
    char path[PEL_PUBLIC_PATH + 2];

    memset(path, 'a', sizeof path);
    path[0] = '/';
    CHECK_INT(PEL_PUBLIC_PATH - 1, pel_public_path((struct pel_slice){path, PEL_PUBLIC_PATH}, name));
    CHECK_INT(PEL_EARGUMENT, pel_public_path((struct pel_slice){path, PEL_PUBLIC_PATH + 1}, name));
}
