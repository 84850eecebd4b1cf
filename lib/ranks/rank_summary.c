/* The arrays of a rank's summary: growing, text and release. */
#include "ranks/rank_summary.h"

#include "base/mem.h"

const char *const gt_rank_summary_parts[GT_PART_COUNT] = {
    [GT_PART_COMPUTE] = "compute",
    [GT_PART_TRANSFER] = "transfer",
    [GT_PART_WAIT] = "wait",
    [GT_PART_MEMORY] = "memory",
    [GT_PART_IDLE_SYNC] = "idle_sync",
    [GT_PART_IDLE_HOST] = "idle_host",
    [GT_PART_IDLE_LAUNCH] = "idle_launch",
    [GT_PART_IDLE_DEPENDENCY] = "idle_dependency",
    [GT_PART_IDLE_UNKNOWN] = "idle_unknown",
};

#define GT_RANK_ARRAY(type, name)                                                                                      \
    type *gt_rank_summary_add_##name(struct gt_rank_summary *summary) {                                                \
        type *items = summary->failed ? NULL                                                                           \
                                      : gt_mem_room(summary->name, summary->name##_count, &summary->name##_capacity,   \
                                                    sizeof(type));                                                     \
        if (!items || summary->name##_count >= UINT32_MAX - 1) {                                                       \
            summary->failed = true;                                                                                    \
            return &summary->name##_spare;                                                                             \
        }                                                                                                              \
        summary->name = items;                                                                                         \
        memset(&items[summary->name##_count], 0, sizeof(type));                                                        \
        return &items[summary->name##_count++];                                                                        \
    }
#include "ranks/rank_arrays.def"
#undef GT_RANK_ARRAY

struct gt_rank_text gt_rank_summary_put_text(struct gt_rank_summary *summary, struct gt_str text) {
    struct gt_rank_text put = {(uint32_t)summary->text_count, 0};
    for (size_t i = 0; i < text.len && !summary->failed; i++)
        *gt_rank_summary_add_text(summary) = text.ptr[i];
    put.bytes = (uint32_t)(summary->text_count - put.first);
    return put;
}

static void *trimmed(void *items, size_t count, size_t *capacity, size_t elem_bytes) {
    size_t kept = count ? count : 1;
    void *fewer = kept < *capacity ? gt_mem_realloc(items, kept * elem_bytes) : NULL;
    *capacity = fewer ? kept : *capacity;
    return fewer ? fewer : items;
}

void gt_rank_summary_trim(struct gt_rank_summary *summary) {
#define GT_RANK_ARRAY(type, name)                                                                                      \
    summary->name = trimmed(summary->name, summary->name##_count, &summary->name##_capacity, sizeof(type));
#include "ranks/rank_arrays.def"
#undef GT_RANK_ARRAY
}

void gt_rank_summary_release(struct gt_rank_summary *summary) {
#define GT_RANK_ARRAY(type, name) gt_mem_free(summary->name);
#include "ranks/rank_arrays.def"
#undef GT_RANK_ARRAY
    *summary = (struct gt_rank_summary){0};
}
