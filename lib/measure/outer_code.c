/* Finds what kept launching threads during gaps: in come gaps and the outermost code of threads, out goes the name of
   the code in which each gap was mostly spent. */
#include "measure/outer_code.h"

#include "measure/measure.h"

/* The first code of a thread that ends behind a time. Gaps come in order of time, so it mostly is the one that was
   found before or close behind it: *place remembers. */
static size_t first_behind(const struct gt_outers *outers, uint32_t thread, int64_t time_ns, size_t *place) {
    size_t low = outers->first[thread], high = outers->first[thread + 1];
    if (*place > low && *place <= high && outers->end_ns[*place - 1] <= time_ns)
        low = *place;
    for (size_t step = 1; low < high; step *= 2) {
        size_t probe = high - low > step ? low + step - 1 : high - 1;
        if (outers->end_ns[probe] > time_ns) {
            high = probe;
            break;
        }
        low = probe + 1;
    }
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (outers->end_ns[middle] <= time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    *place = low;
    return low;
}

/* The name with the largest part of [start, end), where all names together have more than half of it. */
static gt_strid name_during(const struct gt_outers *outers, uint32_t thread, int64_t start_ns, int64_t end_ns,
                            size_t *place) {
    int64_t longest_ns = 0, covered_ns = 0;
    gt_strid longest = GT_STRID_EMPTY;
    for (size_t i = first_behind(outers, thread, start_ns, place);
         i < outers->first[thread + 1] && outers->start_ns[i] < end_ns; i++) {
        int64_t from_ns = outers->start_ns[i] > start_ns ? outers->start_ns[i] : start_ns;
        int64_t part_ns = gt_ns_between(from_ns, outers->end_ns[i] < end_ns ? outers->end_ns[i] : end_ns);
        covered_ns = gt_ns_add(covered_ns, part_ns);
        if (part_ns > longest_ns) {
            longest_ns = part_ns;
            longest = outers->name[i];
        }
    }
    return covered_ns > gt_ns_between(start_ns, end_ns) / 2 ? longest : GT_STRID_EMPTY;
}

gt_strid gt_outer_code_name(const struct gt_view *view, const struct gt_idle *idle, const struct gt_idle_gap *gap,
                            size_t *place) {
    const struct gt_calls *calls = &view->store->calls;
    if (!gt_idle_gap_is_of_cpu(gap) || !gap->is_late)
        return GT_STRID_EMPTY;
    return name_during(&idle->outers, calls->thread[gap->call], gap->start_ns, calls->start_ns[gap->call], place);
}

struct gt_str gt_outer_code_text(const struct gt_view *view, gt_strid name) {
    struct gt_str text = gt_store_string(view->store, name);
    return text.len ? text : GT_STR("(outside ranges and operators)");
}
