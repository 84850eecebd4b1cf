/* Makes ranges of the scopes of ops. Calls and ops of one launch may have been read by different threads, and the rows
   must not depend on which: everything is put in the order of the file first. */
#include "decode/xla/xla_scopes.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"

struct gt_str gt_xla_scopes_of(struct gt_str operation) {
    if (gt_str_ends(operation, GT_STR(")")))
        return operation;
    const char *slash = operation.len ? memrchr(operation.ptr, '/', operation.len) : NULL;
    return (struct gt_str){operation.ptr, slash ? (size_t)(slash - operation.ptr) : 0};
}

static void keep(struct gt_xla_scopes *scopes, struct gt_xla_scope_op *op, struct gt_str operation) {
    op->operation = op->scope = GT_STR("");
    op->text = GT_STRID_EMPTY;
    if (operation.len == 0)
        return;
    if (!scopes->texts.strings && !gt_strtab_init(&scopes->texts)) {
        scopes->failed = true;
        return;
    }
    op->text = gt_strtab_intern(&scopes->texts, operation);
    op->operation = gt_strtab_get(&scopes->texts, op->text);
    scopes->failed |= scopes->texts.failed;
}

void gt_xla_scopes_add(struct gt_xla_scopes *scopes, const struct gt_xla_scope_op *op) {
    struct gt_xla_scope_op *grown = gt_mem_room(scopes->ops, scopes->count, &scopes->capacity, sizeof *grown);
    if (!grown) {
        scopes->failed = true;
        return;
    }
    scopes->ops = grown;
    struct gt_xla_scope_op *kept = &scopes->ops[scopes->count++];
    *kept = *op;
    keep(scopes, kept, op->operation);
}

void gt_xla_scopes_release(struct gt_xla_scopes *scopes) {
    if (scopes->texts.strings)
        gt_strtab_release(&scopes->texts);
    gt_mem_free(scopes->ops);
    *scopes = (struct gt_xla_scopes){0};
}

/* ---- scopes of fused operations ---- */

/* The names of all operations, sorted. */
struct operations {
    struct gt_str *names;
    size_t count;
};

static int by_text(const void *a, const void *b) {
    return gt_str_cmp(*(const struct gt_str *)a, *(const struct gt_str *)b);
}

/* Whether a name comes before all that begin with "SCOPE/". */
static bool is_before(struct gt_str name, struct gt_str scope) {
    size_t shared = name.len < scope.len ? name.len : scope.len;
    int order = shared ? memcmp(name.ptr, scope.ptr, shared) : 0;
    return order < 0 || (order == 0 && (name.len <= scope.len || (unsigned char)name.ptr[scope.len] < '/'));
}

/* Whether another operation lies inside: then the name of this one, of several that were fused, is their scope. */
static bool has_inside(const struct operations *all, struct gt_str scope) {
    size_t low = 0, high = all->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (is_before(all->names[middle], scope))
            low = middle + 1;
        else
            high = middle;
    }
    return low < all->count && gt_str_starts(all->names[low], scope) && all->names[low].len > scope.len &&
           all->names[low].ptr[scope.len] == '/';
}

static bool find_scopes_of(struct gt_xla_scopes *scopes, const struct operations *all) {
    if (scopes->count == 0 || !scopes->texts.strings)
        return true;
    struct gt_str *found = gt_mem_array(scopes->texts.count, sizeof *found); /* by text */
    if (!found)
        return false;
    for (size_t i = 0; i < scopes->texts.count; i++) {
        struct gt_str name = gt_strtab_get(&scopes->texts, (gt_strid)i);
        found[i] = name.len && has_inside(all, name) ? name : gt_xla_scopes_of(name);
    }
    for (size_t i = 0; i < scopes->count; i++)
        scopes->ops[i].scope = found[scopes->ops[i].text];
    gt_mem_free(found);
    return true;
}

static bool find_scopes(struct gt_xla_scopes *const *scopes, size_t count) {
    struct operations all = {0};
    for (size_t i = 0; i < count; i++)
        all.count += scopes[i]->texts.count;
    if (all.count == 0)
        return true;
    all.names = gt_mem_array(all.count, sizeof *all.names);
    if (!all.names)
        return false;
    size_t filled = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t t = 0; t < scopes[i]->texts.count; t++)
            all.names[filled++] = gt_strtab_get(&scopes[i]->texts, (gt_strid)t);
    qsort(all.names, filled, sizeof *all.names, by_text);
    bool is_done = true;
    for (size_t i = 0; is_done && i < count; i++)
        is_done = find_scopes_of(scopes[i], &all);
    gt_mem_free(all.names);
    return is_done;
}

/* ---- joining ---- */

/* Calls of a piece. */
struct calls {
    uint64_t order;
    const struct gt_store *store;
    size_t begin, end;
};

struct joining {
    const struct gt_xla_scope_op **ops; /* in the order of the file */
    size_t op_count;
    struct calls *calls; /* the same */
    size_t calls_count;
    struct gt_map op_of; /* by correlation: the op of a scope that it launched */
    uint8_t *has_call;   /* by op */
    struct gt_builder *builder;
    uint32_t process;
};

/* Ops of one piece lie in one array, in its order. */
static int ops_by_order(const void *a, const void *b) {
    const struct gt_xla_scope_op *x = *(const struct gt_xla_scope_op *const *)a;
    const struct gt_xla_scope_op *y = *(const struct gt_xla_scope_op *const *)b;
    if (x->order != y->order)
        return x->order < y->order ? -1 : 1;
    return (x > y) - (x < y);
}

