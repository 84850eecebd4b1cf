/* Writes what is known about ranks, steps and groups: a job comes in, tables go out. */
#include "ranks/rank_tables.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "ranks/rank_charges.h"
#include "ranks/rank_clocks.h"
#include "ranks/rank_measures.h"
#include "ranks/rank_tiles.h"
#include "report/row.h"

struct gt_cell gt_rank_tables_text(struct gt_section *section, struct gt_str text) {
    return text.len ? gt_cell_text(gt_arena_copy(&section->report->arena, text)) : gt_cell_null();
}

/* ---- parts ---- */

#define PART_COLUMNS(flags)                                                                                            \
    {"compute_ns", "Compute", GT_UNIT_NS, NULL, GT_COLUMN_ADDS},                                                       \
        {"exposed_transfer_ns", "Exposed transfer", GT_UNIT_NS, NULL, GT_COLUMN_ADDS},                                 \
        {"exposed_wait_ns", "Exposed wait", GT_UNIT_NS, NULL, GT_COLUMN_ADDS},                                         \
        {"exposed_memory_ns", "Exposed mem", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | (flags)}, {                            \
        "idle_ns", "Idle", GT_UNIT_NS, NULL, GT_COLUMN_ADDS                                                            \
    }

static int64_t idle_of(const int64_t ns[GT_PART_COUNT]) {
    int64_t sum_ns = 0;
    for (int part = GT_PART_IDLE_SYNC; part <= GT_PART_IDLE_UNKNOWN; part++)
        sum_ns += ns[part];
    return sum_ns;
}

static struct gt_cell wait_cell(const struct gt_rank_job *job, int64_t ns) {
    return gt_rank_job_knows_waits(job) ? gt_cell_int(ns) : gt_cell_null();
}

static void put_parts(const struct gt_rank_job *job, struct gt_row *row, const int64_t ns[GT_PART_COUNT]) {
    gt_row_int(row, "compute_ns", ns[GT_PART_COMPUTE]);
    gt_row_int(row, "exposed_transfer_ns", ns[GT_PART_TRANSFER]);
    gt_row_cell(row, "exposed_wait_ns", wait_cell(job, ns[GT_PART_WAIT]));
    gt_row_int(row, "exposed_memory_ns", ns[GT_PART_MEMORY]);
    gt_row_int(row, "idle_ns", idle_of(ns));
}

static int64_t own_of(const int64_t ns[GT_PART_COUNT]) {
    return ns[GT_PART_COMPUTE] + ns[GT_PART_MEMORY] + idle_of(ns);
}

/* ---- ranks ---- */

static const struct gt_report_column rank_columns[] = {
    {"rank", "Rank", GT_UNIT_NONE, NULL, GT_COLUMN_KEY | GT_COLUMN_EXACT},
    {"rank_source", "Known by", GT_UNIT_NONE, NULL, GT_COLUMN_DETAIL},
    {"host", "Host", GT_UNIT_NONE, NULL, GT_COLUMN_DETAIL},
    {"device", "GPU", GT_UNIT_NONE, NULL, GT_COLUMN_DETAIL},
    {"collectives", "Collectives", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS | GT_COLUMN_DETAIL},
    {"unmatched", "Unmatched", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS | GT_COLUMN_DETAIL},
    {"span_ns", "Span", GT_UNIT_NS, NULL, GT_COLUMN_ADDS},
    PART_COLUMNS(GT_COLUMN_DETAIL),
    {"idle_sync_ns", "Idle sync", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_DETAIL},
    {"idle_host_ns", "Idle host", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_DETAIL},
    {"idle_launch_ns", "Idle launch", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_DETAIL},
    {"idle_dependency_ns", "Idle dependency", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_DETAIL},
    {"idle_unknown_ns", "Idle unknown", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_DETAIL},
    {"own_ns", "Own time", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS | GT_COLUMN_DETAIL},
    {"charged_ns", "Charged", GT_UNIT_NS, NULL, GT_COLUMN_ADDS},
    {"leads", "Leads", GT_UNIT_COUNT, NULL, 0},
    {"gain_ns", "Gain", GT_UNIT_NS, NULL, GT_COLUMN_SINGLE},
};

