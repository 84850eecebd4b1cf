/* Writes the tables of collectives, of stages of pipelines and of bytes between ranks. */
#include "base/mem.h"
#include "events/comms.h"
#include "ranks/rank_clocks.h"
#include "ranks/rank_links.h"
#include "ranks/rank_tables.h"
#include "report/row.h"

static const struct gt_report_column speed_columns[] = {
    {"label", "Group", GT_UNIT_NONE, NULL, GT_COLUMN_KEY | GT_COLUMN_EXACT | GT_COLUMN_NAME},
    {"group", "Number", GT_UNIT_NONE, NULL, GT_COLUMN_DETAIL},
    {"busbw_gbs", "Bus GB/s", GT_UNIT_NONE, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS | GT_COLUMN_RATE},
    {"usual_busbw_gbs", "Others GB/s", GT_UNIT_NONE, NULL, 0},
    {"slow_factor", "Times as long", GT_UNIT_NONE, NULL, 0},
    {"slow_ns", "Longer by", GT_UNIT_NS, NULL, 0},
    {"gain_ns", "Gain", GT_UNIT_NS, NULL, 0},
};

/* "dp 0-6:2": what a group is called in every run of a program. */
static struct gt_str group_label(const struct gt_rank_set_group *group, struct gt_arena *arena) {
    struct gt_str members = gt_rank_tables_members(arena, group), about = group->description;
    return gt_arena_printf(arena, "%.*s%s%.*s", (int)about.len, about.ptr, about.len ? " " : "", (int)members.len,
                           members.ptr);
}

void gt_rank_tables_add_speeds(const struct gt_rank_job *job, struct gt_section *section) {
    struct gt_table *table =
        gt_section_table(section, "group_speeds", "Bandwidth of groups", speed_columns, GT_ARRAY_COUNT(speed_columns));
    table->empty = "The bytes of no collective are known.";
    for (size_t g = 0; g < job->group_count; g++) {
        const struct gt_rank_set_group *group = &job->groups[g];
        if (isnan(group->busbw))
            continue;
        struct gt_row row = gt_row_begin(table);
        gt_row_text(&row, "label", group_label(group, &section->report->arena));
        gt_row_count(&row, "group", g);
        gt_row_real(&row, "busbw_gbs", group->busbw);
        gt_row_cell(&row, "usual_busbw_gbs", gt_rank_tables_real(group->usual_busbw));
        gt_row_cell(&row, "slow_factor", gt_rank_tables_real(group->slow_factor));
        gt_row_int(&row, "slow_ns", group->slow_ns);
        gt_row_cell(&row, "gain_ns", gt_rank_tables_ns(group->gain_ns));
        gt_row_end(&row);
    }
    if (!table->row_count) /* a limit on it would hold, whatever it is */
        gt_section_lack(section, GT_STR("group_speeds"), GT_STR("collective but messages whose bytes are known"));
}

static const struct gt_report_column bubble_columns[] = {
    {"step", "Step", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"rank", "Rank", GT_UNIT_NONE, NULL, GT_COLUMN_KEY | GT_COLUMN_EXACT},
    {"stage", "Stage", GT_UNIT_NONE, NULL, 0},
    {"stages", "Stages", GT_UNIT_COUNT, NULL, GT_COLUMN_DETAIL},
    {"micro_batches", "Micro batches", GT_UNIT_COUNT, NULL, GT_COLUMN_DETAIL},
    {"step_ns", "Step", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},
    {"bubble_ns", "Bubble", GT_UNIT_NS, NULL, GT_COLUMN_ADDS},
    {"ideal_share", "Ideal share", GT_UNIT_SHARE, "step", 0},
};

