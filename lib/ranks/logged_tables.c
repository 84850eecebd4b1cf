/* Tables of logged collectives, and the sentences above them. */
#include "ranks/logged_tables.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/num.h"
#include "events/comms.h"
#include "report/row.h"

/* ---- cells ---- */

static struct gt_cell text_cell(struct gt_section *section, struct gt_str text) {
    return text.len ? gt_cell_text(gt_arena_copy(&section->report->arena, text)) : gt_cell_null();
}

static struct gt_cell real_cell(double value) {
    return isnan(value) ? gt_cell_null() : gt_cell_real(value);
}

static struct gt_cell natural_cell(int64_t value) {
    return value < 0 ? gt_cell_null() : gt_cell_int(value);
}

static struct gt_cell bytes_cell(unsigned __int128 bytes) {
    return gt_cell_int(bytes > INT64_MAX ? INT64_MAX : (int64_t)bytes);
}

static struct gt_cell communicator_cell(struct gt_section *section, const struct gt_logged_group *group) {
    return group->communicator == UINT64_MAX
               ? gt_cell_null()
               : gt_cell_text(gt_arena_printf(&section->report->arena, "0x%016" PRIx64, group->communicator));
}

static struct gt_cell name_cell(struct gt_section *section, uint32_t op, struct gt_str name) {
    const char *key = gt_comms_op_key((enum gt_comm_op)op);
    return key ? gt_cell_text(gt_str_of(key)) : text_cell(section, name);
}

/* What is known only if anything was compared. */
static struct gt_cell compared_cell(size_t compared, int64_t ns) {
    return compared ? gt_cell_int(ns) : gt_cell_null();
}

/* ---- groups ---- */

static const struct gt_report_column group_columns[] = {
    {"communicator", "Communicator", GT_UNIT_NONE, NULL, 0}, /* no key: NCCL numbers them anew in every run */
    {"name", "Name", GT_UNIT_NONE, NULL, GT_COLUMN_KEY | GT_COLUMN_SPARSE},
    {"size", "Ranks", GT_UNIT_COUNT, NULL, GT_COLUMN_KEY},
    {"nodes", "Nodes", GT_UNIT_COUNT, NULL, GT_COLUMN_KEY},
    {"ranks", "Read", GT_UNIT_COUNT, NULL, 0},
    {"rank", "Rank", GT_UNIT_NONE, NULL, GT_COLUMN_SPARSE}, /* if one alone was read */
    {"records", "Records", GT_UNIT_COUNT, NULL, GT_COLUMN_DETAIL},
    {"messages", "Messages", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS | GT_COLUMN_SPARSE},
    {"collectives", "Collectives", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS},
    {"compared", "Compared", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS},
    {"missing", "Not logged", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS | GT_COLUMN_SPARSE},
    {"unclear", "Unclear", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS | GT_COLUMN_SPARSE},
    {"transfer_ns", "Transfer", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},
    {"wait_ns", "Wait", GT_UNIT_NS, NULL, GT_COLUMN_ADDS},
    {"busbw_p50_gbs", "Median GB/s", GT_UNIT_NONE, NULL, 0},
    {"slow_factor", "Times as long", GT_UNIT_NONE, NULL, GT_COLUMN_SPARSE},
    {"traced", "In traces", GT_UNIT_COUNT, NULL, GT_COLUMN_SPARSE},
};

static void add_groups(const struct gt_logged *logged, struct gt_section *section) {
    struct gt_table *table = gt_section_table(section, "logged_groups", "Communicators that NCCL Inspector logged",
                                              group_columns, sizeof group_columns / sizeof *group_columns);
    table->screen_limit = 10;
    table->screen_columns = "communicator,rank,size,collectives,wait_ns,busbw_p50_gbs,slow_factor,missing,traced,"
                            "transfer_ns,ranks,compared,name,nodes,messages,unclear";
    for (size_t i = 0; i < logged->group_count; i++) {
        const struct gt_logged_group *group = &logged->groups[i];
        struct gt_row row = gt_row_begin(table);
        gt_row_cell(&row, "communicator", communicator_cell(section, group));
        gt_row_cell(&row, "name", text_cell(section, group->name));
        gt_row_cell(&row, "size", natural_cell(group->size));
        gt_row_cell(&row, "nodes", natural_cell(group->nodes));
        gt_row_count(&row, "ranks", group->ranks);
        gt_row_cell(&row, "rank", group->ranks == 1 ? natural_cell(group->only_rank) : gt_cell_null());
        gt_row_count(&row, "records", group->records);
        gt_row_count(&row, "messages", group->messages);
        gt_row_count(&row, "collectives", group->collectives);
        gt_row_count(&row, "compared", group->compared);
        gt_row_count(&row, "missing", group->missing);
        gt_row_count(&row, "unclear", group->unclear);
        gt_row_cell(&row, "transfer_ns", compared_cell(group->compared, group->transfer_ns));
        gt_row_cell(&row, "wait_ns", compared_cell(group->compared, group->wait_ns));
        gt_row_cell(&row, "busbw_p50_gbs", real_cell(group->busbw_p50));
        gt_row_cell(&row, "slow_factor", real_cell(group->slow_factor));
        gt_row_cell(&row, "traced", logged->has_traces ? gt_cell_count(group->is_traced) : gt_cell_null());
        gt_row_end(&row);
    }
}

