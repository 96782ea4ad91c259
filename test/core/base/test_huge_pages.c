#include "core/base/huge_pages.h"

#include <stdio.h>
#include <sys/mman.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "check.h"

#ifdef __linux__
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

enum { SMALL = 4096, HUGE = 2 << 20, LENGTH = 4 * HUGE };

/* Memory of LENGTH bytes on the border of a huge page, in which each page but every `left`th is used. */
static unsigned char *memory(int left)
{
    unsigned char *mapped = mmap(NULL, LENGTH + HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *at;

    CHECK(mapped != MAP_FAILED);
    at = (unsigned char *)(((uintptr_t)mapped + HUGE - 1) / HUGE * HUGE);
    for (int page = 0; page < LENGTH / SMALL; page++)
        if (!left || page % left)
            at[page * SMALL] = (unsigned char)(page % 251 + 1);
    return at;
}

/* The bytes of huge pages of which the memory at `address` consists; `text` is how smaps counts them. */
static long counted(const unsigned char *address, const char *text)
{
    FILE *maps = fopen("/proc/self/smaps", "re");
    char line[256], format[40];
    unsigned long from, to;
    long kilobytes = -1, number;
    int here = 0;

    CHECK(maps != NULL);
    snprintf(format, sizeof format, "%s: %%ld kB", text);
    while (fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
            here = from <= (uintptr_t)address && (uintptr_t)address < to;
        else if (here && sscanf(line, format, &number) == 1)
            kilobytes = number;
    }
    fclose(maps);
    return kilobytes * 1024;
}

/* Skips the test where the kernel cannot join pages, or a container hides what tells which pages are in use. */
static void require_huge_pages(void)
{
    unsigned char *at = memory(0);
    int joins = madvise(at, HUGE, MADV_COLLAPSE) == 0;
    char said[64] = "[never]";
    FILE *setting = fopen("/sys/kernel/mm/transparent_hugepage/enabled", "re");

    munmap(at, LENGTH);
    if (setting) {
        CHECK(fgets(said, sizeof said, setting) != NULL);
        fclose(setting);
    }
    if (!joins || strstr(said, "[never]") || access("/proc/self/pagemap", R_OK))
        SKIP("the kernel joins no pages");
}

TEST(memory_in_use_becomes_huge_and_keeps_its_bytes)
{
    unsigned char *at;

    require_huge_pages();
    at = memory(0);
    CHECK(pel_huge_pages_join() >= LENGTH / HUGE);
    CHECK(counted(at, "AnonHugePages") >= LENGTH);
    for (int page = 0; page < LENGTH / SMALL; page++)
        CHECK_INT(page % 251 + 1, at[page * SMALL]);
    munmap(at, LENGTH);
}

TEST(a_second_pass_counts_the_same_pages)
{
    size_t joined;

    require_huge_pages();
    joined = pel_huge_pages_join();
    CHECK_INT((long long)joined, (long long)pel_huge_pages_join());
}

TEST(memory_that_is_a_quarter_empty_stays_small)
{
    unsigned char *at;

    require_huge_pages();
    at = memory(4);
    pel_huge_pages_join();
    CHECK_INT(0, counted(at, "AnonHugePages"));
    CHECK_INT(LENGTH / 4 * 3, counted(at, "Rss"));
    munmap(at, LENGTH);
}

TEST(a_program_that_forbids_huge_pages_still_does)
{
    unsigned char *at;

    require_huge_pages();
    at = memory(0);
    CHECK_INT(0, prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0));
    pel_huge_pages_join();
    CHECK_INT(1, prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0));
    prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0);
    CHECK(counted(at, "AnonHugePages") >= LENGTH);
    munmap(at, LENGTH);
}
#else
TEST(other_systems_join_nothing)
{
    CHECK_INT(0, (long long)pel_huge_pages_join());
}
#endif
