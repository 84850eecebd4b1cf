/* Finds the operator that the user called around a copy. */
#include "measure/findings/readers.h"

#include "base/threads.h"
#include "measure/findings/saving.h"
#include "measure/findings/say.h"

bool gt_readers_is_around(int64_t start_ns, int64_t end_ns, uint32_t thread, const struct gt_calls *calls,
                          uint32_t call) {
    return thread == calls->thread[call] && start_ns <= calls->start_ns[call] && end_ns >= calls->end_ns[call];
}

/* What slices of the operators are looked through for. */
struct search {
    const struct gt_store *store;
    uint32_t call;
    uint32_t found[GT_THREADS_MOST]; /* by slice */
};

/* The one that starts first, of several the first; GT_NO_ROW is later than any. */
static bool is_earlier(const struct gt_cpu_ops *operators, uint32_t row, uint32_t than) {
    return than == GT_NO_ROW || operators->start_ns[row] < operators->start_ns[than];
}

static void search_slice(void *context, size_t slice, size_t begin, size_t end) {
    struct search *search = context;
    const struct gt_cpu_ops *operators = &search->store->cpu_ops;
    const struct gt_calls *calls = &search->store->calls;
    uint32_t found = GT_NO_ROW;
    for (size_t i = begin; i < end; i++)
        if (gt_readers_is_around(operators->start_ns[i], operators->end_ns[i], operators->thread[i], calls,
                                 search->call) &&
            is_earlier(operators, (uint32_t)i, found))
            found = (uint32_t)i;
    search->found[slice] = found;
}

uint32_t gt_readers_outermost_operator(const struct gt_view *view, uint32_t call) {
    const struct gt_cpu_ops *operators = &view->store->cpu_ops;
    struct search search = {.store = view->store, .call = call};
    size_t slices = gt_threads_slices(gt_threads_count(view->request->threads), operators->count, 0);
    uint32_t found = GT_NO_ROW;
    gt_threads_rows(slices, operators->count, search_slice, &search);
    for (size_t i = 0; i < slices; i++)
        if (search.found[i] != GT_NO_ROW && is_earlier(operators, search.found[i], found))
            found = search.found[i];
    return found;
}

static uint32_t reader_of(const struct gt_view *view, const struct gt_readback *copies) {
    return gt_readers_outermost_operator(view, view->labels->op_call[view->row[copies->longest]]);
}

const char *gt_readers_change(struct gt_evidence *evidence, const struct gt_readback *copies) {
    const struct gt_store *store = evidence->view->store;
    uint32_t reader = reader_of(evidence->view, copies);
    struct gt_str name = gt_store_string(store, reader == GT_NO_ROW ? copies->call : store->cpu_ops.name[reader]);
    struct gt_str wait = gt_store_string(store, reader == GT_NO_ROW ? copies->wait : GT_STRID_EMPTY);
    struct gt_str glob = gt_saving_glob(evidence, name), wait_glob = gt_saving_glob(evidence, wait);
    if (!glob.len || (wait.len && !wait_glob.len))
        return NULL;
    return gt_arena_printf(evidence->arena, "without:%s%s%s", glob.ptr, wait.len ? "\nwithout:" : "", wait_glob.ptr)
        .ptr;
}

const char *gt_readers_say(struct gt_evidence *evidence, const struct gt_readback *copies) {
    const struct gt_store *store = evidence->view->store;
    uint32_t reader = reader_of(evidence->view, copies);
    if (reader != GT_NO_ROW)
        return gt_say_quoted(evidence, gt_store_string(store, store->cpu_ops.name[reader]));
    return gt_say_call(evidence, copies->wait == GT_STRID_EMPTY ? copies->call : copies->wait);
}