static void add_bubbles(const struct gt_rank_job *job, struct gt_section *section) {
    struct gt_table *table =
        gt_section_table(section, "bubbles", "Pipeline bubbles", bubble_columns, GT_ARRAY_COUNT(bubble_columns));
    for (size_t i = 0; i < job->bubble_count; i++) {
        const struct gt_rank_bubble *bubble = &job->bubbles[i];
        struct gt_row row = gt_row_begin(table);
        gt_row_int(&row, "step", job->steps[bubble->step]);
        gt_row_cell(&row, "rank", gt_rank_tables_rank(job, bubble->rank));
        gt_row_cell(&row, "stage", bubble->stage < 0 ? gt_cell_null() : gt_cell_int(bubble->stage));
        gt_row_count(&row, "stages", bubble->stages);
        gt_row_count(&row, "micro_batches", bubble->micro_batches);
        gt_row_int(&row, "step_ns", bubble->step_ns);
        gt_row_int(&row, "bubble_ns", bubble->bubble_ns);
        gt_row_real(&row, "ideal_share", bubble->ideal_share);
        gt_row_end(&row);
    }
}

static const struct gt_report_column flow_columns[] = {
    {"group", "Group", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"src", "From", GT_UNIT_NONE, NULL, GT_COLUMN_KEY | GT_COLUMN_EXACT},
    {"dst", "To", GT_UNIT_NONE, NULL, GT_COLUMN_KEY | GT_COLUMN_EXACT},
    {"count", "Count", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS},
    {"bytes", "Bytes", GT_UNIT_BYTES, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},
};

static void add_flows(const struct gt_rank_job *job, struct gt_section *section) {
    struct gt_table *table = gt_section_table(section, "all_to_all", "Bytes of all_to_alls between ranks", flow_columns,
                                              GT_ARRAY_COUNT(flow_columns));
    table->page_limit = GT_RANK_TABLES_DRAWN;
    for (size_t i = 0; i < job->flow_count; i++) {
        const struct gt_rank_flow *flow = &job->flows[i];
        struct gt_row row = gt_row_begin(table);
        gt_row_count(&row, "group", flow->group);
        gt_row_int(&row, "src", flow->src);
        gt_row_int(&row, "dst", flow->dst);
        gt_row_count(&row, "count", flow->count);
        gt_row_cell(&row, "bytes", gt_cell_int(flow->bytes > INT64_MAX ? INT64_MAX : (int64_t)flow->bytes));
        gt_row_end(&row);
    }
}

/* ---- collectives ---- */

static const struct gt_report_column collective_columns[] = {
    {"id", "Id", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"group", "Group", GT_UNIT_NONE, NULL, 0},
    {"op", "Op", GT_UNIT_NONE, NULL, 0},
    {"kind", "Kind", GT_UNIT_NONE, NULL, GT_COLUMN_DETAIL},
    {"step", "Step", GT_UNIT_NONE, NULL, 0},
    {"src", "From", GT_UNIT_NONE, NULL, GT_COLUMN_DETAIL},
    {"dst", "To", GT_UNIT_NONE, NULL, GT_COLUMN_DETAIL},
    {"index", "Index", GT_UNIT_NONE, NULL, GT_COLUMN_DETAIL},
    {"rung", "Matched by", GT_UNIT_NONE, NULL, GT_COLUMN_DETAIL},
    {"ranks", "Ranks", GT_UNIT_COUNT, NULL, 0},
    {"size", "Size", GT_UNIT_COUNT, NULL, GT_COLUMN_DETAIL},
    {"bytes", "Bytes", GT_UNIT_BYTES, NULL, 0},
    {"transfer_ns", "Transfer", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},
    {"wait_ns", "Wait", GT_UNIT_NS, NULL, GT_COLUMN_ADDS},
    {"skew_ns", "Skew", GT_UNIT_NS, NULL, 0},
    {"last_rank", "Last", GT_UNIT_NONE, NULL, 0},
    {"delayer", "Delayer", GT_UNIT_NONE, NULL, 0},
    {"algbw_gbs", "GB/s", GT_UNIT_NONE, NULL, GT_COLUMN_DETAIL},
    {"busbw_gbs", "Bus GB/s", GT_UNIT_NONE, NULL, 0},
    {"imbalance", "Imbalance", GT_UNIT_NONE, NULL, GT_COLUMN_DETAIL},
    {"aligned_skew_ns", "Aligned skew", GT_UNIT_NS, NULL, GT_COLUMN_DETAIL},
    {"aligned_last_rank", "Aligned last", GT_UNIT_NONE, NULL, GT_COLUMN_DETAIL},
};

