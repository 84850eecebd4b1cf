/* Sums kernels by name: in come the ops of a view by row, out go their sums by string id, and on request the lengths of
   some names next to each other. */
#include "measure/results/kernel_sums.h"

#include <stdatomic.h>

#include "base/mem.h"
#include "base/ns.h"
#include "base/threads.h"

/* ---- sums ---- */

/* The latest kernels of a name, in so few bytes that hundreds of names stay in the cache. */
struct gt_kernel_latest {
    uint64_t sum, squares; /* of GT_MOMENTS_BATCH lengths at most, each below the limit of these */
    uint32_t count, min, max;
    uint16_t category; /* one more than that of the name; 0: it has no kernels yet */
    bool is_of_several;
};

static void begin_batch(struct gt_kernel_latest *latest) {
    latest->sum = latest->squares = 0;
    latest->count = latest->max = 0;
    latest->min = UINT32_MAX;
}

static void take_batch(struct gt_kernel_sum *sum, struct gt_kernel_latest *latest) {
    struct gt_moments_batch batch = {latest->count, latest->sum, latest->squares, latest->min, latest->max};
    gt_moments_take(&sum->lengths, &batch);
    begin_batch(latest);
}

/* The first kernel of a name, or one of another category than that. */
static void look_at_category(struct gt_kernel_table *table, gt_strid name, uint8_t category) {
    struct gt_kernel_latest *latest = &table->latest[name];
    if (latest->category) {
        latest->is_of_several = true;
        return;
    }
    latest->category = (uint16_t)(category + 1);
    table->names[table->count++] = name;
    begin_batch(latest);
}

/* Branches that are hardly ever taken cost less than numbers that are written each time. */
static inline void add_length(struct gt_kernel_table *table, gt_strid name, int64_t length_ns, uint8_t category) {
    struct gt_kernel_latest *latest = &table->latest[name];
    uint64_t length = (uint64_t)length_ns;
    if (__builtin_expect(latest->category != category + 1, 0))
        look_at_category(table, name, category);
    if (__builtin_expect(length >= GT_MOMENTS_BATCH_LIMIT, 0)) { /* or negative */
        gt_moments_add(&table->sums[name].lengths, length_ns);
        return;
    }
    latest->sum += length;
    latest->squares += length * length;
    if (__builtin_expect(length < latest->min, 0))
        latest->min = (uint32_t)length;
    if (__builtin_expect(length > latest->max, 0))
        latest->max = (uint32_t)length;
    if (__builtin_expect(++latest->count == GT_MOMENTS_BATCH, 0))
        take_batch(&table->sums[name], latest);
}

static bool new_table(struct gt_kernel_table *table, size_t name_count) {
    table->sums = gt_mem_array(name_count, sizeof *table->sums);
    table->names = gt_mem_uninitialised(name_count, sizeof *table->names);
    return table->sums && table->names;
}

static void release_table(struct gt_kernel_table *table) {
    gt_mem_free(table->sums);
    gt_mem_free(table->latest);
    gt_mem_free(table->names);
}

static bool begin_table(struct gt_kernel_table *table, size_t name_count) {
    table->latest = gt_mem_array(name_count, sizeof *table->latest);
    return new_table(table, name_count) && table->latest;
}

static void end_table(struct gt_kernel_table *table) {
    for (size_t i = 0; i < table->count; i++) {
        struct gt_kernel_latest *latest = &table->latest[table->names[i]];
        struct gt_kernel_sum *sum = &table->sums[table->names[i]];
        take_batch(sum, latest);
        sum->category = (uint8_t)(latest->category - 1);
        sum->is_of_several = latest->is_of_several;
    }
    gt_mem_free(table->latest);
    table->latest = NULL;
}

