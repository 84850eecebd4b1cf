/* Coverage by sweeping: with C(t) the time a thread was covered before t, a stretch [a, b) is covered for C(b) - C(a).
   Intervals are taken in order of start; on the way C is read off at the ends of all stretches, the probes. */
#include "measure/cover.h"

#include <string.h>

#include "base/mem.h"
#include "measure/measure.h"

/* A probe's number is twice its stretch's, plus 1 for the end. */
static int64_t probe_time(const struct gt_cover *cover, uint32_t number) {
    const struct gt_stretch *stretch = &cover->stretches[number / 2];
    return number % 2 ? stretch->end_ns : stretch->start_ns;
}

bool gt_cover_init(struct gt_cover *cover, const struct gt_stretch *stretches, size_t count, size_t thread_count) {
    *cover = (struct gt_cover){.stretches = stretches, .stretch_count = count, .thread_count = thread_count};
    if (count > UINT32_MAX / 2)
        return false;
    size_t probe_count = count * 2;
    cover->probes = gt_alloc_array(probe_count, sizeof *cover->probes);
    cover->first_probe = gt_alloc_array(thread_count + 1, sizeof *cover->first_probe);
    if (!cover->probes || !cover->first_probe)
        return false;
    for (uint32_t i = 0; i < probe_count; i++)
        cover->probes[i] = (struct gt_radix_item){gt_radix_key(probe_time(cover, i)), i};
    if (!gt_radix_sort(cover->probes, probe_count))
        return false;
    for (size_t i = 0; i < probe_count; i++) {
        cover->probes[i].key = stretches[cover->probes[i].value / 2].thread;
        cover->first_probe[cover->probes[i].key + 1]++;
    }
    for (size_t t = 0; t < thread_count; t++)
        cover->first_probe[t + 1] += cover->first_probe[t];
    return gt_radix_sort(cover->probes, probe_count); /* stable: by time inside each thread */
}

void gt_cover_release(struct gt_cover *cover) {
    gt_free(cover->probes);
    gt_free(cover->first_probe);
    memset(cover, 0, sizeof *cover);
}

/* Where the sweep stands on one thread. */
struct progress {
    size_t probe;       /* the next to settle */
    int64_t reached_ns; /* latest end so far */
    int64_t covered_ns; /* C there */
};

static bool is_wanted(const struct gt_cover *cover, const struct gt_cover_table *table, size_t row) {
    uint32_t thread = table->thread[row];
    return thread < cover->thread_count && cover->first_probe[thread] < cover->first_probe[thread + 1] &&
           (!table->wanted || table->wanted[row]);
}

/* Are the intervals of each thread in order of start, as most programs write them? */
static bool is_in_order(const struct gt_cover *cover, const struct gt_cover_table *table, int64_t *last_ns) {
    for (size_t t = 0; t < cover->thread_count; t++)
        last_ns[t] = INT64_MIN;
    for (size_t row = 0; row < table->count; row++) {
        if (!is_wanted(cover, table, row))
            continue;
        if (table->start_ns[row] < last_ns[table->thread[row]])
            return false;
        last_ns[table->thread[row]] = table->start_ns[row];
    }
    return true;
}

/* Intervals of threads that have stretches, by start. */
static struct gt_radix_item *sorted_intervals(const struct gt_cover *cover, const struct gt_cover_table *table,
                                              size_t *count) {
    struct gt_radix_item *items = table->count > UINT32_MAX ? NULL : gt_alloc_array(table->count, sizeof *items);
    *count = 0;
    for (size_t row = 0; row < table->count && items; row++)
        if (is_wanted(cover, table, row))
            items[(*count)++] = (struct gt_radix_item){gt_radix_key(table->start_ns[row]), (uint32_t)row};
    if (items && !gt_radix_sort(items, *count)) {
        gt_free(items);
        items = NULL;
    }
    return items;
}

static void settle(const struct gt_cover *cover, struct progress *progress, int64_t value_ns, int64_t *covered_ns) {
    uint32_t number = cover->probes[progress->probe++].value;
    int64_t *sum = &covered_ns[number / 2];
    *sum = number % 2 ? gt_ns_add(*sum, value_ns) : gt_ns_between(value_ns, *sum);
}

static void take_interval(const struct gt_cover *cover, struct progress *progress, size_t probe_end, int64_t start_ns,
                          int64_t end_ns, int64_t *covered_ns) {
    if (start_ns < progress->reached_ns)
        start_ns = progress->reached_ns;
    if (end_ns <= start_ns)
        return;
    for (; progress->probe < probe_end;) {
        int64_t time_ns = probe_time(cover, cover->probes[progress->probe].value);
        if (time_ns >= end_ns)
            break;
        int64_t inside_ns = time_ns > start_ns ? gt_ns_between(start_ns, time_ns) : 0;
        settle(cover, progress, gt_ns_add(progress->covered_ns, inside_ns), covered_ns);
    }
    progress->covered_ns = gt_ns_add(progress->covered_ns, gt_ns_between(start_ns, end_ns));
    progress->reached_ns = end_ns;
}

static void take_row(const struct gt_cover *cover, struct progress *progress, const struct gt_cover_table *table,
                     size_t row, int64_t *covered_ns) {
    uint32_t thread = table->thread[row];
    take_interval(cover, &progress[thread], cover->first_probe[thread + 1], table->start_ns[row], table->end_ns[row],
                  covered_ns);
}

static bool take_rows(const struct gt_cover *cover, struct progress *progress, const struct gt_cover_table *table,
                      int64_t *covered_ns) {
    int64_t *last_ns = gt_alloc_array(cover->thread_count, sizeof *last_ns);
    bool needs_order = last_ns && !is_in_order(cover, table, last_ns);
    size_t count = 0;
    struct gt_radix_item *items = needs_order ? sorted_intervals(cover, table, &count) : NULL;
    for (size_t i = 0; i < count && items; i++)
        take_row(cover, progress, table, items[i].value, covered_ns);
    for (size_t row = 0; row < table->count && last_ns && !needs_order; row++)
        if (is_wanted(cover, table, row))
            take_row(cover, progress, table, row, covered_ns);
    bool ok = last_ns && (items || !needs_order);
    gt_free(last_ns);
    gt_free(items);
    return ok;
}

bool gt_cover_measure(const struct gt_cover *cover, const struct gt_cover_table *table, int64_t *covered_ns) {
    struct progress *progress = gt_alloc_array(cover->thread_count, sizeof *progress);
    for (size_t i = 0; i < cover->stretch_count; i++)
        covered_ns[i] = 0;
    for (size_t t = 0; t < cover->thread_count && progress; t++)
        progress[t] = (struct progress){.probe = cover->first_probe[t], .reached_ns = INT64_MIN};
    bool ok = progress && take_rows(cover, progress, table, covered_ns);
    for (size_t t = 0; t < cover->thread_count && ok; t++)
        while (progress[t].probe < cover->first_probe[t + 1])
            settle(cover, &progress[t], progress[t].covered_ns, covered_ns);
    gt_free(progress);
    return ok;
}
