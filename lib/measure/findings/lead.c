/* Walks along the gaps of each device with a queue of losses for each thread: gaps are paid from the oldest one.
   Devices know nothing of each other, so that each may have a thread, and what was paid is claimed afterwards in their
   order. */
#include "measure/findings/lead.h"

#include "base/mem.h"
#include "base/ns.h"
#include "base/threads.h"
#include "measure/findings/thresholds.h"
#include "measure/results/host_gaps.h"

/* Losses of one thread, as places in the list. */
struct queue {
    size_t end;
    size_t oldest, next; /* those from oldest to before next may pay */
};

/* Who launched the op after a gap, and when. */
struct launch {
    int64_t at_ns;
    uint32_t thread; /* GT_NO_TRACK: not known, or the launch is no reason for the gap */
    uint32_t last;   /* the one that launched the op before the gap; GT_NO_TRACK: not known */
};

struct payment {
    size_t gap;
    int64_t ns;
};

/* What all devices look at. */
struct claiming {
    struct gt_ledger *ledger;
    const struct gt_lead_loss *losses;
    size_t loss_count;
    const uint8_t *class_of;  /* by gap */
    const int64_t *direct_ns; /* by gap */
    struct launch *launches;  /* by gap; NULL: found as they are needed */
    struct account *accounts; /* by device */
};

/* Of one device. */
struct account {
    struct gt_ledger *ledger;
    const struct gt_lead_loss *losses;
    struct queue *queues; /* by thread */
    int64_t *left_ns;     /* by loss: what no gap has been paid from */
    uint32_t *at;         /* by loss: position of the first op that was launched after it */
    struct payment *payments;
    size_t payment_count, payment_capacity;
    bool is_dealt; /* payments are kept instead of being claimed at once */
    bool has_failed;
};

static void account_release(struct account *account) {
    gt_mem_free(account->queues);
    gt_mem_free(account->left_ns);
    gt_mem_free(account->at);
}

/* false: memory was short. */
static bool account_init(struct account *account, const struct claiming *claiming, bool is_dealt) {
    *account = (struct account){.ledger = claiming->ledger, .losses = claiming->losses, .is_dealt = is_dealt};
    account->queues = gt_mem_array(claiming->ledger->view->store->threads.count, sizeof *account->queues);
    account->left_ns = gt_mem_uninitialised(claiming->loss_count, sizeof *account->left_ns);
    account->at = gt_mem_uninitialised(claiming->loss_count, sizeof *account->at);
    if (!account->queues || !account->left_ns || !account->at)
        return false;
    for (size_t i = 0; i < claiming->loss_count; i++) {
        struct queue *queue = &account->queues[claiming->losses[i].thread];
        if (queue->end == 0)
            queue->oldest = queue->next = i;
        queue->end = i + 1;
    }
    return true;
}

static void pay(struct account *account, size_t gap, int64_t ns) {
    if (!account->is_dealt) {
        gt_ledger_claim_gap(account->ledger, gap, ns);
        return;
    }
    struct payment *payments =
        gt_mem_room(account->payments, account->payment_count, &account->payment_capacity, sizeof *payments);
    account->has_failed |= !payments;
    if (!payments)
        return;
    account->payments = payments;
    payments[account->payment_count++] = (struct payment){gap, ns};
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
    uint32_t call = gt_idle_gap_call(idle, index), thread = call == GT_NO_ROW ? GT_NO_TRACK : calls->thread[call];
    if (thread == GT_NO_TRACK || gt_idle_gap_part(idle, index) == GT_GAP_QUEUED)
        return (struct launch){.thread = GT_NO_TRACK};
    return (struct launch){calls->start_ns[call], thread, thread_of(ledger->view, gt_idle_gap_previous(idle, index))};
}

static void find_launches(void *context, size_t slice, size_t begin, size_t end) {
    const struct claiming *claiming = context;
    (void)slice;
    for (size_t i = begin; i < end; i++)
        claiming->launches[i] = launch_of(claiming->ledger, i);
}

/* Launches lie far apart, losses are paid in order: with several threads, the launches are found before. */
static bool look_ahead(struct claiming *claiming, size_t threads) {
    size_t count = claiming->ledger->idle->count;
    size_t slices = gt_threads_slices(threads, count, 0);
    if (slices == 1)
        return true;
    claiming->launches = gt_mem_uninitialised(count, sizeof *claiming->launches);
    if (claiming->launches)
        gt_threads_rows(slices, count, find_launches, claiming);
    return claiming->launches;
}

static void pay_device(struct account *account, const struct claiming *claiming, const struct gt_idle_device *device) {
    const struct gt_ledger *ledger = claiming->ledger;
    uint32_t before = GT_NO_TRACK; /* the thread that launched before the current one did */
    for (size_t i = device->first; i < device->first + device->count; i++) {
        struct launch launch = claiming->launches ? claiming->launches[i] : launch_of(ledger, i);
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
        take(account, own, claiming->direct_ns[i]);
        int64_t want_ns = wanted_ns(ledger, device, i, claiming->class_of[i]);
        int64_t paid_ns = take(account, other, want_ns);
        paid_ns += take(account, own, want_ns - paid_ns);
        if (paid_ns > 0)
            pay(account, i, paid_ns);
    }
}

static void do_device(struct claiming *claiming, size_t device, bool is_dealt) {
    struct account *account = &claiming->accounts[device];
    if (account_init(account, claiming, is_dealt))
        pay_device(account, claiming, &claiming->ledger->idle->devices[device]);
    else
        account->has_failed = true;
    account_release(account);
}

static void deal_device(void *context, size_t device) {
    do_device(context, device, true);
}

/* false: memory was short. */
static bool claim_payments(const struct claiming *claiming) {
    bool ok = true;
    for (size_t d = 0; d < claiming->ledger->idle->device_count; d++) {
        const struct account *account = &claiming->accounts[d];
        ok = ok && !account->has_failed;
        for (size_t i = 0; i < account->payment_count && ok; i++)
            gt_ledger_claim_gap(claiming->ledger, account->payments[i].gap, account->payments[i].ns);
        gt_mem_free(account->payments);
    }
    return ok;
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
    struct claiming claiming = {
        .ledger = ledger, .losses = losses, .loss_count = count, .class_of = class_of, .direct_ns = direct_ns};
    size_t devices = ledger->idle->device_count, threads = gt_threads_count(ledger->view->request->threads);
    if (count == 0 || is_too_much(ledger, count))
        return;
    claiming.accounts = gt_mem_array(devices, sizeof *claiming.accounts);
    bool ok = claiming.accounts && look_ahead(&claiming, threads);
    size_t own_items = (count + ledger->view->store->threads.count) / 4; /* which each device has a few bytes for */
    size_t most = gt_threads_slices(threads, ledger->idle->count, own_items);
    bool is_dealt = ok && claiming.launches && devices > 1 && most > 1;
    if (is_dealt)
        gt_threads_parts(most, devices, deal_device, &claiming);
    for (size_t d = 0; d < devices && ok && !is_dealt; d++)
        do_device(&claiming, d, false);
    ledger->has_failed |= !(ok && claim_payments(&claiming));
    gt_mem_free(claiming.accounts);
    gt_mem_free(claiming.launches);
}
