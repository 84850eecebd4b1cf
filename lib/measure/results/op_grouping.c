/* Groups ops: in come those of a slice, out go groups by name, GPU, process, kind and category with the sums of their
   lengths. One pass. */
#include "measure/results/op_grouping.h"

#include "base/mem.h"
#include "base/ns.h"

/* Of streams of several processes, as far as the trace says. No owner of a group. */
enum { OF_SEVERAL = GT_NO_TRACK - 1 };

uint32_t *gt_op_grouping_owners_new(const struct gt_view *view) {
    const struct gt_lanes *lanes = &view->store->lanes;
    uint32_t *owners = gt_mem_uninitialised(lanes->count, sizeof *owners);
    struct gt_map lane_of = {0};
    for (uint32_t lane = 0; lane < lanes->count && owners; lane++)
        owners[lane] = lanes->process[lane] == GT_NO_TRACK
                           ? OF_SEVERAL
                           : gt_map_put_if_new(&lane_of, lanes->device[lane], lanes->process[lane], lane);
    if (lane_of.failed) {
        gt_mem_free(owners);
        owners = NULL;
    }
    gt_map_release(&lane_of);
    return owners;
}

static uint64_t key_hi(const struct gt_op_part *part) {
    return (uint64_t)part->device << 32 | part->full_name;
}

static uint64_t key_lo(const struct gt_op_part *part) {
    return (uint64_t)part->process << 16 | (uint64_t)part->category << 8 | part->kind;
}

static bool add_part(struct gt_op_grouping *it, const struct gt_op_part *part) {
    if (it->count == it->capacity) {
        size_t capacity = it->capacity ? it->capacity * 2 : 1024;
        struct gt_op_part *grown =
            gt_mem_pages_resize(it->parts, it->capacity * sizeof *grown, capacity * sizeof *grown);
        if (!grown)
            return false;
        it->parts = grown;
        it->capacity = capacity;
    }
    it->parts[it->count++] = *part;
    return true;
}

/* Makes this group, which has no ops yet, the recent one of its name, which it is not yet. false: memory was short. */
static bool change_recent(struct gt_op_grouping *it, struct gt_op_part part) {
    uint32_t *recent = &it->recent[part.full_name], index = (uint32_t)it->count;
    part.is_indexed = *recent;
    if (*recent) {
        struct gt_op_part *other = &it->parts[*recent - 1];
        if (!other->is_indexed)
            gt_map_put(&it->index, key_hi(other), key_lo(other), *recent - 1);
        other->is_indexed = true;
        index = gt_map_put_if_new(&it->index, key_hi(&part), key_lo(&part), index);
        if (it->index.failed)
            return false;
    }
    *recent = index + 1;
    return index < it->count || add_part(it, &part);
}

static struct gt_op_part part_of_op(const struct gt_view *view, size_t position) {
    return (struct gt_op_part){.min_ns = INT64_MAX,
                               .max_ns = INT64_MIN,
                               .device = view->store->lanes.device[view->lane[position]],
                               .process = gt_view_op_process(view, position),
                               .full_name = view->name[position],
                               .kind = gt_view_op_kind(view, position),
                               .category = view->category[position],
                               .owner = GT_NO_TRACK,
                               .first = (uint32_t)position};
}

static bool is_same(const struct gt_op_part *a, const struct gt_op_part *b) {
    return key_hi(a) == key_hi(b) && key_lo(a) == key_lo(b);
}

/* Makes the group of an op the recent one of its name, which it may be already. false: memory was short. */
static bool enter_part(struct gt_op_grouping *it, const struct gt_view *view, uint32_t owner, size_t position) {
    const uint32_t *recent = &it->recent[view->name[position]];
    struct gt_op_part part = part_of_op(view, position);
    if ((*recent == 0 || !is_same(&it->parts[*recent - 1], &part)) && !change_recent(it, part))
        return false;
    if (owner != OF_SEVERAL)
        it->parts[*recent - 1].owner = owner;
    return true;
}

static inline void add_length(struct gt_op_part *part, int64_t length_ns) {
    part->sum_ns += length_ns;
    part->count++;
    if (__builtin_expect(length_ns < part->min_ns, 0))
        part->min_ns = length_ns;
    if (__builtin_expect(length_ns > part->max_ns, 0))
        part->max_ns = length_ns;
}

bool gt_op_grouping_take(struct gt_op_grouping *it, const struct gt_view *view, const uint32_t *owners, size_t begin,
                         size_t end) {
    const gt_strid *names = view->name;
    it->recent = gt_mem_array(view->store->strings.count, sizeof *it->recent);
    for (size_t i = begin; i < end && it->recent; i++) {
        uint32_t recent = it->recent[names[i]];
        if (recent == 0 || !gt_op_grouping_is_of(&it->parts[recent - 1], view, owners, i)) {
            if (!enter_part(it, view, owners[view->lane[i]], i))
                return false;
            recent = it->recent[names[i]];
        }
        add_length(&it->parts[recent - 1], gt_view_op_ns(view, i));
    }
    return it->recent;
}

static void join_part(struct gt_op_part *into, const struct gt_op_part *part) {
    into->sum_ns += part->sum_ns;
    into->min_ns = part->min_ns < into->min_ns ? part->min_ns : into->min_ns;
    into->max_ns = part->max_ns > into->max_ns ? part->max_ns : into->max_ns;
    into->count += part->count;
}

bool gt_op_grouping_add(struct gt_op_grouping *whole, struct gt_op_grouping *slice) {
    for (size_t i = 0; i < slice->count; i++) {
        struct gt_op_part *part = &slice->parts[i], begun = *part;
        begun.sum_ns = begun.count = 0;
        const uint32_t *recent = &whole->recent[part->full_name];
        if ((*recent == 0 || !is_same(&whole->parts[*recent - 1], part)) && !change_recent(whole, begun))
            return false;
        part->whole = *recent - 1;
        join_part(&whole->parts[part->whole], part);
    }
    return true;
}

uint32_t *gt_op_grouping_recent_new(const struct gt_op_grouping *it, const struct gt_view *view) {
    uint32_t *recent = gt_mem_array(view->store->strings.count, sizeof *recent);
    for (size_t i = 0; i < it->count && recent; i++)
        recent[it->parts[i].full_name] = (uint32_t)i + 1;
    return recent;
}

uint32_t gt_op_grouping_find(const struct gt_op_grouping *it, const struct gt_view *view, size_t position,
                             uint32_t recent) {
    if (!it->parts[recent].is_indexed)
        return recent;
    struct gt_op_part part = part_of_op(view, position);
    return gt_map_get(&it->index, key_hi(&part), key_lo(&part));
}

void gt_op_grouping_end(struct gt_op_grouping *it) {
    gt_mem_free(it->recent);
    it->recent = NULL;
}

void gt_op_grouping_release(struct gt_op_grouping *it) {
    gt_mem_pages_free(it->parts, it->capacity * sizeof *it->parts);
    gt_map_release(&it->index);
    gt_mem_free(it->recent);
    *it = (struct gt_op_grouping){0};
}
