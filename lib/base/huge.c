/* Asks for huge pages where the kernel has free ones. Where it has none it would first move other pages out of the way,
   which takes longer than huge pages save. */
#include "base/huge.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/threads.h"

enum { BUDDYINFO_BYTES = 8 << 10 };

/* The counts that follow the name of a zone: free pieces of 1, 2, 4 ... pages. */
static size_t free_in_zone(const char *counts, size_t page_bytes) {
    size_t free_bytes = 0;
    char *end;

    for (size_t piece_bytes = page_bytes; piece_bytes < SIZE_MAX / 2; piece_bytes *= 2, counts = end) {
        size_t count = strtoul(counts, &end, 10);
        if (end == counts)
            break;
        if (piece_bytes >= GT_HUGE_PAGE_BYTES && count < SIZE_MAX / piece_bytes)
            free_bytes += count * piece_bytes;
    }
    return free_bytes;
}

/* A line is "Node 0, zone   Normal   2008   1141 ...". */
size_t gt_huge_free_bytes(const char *buddyinfo, size_t page_bytes) {
    size_t free_bytes = 0;

    while ((buddyinfo = strstr(buddyinfo, "zone"))) {
        buddyinfo += strlen("zone");
        buddyinfo += strspn(buddyinfo, " ");
        buddyinfo += strcspn(buddyinfo, " \n");
        free_bytes += free_in_zone(buddyinfo, page_bytes);
    }
    return free_bytes;
}

static size_t look_for_free(void) {
    char text[BUDDYINFO_BYTES];
    size_t length = 0;
    ssize_t got;
    int fd = open("/proc/buddyinfo", O_RDONLY | O_CLOEXEC);

    while (fd >= 0 && (got = read(fd, text + length, sizeof text - 1 - length)) > 0)
        length += (size_t)got;
    if (fd >= 0)
        close(fd);
    text[length] = '\0';
    return gt_huge_free_bytes(text, (size_t)sysconf(_SC_PAGESIZE));
}

/* Whether so many bytes of huge pages are likely to be free. A variable of the library: what was free when somebody
   looked, less what was asked for since. Half of it is left to others. */
static bool take(size_t size_bytes) {
    static atomic_size_t left_bytes;
    size_t left = atomic_load(&left_bytes);

    do {
        if (left < size_bytes) {
            left = look_for_free() / 2;
            atomic_store(&left_bytes, left);
        }
        if (left < size_bytes)
            return false;
    } while (!atomic_compare_exchange_weak(&left_bytes, &left, left - size_bytes));
    return true;
}

/* Whole pages, so that all of a mapping has the same advice: the kernel grows and moves no others. */
void gt_huge_advise(void *block, size_t size_bytes) {
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE), before = (uintptr_t)block % page_bytes;
    size_t length = (before + size_bytes + page_bytes - 1) / page_bytes * page_bytes;

    if (block && take(size_bytes))
        madvise((char *)block - before, length, MADV_HUGEPAGE);
}

struct touching {
    char *block;
    size_t before; /* bytes of the block before the first place where a huge page can begin */
};

static void touch_page(void *context, size_t index) {
    const struct touching *touching = context;
    touching->block[touching->before + index * GT_HUGE_PAGE_BYTES] = 0;
}

void gt_huge_touch(void *block, size_t size_bytes, size_t threads) {
    struct touching touching = {block, -(uintptr_t)block % GT_HUGE_PAGE_BYTES};

    if (threads > 1 && size_bytes >= GT_HUGE_LEAST_BYTES)
        gt_threads_parts(threads, (size_bytes - touching.before - 1) / GT_HUGE_PAGE_BYTES + 1, touch_page, &touching);
}