static void merge_table(struct gt_kernel_table *into, const struct gt_kernel_table *table) {
    for (size_t i = 0; i < table->count; i++) {
        gt_strid name = table->names[i];
        const struct gt_kernel_sum *from = &table->sums[name];
        struct gt_kernel_sum *sum = &into->sums[name];
        if (sum->lengths.count == 0) {
            *sum = *from;
            into->names[into->count++] = name;
            continue;
        }
        gt_moments_merge(&sum->lengths, &from->lengths);
        sum->is_of_several |= from->is_of_several || from->category != sum->category;
    }
}

static struct gt_kernel_table *table_of_slice(struct gt_kernel_sums *it, size_t slice) {
    return it->slices ? &it->slices[slice] : &it->all;
}

static void sum_rows(struct gt_kernel_table *into, const struct gt_view *view, size_t begin, size_t end) {
    const int64_t *start_ns = view->start_ns, *end_ns = view->end_ns;
    const gt_strid *name = view->name;
    const uint8_t *kind = view->kind, *category = view->category;
    struct gt_kernel_table table = *into;
    for (size_t i = begin; i < end; i++)
        if (gt_store_kind_is_kernel(kind[i]))
            add_length(&table, name[i], gt_ns_between(start_ns[i], end_ns[i]), category[i]);
    into->count = table.count;
}

struct walk {
    struct gt_kernel_sums *sums;
    struct gt_lane_walk *lanes;
    atomic_bool failed;
};

/* By blocks, so that both find the rows in the cache. */
static void walk_slice(void *context, size_t slice, size_t begin, size_t end) {
    enum { BLOCK = 4096 };
    struct walk *walk = context;
    struct gt_kernel_table *table = table_of_slice(walk->sums, slice);
    if (!begin_table(table, walk->sums->view->store->strings.count)) {
        atomic_store(&walk->failed, true);
        return;
    }
    for (; begin < end; begin += BLOCK) {
        size_t until = end - begin < BLOCK ? end : begin + BLOCK;
        gt_lane_overlaps_look(walk->lanes, slice, begin, until);
        sum_rows(table, walk->sums->view, begin, until);
    }
    end_table(table);
}

/* false: memory is short. */
static bool walk_ops(struct gt_kernel_sums *it) {
    struct walk walk = {.sums = it, .lanes = gt_lane_overlaps_begin(it->view, it->slice_count)};
    if (!walk.lanes)
        return false;
    gt_threads_rows(it->slice_count, it->view->op_count, walk_slice, &walk);
    bool ok = gt_lane_overlaps_end(walk.lanes, &it->overlaps);
    return ok && !atomic_load(&walk.failed);
}

/* Those of all slices together. */
static bool merge_tables(struct gt_kernel_sums *it) {
    if (!new_table(&it->all, it->view->store->strings.count))
        return false;
    for (size_t slice = 0; slice < it->slice_count; slice++)
        merge_table(&it->all, &it->slices[slice]);
    return true;
}

bool gt_kernel_sums_init(struct gt_kernel_sums *it, const struct gt_view *view) {
    size_t own = view->store->strings.count + view->store->lanes.count;
    size_t slices = gt_threads_slices(gt_threads_count(view->request->threads), view->op_count, own);
    *it = (struct gt_kernel_sums){.view = view, .slice_count = slices};
    bool has_slices = slices > 1;
    if (has_slices)
        it->slices = gt_mem_array(slices, sizeof *it->slices);
    bool ok = (it->slices || !has_slices) && walk_ops(it) && (!has_slices || merge_tables(it));
    if (!ok)
        gt_kernel_sums_release(it);
    return ok;
}

void gt_kernel_sums_release(struct gt_kernel_sums *it) {
    for (size_t slice = 0; slice < it->slice_count && it->slices; slice++)
        release_table(&it->slices[slice]);
    gt_mem_free(it->slices);
    release_table(&it->all);
    *it = (struct gt_kernel_sums){0};
}

/* ---- lengths ---- */

struct listing {
    const struct gt_kernel_sums *sums;
    struct gt_kernel_lengths *out;
    uint32_t *next; /* by slice, then string id: one above the place of the next length; 0: nobody asks for this name */
};

