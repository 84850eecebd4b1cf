/* Walks along the gaps of each device with a queue of losses for each thread: gaps are paid from the oldest one. */
#include "measure/findings/lead.h"

#include "base/mem.h"
#include "base/ns.h"
#include "base/threads.h"
#include "measure/findings/thresholds.h"
#include "measure/results/host_gaps.h"

/* Losses of one thread, as places in the list. */
struct queue {
    size_t first, end;
    size_t oldest, next; /* those from oldest to before next may pay */
};

/* Who launched the op after a gap, and when. */
struct launch {
    int64_t at_ns;
    uint32_t thread; /* GT_NO_TRACK: not known, or the launch is no reason for the gap */
    uint32_t last;   /* the one that launched the op before the gap; GT_NO_TRACK: not known */
};

struct account {
    struct gt_ledger *ledger;
    const struct gt_lead_loss *losses;
    struct launch *launches; /* by gap; NULL: found as they are needed */
    struct queue *queues;    /* by thread */
    int64_t *left_ns;        /* by loss: what no gap has been paid from */
    uint32_t *at;            /* by loss: position of the first op that was launched after it */
};

static void find_queues(struct account *account, size_t count) {
    for (size_t i = 0; i < count; i++) {
        struct queue *queue = &account->queues[account->losses[i].thread];
        if (queue->end == 0)
            queue->first = i;
        queue->end = i + 1;
    }
}

static void rewind_queues(struct account *account, size_t thread_count) {
    for (size_t i = 0; i < thread_count; i++)
        account->queues[i].oldest = account->queues[i].next = account->queues[i].first;
}

/* Takes in what had ended when an op was launched, and forgets what is too old for it. */
static inline void advance(struct account *account, struct queue *queue, int64_t launched_ns, uint32_t position) {
    for (; queue->next < queue->end && account->losses[queue->next].end_ns <= launched_ns; queue->next++) {
        const struct gt_lead_loss *loss = &account->losses[queue->next];
        account->left_ns[queue->next] = gt_ns_between(loss->start_ns, loss->end_ns);
        account->at[queue->next] = position;
    }
    while (queue->oldest < queue->next &&
           (account->left_ns[queue->oldest] == 0 || position - account->at[queue->oldest] > gt_thresholds.queue_ops))
        queue->oldest++;
}

/* Whether anything may pay for an op that was launched then. Mostly nothing may. */
static inline bool is_owing(const struct account *account, const struct queue *queue, int64_t launched_ns) {
    return queue->oldest < queue->next ||
           (queue->next < queue->end && account->losses[queue->next].end_ns <= launched_ns);
}

/* Takes so much from the losses, or all that is left of them. Returns what was taken. */
static int64_t take(struct account *account, struct queue *queue, int64_t want_ns) {
    int64_t taken_ns = 0;
    while (taken_ns < want_ns && queue->oldest < queue->next) {
        int64_t *left_ns = &account->left_ns[queue->oldest], rest_ns = want_ns - taken_ns;
        int64_t ns = *left_ns < rest_ns ? *left_ns : rest_ns;
        *left_ns -= ns;
        taken_ns += ns;
        queue->oldest += *left_ns == 0;
    }
    return taken_ns;
}

static int64_t wanted_ns(const struct gt_ledger *ledger, const struct gt_idle_device *device, size_t gap,
                         uint8_t class) {
    int64_t left_ns = gt_ledger_gap_left_ns(ledger, gap);
    int64_t most_ns = gt_idle_gap_twice_recoverable_ns(ledger->idle, gap, device) / 2;
    bool counts = class == GT_HOST_GAP_LATE || class == GT_HOST_GAP_STALL;
    if (!counts || (double)left_ns >= gt_thresholds.stall_ns)
        return 0;
    return left_ns < most_ns ? left_ns : most_ns;
}

/* The thread that launched an op; GT_NO_TRACK: not known. */
static uint32_t thread_of(const struct gt_view *view, uint32_t position) {
    uint32_t call = position == GT_NO_ROW ? GT_NO_ROW : view->labels->op_call[view->row[position]];
    return call == GT_NO_ROW ? GT_NO_TRACK : view->store->calls.thread[call];
}

