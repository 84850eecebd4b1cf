/* Packs summaries: arrays come in, one block of bytes goes out, and back. */
#include "ranks/rank_pack.h"

#include <string.h>

#include "base/mem.h"
#include "events/labels.h"
#include "ranks/rank_sums.h"

static const char magic[8] = "GTRANK6";

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

/* What is checked, with the times of its points. */
struct checked {
    const struct gt_rank_summary *summary;
    int64_t *times;
};

static bool is_span(const struct checked *it, int64_t start_ns, int64_t end_ns, uint32_t start_point,
                    uint32_t end_point) {
    return start_point <= end_point && end_point < it->summary->head.points && it->times[start_point] == start_ns &&
           it->times[end_point] == end_ns;
}

/* false: they are not sound, or memory was short. */
static bool list_times(struct checked *it) {
    const int64_t longest_ns = (int64_t)1 << 50, latest_ns = INT64_MAX / 2;
    const struct gt_rank_head *head = &it->summary->head;
    struct gt_rank_sums_walk walk;
    if (head->first_ns < -latest_ns || head->last_ns > latest_ns || head->last_ns < head->first_ns ||
        head->last_ns - head->first_ns > longest_ns || !gt_rank_sums_are_sound(it->summary))
        return false;
    it->times = gt_mem_uninitialised((size_t)head->points, sizeof *it->times);
    if (!it->times)
        return false;
    gt_rank_sums_begin(&walk, it->summary);
    for (size_t i = 0; i < head->points && gt_rank_sums_next(&walk); i++)
        it->times[i] = walk.time_ns;
    return true;
}

static bool are_kernels(const struct checked *it) {
    const struct gt_rank_summary *summary = it->summary;
    uint32_t carried = 0;
    for (size_t i = 0; i < summary->kernels_count; i++) {
        const struct gt_rank_kernel *kernel = &summary->kernels[i];
        bool is_sorted = i == 0 || kernel->start_ns >= kernel[-1].start_ns;
        if (!is_sorted || !is_span(it, kernel->start_ns, kernel->end_ns, kernel->start_point, kernel->end_point) ||
            (kernel->step != GT_RANK_NONE && kernel->step >= summary->steps_count) || kernel->first_carried < carried ||
            kernel->first_carried > summary->carried_count || (i == 0 && kernel->first_carried) ||
            kernel->named_op >= GT_COMM_OP_COUNT)
            return false;
        carried = kernel->first_carried;
    }
    return summary->kernels_count || !summary->carried_count;
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

/* As many as are carried, or none. */
static bool is_column(const struct gt_rank_summary *summary, size_t count) {
    return count == 0 || count == summary->carried_count;
}

static bool are_carried(const struct gt_rank_summary *summary) {
    if (!is_column(summary, summary->comms_ids_count) || !is_column(summary, summary->sequences_count))
        return false;
    for (size_t i = 0; i < summary->carried_count; i++)
        if (summary->carried[i] >= summary->calls_count)
            return false;
    for (size_t i = 0; i < summary->calls_count; i++) {
        const struct gt_rank_call *call = &summary->calls[i];
        if (call->op >= GT_COMM_OP_COUNT || (call->group != GT_RANK_NONE && call->group >= summary->groups_count) ||
            !is_text(summary, call->dtype) || !are_splits(summary, call->in_splits, call->in_count) ||
            !are_splits(summary, call->out_splits, call->out_count))
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

static bool are_times(const struct checked *it) {
    const struct gt_rank_summary *summary = it->summary;
    struct gt_intervals exposed = {0};
    for (size_t i = 0; i < summary->steps_count; i++) {
        const struct gt_rank_step *step = &summary->steps[i];
        if ((i && step->start_ns < step[-1].end_ns) ||
            !is_span(it, step->start_ns, step->end_ns, step->start_point, step->end_point))
            return false;
    }
    bool are_exposed = gt_rank_sums_list_exposed(summary, &exposed);
    gt_intervals_release(&exposed);
    if (!are_exposed)
        return false;
    for (size_t i = 0; i < summary->work_count; i++)
        if (!is_text(summary, summary->work[i].name) || summary->work[i].count <= 0 || summary->work[i].total_ns < 0 ||
            summary->work[i].usual_count < 0 || summary->work[i].usual_ns < 0 ||
            summary->work[i].usual_count > summary->work[i].count ||
            summary->work[i].usual_ns > summary->work[i].total_ns)
            return false;
    return true;
}

static bool are_logs(const struct gt_rank_summary *summary) {
    for (size_t i = 0; i < summary->log_lanes_count; i++)
        if (!is_text(summary, summary->log_lanes[i].name))
            return false;
    for (size_t i = 0; i < summary->logs_count; i++) {
        const struct gt_rank_log *log = &summary->logs[i];
        if (log->lane >= summary->log_lanes_count || log->op >= GT_COMM_OP_COUNT || !is_text(summary, log->name) ||
            !is_text(summary, log->timing))
            return false;
    }
    return true;
}

/* Of a log there are no ops, and nothing that follows from them. */
static bool is_log(const struct gt_rank_summary *summary) {
    return summary->logs_count && summary->head.ops == 0 && summary->head.points == 0 && summary->kernels_count == 0 &&
           summary->carried_count == 0 && summary->steps_count == 0 && summary->groups_count == 0;
}

static bool is_sound(const struct gt_rank_summary *summary) {
    const struct gt_rank_head *head = &summary->head;
    if (is_log(summary))
        return is_text(summary, head->host) && is_text(summary, head->input) && are_logs(summary);
    struct checked it = {.summary = summary};
    bool ok = are_logs(summary) && head->source <= GT_RANK_OF_FILE_NAME && is_text(summary, head->host) &&
              is_text(summary, head->uuid) && is_text(summary, head->input) && list_times(&it) && are_kernels(&it) &&
              are_carried(summary) && are_times(&it);
    gt_mem_free(it.times);
    return ok;
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
