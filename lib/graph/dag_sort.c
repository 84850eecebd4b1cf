/* Orders of rows that several parts of the graph need: by time, longer first, by group. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/radix.h"
#include "graph/dag_build.h"

static bool is_sorted(const uint32_t *rows, size_t count, const int64_t *time_ns) {
    for (size_t i = 1; i < count; i++)
        if (time_ns[rows[i]] < time_ns[rows[i - 1]])
            return false;
    return true;
}

bool gt_dag_build_sort(struct gt_dag_build *build, uint32_t *rows, size_t count, const int64_t *time_ns) {
    if (is_sorted(rows, count, time_ns))
        return true;
    struct gt_radix_item *items = gt_mem_uninitialised(count ? count : 1, sizeof *items);
    for (size_t i = 0; i < count && items; i++)
        items[i] = (struct gt_radix_item){gt_radix_key(time_ns[rows[i]]), rows[i]};
    bool ok = items && gt_radix_sort(items, count);
    for (size_t i = 0; i < count && ok; i++)
        rows[i] = items[i].value;
    gt_mem_free(items);
    build->failed |= !ok;
    return ok;
}

struct tie {
    int64_t end_ns;
    uint32_t row, place;
};

static int by_end_then_place(const void *a, const void *b) {
    const struct tie *x = a, *y = b;
    if (x->end_ns != y->end_ns)
        return x->end_ns > y->end_ns ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

static bool order_tie(uint32_t *rows, size_t count, const int64_t *end_ns) {
    struct tie *ties = gt_mem_uninitialised(count, sizeof *ties);
    for (size_t i = 0; i < count && ties; i++)
        ties[i] = (struct tie){end_ns[rows[i]], rows[i], (uint32_t)i};
    if (!ties)
        return false;
    qsort(ties, count, sizeof *ties, by_end_then_place);
    for (size_t i = 0; i < count; i++)
        rows[i] = ties[i].row;
    gt_mem_free(ties);
    return true;
}

static bool longer_first(struct gt_dag_build *build, uint32_t *rows, size_t count, const int64_t *start_ns,
                         const int64_t *end_ns) {
    bool ok = true;
    for (size_t first = 0, last; first < count && ok; first = last) {
        for (last = first + 1; last < count && start_ns[rows[last]] == start_ns[rows[first]];)
            last++;
        ok = last - first == 1 || order_tie(rows + first, last - first, end_ns);
    }
    build->failed |= !ok;
    return ok;
}

static bool is_ordered(const uint32_t *rows, size_t count, const int64_t *start_ns, const int64_t *end_ns) {
    for (size_t i = 1; i < count; i++) {
        int64_t before_ns = start_ns[rows[i - 1]], own_ns = start_ns[rows[i]];
        if (own_ns < before_ns || (own_ns == before_ns && end_ns[rows[i]] > end_ns[rows[i - 1]]))
            return false;
    }
    return true;
}

bool gt_dag_build_order(struct gt_dag_build *build, uint32_t *rows, size_t count, const int64_t *start_ns,
                        const int64_t *end_ns) {
    if (is_ordered(rows, count, start_ns, end_ns))
        return true;
    return gt_dag_build_sort(build, rows, count, start_ns) && longer_first(build, rows, count, start_ns, end_ns);
}

static bool is_grouped(const uint32_t *rows, size_t count, const uint32_t *group) {
    for (size_t i = 1; i < count; i++)
        if (group[rows[i]] < group[rows[i - 1]])
            return false;
    return true;
}

bool gt_dag_build_group(struct gt_dag_build *build, uint32_t *rows, size_t count, const uint32_t *group,
                        size_t group_count) {
    if (is_grouped(rows, count, group))
        return true;
    size_t *next = gt_mem_array(group_count + 1, sizeof *next);
    uint32_t *grouped = gt_mem_uninitialised(count ? count : 1, sizeof *grouped);
    bool ok = next && grouped;
    for (size_t i = 0; i < count && ok; i++)
        next[group[rows[i]] + 1]++;
    for (size_t i = 0; i < group_count && ok; i++)
        next[i + 1] += next[i];
    for (size_t i = 0; i < count && ok; i++)
        grouped[next[group[rows[i]]]++] = rows[i];
    if (ok)
        memcpy(rows, grouped, count * sizeof *rows);
    gt_mem_free(next);
    gt_mem_free(grouped);
    build->failed |= !ok;
    return ok;
}
