/* Fuzzes the reader of zip archives: every member comes out the same in large and in small pieces, with the same words
   about damage; then whatever is in the archive is read as any report is. */
#include "base/mem.h"
#include "base/source.h"
#include "run_report.h"
#include "same_store.h"

enum { MOST_BYTES = 1 << 20, SMALL_BYTES = 97, MOST_MEMBERS = 8 };

/* The first bytes of a member, and what is wrong with them. */
static size_t read_member(struct gt_source *source, size_t member, size_t piece, char *bytes, const char **damage) {
    size_t size = 0, got = 1;
    *damage = NULL;
    if (gt_source_select(source, member, NULL) != GT_OK)
        return 0;
    while (size < MOST_BYTES && got > 0) {
        size_t room = MOST_BYTES - size < piece ? MOST_BYTES - size : piece;
        if (gt_source_read(source, bytes + size, room, &got, NULL) != GT_OK)
            break;
        size += got;
    }
    *damage = got == 0 ? gt_source_damage(source) : NULL;
    return size;
}

static void compare_members(struct gt_source *source) {
    char *large = gt_mem_alloc(MOST_BYTES), *small = gt_mem_alloc(MOST_BYTES);
    for (size_t i = 0; large && small && i < gt_source_member_count(source) && i < MOST_MEMBERS; i++) {
        const char *large_damage, *small_damage;
        size_t large_size = read_member(source, i, MOST_BYTES, large, &large_damage);
        size_t small_size = read_member(source, i, SMALL_BYTES, small, &small_damage);
        fuzz_expect(large_size == small_size && memcmp(large, small, large_size) == 0);
        fuzz_expect(large_size == MOST_BYTES || large_damage == small_damage);
        fuzz_expect(strlen(gt_source_member_name(source, i)) > 0);
    }
    gt_mem_free(large);
    gt_mem_free(small);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char path[FUZZ_PATH_MAX];
    int fd = fuzz_file(data, size, path);
    struct gt_source *source;
    if (gt_source_open(path, &source, NULL) == GT_OK) {
        compare_members(source);
        gt_source_close(source);
    }
    close(fd);
    return fuzz_report_of(data, size);
}