static void add_ranks(const struct gt_rank_job *job, struct gt_section *section) {
    struct gt_table *table = gt_section_table(section, "ranks", "Ranks", rank_columns, GT_ARRAY_COUNT(rank_columns));
    for (size_t r = 0; r < job->rank_count; r++) {
        const struct gt_rank_lane *rank = &job->ranks[r];
        const struct gt_rank_summary *summary = rank->summary;
        const int64_t *ns = rank->ns;
        struct gt_row row = gt_row_begin(table);
        gt_row_int(&row, "rank", rank->number);
        gt_row_text(&row, "rank_source", gt_str_of(rank->source));
        gt_row_cell(&row, "host", gt_rank_tables_text(section, gt_rank_summary_text(summary, summary->head.host)));
        gt_row_int(&row, "device", summary->head.device);
        gt_row_count(&row, "collectives", rank->matched);
        gt_row_count(&row, "unmatched", rank->unmatched);
        gt_row_int(&row, "span_ns", summary->head.last_ns - summary->head.first_ns);
        put_parts(job, &row, ns);
        gt_row_int(&row, "idle_sync_ns", ns[GT_PART_IDLE_SYNC]);
        gt_row_int(&row, "idle_host_ns", ns[GT_PART_IDLE_HOST]);
        gt_row_int(&row, "idle_launch_ns", ns[GT_PART_IDLE_LAUNCH]);
        gt_row_int(&row, "idle_dependency_ns", ns[GT_PART_IDLE_DEPENDENCY]);
        gt_row_int(&row, "idle_unknown_ns", ns[GT_PART_IDLE_UNKNOWN]);
        gt_row_int(&row, "own_ns", own_of(ns));
        gt_row_cell(&row, "charged_ns", wait_cell(job, rank->charged_ns));
        gt_row_count(&row, "leads", rank->leads);
        gt_row_cell(&row, "gain_ns", gt_rank_tables_ns(rank->gain_ns));
        gt_row_end(&row);
    }
}

/* ---- steps ---- */

static const struct gt_report_column step_columns[] = {
    {"step", "Step", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"rank", "Rank", GT_UNIT_NONE, NULL, GT_COLUMN_KEY | GT_COLUMN_EXACT},
    {"step_ns", "Step", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},
    {"aligned_start_ns", "Aligned start", GT_UNIT_NS, NULL, GT_COLUMN_MOMENT | GT_COLUMN_DETAIL},
    PART_COLUMNS(0),
    {"own_ns", "Own time", GT_UNIT_NS, NULL, GT_COLUMN_ADDS},
    {"excess_ns", "Over median", GT_UNIT_NS, NULL, GT_COLUMN_SIGNED},
    {"charged_ns", "Charged", GT_UNIT_NS, NULL, GT_COLUMN_ADDS},
};

/* Sets, by tree of clocks, the first start of an op on the aligned clock. */
static void find_origins(const struct gt_rank_job *job, int64_t *origin_ns) {
    for (uint32_t r = 0; r < job->rank_count; r++)
        origin_ns[r] = INT64_MAX;
    for (uint32_t r = 0; r < job->rank_count; r++) {
        int64_t first_ns = gt_rank_clocks_aligned(job, r, job->ranks[r].summary->head.first_ns);
        int64_t *origin = &origin_ns[job->ranks[r].tree];
        *origin = first_ns < *origin ? first_ns : *origin;
    }
}

static void add_steps(const struct gt_rank_job *job, struct gt_section *section) {
    struct gt_table *table =
        gt_section_table(section, "rank_steps", "Steps of ranks", step_columns, GT_ARRAY_COUNT(step_columns));
    int64_t *origin_ns = gt_arena_array(&section->report->arena, job->rank_count, sizeof *origin_ns);
    if (!origin_ns)
        return; /* the arena remembers */
    find_origins(job, origin_ns);
    table->page_limit = GT_RANK_TABLES_DRAWN;
    table->empty = "The traces have no steps; --step-tag TAG names the ranges that are.";
    for (size_t i = 0; i < job->step_count * job->rank_count; i++) {
        const struct gt_rank_window *window = &job->windows[i];
        uint32_t r = (uint32_t)(i % job->rank_count);
        if (!window->is_there)
            continue;
        struct gt_row row = gt_row_begin(table);
        gt_row_int(&row, "step", job->steps[i / job->rank_count]);
        gt_row_int(&row, "rank", job->ranks[r].number);
        gt_row_int(&row, "step_ns", window->step_ns);
        gt_row_int(&row, "aligned_start_ns",
                   gt_rank_clocks_aligned(job, r, window->start_ns) - origin_ns[job->ranks[r].tree]);
        put_parts(job, &row, window->ns);
        gt_row_int(&row, "own_ns", own_of(window->ns));
        gt_row_int(&row, "excess_ns", window->excess_ns);
        gt_row_int(&row, "charged_ns", window->charged_ns);
        gt_row_end(&row);
    }
}

/* ---- groups ---- */