/* ---- sizes ---- */

static const struct gt_report_column size_columns[] = {
    {"name", "Collective", GT_UNIT_NONE, NULL, GT_COLUMN_KEY | GT_COLUMN_NAME},
    {"communicator", "Communicator", GT_UNIT_NONE, NULL, GT_COLUMN_VARIES},
    {"group", "Group", GT_UNIT_NONE, NULL, GT_COLUMN_KEY | GT_COLUMN_SPARSE},
    {"size", "Ranks", GT_UNIT_COUNT, NULL, GT_COLUMN_KEY},
    {"bytes", "Bytes", GT_UNIT_BYTES, NULL, GT_COLUMN_KEY},
    {"timing", "Timed by", GT_UNIT_NONE, NULL, GT_COLUMN_KEY | GT_COLUMN_VARIES},
    {"count", "Count", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS},
    {"total_ns", "Total", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},
    {"p50_ns", "Median", GT_UNIT_NS, NULL, GT_COLUMN_SINGLE},
    {"p90_ns", "p90", GT_UNIT_NS, NULL, GT_COLUMN_SINGLE},
    {"compared", "Compared", GT_UNIT_COUNT, NULL, GT_COLUMN_DETAIL},
    {"transfer_p50_ns", "Transfer", GT_UNIT_NS, NULL, GT_COLUMN_SINGLE | GT_COLUMN_SPARSE},
    {"algbw_p50_gbs", "Algo GB/s", GT_UNIT_NONE, NULL, 0},
    {"busbw_p10_gbs", "Bus p10", GT_UNIT_NONE, NULL, 0},
    {"busbw_p50_gbs", "Bus GB/s", GT_UNIT_NONE, NULL, 0},
    {"busbw_p90_gbs", "Bus p90", GT_UNIT_NONE, NULL, 0},
    {"traced", "In traces", GT_UNIT_COUNT, NULL, GT_COLUMN_SPARSE},
    {"traced_p50_ns", "Median there", GT_UNIT_NS, NULL, GT_COLUMN_SINGLE | GT_COLUMN_SPARSE},
};

static int by_total(const void *a, const void *b) {
    const struct gt_logged_size *x = *(const struct gt_logged_size *const *)a,
                                *y = *(const struct gt_logged_size *const *)b;
    if (x->total_ns != y->total_ns)
        return x->total_ns > y->total_ns ? -1 : 1;
    return (x > y) - (x < y);
}

static void put_size(const struct gt_logged *logged, struct gt_section *section, struct gt_table *table,
                     const struct gt_logged_size *size) {
    const struct gt_logged_group *group = &logged->groups[size->group];
    struct gt_row row = gt_row_begin(table);
    gt_row_cell(&row, "name", name_cell(section, size->op, size->name));
    gt_row_cell(&row, "communicator", communicator_cell(section, group));
    gt_row_cell(&row, "group", text_cell(section, group->name));
    gt_row_cell(&row, "size", natural_cell(group->size));
    gt_row_cell(&row, "bytes", size->bytes == UINT64_MAX ? gt_cell_null() : bytes_cell(size->bytes));
    gt_row_cell(&row, "timing", text_cell(section, size->timing));
    gt_row_count(&row, "count", size->count);
    gt_row_int(&row, "total_ns", size->total_ns);
    gt_row_cell(&row, "p50_ns", real_cell(size->p50_ns));
    gt_row_cell(&row, "p90_ns", real_cell(size->p90_ns));
    gt_row_count(&row, "compared", size->compared);
    gt_row_cell(&row, "transfer_p50_ns", real_cell(size->transfer_p50_ns));
    gt_row_cell(&row, "algbw_p50_gbs", real_cell(size->algbw_p50));
    gt_row_cell(&row, "busbw_p10_gbs", real_cell(size->busbw_p10));
    gt_row_cell(&row, "busbw_p50_gbs", real_cell(size->busbw_p50));
    gt_row_cell(&row, "busbw_p90_gbs", real_cell(size->busbw_p90));
    gt_row_cell(&row, "traced", logged->has_traces ? gt_cell_count(size->traced) : gt_cell_null());
    gt_row_cell(&row, "traced_p50_ns", real_cell(size->traced_p50_ns));
    gt_row_end(&row);
}

