/* Writes the table of blame: charges by rank, reason and step come in, one row for each rank and reason goes out. */
#include "ranks/rank_charges.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "ranks/rank_reasons.h"
#include "ranks/rank_tables.h"
#include "ranks/rank_words.h"
#include "report/row.h"

static const struct gt_report_column columns[] = {
    {"rank", "Rank", GT_UNIT_NONE, NULL, GT_COLUMN_KEY | GT_COLUMN_EXACT},
    {"reason", "Reason", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"charged_ns", "Charged", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},
    {"share", "Share of wait", GT_UNIT_SHARE, "exposed wait of all ranks", GT_COLUMN_BAR},
    {"steps", "Steps", GT_UNIT_COUNT, NULL, 0},
    {"worst_step", "Worst step", GT_UNIT_NONE, NULL, GT_COLUMN_DETAIL},
    {"worst_ns", "There", GT_UNIT_NS, NULL, GT_COLUMN_DETAIL},
    {"reference_rank", "Against", GT_UNIT_NONE, NULL, GT_COLUMN_DETAIL},
    {"slower_ns", "Slower", GT_UNIT_NS, NULL, GT_COLUMN_DETAIL | GT_COLUMN_SIGNED},
    {"more_ns", "More", GT_UNIT_NS, NULL, GT_COLUMN_DETAIL | GT_COLUMN_SIGNED},
    {"kernel", "Kernel", GT_UNIT_NONE, NULL, GT_COLUMN_NAME},
    {"kernel_ns", "Kernel time over", GT_UNIT_NS, NULL, GT_COLUMN_DETAIL | GT_COLUMN_SIGNED},
};

struct charge_row {
    uint32_t rank;
    size_t reason;
    struct gt_str name;
    int64_t charged_ns;
};

int64_t gt_rank_charges_sum(const struct gt_rank_job *job, uint32_t rank, size_t reason) {
    size_t place = rank == GT_RANK_NONE ? job->rank_count : rank;
    int64_t sum_ns = 0;
    for (size_t s = 0; s <= job->step_count; s++)
        sum_ns += *gt_rank_job_charge(job, place, reason, s);
    return sum_ns;
}

/* Largest first, then by rank, nobody last, then in the order of reasons. */
static int by_charge(const void *a, const void *b) {
    const struct charge_row *x = a, *y = b;
    if (x->charged_ns != y->charged_ns)
        return x->charged_ns > y->charged_ns ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return x->reason != y->reason ? (x->reason < y->reason ? -1 : 1) : gt_str_cmp(x->name, y->name);
}

static size_t list_rows(const struct gt_rank_job *job, struct charge_row *rows) {
    size_t count = 0;
    for (uint32_t place = 0; place <= job->rank_count; place++) {
        uint32_t rank = place == job->rank_count ? GT_RANK_NONE : place;
        for (size_t reason = 0; reason < GT_REASON_COUNT; reason++) {
            int64_t ns = gt_rank_charges_sum(job, rank, reason), slower_ns, more_ns;
            if (ns == 0)
                continue;
            if (reason != GT_PART_COMPUTE || rank == GT_RANK_NONE ||
                !gt_rank_reasons_divide(&job->computes[rank], ns, &slower_ns, &more_ns)) {
                rows[count++] = (struct charge_row){rank, reason, gt_rank_reasons_name(job, rank, reason, ns), ns};
                continue;
            }
            if (slower_ns)
                rows[count++] = (struct charge_row){rank, reason, GT_STR("compute_slower"), slower_ns};
            if (more_ns)
                rows[count++] = (struct charge_row){rank, reason, GT_STR("compute_more"), more_ns};
        }
    }
    return count;
}

/* In how many steps, and in which one most. */
static void put_steps(struct gt_row *row, const struct gt_rank_job *job, const struct charge_row *charge) {
    size_t place = charge->rank == GT_RANK_NONE ? job->rank_count : charge->rank, steps = 0, worst = job->step_count;
    int64_t worst_ns = 0;
    for (size_t s = 0; s < job->step_count; s++) {
        int64_t ns = *gt_rank_job_charge(job, place, charge->reason, s);
        steps += ns > 0;
        worst = ns > worst_ns ? s : worst;
        worst_ns = ns > worst_ns ? ns : worst_ns;
    }
    gt_row_count(row, "steps", steps);
    gt_row_cell(row, "worst_step", worst < job->step_count ? gt_cell_int(job->steps[worst]) : gt_cell_null());
    gt_row_cell(row, "worst_ns", worst < job->step_count ? gt_cell_int(worst_ns) : gt_cell_null());
}