static const struct gt_report_column group_columns[] = {
    {"group", "Group", GT_UNIT_NONE, NULL, 0},
    {"name", "Name", GT_UNIT_NONE, NULL, 0}, /* another in every run of NCCL */
    {"desc", "Description", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"members", "Members", GT_UNIT_NONE, NULL, GT_COLUMN_KEY | GT_COLUMN_EXACT | GT_COLUMN_NAME},
    {"size", "Size", GT_UNIT_COUNT, NULL, 0},
    {"present", "Read", GT_UNIT_COUNT, NULL, GT_COLUMN_DETAIL},
    {"rung", "Matched by", GT_UNIT_NONE, NULL, 0},
    {"ops", "Collectives", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS},
    {"outside", "Outside", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS | GT_COLUMN_DETAIL},
    {"unmatched", "Unmatched", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS | GT_COLUMN_DETAIL},
    {"first_mismatch", "First mismatch", GT_UNIT_NONE, NULL, GT_COLUMN_DETAIL},
    {"transfer_ns", "Transfer", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},
    {"wait_ns", "Wait", GT_UNIT_NS, NULL, GT_COLUMN_ADDS},
    {"busbw_p50_gbs", "Median GB/s", GT_UNIT_NONE, NULL, 0},
};

struct gt_str gt_rank_tables_group_name(struct gt_arena *arena, const struct gt_rank_set_group *group) {
    return group->communicator == UINT64_MAX ? gt_arena_copy(arena, group->name)
                                             : gt_arena_printf(arena, "%016" PRIx64, group->communicator);
}

/* Three or more in progression are "0-3", "1-7:2"; else a list. */
struct gt_str gt_rank_tables_members(struct gt_arena *arena, const struct gt_rank_set_group *group) {
    size_t count = group->member_count, even = 2;
    const int64_t *list = group->members;
    int64_t stride = count > 1 ? list[1] - list[0] : 0;
    while (even < count && list[even] - list[even - 1] == stride)
        even++;
    if (count >= 3 && even == count && stride == 1)
        return gt_arena_printf(arena, "%" PRId64 "-%" PRId64, list[0], list[count - 1]);
    if (count >= 3 && even == count && stride > 0)
        return gt_arena_printf(arena, "%" PRId64 "-%" PRId64 ":%" PRId64, list[0], list[count - 1], stride);
    enum { NUMBER_MAX = 21 };
    char *text = gt_arena_alloc(arena, count * NUMBER_MAX + 1);
    size_t used = 0;
    for (size_t i = 0; text && i < count; i++)
        used += (size_t)snprintf(text + used, count * NUMBER_MAX + 1 - used, "%s%" PRId64, i ? "," : "", list[i]);
    return (struct gt_str){text ? text : "", used};
}

static struct gt_cell rung_cell(struct gt_section *section, uint32_t rungs) {
    struct gt_str text = {"", 0};
    for (size_t rung = 0; rung < GT_RUNG_COUNT; rung++)
        if (rungs & 1u << rung)
            text = gt_arena_printf(&section->report->arena, "%s%s%s", text.ptr, text.len ? "," : "",
                                   gt_rank_job_rungs[rung]);
    return text.len ? gt_cell_text(text) : gt_cell_null();
}

static void add_groups(const struct gt_rank_job *job, struct gt_section *section) {
    struct gt_arena *arena = &section->report->arena;
    struct gt_table *table =
        gt_section_table(section, "groups", "Groups of ranks", group_columns, GT_ARRAY_COUNT(group_columns));
    table->empty = "The traces do not say which ranks communicate.";
    for (size_t g = 0; g < job->group_count; g++) {
        const struct gt_rank_set_group *group = &job->groups[g];
        struct gt_row row = gt_row_begin(table);
        gt_row_count(&row, "group", g);
        gt_row_text(&row, "name", gt_rank_tables_group_name(arena, group));
        gt_row_cell(&row, "desc", gt_rank_tables_text(section, group->description));
        gt_row_text(&row, "members", gt_rank_tables_members(arena, group));
        gt_row_int(&row, "size", group->size);
        gt_row_count(&row, "present", group->present);
        gt_row_cell(&row, "rung", rung_cell(section, group->rungs));
        gt_row_count(&row, "ops", group->ops);
        gt_row_count(&row, "outside", group->outside);
        gt_row_count(&row, "unmatched", group->unmatched);
        gt_row_cell(&row, "first_mismatch",
                    group->first_mismatch < 0 ? gt_cell_null() : gt_cell_int(group->first_mismatch));
        gt_row_int(&row, "transfer_ns", group->transfer_ns);
        gt_row_int(&row, "wait_ns", group->wait_ns);
        gt_row_cell(&row, "busbw_p50_gbs", gt_rank_tables_real(group->busbw_p50));
        gt_row_end(&row);
    }
}