static void add_sizes(const struct gt_logged *logged, struct gt_section *section) {
    struct gt_table *table = gt_section_table(section, "logged_sizes", "Logged collectives by size", size_columns,
                                              sizeof size_columns / sizeof *size_columns);
    const struct gt_logged_size **order =
        gt_arena_array(&section->report->arena, logged->size_count, sizeof(const struct gt_logged_size *));
    table->screen_limit = 12;
    table->screen_columns =
        "name,bytes,count,total_ns,p50_ns,busbw_p50_gbs,busbw_p10_gbs,busbw_p90_gbs,size,communicator,"
        "group,algbw_p50_gbs,p90_ns,transfer_p50_ns,traced,traced_p50_ns,timing";
    for (size_t i = 0; order && i < logged->size_count; i++)
        order[i] = &logged->sizes[i];
    if (order && logged->size_count)
        qsort(order, logged->size_count, sizeof *order, by_total);
    for (size_t i = 0; order && i < logged->size_count; i++)
        put_size(logged, section, table, order[i]);
}

/* ---- ranks ---- */

static const struct gt_report_column rank_columns[] = {
    {"communicator", "Communicator", GT_UNIT_NONE, NULL, 0},
    {"group", "Group", GT_UNIT_NONE, NULL, GT_COLUMN_KEY | GT_COLUMN_SPARSE},
    {"rank", "Rank", GT_UNIT_NONE, NULL, GT_COLUMN_KEY | GT_COLUMN_EXACT},
    {"host", "Host", GT_UNIT_NONE, NULL, 0},
    {"count", "Count", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS},
    {"messages", "Messages", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS | GT_COLUMN_DETAIL},
    {"total_ns", "Total", GT_UNIT_NS, NULL, GT_COLUMN_ADDS},
    {"compared", "Compared", GT_UNIT_COUNT, NULL, GT_COLUMN_DETAIL},
    {"last", "Came last", GT_UNIT_COUNT, NULL, 0},
    {"last_share", "Last", GT_UNIT_SHARE, "compared collectives", 0},
    {"wait_ns", "Wait", GT_UNIT_NS, NULL, GT_COLUMN_ADDS},
    {"held_ns", "Others waited", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},
    {"busbw_p50_gbs", "Bus GB/s", GT_UNIT_NONE, NULL, 0},
    {"traced", "In trace", GT_UNIT_COUNT, NULL, GT_COLUMN_SPARSE},
    {"traced_ns", "Time there", GT_UNIT_NS, NULL, GT_COLUMN_SPARSE},
};

static void add_ranks(const struct gt_logged *logged, struct gt_section *section) {
    struct gt_table *table = gt_section_table(section, "logged_ranks", "Ranks of logged communicators", rank_columns,
                                              sizeof rank_columns / sizeof *rank_columns);
    table->screen_limit = 16;
    table->screen_columns =
        "communicator,rank,count,total_ns,wait_ns,held_ns,last_share,busbw_p50_gbs,traced,traced_ns,host,last,group";
    for (size_t i = 0; i < logged->rank_count; i++) {
        const struct gt_logged_rank *rank = &logged->ranks[i];
        const struct gt_logged_group *group = &logged->groups[rank->group];
        struct gt_row row = gt_row_begin(table);
        gt_row_cell(&row, "communicator", communicator_cell(section, group));
        gt_row_cell(&row, "group", text_cell(section, group->name));
        gt_row_cell(&row, "rank", natural_cell(rank->place));
        gt_row_cell(&row, "host", text_cell(section, rank->host));
        gt_row_count(&row, "count", rank->count);
        gt_row_count(&row, "messages", rank->messages);
        gt_row_int(&row, "total_ns", rank->total_ns);
        gt_row_count(&row, "compared", rank->compared);
        gt_row_cell(&row, "last", rank->compared ? gt_cell_count(rank->last) : gt_cell_null());
        gt_row_cell(&row, "last_share",
                    rank->compared ? gt_cell_share((double)rank->last, (double)rank->compared) : gt_cell_null());
        gt_row_cell(&row, "wait_ns", compared_cell(rank->compared, rank->wait_ns));
        gt_row_cell(&row, "held_ns", compared_cell(rank->compared, rank->held_ns));
        gt_row_cell(&row, "busbw_p50_gbs", real_cell(rank->busbw_p50));
        gt_row_cell(&row, "traced", rank->is_traced ? gt_cell_count(rank->traced) : gt_cell_null());
        gt_row_cell(&row, "traced_ns", rank->is_traced ? gt_cell_int(rank->traced_ns) : gt_cell_null());
        gt_row_end(&row);
    }
}

