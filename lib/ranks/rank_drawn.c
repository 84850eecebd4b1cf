/* Chooses the collectives that a page draws rank by rank: a job comes in, tables that only pages have go out. Of as
   many steps as there is room for, worst first, all collectives are there; only of a first step that has no room those
   that matter most. */
#include <stdlib.h>

#include "base/mem.h"
#include "ranks/rank_tables.h"
#include "report/row.h"

enum { MEMBERS_DRAWN = 30000 }; /* about 2 MB of a page */

struct drawn_step {
    size_t place;   /* in job->steps; step_count: outside of them */
    uint32_t *list; /* its collectives */
    size_t count;
    size_t members;    /* of all of them */
    int64_t weight_ns; /* what its ranks wait, or the culprit is charged with */
};

struct drawing {
    const struct gt_rank_job *job;
    struct drawn_step *steps; /* one more than the job has */
    uint32_t *list;           /* collectives by step */
    uint32_t culprit;         /* GT_RANK_NONE: nobody */
};

static size_t place_of(const struct gt_rank_job *job, const struct gt_rank_collective *it) {
    return it->has_step ? gt_rank_job_step(job, it->step) : job->step_count;
}

static void list_steps(struct drawing *drawing) {
    const struct gt_rank_job *job = drawing->job;
    for (size_t c = 0; c < job->collective_count; c++) {
        const struct gt_rank_collective *it = &job->collectives[c];
        struct drawn_step *step = &drawing->steps[place_of(job, it)];
        step->count++;
        step->members += it->member_count;
        step->weight_ns += it->wait_ns;
    }
    uint32_t *next = drawing->list;
    for (size_t s = 0; s <= job->step_count; s++) {
        struct drawn_step *step = &drawing->steps[s];
        step->place = s;
        step->list = next;
        next += step->count;
        if (s == job->step_count || !step->count)
            step->weight_ns = step->count ? -1 : -2;
        else if (drawing->culprit != GT_RANK_NONE)
            step->weight_ns = job->windows[s * job->rank_count + drawing->culprit].charged_ns;
        step->count = 0;
    }
    for (uint32_t c = 0; c < job->collective_count; c++) {
        struct drawn_step *step = &drawing->steps[place_of(job, &job->collectives[c])];
        step->list[step->count++] = c;
    }
}

static int worse_first(const void *a, const void *b) {
    const struct drawn_step *x = a, *y = b;
    if (x->weight_ns != y->weight_ns)
        return x->weight_ns < y->weight_ns ? 1 : -1;
    return (x->place > y->place) - (x->place < y->place);
}

/* Those of the culprit first, then the longest waits. */
static int matters_first(const void *a, const void *b, void *context) {
    const struct drawing *drawing = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (drawing->culprit != GT_RANK_NONE) {
        bool has_x = gt_rank_job_member(drawing->job, x, drawing->culprit) != GT_RANK_NONE;
        bool has_y = gt_rank_job_member(drawing->job, y, drawing->culprit) != GT_RANK_NONE;
        if (has_x != has_y)
            return has_x ? -1 : 1;
    }
    int64_t x_ns = drawing->job->collectives[x].wait_ns, y_ns = drawing->job->collectives[y].wait_ns;
    return x_ns != y_ns ? (x_ns < y_ns ? 1 : -1) : (x > y) - (x < y);
}

/* ---- tables ---- */

static const struct gt_report_column step_columns[] = {
    {"step", "Step", GT_UNIT_NONE, NULL, 0},
    {"collectives", "Collectives", GT_UNIT_COUNT, NULL, 0},
};

static const struct gt_report_column rank_columns[] = {
    {"id", "Id", GT_UNIT_NONE, NULL, 0},          {"step", "Step", GT_UNIT_NONE, NULL, 0},
    {"group", "Group", GT_UNIT_NONE, NULL, 0},    {"op", "Op", GT_UNIT_NONE, NULL, 0},
    {"last_rank", "Last", GT_UNIT_NONE, NULL, 0}, {"ranks", "Ranks", GT_UNIT_COUNT, NULL, 0},
    {"rank", "Rank", GT_UNIT_NONE, NULL, 0},      {"start_ns", "Start", GT_UNIT_NS, NULL, GT_COLUMN_MOMENT},
    {"dur_ns", "Duration", GT_UNIT_NS, NULL, 0},  {"wait_ns", "Wait", GT_UNIT_NS, NULL, 0},
};

