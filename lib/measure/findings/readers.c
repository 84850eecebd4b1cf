/* Finds the operator that the user called around a copy. */
#include "measure/findings/readers.h"

#include "measure/findings/say.h"

bool gt_readers_is_around(int64_t start_ns, int64_t end_ns, uint32_t thread, const struct gt_calls *calls,
                          uint32_t call) {
    return thread == calls->thread[call] && start_ns <= calls->start_ns[call] && end_ns >= calls->end_ns[call];
}

/* The outermost: aten::item, not the aten::_local_scalar_dense in it. GT_NO_ROW: there is none. */
static uint32_t outermost_operator(const struct gt_store *store, uint32_t call) {
    const struct gt_cpu_ops *operators = &store->cpu_ops;
    uint32_t found = GT_NO_ROW;
    for (uint32_t i = 0; i < operators->count; i++)
        if (gt_readers_is_around(operators->start_ns[i], operators->end_ns[i], operators->thread[i], &store->calls,
                                 call) &&
            (found == GT_NO_ROW || operators->start_ns[i] < operators->start_ns[found]))
            found = i;
    return found;
}

static uint32_t reader_of(const struct gt_view *view, const struct gt_readback *copies) {
    return outermost_operator(view->store, view->labels->op_call[view->row[copies->longest]]);
}

const char *gt_readers_change(struct gt_evidence *evidence, const struct gt_readback *copies) {
    const struct gt_store *store = evidence->view->store;
    uint32_t reader = reader_of(evidence->view, copies);
    struct gt_str name = gt_store_string(store, reader == GT_NO_ROW ? copies->call : store->cpu_ops.name[reader]);
    struct gt_str wait = gt_store_string(store, reader == GT_NO_ROW ? copies->wait : GT_STRID_EMPTY);
    return gt_arena_printf(evidence->arena, "without:%.*s%s%.*s", (int)name.len, name.ptr, wait.len ? "\nwithout:" : "",
                           (int)wait.len, wait.ptr)
        .ptr;
}

const char *gt_readers_say(struct gt_evidence *evidence, const struct gt_readback *copies) {
    const struct gt_store *store = evidence->view->store;
    uint32_t reader = reader_of(evidence->view, copies);
    if (reader != GT_NO_ROW)
        return gt_say_quoted(evidence, gt_store_string(store, store->cpu_ops.name[reader]));
    return gt_say_call(evidence, copies->wait == GT_STRID_EMPTY ? copies->call : copies->wait);
}
