/* Ranges that --range names: those inside the steps of --step and between --from and --to. */
#include "measure/results/path_ranges.h"

#include <stdlib.h>

#include "base/glob.h"
#include "measure/options.h"

enum { RANGES_MOST = 4096 }; /* walks of overlapping ranges cost as much as the whole each */

struct span {
    uint32_t process;
    int64_t start_ns, end_ns;
};

struct chosen {
    const struct gt_view *view;
    struct span *steps; /* that --step names */
    size_t step_count;
};

bool gt_path_ranges_is_step_asked(const struct gputime_selection *asked, int64_t number) {
    for (size_t i = 0; i < asked->step_count; i++)
        if (number >= asked->steps[i].first && number <= asked->steps[i].last)
            return true;
    return asked->step_count == 0;
}

static int by_process_and_start(const void *a, const void *b) {
    const struct span *x = a, *y = b;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

/* Steps that --step names, sorted, each with the latest end of those of its process up to there. */
static bool find_steps(struct chosen *chosen, struct gt_arena *arena) {
    const struct gt_view *view = chosen->view;
    const struct gt_ranges *ranges = &view->store->ranges;
    chosen->steps = gt_arena_array(arena, view->labels->step_count + 1, sizeof *chosen->steps);
    for (size_t i = 0; i < view->labels->step_count && chosen->steps; i++) {
        const struct gt_step *step = &view->labels->steps[i];
        if (gt_path_ranges_is_step_asked(&view->request->selection, step->number))
            chosen->steps[chosen->step_count++] =
                (struct span){step->process, ranges->start_ns[step->range], ranges->end_ns[step->range]};
    }
    if (chosen->step_count)
        qsort(chosen->steps, chosen->step_count, sizeof *chosen->steps, by_process_and_start);
    for (size_t i = 1; i < chosen->step_count; i++) {
        const struct span *before = &chosen->steps[i - 1];
        if (before->process == chosen->steps[i].process && before->end_ns > chosen->steps[i].end_ns)
            chosen->steps[i].end_ns = before->end_ns;
    }
    return chosen->steps;
}

/* Whether a range is inside one of the steps and the time that are asked for. */
static bool is_inside(const struct chosen *chosen, uint32_t range) {
    const struct gt_view *view = chosen->view;
    const struct gt_ranges *ranges = &view->store->ranges;
    const struct gputime_selection *asked = &view->request->selection;
    struct span own = {view->store->threads.process[ranges->thread[range]], ranges->start_ns[range],
                       ranges->end_ns[range]};
    if ((asked->from.kind || asked->to.kind) &&
        (own.start_ns < view->window_start_ns || own.end_ns > view->window_end_ns))
        return false;
    if (!asked->step_count)
        return true;
    size_t low = 0, high = chosen->step_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (by_process_and_start(&chosen->steps[middle], &own) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low && chosen->steps[low - 1].process == own.process && chosen->steps[low - 1].end_ns >= own.end_ns;
}

uint32_t *gt_path_ranges_find(struct gt_arena *arena, const struct gt_view *view, size_t *count, bool *is_cut_short) {
    const struct gt_store *store = view->store;
    const char *glob = gt_option_text(view, GT_OPTION_path_range);
    struct chosen chosen = {.view = view};
    uint32_t *found = gt_arena_array(arena, glob ? RANGES_MOST : 1, sizeof *found);
    if (!found || (glob && !find_steps(&chosen, arena)))
        return NULL;
    for (uint32_t i = 0; i < store->ranges.count && glob; i++) {
        if (!gt_store_range_is_of_thread(&store->ranges, i) || !is_inside(&chosen, i) ||
            !gt_glob_matches(gt_str_of(glob), gt_store_string(store, store->ranges.name[i])))
            continue;
        if (*count < RANGES_MOST)
            found[(*count)++] = i;
        else
            *is_cut_short = true;
    }
    return found;
}