static inline struct launch launch_of(const struct gt_ledger *ledger, size_t index) {
    const struct gt_calls *calls = &ledger->view->store->calls;
    const struct gt_idle *idle = ledger->idle;
    uint32_t call = idle->call[index], thread = call == GT_NO_ROW ? GT_NO_TRACK : calls->thread[call];
    if (thread == GT_NO_TRACK || gt_idle_gap_part(idle, index) == GT_GAP_QUEUED)
        return (struct launch){.thread = GT_NO_TRACK};
    return (struct launch){calls->start_ns[call], thread, thread_of(ledger->view, idle->previous[index])};
}

static void find_launches(void *context, size_t slice, size_t begin, size_t end) {
    const struct account *account = context;
    (void)slice;
    for (size_t i = begin; i < end; i++)
        account->launches[i] = launch_of(account->ledger, i);
}

/* Launches lie far apart, losses are paid in order: with several threads, the launches are found before. */
static bool look_ahead(struct account *account) {
    const struct gt_ledger *ledger = account->ledger;
    size_t count = ledger->idle->count;
    size_t slices = gt_threads_slices(gt_threads_count(ledger->view->request->threads), count, 0);
    if (slices == 1)
        return true;
    account->launches = gt_mem_uninitialised(count, sizeof *account->launches);
    if (account->launches)
        gt_threads_rows(slices, count, find_launches, account);
    return account->launches;
}

static void claim_of_device(struct account *account, const struct gt_idle_device *device, const uint8_t *class_of,
                            const int64_t *direct_ns) {
    struct gt_ledger *ledger = account->ledger;
    uint32_t before = GT_NO_TRACK; /* the thread that launched before the current one did */
    for (size_t i = device->first; i < device->first + device->count; i++) {
        struct launch launch = account->launches ? account->launches[i] : launch_of(ledger, i);
        uint32_t thread = launch.thread;
        if (thread == GT_NO_TRACK)
            continue;
        before = launch.last != GT_NO_TRACK && launch.last != thread ? launch.last : before;
        struct queue *own = &account->queues[thread], *other = before == GT_NO_TRACK ? own : &account->queues[before];
        if (!is_owing(account, own, launch.at_ns) && !is_owing(account, other, launch.at_ns))
            continue;
        uint32_t next = ledger->idle->next[i];
        advance(account, own, launch.at_ns, next);
        if (other != own)
            advance(account, other, launch.at_ns, next);
        if (own->oldest == own->next && other->oldest == other->next)
            continue; /* nothing is left of what they lost */
        take(account, own, direct_ns[i]);
        int64_t want_ns = wanted_ns(ledger, device, i, class_of[i]);
        int64_t paid_ns = take(account, other, want_ns);
        paid_ns += take(account, own, want_ns - paid_ns);
        if (paid_ns > 0)
            gt_ledger_claim_gap(ledger, i, paid_ns);
    }
}

/* Every device looks at all losses, which no program makes expensive: its threads serve a few devices each. A made-up
   trace shall not take longer than one of its size. */
static bool is_too_much(const struct gt_ledger *ledger, size_t count) {
    enum { LOOKS_PER_EVENT = 16 };
    size_t events = ledger->view->op_count + ledger->view->store->calls.count;
    size_t looks = count + ledger->view->store->threads.count;
    return ledger->idle->device_count > 1 && ledger->idle->device_count > LOOKS_PER_EVENT * events / looks;
}

void gt_lead_claim(struct gt_ledger *ledger, const uint8_t *class_of, const struct gt_lead_loss *losses, size_t count,
                   const int64_t *direct_ns) {
    size_t thread_count = ledger->view->store->threads.count;
    struct account account = {.ledger = ledger, .losses = losses};
    if (count == 0 || is_too_much(ledger, count))
        return;
    account.queues = gt_mem_array(thread_count, sizeof *account.queues);
    account.left_ns = gt_mem_uninitialised(count, sizeof *account.left_ns);
    account.at = gt_mem_uninitialised(count, sizeof *account.at);
    bool ok = account.queues && account.left_ns && account.at && look_ahead(&account);
    ledger->has_failed |= !ok;
    if (ok)
        find_queues(&account, count);
    for (size_t d = 0; d < ledger->idle->device_count && ok; d++) {
        rewind_queues(&account, thread_count);
        claim_of_device(&account, &ledger->idle->devices[d], class_of, direct_ns);
    }
    gt_mem_free(account.queues);
    gt_mem_free(account.left_ns);
    gt_mem_free(account.at);
    gt_mem_free(account.launches);
}
