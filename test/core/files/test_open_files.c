#include "core/files/open_files.h"
#include <errno.h>
#include "core/files/file_request.h"
#include "temporary_folder.h"

#define SECOND PEL_OPEN_FILES_RECHECK

static struct pel_open_files *files;
static int64_t now;

static void begin(void)
{
    make_folder();
    files = pel_open_files_new(public);
    CHECK(files);
    now = 5 * SECOND;
}

static void end(void)
{
    pel_open_files_release(files);
    remove_folder();
}

#define FILES_TEST(title) TEST_BETWEEN(begin(), title, end())

static struct pel_open_file *find(const char *name)
{
    return pel_open_files_find(files, name, strlen(name), now);
}

#define CHECK_CONTENT(expected, name)                                                                                  \
    do {                                                                                                               \
        struct pel_open_file *check_file = find(name);                                                                 \
        CHECK(check_file);                                                                                             \
        CHECK_BYTES(expected, check_file->bytes, check_file->size);                                                    \
        pel_open_file_release(check_file);                                                                             \
    } while (0)

/* A file of so many bytes, without any content. */
static void write_large(const char *name, off_t size)
{
    write_file(name, "", 60);
    CHECK_INT(0, truncate(path_of(name), size));
}

FILES_TEST(a_small_file_is_kept_as_bytes)
{
    struct pel_open_file *file;

    write_file("a.css", "abc", 60);
    file = find("a.css");
    CHECK(file);
    CHECK_INT(-1, file->fd);
    CHECK_BYTES("abc", file->bytes, file->size);
    CHECK_BYTES("text/css; charset=utf-8", file->type.bytes, file->type.length);
    CHECK_INT('"', file->tag[0]);
    CHECK_INT(1, files->count);
    CHECK_INT(3, files->bytes);
    pel_open_file_release(file);
}

FILES_TEST(an_empty_file_has_no_bytes)
{
    write_file("a", "", 60);
    CHECK_CONTENT("", "a");
}

FILES_TEST(a_large_file_is_kept_open)
{
    struct pel_open_file *file;

    write_large("a", PEL_OPEN_FILE_SMALL + 1);
    file = find("a");
    CHECK(file);
    CHECK(file->fd >= 0);
    CHECK_INT(1, files->descriptors);
    CHECK_INT(0, files->bytes);
    pel_open_file_release(file);
}

FILES_TEST(what_is_not_there_is_not_kept)
{
    CHECK(!find("a"));
    CHECK_INT(ENOENT, errno);
    CHECK_INT(0, files->count);
}

FILES_TEST(a_change_is_seen_a_second_later)
{
    write_file("a", "one", 60);
    CHECK_CONTENT("one", "a");
    write_file("a", "three", 30);
    now += SECOND - 1;
    CHECK_CONTENT("one", "a");
    now += 1;
    CHECK_CONTENT("three", "a");
    CHECK_INT(1, files->count);
}

FILES_TEST(a_file_that_is_gone_is_forgotten)
{
    write_file("a", "one", 60);
    CHECK_CONTENT("one", "a");
    CHECK_INT(0, unlink(path_of("a")));
    now += SECOND;
    CHECK(!find("a"));
    CHECK_INT(0, files->count);
}

FILES_TEST(a_file_that_stays_the_same_is_kept)
{
    struct pel_open_file *one, *other;

    write_file("a", "one", 60);
    one = find("a");
    now += SECOND;
    other = find("a");
    CHECK_POINTER(one, other);
    pel_open_file_release(one);
    pel_open_file_release(other);
}

/* Its next version may have the same time and size. */
FILES_TEST(a_file_that_was_changed_just_now_is_read_again)
{
    struct pel_open_file *file;

    write_file("a", "one", 0);
    file = find("a");
    CHECK_INT('W', file->tag[0]);
    pel_open_file_release(file);
    write_file("a", "two", 0);
    now += SECOND;
    CHECK_CONTENT("two", "a");
}

FILES_TEST(a_file_that_is_held_outlives_its_entry_and_the_table)
{
    struct pel_open_file *file;

    write_file("a", "one", 60);
    file = find("a");
    pel_open_files_release(files);
    CHECK_BYTES("one", file->bytes, file->size);
    pel_open_file_release(file);
    files = pel_open_files_new(public);
}

FILES_TEST(compressed_forms_are_noted)
{
    struct pel_open_file *file;

    write_file("a", "one", 60);
    write_file("a.br", "b", 60);
    write_file("a.gz", "g", 60);
    file = find("a");
    CHECK_INT(PEL_FILE_BROTLI | PEL_FILE_GZIP, file->siblings);
    pel_open_file_release(file);
    CHECK_INT(0, unlink(path_of("a.br")));
    now += SECOND;
    file = find("a");
    CHECK_INT(PEL_FILE_GZIP, file->siblings);
    pel_open_file_release(file);
}

FILES_TEST(dropping_closes_what_nobody_holds)
{
    struct pel_open_file *held;

    write_large("a", PEL_OPEN_FILE_SMALL + 1);
    write_large("b", PEL_OPEN_FILE_SMALL + 1);
    write_file("c", "c", 60);
    held = find("a");
    pel_open_file_release(find("b"));
    CHECK_CONTENT("c", "c");
    CHECK_INT(1, pel_open_files_drop(files));
    CHECK_INT(0, files->count);
    CHECK_INT(0, files->descriptors);
    CHECK_INT(0, files->bytes);
    CHECK(fcntl(held->fd, F_GETFD) >= 0);
    pel_open_file_release(held);
}

static void find_many(unsigned count, off_t size)
{
    char name[16];

    for (unsigned i = 0; i < count; i++) {
        struct pel_open_file *file;
        snprintf(name, sizeof name, "f%u", i);
        write_large(name, size);
        file = find(name);
        CHECK(file);
        pel_open_file_release(file);
    }
}

FILES_TEST(the_number_of_descriptors_is_bounded)
{
    find_many(PEL_OPEN_FILES_DESCRIPTORS + 10, PEL_OPEN_FILE_SMALL + 1);
    CHECK_INT(PEL_OPEN_FILES_DESCRIPTORS, files->descriptors);
}

FILES_TEST(the_number_of_files_is_bounded)
{
    find_many(PEL_OPEN_FILES_MOST + 10, 1);
    CHECK_INT(PEL_OPEN_FILES_MOST, files->count);
}

FILES_TEST(the_number_of_bytes_is_bounded)
{
    find_many(PEL_OPEN_FILES_BYTES / PEL_OPEN_FILE_SMALL + 10, PEL_OPEN_FILE_SMALL);
    CHECK_INT(PEL_OPEN_FILES_BYTES, files->bytes);
}

/* A file that is asked for again and again stays, whatever else is asked for once. */
FILES_TEST(a_file_that_is_used_is_spared)
{
    struct pel_open_file *one, *other;
    char name[16];

    write_file("used", "u", 60);
    one = find("used");
    for (unsigned i = 0; i < 2 * PEL_OPEN_FILES_MOST; i++) {
        snprintf(name, sizeof name, "f%u", i);
        write_file(name, "x", 60);
        CHECK_CONTENT("x", name);
        CHECK_CONTENT("u", "used");
    }
    other = find("used");
    CHECK_POINTER(one, other);
    pel_open_file_release(one);
    pel_open_file_release(other);
}

TEST(a_folder_that_is_missing_has_no_files)
{
    CHECK(!pel_open_files_new("/nowhere/at/all"));
    CHECK_INT(ENOENT, errno);
}
