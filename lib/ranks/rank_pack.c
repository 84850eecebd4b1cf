/* Packs summaries: arrays come in, one block of bytes goes out, and back. */
#include "ranks/rank_pack.h"

#include <string.h>

#include "base/mem.h"
#include "events/labels.h"

static const char magic[8] = "GTRANK3";

/* ---- writing ---- */

size_t gt_rank_pack_size(const struct gt_rank_summary *summary) {
    size_t size = sizeof magic + sizeof summary->head;
#define GT_RANK_ARRAY(type, name) size += sizeof(uint64_t) + summary->name##_count * sizeof(type);
#include "ranks/rank_arrays.def"
#undef GT_RANK_ARRAY
    return size;
}

static unsigned char *put(unsigned char *at, const void *data, size_t size) {
    if (size)
        memcpy(at, data, size);
    return at + size;
}

static unsigned char *put_array(unsigned char *at, const void *items, size_t count, size_t elem_bytes) {
    const uint64_t written = count;
    at = put(at, &written, sizeof written);
    return put(at, items, count * elem_bytes);
}

void gt_rank_pack_write(const struct gt_rank_summary *summary, unsigned char *bytes) {
    unsigned char *at = put(bytes, magic, sizeof magic);
    at = put(at, &summary->head, sizeof summary->head);
#define GT_RANK_ARRAY(type, name) at = put_array(at, summary->name, summary->name##_count, sizeof(type));
#include "ranks/rank_arrays.def"
#undef GT_RANK_ARRAY
}

/* ---- reading ---- */

struct input {
    const unsigned char *bytes;
    size_t left;
};

static bool take(struct input *input, void *to, size_t size) {
    if (input->left < size)
        return false;
    if (size)
        memcpy(to, input->bytes, size);
    input->bytes += size;
    input->left -= size;
    return true;
}

/* An array of a count that the bytes say. NULL: they are too few, or memory was short. */
static void *take_array(struct input *input, size_t elem_bytes, size_t *count) {
    uint64_t written;
    if (!take(input, &written, sizeof written) || written > input->left / elem_bytes || written >= UINT32_MAX)
        return NULL;
    void *items = gt_mem_uninitialised((size_t)written, elem_bytes);
    if (items)
        take(input, items, (size_t)written * elem_bytes);
    *count = items ? (size_t)written : 0;
    return items;
}

/* ---- what refers to what ---- */

static bool is_run(uint64_t first, uint64_t count, size_t all) {
    return first <= all && count <= all - first;
}

static bool is_text(const struct gt_rank_summary *summary, struct gt_rank_text text) {
    return is_run(text.first, text.bytes, summary->text_count);
}

static bool is_span(const struct gt_rank_summary *summary, int64_t start_ns, int64_t end_ns, uint32_t start_point,
                    uint32_t end_point) {
    return start_point <= end_point && end_point < summary->points_count &&
           gt_rank_summary_time(summary, start_point) == start_ns && gt_rank_summary_time(summary, end_point) == end_ns;
}

/* No part is too long for sums. */
static bool are_bases(const struct gt_rank_summary *summary, int64_t longest_ns) {
    for (size_t i = 0; i < summary->bases_count; i++)
        for (int place = 0; place < GT_POINT_PARTS; place++)
            if (summary->bases[i].ns[place] < 0 || summary->bases[i].ns[place] > longest_ns)
                return false;
    for (size_t i = 0; i < summary->points_count; i++)
        if (summary->points[i].base >= summary->bases_count)
            return false;
    return true;
}

/* Parts of the time between two points never fall, and one of them grows. */
static bool are_points(const struct gt_rank_summary *summary) {
    const int64_t longest_ns = (int64_t)1 << 50, latest_ns = INT64_MAX / 2;
    const struct gt_rank_head *head = &summary->head;
    size_t count = summary->points_count;
    if (head->first_ns < -latest_ns || head->last_ns > latest_ns || head->last_ns < head->first_ns ||
        head->last_ns - head->first_ns > longest_ns || count == 0 || !are_bases(summary, longest_ns) ||
        gt_rank_summary_time(summary, 0) != head->first_ns || gt_rank_summary_time(summary, count - 1) != head->last_ns)
        return false;
    for (size_t i = 1; i < count; i++) {
        for (int part = 0; part < GT_PART_COUNT; part++)
            if (gt_rank_summary_until(summary, i, (enum gt_rank_part)part) <
                gt_rank_summary_until(summary, i - 1, (enum gt_rank_part)part))
                return false;
        if (gt_rank_summary_time(summary, i) <= gt_rank_summary_time(summary, i - 1))
            return false;
    }
    return true;
}