/* ---- links ---- */

static const struct gt_report_column link_columns[] = {
    {"communicator", "Communicator", GT_UNIT_NONE, NULL, 0},
    {"group", "Group", GT_UNIT_NONE, NULL, GT_COLUMN_KEY | GT_COLUMN_SPARSE},
    {"rank", "Rank", GT_UNIT_NONE, NULL, GT_COLUMN_KEY | GT_COLUMN_EXACT},
    {"name", "Message", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"peer", "Peer", GT_UNIT_NONE, NULL, GT_COLUMN_KEY | GT_COLUMN_EXACT},
    {"count", "Count", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS},
    {"bytes", "Bytes", GT_UNIT_BYTES, NULL, GT_COLUMN_ADDS},
    {"total_ns", "Total", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},
    {"busbw_p50_gbs", "Median GB/s", GT_UNIT_NONE, NULL, 0},
    {"best_busbw_gbs", "Best GB/s", GT_UNIT_NONE, NULL, 0},
};

static void add_links(const struct gt_logged *logged, struct gt_section *section) {
    struct gt_table *table = gt_section_table(section, "logged_links", "Logged messages between ranks", link_columns,
                                              sizeof link_columns / sizeof *link_columns);
    table->screen_limit = 12;
    for (size_t i = 0; i < logged->link_count; i++) {
        const struct gt_logged_link *link = &logged->links[i];
        const struct gt_logged_group *group = &logged->groups[link->group];
        struct gt_row row = gt_row_begin(table);
        gt_row_cell(&row, "communicator", communicator_cell(section, group));
        gt_row_cell(&row, "group", text_cell(section, group->name));
        gt_row_cell(&row, "rank", natural_cell(link->place));
        gt_row_cell(&row, "name", name_cell(section, link->op, link->name));
        gt_row_cell(&row, "peer", natural_cell(link->peer));
        gt_row_count(&row, "count", link->count);
        gt_row_cell(&row, "bytes", bytes_cell(link->bytes));
        gt_row_int(&row, "total_ns", link->total_ns);
        gt_row_cell(&row, "busbw_p50_gbs", real_cell(link->busbw_p50));
        gt_row_cell(&row, "best_busbw_gbs", real_cell(link->busbw_best));
        gt_row_end(&row);
    }
}

/* ---- sentences ---- */

static const char *counted(struct gt_section *section, size_t count, const char *noun) {
    char number[GT_NUM_MAX];
    gt_num_format_grouped(number, (int64_t)count);
    return gt_arena_printf(&section->report->arena, "%s %s%s", number, noun, count == 1 ? "" : "s").ptr;
}

static void note(struct gt_section *section, struct gt_str text) {
    gt_section_note(section, GT_FOR_ALL, text);
}

/* The rank that all records are of; -1: they are of several. */
static int64_t only_rank(const struct gt_logged *logged) {
    for (size_t i = 1; i < logged->rank_count; i++)
        if (logged->ranks[i].place != logged->ranks[0].place || logged->ranks[i].group == logged->ranks[i - 1].group)
            return -1;
    return logged->rank_count ? logged->ranks[0].place : -1;
}

static void note_contents(const struct gt_logged *logged, struct gt_section *section) {
    struct gt_arena *arena = &section->report->arena;
    size_t collectives = 0, messages = 0;
    for (size_t i = 0; i < logged->group_count; i++) {
        collectives += logged->groups[i].collectives;
        messages += logged->groups[i].messages;
    }
    struct gt_str what = gt_str_of(counted(section, collectives, "collective"));
    struct gt_str who = {"", 0};
    if (messages)
        what = gt_arena_printf(arena, "%s and %s", what.ptr, counted(section, messages, "message"));
    if (only_rank(logged) >= 0)
        who = gt_arena_printf(arena, " of rank %" PRId64, only_rank(logged));
    note(section,
         gt_arena_printf(arena,
                         "NCCL Inspector logged %s%s in %s, without kernels: what else the GPUs did, and how "
                         "much of this time is exposed, is not known.",
                         what.ptr, who.len ? who.ptr : "", counted(section, logged->group_count, "communicator")));
}

