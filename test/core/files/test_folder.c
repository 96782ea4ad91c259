#include "core/files/folder.h"
#include <errno.h>
#include <string.h>
#include "temporary_folder.h"

static struct pel_folder folder;

static void begin(void)
{
    make_folder();
    CHECK_INT(0, pel_folder_open(&folder, public));
}

static void end(void)
{
    pel_folder_close(&folder);
    remove_folder();
}

#define FOLDER_TEST(title) TEST_BETWEEN(begin(), title, end())

/* 0: the file is open; or errno. */
static int try_open(const char *name)
{
    struct stat facts;
    int fd = pel_folder_open_file(&folder, name, &facts);

    if (fd < 0)
        return errno;
    CHECK(S_ISREG(facts.st_mode));
    close(fd);
    return 0;
}

FOLDER_TEST(a_regular_file_is_opened)
{
    write_file("a", "abc", 60);
    CHECK_INT(0, try_open("a"));
    CHECK_INT(ENOENT, try_open("b"));
}

FOLDER_TEST(folders_pipes_and_devices_are_not)
{
    CHECK_INT(0, mkdir(path_of("folder"), 0700));
    CHECK_INT(0, mkfifo(path_of("pipe"), 0600));
    CHECK_INT(0, symlink("/dev/zero", path_of("zero")));
    CHECK_INT(EISDIR, try_open("folder"));
    CHECK_INT(ENXIO, try_open("pipe"));
    CHECK_INT(EXDEV, try_open("zero"));
}

FOLDER_TEST(links_are_followed_within_the_folder)
{
    write_file("a", "abc", 60);
    CHECK_INT(0, mkdir(path_of("folder"), 0700));
    CHECK_INT(0, symlink("a", path_of("near")));
    CHECK_INT(0, symlink("../a", path_of("folder/up")));
    CHECK_INT(0, try_open("near"));
    CHECK_INT(0, try_open("folder/up"));
}

FOLDER_TEST(nothing_leads_out)
{
    char secret[128];

    snprintf(secret, sizeof secret, "%s/secret", parent);
    CHECK_INT(0, symlink("../secret", path_of("out")));
    CHECK_INT(0, symlink("..", path_of("above")));
    CHECK_INT(0, symlink(secret, path_of("whole")));
    CHECK_INT(EXDEV, try_open("out"));
    CHECK_INT(EXDEV, try_open("above/secret"));
    CHECK_INT(EXDEV, try_open("whole"));
    CHECK_INT(EXDEV, try_open("../secret"));
}

/* /tmp/x/public2 begins as /tmp/x/public does. */
FOLDER_TEST(a_neighbour_with_a_longer_name_is_outside)
{
    char neighbour[160];

    snprintf(neighbour, sizeof neighbour, "%s2", public);
    CHECK_INT(0, mkdir(neighbour, 0700));
    CHECK_INT(0, symlink("../public2", path_of("out")));
    write_file("../public2/a", "abc", 60);
    CHECK_INT(EXDEV, try_open("out/a"));
}

FOLDER_TEST(a_name_that_is_too_long_is_no_file)
{
    char name[8192];

    memset(name, 'a', sizeof name);
    name[sizeof name - 1] = '\0';
    CHECK_INT(ENAMETOOLONG, try_open(name));
    name[300] = '\0';
    CHECK_INT(ENAMETOOLONG, try_open(name));
}

TEST(a_folder_that_is_missing_or_a_file_is_not_opened)
{
    struct pel_folder none;

    CHECK_INT(PEL_ESYSTEM, pel_folder_open(&none, "/nowhere/at/all"));
    CHECK_INT(ENOENT, errno);
    CHECK_INT(PEL_ESYSTEM, pel_folder_open(&none, "/etc/passwd"));
    CHECK_INT(ENOTDIR, errno);
}
