/* Coverage by sweeping: with C(t) the time a thread was covered before t, a stretch [a, b) is covered for C(b) - C(a).
   Intervals are taken in order of start; on the way C is read off at the ends of all stretches, the probes. */
#include "measure/cover.h"

#include <string.h>

#include "base/mem.h"
#include "base/radix.h"
#include "measure/measure.h"

/* A probe's number is twice its stretch's, plus 1 for the end. */
static int64_t probe_time(const struct gt_cover *cover, uint32_t number) {
    const struct gt_stretch *stretch = &cover->stretches[number / 2];
    return number % 2 ? stretch->end_ns : stretch->start_ns;
}

/* The probes of one thread by time. Those of one device's gaps are so already. */
static bool sort_probes(struct gt_cover *cover, uint32_t *probes, size_t count) {
    bool is_sorted = true;
    for (size_t i = 1; i < count; i++)
        is_sorted &= probe_time(cover, probes[i - 1]) <= probe_time(cover, probes[i]);
    if (is_sorted)
        return true;
    struct gt_radix_item *items = gt_alloc_uninitialised(count, sizeof *items);
    for (size_t i = 0; i < count && items; i++)
        items[i] = (struct gt_radix_item){gt_radix_key(probe_time(cover, probes[i])), probes[i]};
    bool ok = items && gt_radix_sort(items, count);
    for (size_t i = 0; i < count && ok; i++)
        probes[i] = items[i].value;
    gt_free(items);
    return ok;
}

bool gt_cover_init(struct gt_cover *cover, const struct gt_stretch *stretches, size_t count, size_t thread_count) {
    *cover = (struct gt_cover){.stretches = stretches, .stretch_count = count, .thread_count = thread_count};
    if (count > UINT32_MAX / 2)
        return false;
    cover->probes = gt_alloc_uninitialised(2 * count, sizeof *cover->probes);
    cover->first_probe = gt_alloc_array(thread_count + 2, sizeof *cover->first_probe);
    if (!cover->probes || !cover->first_probe)
        return false;
    size_t *next = cover->first_probe + 1; /* by thread, while they are dealt out; then its neighbour's first */
    for (size_t i = 0; i < count; i++)
        next[stretches[i].thread + 1] += 2;
    for (size_t t = 0; t < thread_count; t++)
        next[t + 1] += next[t];
    for (uint32_t i = 0; i < 2 * count; i++)
        cover->probes[next[stretches[i / 2].thread]++] = i;
    bool ok = true;
    for (size_t t = 0; t < thread_count && ok; t++)
        ok = sort_probes(cover, cover->probes + cover->first_probe[t],
                         cover->first_probe[t + 1] - cover->first_probe[t]);
    return ok;
}

void gt_cover_release(struct gt_cover *cover) {
    gt_free(cover->probes);
    gt_free(cover->first_probe);
    memset(cover, 0, sizeof *cover);
}

/* Where the sweep stands on one thread. */
struct progress {
    size_t probe;       /* the next to settle */
    int64_t last_ns;    /* start of the interval before */
    int64_t reached_ns; /* latest end so far */
    int64_t covered_ns; /* C there */
};

static bool is_wanted(const struct gt_cover *cover, const struct gt_cover_table *table, size_t row) {
    uint32_t thread = table->thread[row];
    return thread < cover->thread_count && cover->first_probe[thread] < cover->first_probe[thread + 1] &&
           (!table->is_wanted || table->is_wanted[table->name[row]]);
}

static void settle(const struct gt_cover *cover, struct progress *progress, int64_t value_ns, int64_t *covered_ns) {
    uint32_t number = cover->probes[progress->probe++];
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
        int64_t time_ns = probe_time(cover, cover->probes[progress->probe]);
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

static void start(const struct gt_cover *cover, struct progress *progress, int64_t *covered_ns) {
    memset(covered_ns, 0, cover->stretch_count * sizeof *covered_ns);
    for (size_t t = 0; t < cover->thread_count; t++)
        progress[t] = (struct progress){.probe = cover->first_probe[t], .last_ns = INT64_MIN, .reached_ns = INT64_MIN};
}

/* false: those of a thread are not in order of start, as most programs write them. */
static bool take_rows_as_they_are(const struct gt_cover *cover, struct progress *progress,
                                  const struct gt_cover_table *table, int64_t *covered_ns) {
    for (size_t row = 0; row < table->count; row++) {
        if (!is_wanted(cover, table, row))
            continue;
        int64_t *last_ns = &progress[table->thread[row]].last_ns;
        if (table->start_ns[row] < *last_ns)
            return false;
        *last_ns = table->start_ns[row];
        take_row(cover, progress, table, row, covered_ns);
    }
    return true;
}

static bool take_rows_sorted(const struct gt_cover *cover, struct progress *progress,
                             const struct gt_cover_table *table, int64_t *covered_ns) {
    size_t count = 0;
    struct gt_radix_item *items =
        table->count > UINT32_MAX ? NULL : gt_alloc_uninitialised(table->count, sizeof *items);
    for (size_t row = 0; row < table->count && items; row++)
        if (is_wanted(cover, table, row))
            items[count++] = (struct gt_radix_item){gt_radix_key(table->start_ns[row]), (uint32_t)row};
    bool ok = items && gt_radix_sort(items, count);
    for (size_t i = 0; i < count && ok; i++)
        take_row(cover, progress, table, items[i].value, covered_ns);
    gt_free(items);
    return ok;
}

bool gt_cover_measure(const struct gt_cover *cover, const struct gt_cover_table *table, int64_t *covered_ns) {
    struct progress *progress = gt_alloc_uninitialised(cover->thread_count, sizeof *progress);
    if (!progress)
        return false;
    start(cover, progress, covered_ns);
    bool ok = take_rows_as_they_are(cover, progress, table, covered_ns);
    if (!ok) {
        start(cover, progress, covered_ns);
        ok = take_rows_sorted(cover, progress, table, covered_ns);
    }
    for (size_t t = 0; t < cover->thread_count && ok; t++)
        while (progress[t].probe < cover->first_probe[t + 1])
            settle(cover, &progress[t], progress[t].covered_ns, covered_ns);
    gt_free(progress);
    return ok;
}
