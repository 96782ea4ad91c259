#include "core/files/listing.h"
#include "temporary_folder.h"

#define SECOND ((int64_t)1000000000)

static struct pel_folder folder;
static struct pel_listing listing;
static struct pel_siphash_seed seed;
static int64_t now;

static void begin(void)
{
    make_folder();
    CHECK_INT(0, pel_folder_open(&folder, public));
    CHECK_INT(0, pel_siphash_seed(&seed));
    now = 5 * SECOND;
}

static void end(void)
{
    pel_listing_free(&listing);
    pel_folder_close(&folder);
    remove_folder();
}

#define LISTING_TEST(title) TEST_BETWEEN(begin(), title, end())

static int may_have(const char *name)
{
    return pel_listing_may_have(&listing, &folder, &seed, name, strlen(name), now);
}

LISTING_TEST(a_name_may_be_there_if_its_first_segment_is)
{
    write_file("a.css", "a", 60);
    CHECK_INT(0, mkdir(path_of("assets"), 0700));
    CHECK(may_have("a.css"));
    CHECK(may_have("assets"));
    CHECK(may_have("assets/whatever"));
    CHECK(!may_have("posts"));
    CHECK(!may_have("posts/1"));
    CHECK(!may_have("a.cs"));
}

LISTING_TEST(a_page_is_found_without_its_ending)
{
    char name[300];

    write_file("about.html", "a", 60);
    CHECK(may_have("about"));
    CHECK(!may_have("about/us"));
    memset(name, 'a', sizeof name);
    name[sizeof name - 1] = '\0';
    CHECK(!may_have(name));
}

LISTING_TEST(a_new_file_is_seen_a_second_later)
{
    CHECK(!may_have("a"));
    write_file("a", "a", 60);
    now += SECOND - 1;
    CHECK(!may_have("a"));
    now += 1;
    CHECK(may_have("a"));
}

LISTING_TEST(a_folder_that_has_settled_is_seen_to_change)
{
    struct timespec times[2] = {{.tv_sec = time(NULL) - 60}, {.tv_sec = time(NULL) - 60}};

    CHECK_INT(0, futimens(folder.fd, times));
    CHECK(!may_have("a"));
    CHECK(listing.settled);
    write_file("a", "a", 60);
    now += SECOND;
    CHECK(may_have("a"));
}

LISTING_TEST(of_too_many_names_any_may_be_there)
{
    char name[16];

    for (int i = 0; i < 300; i++) {
        snprintf(name, sizeof name, "f%d", i);
        write_file(name, "", 60);
    }
    CHECK(may_have("f299"));
    CHECK(!may_have("g"));
    for (int i = 300; i < PEL_LISTING_MOST + 10; i++) {
        snprintf(name, sizeof name, "f%d", i);
        write_file(name, "", 60);
    }
    now += SECOND;
    CHECK(may_have("g"));
}
