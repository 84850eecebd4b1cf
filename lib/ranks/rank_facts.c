/* States a job in single numbers: a job comes in, facts and issues go out. */
#include "ranks/rank_facts.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "events/comms.h"
#include "ranks/rank_charges.h"
#include "ranks/rank_clocks.h"
#include "ranks/rank_reasons.h"
#include "ranks/rank_speeds.h"
#include "ranks/rank_tables.h"
#include "ranks/rank_verdict.h"
#include "ranks/rank_words.h"

struct stating {
    const struct gt_rank_job *job;
    struct gt_section *section;
    struct gt_block *shown, *facts; /* what everybody should see, and the rest */
};

static void state(struct stating *it, const char *key, const char *title, enum gt_unit unit, struct gt_cell cell) {
    static const struct {
        const char *key;
        bool is_if_any; /* parts of the exposed wait that most jobs have nothing of */
    } shown[] = {{"ranks", false},      {"collectives", false},        {"exposed_wait_ns", false},
                 {"charged_ns", false}, {"charged_transfer_ns", true}, {"spread_ns", false},
                 {"window_ns", true},   {"unresolved_ns", true},       {"slowdown", false}};
    bool is_shown = false, is_any = gt_cell_as_number(&cell) > 0;
    for (size_t i = 0; i < GT_ARRAY_COUNT(shown) && !is_shown; i++)
        is_shown = strcmp(key, shown[i].key) == 0 && (is_any || !shown[i].is_if_any);
    gt_section_add_fact(it->section, is_shown ? it->shown : it->facts, key, title, unit, cell);
}

static void state_counts(struct stating *it) {
    const struct gt_rank_job *job = it->job;
    static const char *const keys[GT_RUNG_COUNT] = {"rungs_comms_id", "rungs_seq", "rungs_hash", "rungs_order",
                                                    "rungs_names"};
    static const char *const titles[GT_RUNG_COUNT] = {"Matched by comms id", "Matched by sequence number",
                                                      "Matched by communicator and order", "Matched by group and order",
                                                      "Matched by kernel names"};
    size_t counts[GT_RUNG_COUNT] = {0};
    for (size_t c = 0; c < job->collective_count; c++)
        counts[job->collectives[c].rung]++;
    state(it, "ranks", "Ranks", GT_UNIT_COUNT, gt_cell_count(job->rank_count));
    state(it, "world_size", "World size", GT_UNIT_COUNT, gt_cell_int(job->world_size));
    state(it, "collectives", "Collectives", GT_UNIT_COUNT, gt_cell_count(job->collective_count));
    for (size_t rung = 0; rung < GT_RUNG_COUNT; rung++)
        if (counts[rung])
            state(it, keys[rung], titles[rung], GT_UNIT_COUNT, gt_cell_count(counts[rung]));
}

static void state_wait(struct stating *it, const char *key, const char *title, int64_t ns) {
    state(it, key, title, GT_UNIT_NS, gt_rank_job_knows_waits(it->job) ? gt_cell_int(ns) : gt_cell_null());
}

static void state_blame(struct stating *it) {
    const struct gt_rank_job *job = it->job;
    int64_t transfer_ns = 0;
    for (uint32_t r = 0; r < job->rank_count; r++)
        transfer_ns += gt_rank_charges_sum(job, r, GT_PART_TRANSFER);
    state_wait(it, "exposed_wait_ns", "Exposed wait, all ranks", job->exposed_wait_ns);
    state_wait(it, "charged_ns", "Charged to ranks", job->charged_ns);
    state_wait(it, "charged_transfer_ns", "Charged to other transfers", transfer_ns);
    state_wait(it, "spread_ns", "Nobody's (spread)", gt_rank_charges_sum(job, GT_RANK_NONE, GT_REASON_SPREAD));
    state_wait(it, "window_ns", "Began before the trace", gt_rank_charges_sum(job, GT_RANK_NONE, GT_REASON_WINDOW));
    state_wait(it, "unresolved_ns", "Unresolved", gt_rank_charges_sum(job, GT_RANK_NONE, GT_REASON_UNRESOLVED));
    state(it, "rounds", "Rounds", GT_UNIT_COUNT, gt_cell_count(job->rounds));
}

static void state_verdict(struct stating *it) {
    const struct gt_rank_job *job = it->job;
    state(it, "verdict", "Verdict", GT_UNIT_NONE, gt_cell_text(gt_str_of(gt_rank_verdict_key(job->verdict))));
    state(it, "verdict_rank", "Rank", GT_UNIT_NONE, gt_rank_tables_rank(job, job->verdict_rank));
    state(it, "verdict_reason", "Reason", GT_UNIT_NONE, gt_rank_tables_text(it->section, job->verdict_reason));
    state(it, "verdict_p", "Chance of so many leads", GT_UNIT_NONE, gt_rank_tables_real(job->verdict_p));
    state(it, "verdict_host", "Host", GT_UNIT_NONE, gt_rank_tables_text(it->section, job->verdict_host));
}