static bool are_kernels(const struct gt_rank_summary *summary) {
    for (size_t i = 0; i < summary->kernels_count; i++) {
        const struct gt_rank_kernel *kernel = &summary->kernels[i];
        bool is_sorted = i == 0 || kernel->start_ns > kernel[-1].start_ns ||
                         (kernel->start_ns == kernel[-1].start_ns && kernel->row >= kernel[-1].row);
        if (!is_sorted || !is_span(summary, kernel->start_ns, kernel->end_ns, kernel->start_point, kernel->end_point) ||
            (kernel->step != GT_RANK_NONE && kernel->step >= summary->steps_count) ||
            !is_run(kernel->first_carried, kernel->carried_count, summary->carried_count) ||
            kernel->named_op >= GT_COMM_OP_COUNT)
            return false;
        for (size_t k = 0; k < kernel->carried_count; k++)
            if (summary->carried[kernel->first_carried + k].kernel != i)
                return false;
    }
    return true;
}

static bool are_splits(const struct gt_rank_summary *summary, uint32_t first, uint32_t count) {
    if (!is_run(first, count, summary->numbers_count))
        return false;
    for (size_t i = 0; i < count; i++)
        if (summary->numbers[first + i] < 0)
            return false;
    return true;
}

/* Whether the last member of a group that is not listed is a number. */
static bool is_spacing(const struct gt_rank_group *group) {
    int64_t last;
    return group->stride == 0 || (group->member_count == 0 && group->size > 0 &&
                                  !__builtin_mul_overflow(group->size - 1, group->stride, &last) &&
                                  !__builtin_add_overflow(last, group->first_rank, &last));
}

static bool are_carried(const struct gt_rank_summary *summary) {
    for (size_t i = 0; i < summary->carried_count; i++) {
        const struct gt_rank_carried *carried = &summary->carried[i];
        if (carried->kernel >= summary->kernels_count || carried->op >= GT_COMM_OP_COUNT ||
            (carried->group != GT_RANK_NONE && carried->group >= summary->groups_count) ||
            !is_text(summary, carried->dtype) || !are_splits(summary, carried->in_splits, carried->in_count) ||
            !are_splits(summary, carried->out_splits, carried->out_count))
            return false;
    }
    for (size_t i = 0; i < summary->groups_count; i++) {
        const struct gt_rank_group *group = &summary->groups[i];
        if (!is_text(summary, group->name) || !is_text(summary, group->description) ||
            !is_run(group->first_member, group->member_count, summary->numbers_count) || !is_spacing(group))
            return false;
    }
    return true;
}

static bool are_times(const struct gt_rank_summary *summary) {
    for (size_t i = 0; i < summary->steps_count; i++) {
        const struct gt_rank_step *step = &summary->steps[i];
        if ((i && step->start_ns < step[-1].end_ns) ||
            !is_span(summary, step->start_ns, step->end_ns, step->start_point, step->end_point))
            return false;
    }
    for (size_t i = 0; i < summary->exposed_count; i++) {
        const struct gt_interval *exposed = &summary->exposed[i];
        if (exposed->end_ns <= exposed->start_ns || exposed->start_ns < summary->head.first_ns ||
            exposed->end_ns > summary->head.last_ns || (i && exposed->start_ns < exposed[-1].end_ns))
            return false;
    }
    for (size_t i = 0; i < summary->work_count; i++)
        if (!is_text(summary, summary->work[i].name) || summary->work[i].count <= 0 || summary->work[i].total_ns < 0 ||
            summary->work[i].usual_count < 0 || summary->work[i].usual_ns < 0 ||
            summary->work[i].usual_count > summary->work[i].count ||
            summary->work[i].usual_ns > summary->work[i].total_ns)
            return false;
    return true;
}

static bool is_sound(const struct gt_rank_summary *summary) {
    const struct gt_rank_head *head = &summary->head;
    return head->source <= GT_RANK_OF_FILE_NAME && is_text(summary, head->host) && is_text(summary, head->uuid) &&
           is_text(summary, head->input) && are_points(summary) && are_kernels(summary) && are_carried(summary) &&
           are_times(summary);
}

enum gt_status gt_rank_pack_read(struct gt_rank_summary *summary, const unsigned char *bytes, size_t size,
                                 struct gt_error *err) {
    struct input input = {bytes, size};
    char begin[sizeof magic];
    if (!take(&input, begin, sizeof begin) || memcmp(begin, magic, sizeof magic) != 0 ||
        !take(&input, &summary->head, sizeof summary->head))
        return gt_fail(err, "no summary of a rank");
#define GT_RANK_ARRAY(type, name)                                                                                      \
    summary->name = take_array(&input, sizeof(type), &summary->name##_count);                                          \
    if (!summary->name)                                                                                                \
        return gt_fail(err, "the summary of a rank is cut");                                                           \
    summary->name##_capacity = summary->name##_count;
#include "ranks/rank_arrays.def"
#undef GT_RANK_ARRAY
    return input.left || !is_sound(summary) ? gt_fail(err, "the summary of a rank is damaged") : GT_OK;
}
