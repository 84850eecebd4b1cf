/* Claims the gaps of each device in slices: how many each of them claims is counted first, so that all know where to
   put theirs. No gap is claimed by two, so that the ledger is the same as after one after the other. */
#include "measure/findings/gap_claims.h"

#include "base/mem.h"
#include "base/ns.h"
#include "base/threads.h"

/* Gaps are asked about in blocks of so many. */
enum { BLOCK = 512 };

struct slice {
    size_t device, begin, end; /* gaps */
    size_t first, count;       /* of its claims */
    int64_t saved_ns;
    __int128 claimed_ns;
    struct gt_ledger_claim largest[GT_FINDING_WINDOWS]; /* the largest first, of equal ones the first */
    size_t largest_count;
};

struct claiming {
    struct gt_ledger *ledger;
    gt_gap_claims_want *want;
    const void *context;
    struct slice *slices;
    size_t slice_count;
};

static void note_largest(struct slice *slice, const struct gt_ledger_claim *claim) {
    size_t place = slice->largest_count;
    if (place == GT_FINDING_WINDOWS) {
        if (claim->ns <= slice->largest[place - 1].ns)
            return;
        place--;
    } else {
        slice->largest_count++;
    }
    for (; place > 0 && claim->ns > slice->largest[place - 1].ns; place--)
        slice->largest[place] = slice->largest[place - 1];
    slice->largest[place] = *claim;
}

/* Asks about a block from a gap on. Gives the gap after it. */
static size_t ask(const struct claiming *it, const struct slice *slice, size_t from, int64_t want_ns[BLOCK]) {
    size_t end = slice->end - from < BLOCK ? slice->end : from + BLOCK;
    it->want(it->context, slice->device, from, end, want_ns);
    return end;
}

static void count_slice(void *context, size_t index) {
    const struct claiming *it = context;
    struct slice *slice = &it->slices[index];
    int64_t want_ns[BLOCK];
    for (size_t i = slice->begin, end; i < slice->end; i = end) {
        end = ask(it, slice, i, want_ns);
        for (size_t k = i; k < end; k++)
            slice->count += want_ns[k - i] > 0 && gt_ledger_gap_left_ns(it->ledger, k) > 0;
    }
}

static void claim_slice(void *context, size_t index) {
    const struct claiming *it = context;
    struct slice *slice = &it->slices[index];
    int64_t want_ns[BLOCK];
    struct gt_ledger_claim *claim = it->ledger->claims + slice->first;
    for (size_t i = slice->begin, end; i < slice->end; i = end) {
        end = ask(it, slice, i, want_ns);
        for (size_t k = i; k < end; k++) {
            int64_t left_ns = want_ns[k - i] > 0 ? gt_ledger_gap_left_ns(it->ledger, k) : 0;
            if (left_ns <= 0)
                continue;
            int64_t ns = want_ns[k - i] < left_ns ? want_ns[k - i] : left_ns;
            *claim = (struct gt_ledger_claim){.item = (uint32_t)k, .ns = ns, .is_gap = true};
            slice->claimed_ns += ns;
            slice->saved_ns = gt_ns_add(slice->saved_ns, ns);
            note_largest(slice, claim++);
        }
    }
}

/* false: memory was short. */
static bool make_slices(struct claiming *it, size_t threads) {
    const struct gt_idle *idle = it->ledger->idle;
    size_t count = 0;
    for (size_t d = 0; d < idle->device_count; d++)
        count += gt_threads_slices(threads, idle->devices[d].count, 0);
    it->slices = gt_mem_array(count, sizeof *it->slices);
    for (size_t d = 0; d < idle->device_count && it->slices; d++) {
        const struct gt_idle_device *device = &idle->devices[d];
        size_t parts = gt_threads_slices(threads, device->count, 0);
        for (size_t i = 0; i < parts; i++)
            it->slices[it->slice_count++] =
                (struct slice){.device = d,
                               .begin = device->first + gt_threads_slice_begin(device->count, parts, i),
                               .end = device->first + gt_threads_slice_begin(device->count, parts, i + 1)};
    }
    return it->slices;
}

/* Room for the claims that were counted. false: memory was short. */
static bool make_room(struct claiming *it) {
    struct gt_ledger *ledger = it->ledger;
    size_t count = ledger->count;
    for (size_t i = 0; i < it->slice_count; i++) {
        it->slices[i].first = count;
        count += it->slices[i].count;
    }
    if (count > ledger->capacity) {
        struct gt_ledger_claim *claims = gt_mem_realloc(ledger->claims, count * sizeof *claims);
        if (!claims)
            return false;
        ledger->claims = claims;
        ledger->capacity = count;
    }
    ledger->count = count;
    return true;
}

static void list_claims(const void *context, size_t begin, size_t end, struct gt_sparse_amount *amounts) {
    const struct gt_ledger_claim *claims = context;
    for (size_t i = begin; i < end; i++)
        amounts[i - begin] = (struct gt_sparse_amount){claims[i].item, claims[i].ns};
}

static void join_slices(const struct claiming *it) {
    struct gt_ledger *ledger = it->ledger;
    for (const struct slice *slice = it->slices; slice < it->slices + it->slice_count; slice++) {
        int64_t *waiting_ns = &ledger->savings[slice->device].waiting_ns;
        *waiting_ns = gt_ns_add(*waiting_ns, slice->saved_ns);
        ledger->claimed_ns += slice->claimed_ns;
        for (size_t i = 0; i < slice->largest_count; i++)
            gt_ledger_note_window(ledger, &slice->largest[i], slice->device);
    }
}

/* With one thread it is less work to do both at once. */
static void claim_one_by_one(const struct claiming *it) {
    for (const struct slice *slice = it->slices; slice < it->slices + it->slice_count; slice++) {
        int64_t want_ns[BLOCK];
        for (size_t i = slice->begin, end; i < slice->end; i = end) {
            end = ask(it, slice, i, want_ns);
            for (size_t k = i; k < end; k++)
                gt_ledger_claim_gap(it->ledger, k, want_ns[k - i]);
        }
    }
}

void gt_gap_claims_take(struct gt_ledger *ledger, gt_gap_claims_want *want, const void *context) {
    struct claiming it = {.ledger = ledger, .want = want, .context = context};
    size_t threads = gt_threads_count(ledger->view->request->threads);
    bool ok = make_slices(&it, threads);
    if (ok && (threads == 1 || it.slice_count <= 1)) {
        claim_one_by_one(&it);
    } else if (ok) {
        gt_threads_parts(threads, it.slice_count, count_slice, &it);
        size_t before = ledger->count;
        ok = make_room(&it);
        if (ok) {
            gt_threads_parts(threads, it.slice_count, claim_slice, &it);
            join_slices(&it);
            ok =
                gt_sparse_add(&ledger->gap_less, ledger->count - before, threads, list_claims, ledger->claims + before);
        }
    }
    ledger->has_failed |= !ok;
    gt_mem_free(it.slices);
}
