/* Finds the collectives that several ranks logged and compares them; then everything is summed. */
#include "ranks/logged.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/ns.h"
#include "events/comms.h"
#include "ranks/logged_sums.h"

/* ---- entries ---- */

static bool list_entries(struct gt_logged *logged, struct gt_rank_summary *const *summaries, size_t count) {
    size_t total = 0;
    for (size_t i = 0; i < count; i++)
        total += summaries[i]->logs_count;
    logged->entries = gt_mem_uninitialised(total, sizeof *logged->entries);
    for (size_t i = 0; logged->entries && i < count; i++)
        for (size_t k = 0; k < summaries[i]->logs_count; k++) {
            const struct gt_rank_log *log = &summaries[i]->logs[k];
            logged->entries[logged->entry_count++] = (struct gt_logged_entry){
                .log = log, .lane = &summaries[i]->log_lanes[log->lane], .summary = summaries[i], .wait_ns = -1};
        }
    return logged->entries != NULL;
}

/* ---- groups ---- */

static void add_group(struct gt_logged *logged, const struct gt_logged_entry *entry) {
    struct gt_logged_group *groups =
        gt_arena_room(&logged->arena, logged->groups, logged->group_count, &logged->group_capacity, sizeof *groups);
    if (!groups)
        return;
    logged->groups = groups;
    groups[logged->group_count] =
        (struct gt_logged_group){.communicator = entry->lane->communicator,
                                 .name = gt_rank_summary_text(entry->summary, entry->lane->name),
                                 .size = entry->lane->size,
                                 .nodes = entry->lane->nodes,
                                 .busbw_p50 = NAN,
                                 .slow_factor = NAN};
    logged->group_count++;
}

/* ---- collectives of several ranks ---- */

/* Records that are there once more are taken out of the list. */
static void drop_repeated(struct gt_logged *logged) {
    size_t kept = 0;
    for (size_t i = 0; i < logged->entry_count; i++) {
        bool is_same = kept && logged->entries[i].log->sequence != INT64_MIN &&
                       gt_logged_order_whole(&logged->entries[kept - 1], &logged->entries[i]) == 0;
        if (!is_same)
            logged->entries[kept++] = logged->entries[i];
    }
    logged->repeated = logged->entry_count - kept;
    logged->entry_count = kept;
}

/* What the length is of: a call returns long before its kernel ends. */
static bool is_timed_on_cpu(const struct gt_logged_entry *entry) {
    return gt_str_eq(gt_rank_summary_text(entry->summary, entry->log->timing), GT_STR("collective_cpu"));
}

enum agreement { AGREES, ALONE, UNCLEAR };

static enum agreement judge(const struct gt_logged_entry *run, size_t count) {
    if (gt_comms_op_kind((enum gt_comm_op)run->log->op) != GT_COMM_KIND_SYNC || count < 2)
        return ALONE;
    for (size_t i = 0; i < count; i++) {
        if (run[i].log->bytes != run->log->bytes || (i && run[i].lane->place == run[i - 1].lane->place))
            return UNCLEAR;
        if (run[i].log->length_ns < 0 || run[i].lane->place < 0 || is_timed_on_cpu(&run[i]))
            return ALONE;
    }
    return AGREES;
}

static void compare(struct gt_logged_group *group, struct gt_logged_entry *run, size_t count) {
    size_t shortest = 0, equal = 0;
    int64_t waits_ns = 0;
    for (size_t i = 1; i < count; i++)
        if (run[i].log->length_ns < run[shortest].log->length_ns)
            shortest = i;
    int64_t transfer_ns = run[shortest].log->length_ns;
    for (size_t i = 0; i < count; i++) {
        run[i].wait_ns = run[i].log->length_ns - transfer_ns;
        waits_ns = gt_ns_add(waits_ns, run[i].wait_ns);
        equal += run[i].wait_ns == 0;
    }
    run[shortest].is_shortest = true;
    run[shortest].is_last = equal == 1; /* of equal ones nobody knows who came last */
    run[shortest].held_ns = equal == 1 ? waits_ns : 0;
    group->wait_ns = gt_ns_add(group->wait_ns, waits_ns);
    group->transfer_ns = gt_ns_add(group->transfer_ns, transfer_ns);
    group->compared++;
}

static void add_run(struct gt_logged_group *group, struct gt_logged_entry *run, size_t count) {
    bool is_numbered = run->log->sequence != INT64_MIN;
    if (gt_logged_sums_is_message(run))
        return;
    group->collectives += is_numbered ? 1 : count;
    enum agreement agreement = is_numbered ? judge(run, count) : ALONE;
    group->unclear += agreement == UNCLEAR;
    if (agreement == AGREES)
        compare(group, run, count);
}

/* Makes the groups, in the order of their numbers. */
static void compare_collectives(struct gt_logged *logged) {
    for (size_t first = 0, end; first < logged->entry_count && !gt_arena_failed(&logged->arena); first = end) {
        const struct gt_logged_entry *run = &logged->entries[first];
        end = gt_logged_sums_end(logged, first, gt_logged_order_number);
        if (first == 0 || gt_logged_order_group(run - 1, run) != 0)
            add_group(logged, run);
        if (logged->group_count)
            add_run(&logged->groups[logged->group_count - 1], &logged->entries[first], end - first);
    }
}

/* ---- all of it ---- */

bool gt_logged_is_any(struct gt_rank_summary *const *summaries, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (summaries[i]->logs_count)
            return true;
    return false;
}

enum gt_status gt_logged_sum(struct gt_logged *logged, struct gt_rank_summary *const *summaries, size_t count,
                             struct gt_error *err) {
    *logged = (struct gt_logged){0};
    bool ok = list_entries(logged, summaries, count);
    if (ok && logged->entry_count) {
        gt_logged_order_sort(logged, gt_logged_order_whole);
        drop_repeated(logged);
        for (size_t i = 0; i < logged->entry_count; i++)
            logged->timed_on_cpu += is_timed_on_cpu(&logged->entries[i]);
        compare_collectives(logged);
        ok = !gt_arena_failed(&logged->arena) && gt_logged_sums_make(logged);
    }
    ok = ok && gt_logged_join(logged, summaries, count);
    return ok && !gt_arena_failed(&logged->arena) ? GT_OK : gt_fail_memory(err);
}

void gt_logged_release(struct gt_logged *logged) {
    gt_mem_free(logged->entries);
    gt_arena_release(&logged->arena);
    *logged = (struct gt_logged){0};
}
