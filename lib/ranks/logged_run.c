/* The analysis of collectives that one file logged. */
#include "measure/results/measure.h"
#include "ranks/logged_reduce.h"
#include "ranks/logged_tables.h"

/* One place in each communicator: the table of sizes says all of it. */
static bool has_several_ranks(const struct gt_logged *logged) {
    return logged->rank_count > logged->group_count;
}

/* Of the whole log, whatever is selected: logs do not say when a collective ran, unless they are verbose. */
enum gt_status gt_logged_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    const struct gt_store *store = view->store;
    struct gt_rank_summary summary = {0}, *list[] = {&summary};
    struct gt_logged logged = {0};
    if (gt_measure_asks(view, GT_FACT_COMM_LOGS) && store->comm_logs.count) {
        gt_strid host = store->meta.host == GT_STRID_EMPTY ? store->meta.hidden_host : store->meta.host;
        summary.head.host = gt_rank_summary_put_text(&summary, gt_store_string(store, host));
        gt_logged_reduce(store, &summary);
    }
    enum gt_status status = summary.failed ? gt_fail_memory(err) : gt_logged_sum(&logged, list, 1, err);
    if (status == GT_OK) {
        gt_logged_tables_add(&logged, section);
        if (!has_several_ranks(&logged))
            gt_measure_table_for(section, gt_section_find(section, "logged_ranks"), GT_FOR_DATA | GT_FOR_PAGE);
    }
    gt_logged_release(&logged);
    gt_rank_summary_release(&summary);
    return status;
}