static int calls_by_order(const void *a, const void *b) {
    const struct calls *x = a, *y = b;
    if (x->order != y->order)
        return x->order < y->order ? -1 : 1;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

static bool collect_ops(struct joining *joining, struct gt_xla_scopes *const *scopes, size_t count) {
    joining->ops = gt_mem_array(joining->op_count, sizeof *joining->ops);
    joining->has_call = gt_mem_array(joining->op_count, 1);
    if (!joining->ops || !joining->has_call)
        return false;
    size_t filled = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t o = 0; o < scopes[i]->count; o++)
            joining->ops[filled++] = &scopes[i]->ops[o];
    qsort(joining->ops, filled, sizeof *joining->ops, ops_by_order);
    for (size_t i = 0; i < filled; i++)
        if (joining->ops[i]->scope.len && joining->ops[i]->correlation != GT_NO_CORRELATION)
            gt_map_put_if_new(&joining->op_of, 0, joining->ops[i]->correlation, (uint32_t)i);
    return !joining->op_of.failed;
}

static bool collect_calls(struct joining *joining, struct gt_builder *const *builders, size_t count) {
    for (size_t i = 0; i < count; i++) {
        gt_builder_end(builders[i]);
        joining->calls_count += builders[i]->segment_count;
    }
    joining->calls = gt_mem_array(joining->calls_count, sizeof *joining->calls);
    if (!joining->calls)
        return false;
    size_t filled = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t s = 0; s < builders[i]->segment_count; s++) {
            const struct gt_segment *segment = &builders[i]->segments[s];
            joining->calls[filled++] = (struct calls){segment->order, &builders[i]->store,
                                                      segment->begin[GT_TABLE_calls], segment->end[GT_TABLE_calls]};
        }
    qsort(joining->calls, filled, sizeof *joining->calls, calls_by_order);
    return true;
}

static void add_range(const struct joining *joining, struct gt_ranges_row range, struct gt_str scope) {
    range.name = gt_builder_string(joining->builder, scope);
    range.end_thread = GT_NO_TRACK;
    gt_builder_range(joining->builder, &range);
}

static void add_around_call(const struct joining *joining, const struct gt_store *store, size_t call,
                            struct gt_str scope) {
    uint32_t thread = store->calls.thread[call];
    if (thread >= store->threads.count)
        return; /* memory ran out */
    uint32_t own = gt_builder_thread(joining->builder, joining->process, store->threads.tid[thread], GT_STR(""));
    gt_builder_name_thread(joining->builder, own, gt_store_string(store, store->threads.name[thread]));
    add_range(joining,
              (struct gt_ranges_row){.start_ns = store->calls.start_ns[call],
                                     .end_ns = store->calls.end_ns[call],
                                     .thread = own,
                                     .lane = GT_NO_TRACK,
                                     .kind = GT_RANGE_NESTED},
              scope);
}

static void join_calls(struct joining *joining) {
    for (size_t i = 0; i < joining->calls_count; i++)
        for (size_t call = joining->calls[i].begin; call < joining->calls[i].end; call++) {
            const struct gt_store *store = joining->calls[i].store;
            uint32_t op = gt_map_get(&joining->op_of, 0, store->calls.correlation[call]);
            if (op == GT_MAP_NONE)
                continue;
            joining->has_call[op] = 1;
            add_around_call(joining, store, call, joining->ops[op]->scope);
        }
}

static bool has_call(const struct joining *joining, const struct gt_xla_scope_op *op) {
    uint32_t first =
        op->correlation == GT_NO_CORRELATION ? GT_MAP_NONE : gt_map_get(&joining->op_of, 0, op->correlation);
    return first != GT_MAP_NONE && joining->has_call[first];
}

static void add_on_gpu(const struct joining *joining, const struct gt_xla_scope_op *run) {
    if (run->scope.len)
        add_range(joining,
                  (struct gt_ranges_row){
                      .start_ns = run->start_ns,
                      .end_ns = run->end_ns,
                      .thread = GT_NO_TRACK,
                      .lane = gt_builder_lane(joining->builder, joining->process, run->device, run->stream),
                      .kind = GT_RANGE_GPU},
                  run->scope);
}

/* A line is read in pieces: what ends with one and begins with the next is one run. */
static void join_ops(const struct joining *joining) {
    struct gt_xla_scope_op run = {.scope = GT_STR("")};
    for (size_t i = 0; i < joining->op_count; i++) {
        struct gt_xla_scope_op op = *joining->ops[i];
        if (has_call(joining, &op))
            op.scope.len = 0;
        if (op.device == run.device && op.stream == run.stream && gt_str_eq(op.scope, run.scope)) {
            run.start_ns = op.start_ns < run.start_ns ? op.start_ns : run.start_ns;
            run.end_ns = op.end_ns > run.end_ns ? op.end_ns : run.end_ns;
            continue;
        }
        add_on_gpu(joining, &run);
        run = op;
    }
    add_on_gpu(joining, &run);
}

bool gt_xla_scopes_join(struct gt_xla_scopes *const *scopes, struct gt_builder *const *builders, size_t count,
                        uint32_t process) {
    struct joining joining = {.builder = builders[0], .process = process};
    bool is_done = true, has_scopes = false;
    for (size_t i = 0; i < count; i++) {
        joining.op_count += scopes[i]->count;
        has_scopes |= gt_xla_scopes_has_any(scopes[i]);
        is_done = is_done && !scopes[i]->failed;
    }
    if (!is_done || !has_scopes)
        return is_done;
    is_done =
        find_scopes(scopes, count) && collect_ops(&joining, scopes, count) && collect_calls(&joining, builders, count);
    if (is_done) {
        join_calls(&joining);
        join_ops(&joining);
    }
    gt_map_release(&joining.op_of);
    gt_mem_free(joining.has_call);
    gt_mem_free(joining.calls);
    gt_mem_free(joining.ops);
    return is_done;
}
