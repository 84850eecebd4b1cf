/* Sums kernels by name: in come the ops of a view by row, out go their sums by string id, and on request the lengths of
   some names next to each other. */
#include "measure/results/kernel_sums.h"

#include "base/mem.h"
#include "base/ns.h"
#include "base/threads.h"

/* ---- sums ---- */

/* Branches that are hardly ever taken cost less than numbers that are written each time. */
static void add_length(struct gt_kernel_table *table, gt_strid name, int64_t length_ns, uint8_t category) {
    struct gt_kernel_sum *sum = &table->sums[name];
    if (__builtin_expect(sum->count++ == 0, 0)) {
        sum->min_ns = sum->max_ns = length_ns;
        sum->category = category;
        table->names[table->count++] = name;
    }
    if (__builtin_expect(length_ns < sum->min_ns, 0))
        sum->min_ns = length_ns;
    if (__builtin_expect(length_ns > sum->max_ns, 0))
        sum->max_ns = length_ns;
    if (__builtin_expect(sum->category != category, 0))
        sum->is_of_several = true;
    sum->sum_ns += length_ns;
}

static bool new_table(struct gt_kernel_table *table, size_t name_count) {
    table->sums = gt_mem_array(name_count, sizeof *table->sums);
    table->names = gt_mem_uninitialised(name_count, sizeof *table->names);
    return table->sums && table->names;
}

static void release_table(struct gt_kernel_table *table) {
    gt_mem_free(table->sums);
    gt_mem_free(table->names);
}

static void merge_table(struct gt_kernel_table *into, const struct gt_kernel_table *table) {
    for (size_t i = 0; i < table->count; i++) {
        gt_strid name = table->names[i];
        const struct gt_kernel_sum *from = &table->sums[name];
        struct gt_kernel_sum *sum = &into->sums[name];
        if (sum->count == 0) {
            *sum = *from;
            into->names[into->count++] = name;
            continue;
        }
        sum->min_ns = from->min_ns < sum->min_ns ? from->min_ns : sum->min_ns;
        sum->max_ns = from->max_ns > sum->max_ns ? from->max_ns : sum->max_ns;
        sum->count += from->count;
        sum->sum_ns += from->sum_ns;
        sum->is_of_several |= from->is_of_several || from->category != sum->category;
    }
}

static struct gt_kernel_table *table_of_slice(struct gt_kernel_sums *it, size_t slice) {
    return it->slices ? &it->slices[slice] : &it->all;
}

static void sum_slice(void *context, size_t slice, size_t begin, size_t end) {
    struct gt_kernel_sums *it = context;
    const struct gt_view *view = it->view;
    const int64_t *start_ns = view->start_ns, *end_ns = view->end_ns;
    const gt_strid *name = view->name;
    const uint8_t *kind = view->kind, *category = view->category;
    struct gt_kernel_table table = *table_of_slice(it, slice);
    for (size_t i = begin; i < end; i++)
        if (gt_store_kind_is_kernel(kind[i]))
            add_length(&table, name[i], gt_ns_between(start_ns[i], end_ns[i]), category[i]);
    table_of_slice(it, slice)->count = table.count;
}

bool gt_kernel_sums_init(struct gt_kernel_sums *it, const struct gt_view *view) {
    size_t names = view->store->strings.count, threads = gt_threads_count(view->request->threads);
    *it = (struct gt_kernel_sums){.view = view, .slice_count = gt_threads_slices(threads, view->op_count, names)};
    bool ok = new_table(&it->all, names), has_slices = it->slice_count > 1;
    if (has_slices)
        it->slices = gt_mem_array(it->slice_count, sizeof *it->slices);
    ok = ok && (it->slices || !has_slices);
    for (size_t slice = 0; slice < it->slice_count && has_slices && ok; slice++)
        ok = new_table(&it->slices[slice], names);
    if (ok)
        gt_threads_rows(it->slice_count, view->op_count, sum_slice, it);
    for (size_t slice = 0; slice < it->slice_count && has_slices && ok; slice++)
        merge_table(&it->all, &it->slices[slice]);
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
    int64_t *lengths_ns;
    uint32_t *next; /* by slice, then string id: one above the place of the next length; 0: nobody asks for this name */
};

static void list_slice(void *context, size_t slice, size_t begin, size_t end) {
    const struct listing *list = context;
    const struct gt_view *view = list->sums->view;
    const int64_t *start_ns = view->start_ns, *end_ns = view->end_ns;
    const gt_strid *name = view->name;
    int64_t *lengths_ns = list->lengths_ns;
    uint32_t *next = list->next + slice * view->store->strings.count;
    for (size_t i = begin; i < end; i++)
        if (next[name[i]] && gt_store_kind_is_kernel(view->kind[i]))
            lengths_ns[next[name[i]]++ - 1] = gt_ns_between(start_ns[i], end_ns[i]);
}

/* Where each name begins; what a slice has of it comes after what the slices before have. */
static void place_names(const struct listing *list, const gt_strid *names, size_t count, size_t *first) {
    const struct gt_kernel_sums *it = list->sums;
    size_t place = 0, name_count = it->view->store->strings.count;
    for (size_t i = 0; i < count; i++) {
        first[i] = place;
        for (size_t slice = 0; slice < it->slice_count; slice++) {
            list->next[slice * name_count + names[i]] = (uint32_t)place + 1;
            place += (it->slices ? it->slices[slice] : it->all).sums[names[i]].count;
        }
    }
    first[count] = place;
}

bool gt_kernel_sums_lengths(const struct gt_kernel_sums *it, const gt_strid *names, size_t count,
                            struct gt_kernel_lengths *out) {
    size_t length_count = 0;
    for (size_t i = 0; i < count; i++)
        length_count += it->all.sums[names[i]].count;
    *out = (struct gt_kernel_lengths){gt_mem_uninitialised(length_count, sizeof *out->lengths_ns),
                                      gt_mem_uninitialised(count + 1, sizeof *out->first)};
    struct listing list = {.sums = it, .lengths_ns = out->lengths_ns};
    list.next = gt_mem_array(it->slice_count * it->view->store->strings.count, sizeof *list.next);
    bool ok = out->lengths_ns && out->first && list.next;
    if (ok)
        place_names(&list, names, count, out->first);
    if (ok && length_count)
        gt_threads_rows(it->slice_count, it->view->op_count, list_slice, &list);
    gt_mem_free(list.next);
    if (!ok)
        gt_kernel_sums_lengths_release(out);
    return ok;
}

void gt_kernel_sums_lengths_release(struct gt_kernel_lengths *lengths) {
    gt_mem_free(lengths->lengths_ns);
    gt_mem_free(lengths->first);
    *lengths = (struct gt_kernel_lengths){0};
}
