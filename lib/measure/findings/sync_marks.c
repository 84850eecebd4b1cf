/* Finds synchronizing calls by their names, on the threads that launch. */
#include "measure/findings/sync_marks.h"

#include <stdatomic.h>
#include <string.h>

#include "base/mem.h"
#include "base/threads.h"

/* What slices of ops and of calls are looked through for. */
struct search {
    const struct gt_evidence *evidence;
    _Atomic uint8_t *launches; /* by thread: whether it launched ops of the view */
    bool *processes;           /* of the view */
    const uint8_t *blocks;     /* by call: 0 or 1 */
    uint8_t *is_wait;          /* likewise: whether it is one that waits */
};

static void find_launching_threads(void *context, size_t slice, size_t begin, size_t end) {
    const struct search *search = context;
    const struct gt_view *view = search->evidence->view;
    const struct gt_calls *calls = &view->store->calls;
    (void)slice;
    for (size_t i = begin; i < end; i++) {
        uint32_t call = view->labels->op_call[view->row[i]];
        uint32_t thread = call == GT_NO_ROW ? GT_NO_TRACK : calls->thread[call];
        if (thread != GT_NO_TRACK && !atomic_load_explicit(&search->launches[thread], memory_order_relaxed))
            atomic_store_explicit(&search->launches[thread], 1, memory_order_relaxed);
    }
}

static void find_waits(void *context, size_t slice, size_t begin, size_t end) {
    const struct search *search = context;
    const struct gt_evidence *evidence = search->evidence;
    const struct gt_calls *calls = &evidence->view->store->calls;
    (void)slice;
    for (size_t i = begin; i < end; i++)
        search->is_wait[i] =
            search->blocks[i] && calls->start_ns[i] >= evidence->ledger.steady_ns && calls->thread[i] != GT_NO_TRACK &&
            search->launches[calls->thread[i]] &&
            gt_view_has_moment(evidence->view, search->processes, calls->start_ns[i], calls->thread[i]) &&
            gt_str_find_nocase(gt_store_string(evidence->view->store, calls->name[i]), GT_STR("Synchronize"));
}

uint8_t *gt_sync_marks_new(struct gt_evidence *evidence) {
    const struct gt_view *view = evidence->view;
    size_t threads = gt_threads_count(view->request->threads), calls = view->store->calls.count;
    const uint8_t *blocks = gt_evidence_blocking_calls(evidence);
    if (!blocks || !calls || !memchr(blocks, 1, calls)) /* most calls return at once */
        return NULL;
    struct search search = {.evidence = evidence,
                            .launches = gt_mem_array(view->store->threads.count, 1),
                            .processes = gt_view_processes(view),
                            .blocks = blocks,
                            .is_wait = gt_mem_array(calls, 1)};
    if (search.is_wait && search.launches && search.processes) {
        gt_threads_rows(gt_threads_slices(threads, view->op_count, 0), view->op_count, find_launching_threads, &search);
        gt_threads_rows(gt_threads_slices(threads, calls, 0), calls, find_waits, &search);
    } else {
        gt_evidence_fail(evidence);
    }
    gt_mem_free(search.launches);
    gt_mem_free(search.processes);
    return search.is_wait;
}