/* ---- episodes and clocks ---- */

static const struct gt_report_column episode_columns[] = {
    {"step", "Step", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"rank", "Rank", GT_UNIT_NONE, NULL, GT_COLUMN_KEY | GT_COLUMN_EXACT},
    {"charged_ns", "Charged", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},
    {"reason", "Reason", GT_UNIT_NONE, NULL, 0},
};

static void add_episodes(const struct gt_rank_job *job, struct gt_section *section) {
    struct gt_table *table = gt_section_table(section, "episodes", "Single steps that a rank held up", episode_columns,
                                              GT_ARRAY_COUNT(episode_columns));
    for (size_t i = 0; i < job->episode_count; i++) {
        const struct gt_rank_episode *episode = &job->episodes[i];
        struct gt_row row = gt_row_begin(table);
        gt_row_int(&row, "step", job->steps[episode->step]);
        gt_row_cell(&row, "rank", gt_rank_tables_rank(job, episode->rank));
        gt_row_int(&row, "charged_ns", episode->charged_ns);
        gt_row_text(&row, "reason", episode->reason);
        gt_row_end(&row);
    }
}

static const struct gt_report_column clock_columns[] = {
    {"rank", "Rank", GT_UNIT_NONE, NULL, GT_COLUMN_KEY | GT_COLUMN_EXACT},
    {"reference", "Clock of", GT_UNIT_NONE, NULL, 0},
    {"by", "Found by", GT_UNIT_NONE, NULL, 0},
    {"offset_ns", "Offset", GT_UNIT_NS, NULL, GT_COLUMN_SIGNED},
    {"drift_ppm", "Drift (ppm)", GT_UNIT_NONE, NULL, 0},
    {"residual_p50_ns", "Median residual", GT_UNIT_NS, NULL, 0},
    {"floor_ns", "Floor", GT_UNIT_NS, NULL, 0},
};

/* The first op's start on the clock of the tree is where it is without the offset. */
static void add_clocks(const struct gt_rank_job *job, struct gt_section *section) {
    static const char *const ways[] = {
        [GT_CLOCK_REFERENCE] = "reference", [GT_CLOCK_ENDS] = "ends", [GT_CLOCK_P2P] = "p2p"};
    struct gt_table *table =
        gt_section_table(section, "clocks", "Clocks of ranks", clock_columns, GT_ARRAY_COUNT(clock_columns));
    for (uint32_t r = 0; r < job->rank_count; r++) {
        const struct gt_rank_lane *rank = &job->ranks[r];
        struct gt_row row = gt_row_begin(table);
        gt_row_int(&row, "rank", rank->number);
        gt_row_cell(&row, "reference", gt_rank_tables_rank(job, rank->tree));
        gt_row_text(&row, "by", gt_str_of(ways[rank->clock_by]));
        gt_row_int(&row, "offset_ns", gt_rank_clocks_offset_ns(job, r));
        gt_row_real(&row, "drift_ppm", rank->drift * 1e6);
        gt_row_cell(&row, "residual_p50_ns", gt_rank_tables_real(rank->residual_p50_ns));
        gt_row_cell(&row, "floor_ns", gt_rank_tables_ns(rank->floor_ns));
        gt_row_end(&row);
    }
}

void gt_rank_tables_leave_page(struct gt_section *section, const struct gt_table *table) {
    for (size_t b = 0; b < section->block_count; b++)
        if (section->blocks[b].table == table)
            section->blocks[b].audience &= ~(uint32_t)GT_FOR_PAGE;
}

bool gt_rank_tables_is_wanted(const struct gt_request *request, const char *table) {
    if (!request)
        return true;
    struct gt_shape shape = gt_shape_of(table, request->shapes, request->shape_count);
    return shape.absent <= 0 && !(request->for_screen && shape.hidden > 0);
}

void gt_rank_tables_add(const struct gt_rank_job *job, struct gt_section *section, const struct gt_request *request) {
    gt_rank_measures_add(job, section);
    add_ranks(job, section);
    gt_rank_charges_add(job, section);
    add_episodes(job, section);
    add_groups(job, section);
    gt_rank_tables_add_speeds(job, section);
    if (gt_rank_tables_is_wanted(request, "rank_steps"))
        add_steps(job, section);
    gt_rank_tables_add_collectives(job, section, request);
    add_clocks(job, section);
}
