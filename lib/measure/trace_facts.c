/* Facts: which kinds of data the trace has, which it lacks, and which no trace of its format can have. */
#include "measure/results/measure.h"
#include "report/row.h"

static const struct gt_report_column columns[] = {
    {"fact", "Data", GT_UNIT_NONE, NULL, GT_COLUMN_NAME | GT_COLUMN_KEY},
    {"title", "Meaning", GT_UNIT_NONE, NULL, GT_COLUMN_NAME},
    {"state", "State", GT_UNIT_NONE, NULL, 0},
};

static const char *state_of(const struct gt_store *store, uint32_t fact) {
    if (store->facts & fact)
        return "present";
    if (store->possible && !(store->possible & fact))
        return "not in this format";
    if (!(store->asked & fact))
        return "not read";
    return gt_store_loss(store, GT_FACTS_ALL) == GT_ISSUE_COUNT ? "absent"
                                                                : "not found (the file was only partly read)";
}

enum gt_status gt_trace_facts_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    (void)err;
    struct gt_table *table =
        gt_section_table(section, "trace_facts", "Available data", columns, GT_ARRAY_COUNT(columns));
    for (uint32_t fact = 1; fact <= GT_FACTS_ALL; fact <<= 1) {
        struct gt_row row = gt_row_begin(table);
        gt_row_text(&row, "fact", gt_str_of(gt_store_fact_key((enum gt_fact)fact)));
        gt_row_text(&row, "title", gt_str_of(gt_store_fact_title((enum gt_fact)fact)));
        gt_row_text(&row, "state", gt_str_of(state_of(view->store, fact)));
        gt_row_end(&row);
    }
    return GT_OK;
}
