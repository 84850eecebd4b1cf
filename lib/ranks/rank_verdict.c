/* Judges who holds a job up: guilt by rank and step comes in, episodes, leads and a verdict go out. */
#include "ranks/rank_verdict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/ns.h"
#include "ranks/rank_excess.h"
#include "ranks/rank_links.h"
#include "ranks/rank_reasons.h"

/* Guilt by step, then by rank or host. */
struct cells {
    int64_t *ns;
    size_t steps, columns;
    const int64_t *step_ns; /* by step: the median of the ranks */
    const bool *may_lead;   /* by column: it takes longer than the others itself */
    size_t rank_count;
};

struct judged {
    enum gt_rank_verdict verdict;
    size_t best;
    double p;
};

const char *gt_rank_verdict_key(enum gt_rank_verdict verdict) {
    static const char *const keys[] = {[GT_VERDICT_NONE] = "none",
                                       [GT_VERDICT_FEW_STEPS] = "few_steps",
                                       [GT_VERDICT_PINNED] = "pinned",
                                       [GT_VERDICT_ROTATING] = "rotating"};
    return keys[verdict];
}

double gt_rank_verdict_at_least(size_t trials, size_t least, double chance) {
    double sum = 0;
    if (least == 0 || chance >= 1)
        return 1;
    for (size_t k = least; k <= trials; k++)
        sum += exp(lgamma((double)trials + 1) - lgamma((double)k + 1) - lgamma((double)(trials - k) + 1) +
                   (double)k * log(chance) + (double)(trials - k) * log1p(-chance));
    return sum > 1 ? 1 : sum;
}