struct gt_str gt_rank_tables_op(const struct gt_rank_collective *it) {
    const char *key = gt_comms_op_key((enum gt_comm_op)it->op);
    return it->kind == GT_COMM_KIND_MESSAGE ? GT_STR("send_recv") : key ? gt_str_of(key) : GT_STR("other");
}

static struct gt_str kind_of(const struct gt_rank_collective *it) {
    return it->kind == GT_COMM_KIND_MESSAGE    ? GT_STR("p2p")
           : it->kind == GT_COMM_KIND_DIRECTED ? GT_STR("directed")
                                               : GT_STR("sync");
}

static void put_collective(struct gt_table *table, const struct gt_rank_job *job, size_t id) {
    const struct gt_rank_collective *it = &job->collectives[id];
    bool is_message = it->kind == GT_COMM_KIND_MESSAGE, has_bytes = it->bytes != UINT64_MAX;
    double transfer_ns = (double)it->transfer_ns;
    bool has_rate = has_bytes && it->transfer_ns > 0;
    struct gt_row row = gt_row_begin(table);
    gt_row_count(&row, "id", id);
    gt_row_count(&row, "group", it->group);
    gt_row_text(&row, "op", gt_rank_tables_op(it));
    gt_row_text(&row, "kind", kind_of(it));
    gt_row_cell(&row, "step", it->has_step ? gt_cell_int(it->step) : gt_cell_null());
    gt_row_cell(&row, "src", gt_rank_tables_rank(job, is_message ? it->src : GT_RANK_NONE));
    gt_row_cell(&row, "dst", gt_rank_tables_rank(job, is_message ? it->dst : GT_RANK_NONE));
    gt_row_cell(&row, "index", it->index == GT_RANK_NONE ? gt_cell_null() : gt_cell_int(it->index));
    gt_row_text(&row, "rung", gt_str_of(gt_rank_job_rungs[it->rung]));
    gt_row_count(&row, "ranks", it->member_count);
    gt_row_int(&row, "size", is_message ? 2 : job->groups[it->group].size);
    gt_row_cell(&row, "bytes", has_bytes ? gt_cell_int((int64_t)(it->bytes & INT64_MAX)) : gt_cell_null());
    gt_row_int(&row, "transfer_ns", it->transfer_ns);
    gt_row_int(&row, "wait_ns", it->wait_ns);
    gt_row_int(&row, "skew_ns", it->skew_ns);
    gt_row_cell(&row, "last_rank", gt_rank_tables_rank(job, it->last_rank));
    gt_row_cell(&row, "delayer", gt_rank_tables_rank(job, it->delayer));
    gt_row_cell(&row, "algbw_gbs", has_rate ? gt_cell_real((double)it->bytes / transfer_ns) : gt_cell_null());
    gt_row_cell(&row, "busbw_gbs", gt_rank_tables_real(has_rate ? it->bus_bytes / transfer_ns : NAN));
    gt_row_cell(&row, "imbalance", gt_rank_tables_real(it->imbalance));
    gt_row_cell(&row, "aligned_skew_ns", gt_rank_tables_ns(it->aligned_skew_ns));
    gt_row_cell(&row, "aligned_last_rank", gt_rank_tables_rank(job, it->aligned_last_rank));
    gt_row_end(&row);
}