static void put_compute(struct gt_row *row, const struct gt_rank_job *job, const struct charge_row *charge,
                        struct gt_section *section) {
    const struct gt_rank_compute *compute =
        charge->reason == GT_PART_COMPUTE && charge->rank != GT_RANK_NONE ? &job->computes[charge->rank] : NULL;
    if (!compute || compute->reference == GT_RANK_NONE) {
        gt_row_null_rest(row, "reference_rank");
        return;
    }
    gt_row_cell(row, "reference_rank", gt_rank_tables_rank(job, compute->reference));
    gt_row_int(row, "slower_ns", compute->slower_ns);
    gt_row_int(row, "more_ns", compute->more_ns);
    gt_row_cell(row, "kernel", gt_rank_tables_text(section, compute->kernel));
    gt_row_int(row, "kernel_ns", compute->kernel_ns);
}

/* ---- causes in words, for comparisons ---- */

static const struct gt_report_column cause_columns[] = {
    {"cause", "Cause", GT_UNIT_NONE, NULL, GT_COLUMN_KEY | GT_COLUMN_EXACT | GT_COLUMN_NAME | GT_COLUMN_WORDS},
    {"charged_ns", "Charged", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS | GT_COLUMN_PART},
    {"share", "Share of wait", GT_UNIT_SHARE, "exposed wait of all ranks", GT_COLUMN_BAR},
    {"summed_steps", "Summed steps", GT_UNIT_COUNT, NULL, GT_COLUMN_DETAIL | GT_COLUMN_MEAN},
};

/* "rank 2: more compute" */
static struct gt_str cause_words(const struct gt_rank_job *job, const struct charge_row *charge,
                                 struct gt_arena *arena) {
    if (charge->rank == GT_RANK_NONE)
        return charge->reason == GT_REASON_SPREAD   ? GT_STR("nobody (spread)")
               : charge->reason == GT_REASON_WINDOW ? GT_STR("began before the trace")
                                                    : GT_STR("unresolved");
    const char *words = gt_rank_words_reason(charge->name);
    return gt_arena_printf(arena, "rank %" PRId64 ": %s", job->ranks[charge->rank].number,
                           *words ? words : "longer collectives elsewhere");
}

static void add_causes(const struct gt_rank_job *job, struct gt_section *section, const struct charge_row *rows,
                       size_t count) {
    static const struct gt_parts whole = {.whole = "exposed wait, all ranks together,"};
    struct gt_table *table = gt_section_table(section, "wait_causes", "Who caused the exposed wait", cause_columns,
                                              GT_ARRAY_COUNT(cause_columns));
    gt_rank_tables_leave_page(section, table); /* the table of blame says more */
    table->parts = &whole;
    for (size_t i = 0; i < count; i++) {
        struct gt_row row = gt_row_begin(table);
        gt_row_text(&row, "cause", cause_words(job, &rows[i], &section->report->arena));
        gt_row_int(&row, "charged_ns", rows[i].charged_ns);
        gt_row_share(&row, "share", (double)rows[i].charged_ns, (double)job->exposed_wait_ns);
        gt_row_cell(&row, "summed_steps", job->step_count ? gt_cell_count(job->step_count) : gt_cell_null());
        gt_row_end(&row);
    }
}

void gt_rank_charges_add(const struct gt_rank_job *job, struct gt_section *section) {
    struct gt_table *table =
        gt_section_table(section, "blame", "Who is charged for the waiting", columns, GT_ARRAY_COUNT(columns));
    struct charge_row *rows =
        gt_arena_array(&section->report->arena, (job->rank_count + 1) * (GT_REASON_COUNT + 1), sizeof *rows);
    size_t count = rows ? list_rows(job, rows) : 0;
    table->empty = gt_rank_job_knows_waits(job) ? "No rank waited for another." : "Who waited is not known.";
    if (!gt_rank_job_knows_waits(job))
        gt_section_lack(section, GT_STR("wait_causes"), GT_STR("collective that was matched between ranks"));
    if (count)
        qsort(rows, count, sizeof *rows, by_charge);
    for (size_t i = 0; i < count; i++) {
        struct gt_row row = gt_row_begin(table);
        gt_row_cell(&row, "rank", gt_rank_tables_rank(job, rows[i].rank));
        gt_row_text(&row, "reason", rows[i].name);
        gt_row_int(&row, "charged_ns", rows[i].charged_ns);
        gt_row_share(&row, "share", (double)rows[i].charged_ns, (double)job->exposed_wait_ns);
        put_steps(&row, job, &rows[i]);
        put_compute(&row, job, &rows[i], section);
        gt_row_end(&row);
    }
    add_causes(job, section, rows, count);
}
