/* Sums of each part in each step come in as pieces, standard deviations over steps go out. */
#include "measure/efficiency/waterfall_spread.h"

#include <math.h>

#include "base/mem.h"
#include "measure/efficiency/waterfall_rows.h"
#include "measure/results/spread.h"

bool gt_waterfall_spread_is_known(const struct gt_view *view) {
    return view->labels->step_count >= GT_SPREAD_FEWEST_STEPS;
}

void gt_waterfall_spread_note(struct gt_waterfall_spread *spread, uint32_t step, size_t part, int64_t ns) {
    struct gt_waterfall_piece *pieces = gt_mem_room(spread->pieces, spread->count, &spread->capacity, sizeof *pieces);
    spread->failed |= !pieces;
    if (!pieces)
        return;
    spread->pieces = pieces;
    pieces[spread->count++] = (struct gt_waterfall_piece){step, (uint32_t)part, ns};
}

void gt_waterfall_spread_release(struct gt_waterfall_spread *spread) {
    gt_mem_free(spread->pieces);
    *spread = (struct gt_waterfall_spread){0};
}

static bool take_pieces(struct gt_spread *steps, const struct gt_waterfall_spread *spread) {
    for (size_t i = 0; i < spread->count && steps->step_count; i++)
        if (!gt_spread_place(steps, i, spread->pieces[i].step))
            return false;
    for (size_t first, end; gt_spread_next(steps, &first, &end);)
        for (size_t i = first; i < end; i++)
            gt_spread_take(steps, spread->pieces[i].part, spread->pieces[i].ns);
    return true;
}

static struct gt_waterfall_part part_of(size_t number) {
    static const char *const others[] = {"unmodelled", "unmodelled", "exposed_comm", "exposed_memory"};
    if (number < GT_WATERFALL_LOST)
        return (struct gt_waterfall_part){"ideal", gt_family_infos[number].key, 0};
    if (number < GT_WATERFALL_UNMODELLED)
        return (struct gt_waterfall_part){"inefficiency", gt_family_infos[number - GT_WATERFALL_LOST].key, 0};
    if (number < GT_WATERFALL_IDLE)
        return (struct gt_waterfall_part){others[number - GT_WATERFALL_UNMODELLED],
                                          number == GT_WATERFALL_PEAK_UNKNOWN ? GT_WATERFALL_NO_PEAK : "", 0};
    return (struct gt_waterfall_part){"idle", gt_idle_cause_names[number - GT_WATERFALL_IDLE], 0};
}

bool gt_waterfall_spread_tell(const struct gt_waterfall_spread *spread, const struct gt_view *view,
                              struct gt_section *section) {
    double stddev_ns[GT_WATERFALL_PART_COUNT];
    size_t step_count = 0;
    struct gt_spread steps;
    bool ok = gt_spread_init(&steps, view, GT_WATERFALL_PART_COUNT) && !spread->failed && take_pieces(&steps, spread) &&
              gt_spread_measure(&steps, view, stddev_ns, &step_count);
    for (size_t i = 0; i < GT_WATERFALL_PART_COUNT && ok && step_count; i++) {
        struct gt_waterfall_part part = part_of(i);
        if (!isnan(stddev_ns[i]))
            gt_section_spread(section, "waterfall",
                              gt_waterfall_rows_words(&section->report->arena, part.part, part.key), step_count,
                              stddev_ns[i] / (double)view->device_count);
    }
    gt_spread_release(&steps);
    return ok;
}