static struct gt_table *page_table(struct gt_section *section, const char *key, const char *title,
                                   const struct gt_report_column *columns, size_t column_count, size_t most) {
    struct gt_table *table = gt_section_table(section, key, title, columns, column_count);
    for (size_t b = 0; b < section->block_count; b++)
        if (section->blocks[b].table == table)
            section->blocks[b].audience = GT_FOR_PAGE;
    table->page_limit = most;
    return table;
}

static struct gt_cell step_cell(const struct gt_rank_job *job, size_t place) {
    return place < job->step_count ? gt_cell_int(job->steps[place]) : gt_cell_null();
}

static void put_ranks(struct gt_table *table, const struct gt_rank_job *job, uint32_t id) {
    const struct gt_rank_collective *it = &job->collectives[id];
    for (size_t m = 0; m < it->member_count; m++) {
        const struct gt_rank_member *member = &job->members[it->first_member + m];
        struct gt_row row = gt_row_begin(table);
        gt_row_count(&row, "id", id);
        gt_row_cell(&row, "step", step_cell(job, place_of(job, it)));
        gt_row_count(&row, "group", it->group);
        gt_row_text(&row, "op", gt_rank_tables_op(it));
        gt_row_cell(&row, "last_rank", gt_rank_tables_rank(job, it->last_rank));
        gt_row_count(&row, "ranks", it->member_count);
        gt_row_cell(&row, "rank", gt_rank_tables_rank(job, member->rank));
        gt_row_int(&row, "start_ns",
                   gt_rank_job_kernel(job, member)->start_ns - job->ranks[member->rank].summary->head.first_ns);
        gt_row_int(&row, "dur_ns", gt_rank_job_length(job, member));
        gt_row_int(&row, "wait_ns", member->wait_ns);
        gt_row_end(&row);
    }
}

static size_t put_step(struct gt_table *table, const struct gt_rank_job *job, const struct drawn_step *step,
                       size_t left) {
    for (size_t i = 0; i < step->count; i++) {
        size_t count = job->collectives[step->list[i]].member_count;
        if (count > left)
            continue;
        put_ranks(table, job, step->list[i]);
        left -= count;
    }
    return left;
}

static void put_chosen(struct gt_table *table, struct drawing *drawing) {
    const struct gt_rank_job *job = drawing->job;
    const struct drawn_step *first = drawing->steps;
    size_t left = MEMBERS_DRAWN;
    qsort_r(first->list, first->count, sizeof *first->list, matters_first, drawing); /* several jobs share the room */
    gt_row_reserve(table, job->member_count < left ? job->member_count : left);
    left = put_step(table, job, first, left);
    for (size_t s = 1; s <= job->step_count; s++)
        if (drawing->steps[s].members <= left)
            left = put_step(table, job, &drawing->steps[s], left);
}

void gt_rank_tables_add_drawn(const struct gt_rank_job *job, struct gt_section *section) {
    if (!job->collective_count)
        return;
    struct gt_arena *arena = &section->report->arena;
    struct drawing drawing = {.job = job,
                              .steps = gt_arena_array(arena, job->step_count + 1, sizeof *drawing.steps),
                              .list = gt_arena_array(arena, job->collective_count, sizeof *drawing.list),
                              .culprit = job->verdict == GT_VERDICT_PINNED ? job->verdict_rank : GT_RANK_NONE};
    if (!drawing.steps || !drawing.list)
        return; /* the arena remembers */
    list_steps(&drawing);
    qsort(drawing.steps, job->step_count + 1, sizeof *drawing.steps, worse_first);
    struct gt_table *steps = page_table(section, "drawn_steps", "Steps with collectives", step_columns,
                                        GT_ARRAY_COUNT(step_columns), GT_RANK_TABLES_DRAWN);
    for (size_t s = 0; s <= job->step_count && drawing.steps[s].count; s++) {
        struct gt_row row = gt_row_begin(steps);
        gt_row_cell(&row, "step", step_cell(job, drawing.steps[s].place));
        gt_row_count(&row, "collectives", drawing.steps[s].count);
        gt_row_end(&row);
    }
    put_chosen(page_table(section, "drawn_ranks", "Ranks in drawn collectives", rank_columns,
                          GT_ARRAY_COUNT(rank_columns), MEMBERS_DRAWN),
               &drawing);
}