/* The rank that held up its group most, if it is plain: most of the waiting, in most of what was compared. */
static void note_last(const struct gt_logged *logged, struct gt_section *section) {
    enum { FEW = 10 };
    const struct gt_logged_rank *worst = NULL;
    for (size_t i = 0; i < logged->rank_count; i++)
        if (logged->ranks[i].compared >= FEW && (!worst || logged->ranks[i].held_ns > worst->held_ns))
            worst = &logged->ranks[i];
    if (!worst || worst->last * 2 < worst->compared || worst->held_ns < logged->groups[worst->group].wait_ns / 2 ||
        worst->held_ns == 0)
        return;
    char waited[GT_NUM_MAX];
    gt_num_format_duration(waited, (double)worst->held_ns);
    note(section, gt_arena_printf(&section->report->arena,
                                  "Rank %" PRId64 " of communicator 0x%016" PRIx64
                                  " came last in %zu of %zu compared collectives; the others waited %s for it.",
                                  worst->place, logged->groups[worst->group].communicator, worst->last, worst->compared,
                                  waited));
}

static void note_slow(const struct gt_logged *logged, struct gt_section *section) {
    const double slow = 1.25;
    const struct gt_logged_group *worst = NULL;
    for (size_t i = 0; i < logged->group_count; i++)
        if (logged->groups[i].slow_factor >= slow && (!worst || logged->groups[i].slow_factor > worst->slow_factor))
            worst = &logged->groups[i];
    if (worst)
        note(section,
             gt_arena_printf(&section->report->arena,
                             "Transfers of communicator 0x%016" PRIx64
                             " take %.2f times as long as those of the same sizes in other communicators of %" PRId64
                             " ranks on as many nodes.",
                             worst->communicator, worst->slow_factor, worst->size));
}

static void note_join(const struct gt_logged *logged, struct gt_section *section) {
    size_t joined = 0;
    for (size_t i = 0; i < logged->group_count; i++)
        joined += logged->groups[i].is_traced;
    if (!logged->has_traces)
        return;
    if (!logged->traces_have_ids)
        note(section, GT_STR("The traces do not name NCCL's communicators (those of Nsight Systems with NCCL 2.25 or "
                             "later do), so that they cannot be joined with the logs of NCCL Inspector."));
    else
        note(section,
             gt_arena_printf(&section->report->arena,
                             "%zu of %zu logged communicators are in the traces as well, known by their numbers.",
                             joined, logged->group_count));
}

static void note_lacks(const struct gt_logged *logged, struct gt_section *section) {
    size_t missing = 0;
    for (size_t i = 0; i < logged->group_count; i++)
        missing += logged->groups[i].missing;
    if (missing)
        note(
            section,
            gt_arena_printf(
                &section->report->arena, "%s not in the logs, by the gaps in their numbers: sums are too low by these.",
                missing == 1
                    ? "1 collective is"
                    : gt_arena_printf(&section->report->arena, "%s are", counted(section, missing, "collective")).ptr));
    if (logged->timed_on_cpu)
        note(section, gt_arena_printf(&section->report->arena,
                                      "%s timed by the CPU (collective_cpu): that is the call, not the kernel, so they "
                                      "are not compared, and their bandwidths mean little.",
                                      logged->timed_on_cpu == 1
                                          ? "1 record was"
                                          : gt_arena_printf(&section->report->arena, "%s were",
                                                            counted(section, logged->timed_on_cpu, "record"))
                                                .ptr));
    if (logged->repeated)
        note(section,
             gt_arena_printf(&section->report->arena, "%s in the logs more than once and counted once.",
                             logged->repeated == 1 ? "1 record is"
                                                   : gt_arena_printf(&section->report->arena, "%s are",
                                                                     counted(section, logged->repeated, "record"))
                                                         .ptr));
}

void gt_logged_tables_add(const struct gt_logged *logged, struct gt_section *section) {
    if (logged->entry_count) {
        note_contents(logged, section);
        note_last(logged, section);
        note_slow(logged, section);
        note_join(logged, section);
        note_lacks(logged, section);
    }
    add_groups(logged, section);
    add_sizes(logged, section);
    add_ranks(logged, section);
    add_links(logged, section);
}