static const struct gt_report_column member_columns[] = {
    {"id", "Id", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"rank", "Rank", GT_UNIT_NONE, NULL, GT_COLUMN_KEY | GT_COLUMN_EXACT},
    {"start_ns", "Start", GT_UNIT_NS, NULL, GT_COLUMN_MOMENT},
    {"dur_ns", "Duration", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},
    {"wait_ns", "Wait", GT_UNIT_NS, NULL, GT_COLUMN_ADDS},
    {"exposed_wait_ns", "Exposed wait", GT_UNIT_NS, NULL, GT_COLUMN_ADDS},
    {"own_ns", "Own time", GT_UNIT_NS, NULL, 0},
    {"aligned_wait_ns", "Aligned wait", GT_UNIT_NS, NULL, 0},
};

static void put_member(struct gt_table *table, const struct gt_rank_job *job, const struct gt_rank_member *member,
                       int64_t own_ns, int64_t aligned_wait_ns) {
    const struct gt_rank_summary *summary = job->ranks[member->rank].summary;
    struct gt_row row = gt_row_begin(table);
    gt_row_count(&row, "id", member->collective);
    gt_row_cell(&row, "rank", gt_rank_tables_rank(job, member->rank));
    gt_row_int(&row, "start_ns", summary->kernels[member->kernel].start_ns - summary->head.first_ns);
    gt_row_int(&row, "dur_ns", gt_rank_job_length(job, member));
    gt_row_int(&row, "wait_ns", member->wait_ns);
    gt_row_int(&row, "exposed_wait_ns", job->exposed_waits_ns[member - job->members]);
    gt_row_cell(&row, "own_ns", gt_rank_tables_ns(own_ns));
    gt_row_cell(&row, "aligned_wait_ns", gt_rank_tables_ns(aligned_wait_ns));
    gt_row_end(&row);
}

enum { COLLECTIVES_DRAWN = 20000 }; /* more points hide each other */

static void add_collectives(const struct gt_rank_job *job, struct gt_section *section) {
    struct gt_table *table = gt_section_table(section, "job_collectives", "Collectives of the job", collective_columns,
                                              GT_ARRAY_COUNT(collective_columns));
    table->empty = "No collective could be matched between ranks.";
    table->page_limit = COLLECTIVES_DRAWN;
    table->page_samples = true;
    gt_row_reserve(table, job->collective_count);
    for (size_t c = 0; c < job->collective_count; c++)
        put_collective(table, job, c);
}

static void add_members(const struct gt_rank_job *job, struct gt_section *section) {
    struct gt_table *table = gt_section_table(section, "collective_ranks", "Ranks in collectives", member_columns,
                                              GT_ARRAY_COUNT(member_columns));
    size_t most = gt_rank_job_most_members(job);
    int64_t *own_ns = gt_arena_array(&section->report->arena, 2 * most, sizeof *own_ns);
    int64_t *aligned_ns = own_ns ? own_ns + most : NULL;
    gt_row_reserve(table, job->member_count);
    for (size_t c = 0; own_ns && c < job->collective_count; c++) {
        const struct gt_rank_collective *collective = &job->collectives[c];
        gt_rank_links_own(job, collective, own_ns);
        gt_rank_clocks_waits(job, collective, aligned_ns);
        for (size_t m = 0; m < collective->member_count; m++)
            put_member(table, job, &job->members[collective->first_member + m], own_ns[m], aligned_ns[m]);
    }
}

void gt_rank_tables_add_collectives(const struct gt_rank_job *job, struct gt_section *section,
                                    const struct gt_request *request) {
    static const struct {
        const char *table;
        void (*add)(const struct gt_rank_job *job, struct gt_section *section);
    } tables[] = {{"bubbles", add_bubbles},
                  {"all_to_all", add_flows},
                  {"job_collectives", add_collectives},
                  {"collective_ranks", add_members},
                  {"collective_ranks", gt_rank_tables_add_drawn}};
    for (size_t i = 0; i < GT_ARRAY_COUNT(tables); i++)
        if (gt_rank_tables_is_wanted(request, tables[i].table) &&
            (tables[i].add != add_members || job->exposed_waits_ns))
            tables[i].add(job, section);
}
