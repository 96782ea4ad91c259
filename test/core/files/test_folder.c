#include "core/files/folder.h"
#include <errno.h>
#include <string.h>
#include "temporary_folder.h"
#ifdef HAVE_LINUX_OPENAT2_H
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#endif

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

#if defined(HAVE_LINUX_OPENAT2_H) && defined(SYS_openat2)
/* The process is in a sandbox from then on, which does not know openat2. */
static int enter_sandbox(void)
{
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof rules / sizeof rules[0], rules};

    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* Opens the file in such a process: 0 or errno; 255: there can be no sandbox. */
static int try_open_in_sandbox(const char *name)
{
    pid_t pid = fork();
    int status;

    if (!pid)
        _exit(enter_sandbox() ? 255 : try_open(name));
    CHECK_INT(pid, waitpid(pid, &status, 0));
    CHECK(WIFEXITED(status));
    return WEXITSTATUS(status);
}

FOLDER_TEST(a_sandbox_that_does_not_know_the_call_changes_nothing)
{
    write_file("a", "abc", 60);
    CHECK_INT(0, symlink("a", path_of("near")));
    CHECK_INT(0, symlink("../secret", path_of("out")));
    if (try_open_in_sandbox("a") == 255)
        SKIP("this system has no seccomp");
    CHECK_INT(0, try_open_in_sandbox("a"));
    CHECK_INT(0, try_open_in_sandbox("near"));
    CHECK_INT(EXDEV, try_open_in_sandbox("out"));
    CHECK_INT(ENOENT, try_open_in_sandbox("b"));
}
#endif

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