static int by_value(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int64_t median_of(int64_t *values, size_t count) {
    if (!count)
        return 0;
    qsort(values, count, sizeof *values, by_value);
    return values[(count - 1) / 2];
}

static size_t largest_of(const int64_t *cells, size_t count) {
    size_t largest = 0;
    for (size_t i = 1; i < count; i++)
        largest = cells[i] > cells[largest] ? i : largest;
    return largest;
}

/* Whether an amount is at least this share, in thousandths, of the step of all ranks. */
static bool is_share(const struct cells *cells, int64_t ns, size_t step, int thousandths) {
    return (__int128)ns * 1000 >= (__int128)cells->step_ns[step] * thousandths * (__int128)cells->rank_count;
}

/* ---- episodes ---- */

/* The largest guilt of a rank in a step, by name. */
static struct gt_str reason_in_step(const struct gt_rank_job *job, uint32_t rank, size_t step) {
    size_t best = 0;
    int64_t best_ns = -1;
    for (size_t reason = 0; reason <= GT_REASON_BYTES; reason++) {
        bool is_guilt = reason == GT_REASON_BYTES || gt_rank_summary_is_own((enum gt_rank_part)reason);
        int64_t ns = is_guilt ? *gt_rank_job_charge(job, rank, reason, step) : -1;
        best = ns > best_ns ? reason : best;
        best_ns = ns > best_ns ? ns : best_ns;
    }
    return gt_rank_reasons_name(job, rank, best, best_ns);
}

static void find_lateness(struct gt_rank_job *job) {
    for (size_t m = 0; m < job->member_count; m++) {
        const struct gt_rank_member *member = &job->members[m];
        const struct gt_rank_collective *collective = &job->collectives[member->collective];
        if (member->delayer == GT_RANK_NONE || !collective->has_step)
            continue;
        struct gt_rank_episode *episode =
            gt_rank_job_episode(job, gt_rank_job_step(job, collective->step), member->delayer);
        int64_t late_ns = episode ? gt_rank_links_late(job, member) : 0;
        if (episode && late_ns > episode->late_ns)
            episode->late_ns = late_ns;
    }
}

static bool find_episodes(struct gt_rank_job *job, struct cells *cells) {
    size_t capacity = 0;
    int64_t *largest = gt_mem_uninitialised(cells->steps, sizeof *largest);
    if (!largest)
        return false;
    for (size_t s = 0; s < cells->steps; s++) {
        const int64_t *row = &cells->ns[s * cells->columns];
        largest[s] = row[largest_of(row, cells->columns)];
    }
    int64_t usual_ns = median_of(largest, cells->steps);
    gt_mem_free(largest);
    for (uint32_t s = 0; s < cells->steps && cells->steps >= 3; s++)
        for (uint32_t r = 0; r < cells->columns; r++) {
            int64_t *ns = &cells->ns[s * cells->columns + r];
            if ((__int128)*ns <= 3 * (__int128)usual_ns || !is_share(cells, *ns, s, 10) || *ns <= 0 ||
                gt_rank_excess_steps(job, r) < 3) /* of a trace that was cut nobody knows what is usual */
                continue;
            struct gt_rank_episode *list =
                gt_arena_room(&job->arena, job->episodes, job->episode_count, &capacity, sizeof *list);
            if (!list)
                return false;
            job->episodes = list;
            list[job->episode_count++] =
                (struct gt_rank_episode){.step = s, .rank = r, .charged_ns = *ns, .reason = reason_in_step(job, r, s)};
            *ns = 0;
        }
    find_lateness(job);
    return true;
}

/* ---- the verdict ---- */

#define MOST_CHANCE 0.05 /* that a rank leads as often as it does */

/* By column: steps in which it leads, and the sum of its cells. */
struct tally {
    size_t *leads;
    __int128 *sums;
};

static bool tally_init(struct tally *tally, size_t columns) {
    tally->leads = gt_mem_array(columns, sizeof *tally->leads);
    tally->sums = gt_mem_array(columns, sizeof *tally->sums);
    return tally->leads && tally->sums;
}

static void tally_release(struct tally *tally) {
    gt_mem_free(tally->leads);
    gt_mem_free(tally->sums);
}

/* In how many steps each column has the largest cell; of those that may lead, if only they count. Gives how many steps
   have such a column. */
static size_t count_leads(const struct cells *cells, bool only_those, size_t *leads) {
    size_t led = 0;
    for (size_t s = 0; s < cells->steps; s++) {
        const int64_t *row = &cells->ns[s * cells->columns];
        size_t largest = cells->columns;
        for (size_t c = 0; c < cells->columns; c++)
            if ((!only_those || cells->may_lead[c]) && (largest == cells->columns || row[c] > row[largest]))
                largest = c;
        bool is_led = largest < cells->columns && row[largest] > 0 && is_share(cells, row[largest], s, 1);
        if (is_led)
            leads[largest]++;
        led += is_led;
    }
    return led;
}

static struct judged judge_leads(const struct cells *cells, bool only_those, const struct tally *tally) {
    struct judged judged = {.p = NAN, .verdict = GT_VERDICT_FEW_STEPS};
    const size_t *leads = tally->leads;
    memset(tally->leads, 0, cells->columns * sizeof *tally->leads);
    size_t led = count_leads(cells, only_those, tally->leads);
    for (size_t c = 1; c < cells->columns; c++) {
        bool is_more = leads[c] > leads[judged.best];
        bool is_equal = leads[c] == leads[judged.best];
        judged.best = is_more || (is_equal && tally->sums[c] > tally->sums[judged.best]) ? c : judged.best;
    }
    if (cells->steps < 3)
        return judged;
    double chance = 1.0 / (double)cells->columns;
    judged.p = gt_rank_verdict_at_least(cells->steps, leads[judged.best], chance);
    bool may_be = 2 * leads[judged.best] >= cells->steps && cells->may_lead[judged.best];
    /* A step that nobody leads says nothing: what its waits are due to began before the trace, or is an episode. */
    if (may_be && !only_those && judged.p > MOST_CHANCE && led >= 3) {
        double p = gt_rank_verdict_at_least(led, leads[judged.best], chance);
        judged.p = p <= MOST_CHANCE ? p : judged.p;
    }
    judged.verdict = may_be && judged.p <= MOST_CHANCE ? GT_VERDICT_PINNED : GT_VERDICT_NONE;
    return judged;
}

/* Of all columns, and if none of them is pinned, of those that may lead. */
static struct judged judge(const struct cells *cells, const struct tally *tally) {
    __int128 all_ns = 0, steps_ns = 0;
    for (size_t s = 0; s < cells->steps; s++) {
        steps_ns += cells->step_ns[s];
        for (size_t c = 0; c < cells->columns; c++) {
            tally->sums[c] += cells->ns[s * cells->columns + c];
            all_ns += cells->ns[s * cells->columns + c];
        }
    }
    struct judged of_all = judge_leads(cells, false, tally);
    if (of_all.verdict != GT_VERDICT_NONE)
        return of_all;
    struct judged of_some = judge_leads(cells, true, tally);
    if (of_some.verdict == GT_VERDICT_PINNED)
        return of_some;
    bool is_rotating = all_ns * 100 >= steps_ns * (__int128)cells->rank_count && all_ns > 0;
    of_all = judge_leads(cells, false, tally);
    of_all.verdict = is_rotating ? GT_VERDICT_ROTATING : GT_VERDICT_NONE;
    return of_all;
}

/* ---- hosts ---- */

/* Columns by host; *count 0: not all are known. */
static size_t *new_hosts(const struct gt_rank_job *job, struct gt_str *names, size_t *count) {
    size_t *host_of = gt_mem_array(job->rank_count, sizeof *host_of);
    struct gt_strtab hosts;
    *count = 0;
    if (!host_of || !gt_strtab_init(&hosts)) {
        gt_mem_free(host_of);
        return NULL;
    }
    bool is_known = true;
    for (size_t r = 0; r < job->rank_count && is_known; r++) {
        struct gt_str name = gt_rank_summary_text(job->ranks[r].summary, job->ranks[r].summary->head.host);
        is_known = name.len > 0;
        if (!is_known)
            break;
        gt_strid host = gt_strtab_intern(&hosts, name);
        if (hosts.failed)
            break;
        host_of[r] = host - 1;
        names[host_of[r]] = name;
        *count = hosts.count - 1;
    }
    *count = is_known ? *count : 0;
    if (hosts.failed) {
        gt_mem_free(host_of);
        host_of = NULL;
    }
    gt_strtab_release(&hosts);
    return host_of;
}

static bool judge_hosts(struct gt_rank_job *job, const struct cells *ranks) {
    struct gt_str *names = gt_mem_array(job->rank_count, sizeof *names);
    size_t count = 0, *host_of = names ? new_hosts(job, names, &count) : NULL;
    bool *may_lead = gt_mem_array(count, sizeof *may_lead);
    struct cells cells = {.steps = ranks->steps,
                          .columns = count,
                          .step_ns = ranks->step_ns,
                          .may_lead = may_lead,
                          .rank_count = ranks->rank_count};
    bool ok = host_of && may_lead;
    if (ok && count > 1) {
        struct tally tally;
        cells.ns = gt_mem_array(cells.steps * count, sizeof *cells.ns);
        ok = tally_init(&tally, count) && cells.ns;
        for (size_t r = 0; r < ranks->columns; r++)
            may_lead[host_of[r]] |= ranks->may_lead[r];
        for (size_t s = 0; ok && s < cells.steps; s++)
            for (size_t r = 0; r < ranks->columns; r++)
                cells.ns[s * count + host_of[r]] += ranks->ns[s * ranks->columns + r];
        if (ok) {
            struct judged judged = judge(&cells, &tally);
            if (judged.verdict == GT_VERDICT_PINNED)
                job->verdict_host = names[judged.best];
        }
        tally_release(&tally);
        gt_mem_free(cells.ns);
    }
    gt_mem_free(may_lead);
    gt_mem_free(names);
    gt_mem_free(host_of);
    return ok;
}

/* ---- cells ---- */

static bool fill_cells(const struct gt_rank_job *job, struct cells *cells, int64_t *step_ns) {
    int64_t *scratch = gt_mem_uninitialised(job->rank_count, sizeof *scratch);
    if (!scratch)
        return false;
    for (size_t s = 0; s < job->step_count; s++) {
        size_t count = 0;
        for (size_t r = 0; r < job->rank_count; r++) {
            const struct gt_rank_window *window = &job->windows[s * job->rank_count + r];
            cells->ns[s * job->rank_count + r] = window->charged_ns;
            if (window->is_there)
                scratch[count++] = window->step_ns;
        }
        step_ns[s] = median_of(scratch, count);
    }
    for (size_t r = 0; r < job->rank_count && job->step_count == 0; r++) {
        int64_t span_ns = job->ranks[r].summary->head.last_ns - job->ranks[r].summary->head.first_ns;
        cells->ns[r] = job->ranks[r].charged_ns;
        step_ns[0] = span_ns > step_ns[0] ? span_ns : step_ns[0];
    }
    gt_mem_free(scratch);
    return true;
}

bool gt_rank_verdict_find(struct gt_rank_job *job) {
    job->verdict_rank = GT_RANK_NONE;
    job->verdict_p = NAN;
    if (job->collective_count == 0) /* nobody waited for anybody */
        return true;
    size_t steps = job->step_count ? job->step_count : 1;
    int64_t *step_ns = gt_mem_array(steps, sizeof *step_ns);
    bool *may_lead = gt_mem_array(job->rank_count, sizeof *may_lead);
    struct tally tally;
    struct cells cells = {.ns = gt_mem_array(steps * job->rank_count, sizeof *cells.ns),
                          .steps = steps,
                          .columns = job->rank_count,
                          .step_ns = step_ns,
                          .may_lead = may_lead,
                          .rank_count = job->rank_count};
    bool ok = tally_init(&tally, job->rank_count) && step_ns && may_lead && cells.ns &&
              gt_rank_excess_leaders(job, may_lead) && fill_cells(job, &cells, step_ns) && find_episodes(job, &cells);
    if (ok) {
        for (size_t s = 0; s < job->step_count; s++)
            job->steps_ns = gt_ns_add(job->steps_ns, step_ns[s]);
        struct judged judged = judge(&cells, &tally);
        job->verdict = judged.verdict;
        job->verdict_p = judged.p;
        for (size_t r = 0; r < job->rank_count; r++) {
            job->ranks[r].leads = tally.leads[r];
            job->ranks[r].takes_longer = may_lead[r];
        }
        if (judged.verdict == GT_VERDICT_PINNED) {
            job->verdict_rank = (uint32_t)judged.best;
            ok = gt_rank_excess_reason(job, job->verdict_rank, &job->verdict_reason);
        }
        ok = ok && judge_hosts(job, &cells);
    }
    tally_release(&tally);
    gt_mem_free(step_ns);
    gt_mem_free(may_lead);
    gt_mem_free(cells.ns);
    return ok;
}