/* ---- how far to trust it ---- */

struct agreement {
    size_t large, last; /* sync collectives with a large skew; those whose delayer is the last rank */
    size_t members, equal;
};

static struct agreement count_agreement(const struct gt_rank_job *job, int64_t *waits_ns) {
    struct agreement it = {0};
    for (size_t c = 0; waits_ns && c < job->collective_count; c++) {
        const struct gt_rank_collective *collective = &job->collectives[c];
        int64_t floor_ns = gt_rank_clocks_floor(job, collective);
        if (collective->kind != GT_COMM_KIND_SYNC || floor_ns == GT_RANK_NO_NS)
            continue;
        if (collective->skew_ns > floor_ns && collective->delayer != GT_RANK_NONE) {
            it.large++;
            it.last += collective->delayer == collective->last_rank;
        }
        gt_rank_clocks_waits(job, collective, waits_ns);
        for (size_t m = 0; m < collective->member_count; m++) {
            int64_t off_ns = job->members[collective->first_member + m].wait_ns - waits_ns[m];
            it.members++;
            it.equal += off_ns <= floor_ns && -off_ns <= floor_ns;
        }
    }
    return it;
}

static struct gt_cell share_cell(size_t part, size_t whole) {
    return whole ? gt_cell_real((double)part / (double)whole) : gt_cell_null();
}

static void state_trust(struct stating *it) {
    const struct gt_rank_job *job = it->job;
    int64_t *waits_ns = gt_arena_array(&it->section->report->arena, gt_rank_job_most_members(job), sizeof *waits_ns);
    struct agreement agreement = count_agreement(job, waits_ns);
    int64_t floor_ns = GT_RANK_NO_NS;
    for (size_t r = 0; r < job->rank_count; r++)
        floor_ns = job->ranks[r].floor_ns > floor_ns ? job->ranks[r].floor_ns : floor_ns;
    state(it, "delayer_is_last_share", "Delayer came last", GT_UNIT_SHARE, share_cell(agreement.last, agreement.large));
    state(it, "aligned_agreement_share", "Waits that clocks confirm", GT_UNIT_SHARE,
          share_cell(agreement.equal, agreement.members));
    state(it, "clock_floor_ns", "Clock floor", GT_UNIT_NS, gt_rank_tables_ns(floor_ns));
}

/* ---- compute and bytes ---- */