/* Made twice, for what lengths are stored as: the compiler sees that a constant is passed. */
static inline __attribute__((always_inline)) void list_rows(const struct listing *list, bool is_narrow, size_t slice,
                                                            size_t begin, size_t end) {
    const struct gt_view *view = list->sums->view;
    const int64_t *start_ns = view->start_ns, *end_ns = view->end_ns;
    const gt_strid *name = view->name;
    int64_t *lengths_ns = list->out->lengths_ns;
    uint32_t *narrow_ns = list->out->narrow_ns, *next = list->next + slice * view->store->strings.count;
    for (size_t i = begin; i < end; i++)
        if (next[name[i]] && gt_store_kind_is_kernel(view->kind[i])) {
            uint32_t place = next[name[i]]++ - 1;
            if (is_narrow)
                narrow_ns[place] = (uint32_t)(end_ns[i] - start_ns[i]);
            else
                lengths_ns[place] = gt_ns_between(start_ns[i], end_ns[i]);
        }
}

static void list_slice(void *context, size_t slice, size_t begin, size_t end) {
    const struct listing *list = context;
    if (list->out->narrow_ns)
        list_rows(list, true, slice, begin, end);
    else
        list_rows(list, false, slice, begin, end);
}

/* Where each name begins; what a slice has of it comes after what the slices before have. */
static void place_names(const struct listing *list, const gt_strid *names, size_t count) {
    const struct gt_kernel_sums *it = list->sums;
    size_t place = 0, name_count = it->view->store->strings.count;
    for (size_t i = 0; i < count; i++) {
        list->out->first[i] = place;
        for (size_t slice = 0; slice < it->slice_count; slice++) {
            list->next[slice * name_count + names[i]] = (uint32_t)place + 1;
            place += (it->slices ? it->slices[slice] : it->all).sums[names[i]].lengths.count;
        }
    }
    list->out->first[count] = place;
}

static bool new_lengths(const struct gt_kernel_sums *it, const gt_strid *names, size_t count,
                        struct gt_kernel_lengths *out) {
    size_t length_count = 0;
    bool are_narrow = true;
    for (size_t i = 0; i < count; i++) {
        const struct gt_moments *lengths = &it->all.sums[names[i]].lengths;
        length_count += lengths->count;
        are_narrow = are_narrow && lengths->min >= 0 && lengths->max <= UINT32_MAX;
    }
    *out = (struct gt_kernel_lengths){.first = gt_mem_uninitialised(count + 1, sizeof *out->first)};
    if (are_narrow)
        out->narrow_ns = gt_mem_uninitialised(length_count, sizeof *out->narrow_ns);
    else
        out->lengths_ns = gt_mem_uninitialised(length_count, sizeof *out->lengths_ns);
    return out->first && (out->narrow_ns || out->lengths_ns);
}

bool gt_kernel_sums_lengths(const struct gt_kernel_sums *it, const gt_strid *names, size_t count,
                            struct gt_kernel_lengths *out) {
    bool ok = new_lengths(it, names, count, out);
    struct listing list = {.sums = it, .out = out};
    list.next = gt_mem_array(it->slice_count * it->view->store->strings.count, sizeof *list.next);
    ok = ok && list.next;
    if (ok)
        place_names(&list, names, count);
    if (ok && out->first[count])
        gt_threads_rows(it->slice_count, it->view->op_count, list_slice, &list);
    gt_mem_free(list.next);
    if (!ok)
        gt_kernel_sums_lengths_release(out);
    return ok;
}

void gt_kernel_sums_lengths_release(struct gt_kernel_lengths *lengths) {
    gt_mem_free(lengths->lengths_ns);
    gt_mem_free(lengths->narrow_ns);
    gt_mem_free(lengths->first);
    *lengths = (struct gt_kernel_lengths){0};
}