static int by_value(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void state_compute(struct stating *it) {
    const struct gt_rank_job *job = it->job;
    int64_t *sorted = gt_arena_array(&it->section->report->arena, job->rank_count, sizeof *sorted), most_ns = -1;
    uint32_t most = GT_RANK_NONE;
    for (uint32_t r = 0; sorted && r < job->rank_count; r++) {
        sorted[r] = gt_rank_reasons_compute_ns(job->ranks[r].summary);
        most = sorted[r] > most_ns ? r : most;
        most_ns = sorted[r] > most_ns ? sorted[r] : most_ns;
    }
    if (!sorted || !job->rank_count)
        return;
    qsort(sorted, job->rank_count, sizeof *sorted, by_value);
    int64_t median_ns = sorted[(job->rank_count - 1) / 2];
    state(it, "compute_max_rank", "Most compute on rank", GT_UNIT_NONE, gt_rank_tables_rank(job, most));
    state(it, "compute_imbalance", "Compute over median", GT_UNIT_NONE,
          median_ns > 0 ? gt_cell_real((double)most_ns / (double)median_ns) : gt_cell_null());
    state(it, "all_to_all_hot_rank", "Receives most", GT_UNIT_NONE, gt_rank_tables_rank(job, job->hot_rank));
    state(it, "all_to_all_imbalance", "all_to_all imbalance", GT_UNIT_NONE, gt_rank_tables_real(job->imbalance));
}

/* Bytes that sync collectives put on the bus, over the time of their transfers. */
static void state_bandwidth(struct stating *it) {
    const struct gt_rank_job *job = it->job;
    double bytes = 0, ns = 0;
    for (size_t c = 0; c < job->collective_count; c++)
        if (gt_rank_speeds_is_known(&job->collectives[c])) {
            bytes += job->collectives[c].bus_bytes;
            ns += (double)job->collectives[c].transfer_ns;
        }
    state(it, "busbw_gbs", "Bus GB/s", GT_UNIT_NONE, gt_rank_tables_real(ns > 0 ? bytes / ns : NAN));
}

static struct gt_cell ratio_cell(int64_t ns, int64_t of_ns, double minus) {
    bool is_known = ns != GT_RANK_NO_NS && of_ns != GT_RANK_NO_NS && of_ns > 0;
    return is_known ? gt_cell_real((double)ns / (double)of_ns - minus) : gt_cell_null();
}

static void state_replay(struct stating *it) {
    const struct gt_rank_job *job = it->job;
    state(it, "recorded_ns", "Recorded", GT_UNIT_NS, gt_rank_tables_ns(job->recorded_ns));
    state(it, "replay_ns", "Replayed", GT_UNIT_NS, gt_rank_tables_ns(job->replay_ns));
    state(it, "replay_free_ns", "Replayed by waits alone", GT_UNIT_NS, gt_rank_tables_ns(job->replay_free_ns));
    state(it, "ideal_ns", "With all ranks like the median", GT_UNIT_NS, gt_rank_tables_ns(job->ideal_ns));
    state(it, "replay_error", "Replay error", GT_UNIT_NONE, ratio_cell(job->replay_ns, job->recorded_ns, 1));
    state(it, "replay_free_error", "Error by waits alone", GT_UNIT_NONE,
          ratio_cell(job->replay_free_ns, job->recorded_ns, 1));
    state(it, "slowdown", "Slowdown by uneven ranks", GT_UNIT_NONE, ratio_cell(job->replay_ns, job->ideal_ns, 0));
}

static bool is_loss(const struct gt_rank_job *job, size_t issue) {
    return issue == GT_RANK_ISSUE_TRACE_UNREADABLE || issue == GT_RANK_ISSUE_TRACE_PARTLY_READ ||
           (issue == GT_RANK_ISSUE_RANK_MISSING_TRACE && !job->options.is_one_trace);
}

/* Traces that were never there were not partly read: a verdict says whose. */
static struct gt_str mark_of(const struct gt_rank_job *job, size_t issue, struct gt_arena *arena) {
    struct gt_str ranks = {"", 0};
    if (issue != GT_RANK_ISSUE_RANK_MISSING_TRACE || !is_loss(job, issue))
        return ranks;
    int64_t count = gt_rank_words_without_trace(job, arena, &ranks);
    return gt_arena_printf(arena, "no trace of rank%s %s", count > 1 ? "s" : "", ranks.ptr);
}

static void state_issues(const struct gt_rank_job *job, struct gt_section *section) {
    static const struct {
        const char *id, *help;
    } infos[GT_RANK_ISSUE_COUNT] = {
#define GT_RANK_ISSUE(name, id, help) {id, help},
#include "ranks/rank_issues.def"
#undef GT_RANK_ISSUE
    };
    for (size_t i = 0; i < GT_RANK_ISSUE_COUNT; i++)
        if (job->issues[i])
            gt_section_issue(section, &(struct gt_report_issue){.id = infos[i].id,
                                                                .help = infos[i].help,
                                                                .count = job->issues[i],
                                                                .first_offset = UINT64_MAX,
                                                                .is_loss = is_loss(job, i),
                                                                .mark = mark_of(job, i, &section->report->arena)});
}

/* Traces of several jobs have no verdict in common, so this comes before it. */
static void warn_of_several_jobs(const struct gt_rank_job *job, struct gt_section *section) {
    uint64_t again = job->issues[GT_RANK_ISSUE_RANK_DUPLICATE] - job->options.trace_copies;
    if (again)
        gt_section_note_warning(
            section, GT_FOR_ALL,
            gt_arena_printf(&section->report->arena,
                            "%" PRIu64 " of %zu traces %s renumbered; if these are several jobs, pass the "
                            "traces of one.",
                            again, job->rank_count, again == 1 ? "repeats a rank and was" : "repeat a rank and were"));
}

void gt_rank_facts_say(const struct gt_rank_job *job, struct gt_section *section) {
    warn_of_several_jobs(job, section);
    gt_section_note(section, GT_FOR_ALL, gt_rank_words_verdict(job, &section->report->arena));
}

void gt_rank_facts_warn(const struct gt_rank_job *job, struct gt_section *section) {
    struct gt_str text = gt_rank_words_missing(job, &section->report->arena);
    if (!text.len || !job->rank_count)
        return;
    if (is_loss(job, GT_RANK_ISSUE_RANK_MISSING_TRACE))
        gt_section_note_loss(section, text);
    else
        gt_section_note(section, GT_FOR_ALL, text);
}

void gt_rank_facts_add(const struct gt_rank_job *job, struct gt_section *section) {
    struct stating it = {job, section, gt_section_facts(section, "Job"), gt_section_facts(section, "Details")};
    it.facts->audience = GT_FOR_DATA | GT_FOR_PAGE;
    state_counts(&it);
    state_blame(&it);
    state_verdict(&it);
    state_trust(&it);
    state_compute(&it);
    state_bandwidth(&it);
    state_replay(&it);
    state_issues(job, section);
}
