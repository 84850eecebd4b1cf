/* Makes ranges of the scopes of ops. A line is read in pieces, by any thread: what ends with one piece and begins with
   the next is one run. */
#include "decode/xla/xla_scopes.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct gt_str gt_xla_scopes_of(struct gt_str operation) {
    const char *slash = operation.len ? memrchr(operation.ptr, '/', operation.len) : NULL;
    return (struct gt_str){operation.ptr, slash ? (size_t)(slash - operation.ptr) : 0};
}

static struct gt_str keep(struct gt_xla_scopes *scopes, struct gt_str text) {
    if (text.len == 0)
        return (struct gt_str){"", 0};
    if (!scopes->texts.strings && !gt_strtab_init(&scopes->texts)) {
        scopes->failed = true;
        return (struct gt_str){"", 0};
    }
    gt_strid id = gt_strtab_intern(&scopes->texts, text);
    scopes->failed |= scopes->texts.failed;
    return gt_strtab_get(&scopes->texts, id);
}

static void extend(struct gt_xla_scope_run *run, int64_t start_ns, int64_t end_ns) {
    run->start_ns = start_ns < run->start_ns ? start_ns : run->start_ns;
    run->end_ns = end_ns > run->end_ns ? end_ns : run->end_ns;
}

static bool is_on(const struct gt_xla_scope_run *run, const struct gt_xla_line *line) {
    return run->device == line->device && run->stream == line->number;
}

void gt_xla_scopes_add(struct gt_xla_scopes *scopes, uint64_t order, const struct gt_xla_line *line,
                       struct gt_str operation, int64_t start_ns, int64_t end_ns) {
    struct gt_str scope = gt_xla_scopes_of(operation);
    struct gt_xla_scope_run *last = scopes->count ? &scopes->runs[scopes->count - 1] : NULL;
    if (last && last->order == order && is_on(last, line) && gt_str_eq(last->scope, scope)) {
        extend(last, start_ns, end_ns);
        return;
    }
    if (!last && scope.len == 0)
        return; /* most files have no scopes */
    struct gt_xla_scope_run *grown = gt_mem_room(scopes->runs, scopes->count, &scopes->capacity, sizeof *grown);
    if (!grown) {
        scopes->failed = true;
        return;
    }
    scopes->runs = grown;
    scopes->runs[scopes->count++] =
        (struct gt_xla_scope_run){order, line->device, line->number, start_ns, end_ns, keep(scopes, scope)};
}

void gt_xla_scopes_release(struct gt_xla_scopes *scopes) {
    if (scopes->texts.strings)
        gt_strtab_release(&scopes->texts);
    gt_mem_free(scopes->runs);
    *scopes = (struct gt_xla_scopes){0};
}

/* Runs of one piece lie in one array, in its order. */
static int by_order(const void *a, const void *b) {
    const struct gt_xla_scope_run *x = *(const struct gt_xla_scope_run *const *)a;
    const struct gt_xla_scope_run *y = *(const struct gt_xla_scope_run *const *)b;
    if (x->order != y->order)
        return x->order < y->order ? -1 : 1;
    return (x > y) - (x < y);
}

static void add_range(struct gt_builder *builder, uint32_t process, const struct gt_xla_scope_run *run) {
    if (run->scope.len == 0)
        return;
    gt_builder_range(builder, &(struct gt_ranges_row){
                                  .start_ns = run->start_ns,
                                  .end_ns = run->end_ns,
                                  .name = gt_builder_string(builder, run->scope),
                                  .thread = GT_NO_TRACK,
                                  .end_thread = GT_NO_TRACK,
                                  .lane = gt_builder_lane(builder, process, run->device, run->stream),
                                  .kind = GT_RANGE_GPU,
                              });
}

static bool continues(const struct gt_xla_scope_run *run, const struct gt_xla_scope_run *next) {
    return run->device == next->device && run->stream == next->stream && gt_str_eq(run->scope, next->scope);
}

bool gt_xla_scopes_join(struct gt_xla_scopes *const *scopes, size_t count, struct gt_builder *builder,
                        uint32_t process) {
    size_t total = 0, filled = 0;
    bool failed = false;
    for (size_t i = 0; i < count; i++) {
        total += scopes[i]->count;
        failed |= scopes[i]->failed;
    }
    if (failed || total == 0)
        return !failed;
    const struct gt_xla_scope_run **runs = gt_mem_array(total, sizeof *runs);
    if (!runs)
        return false;
    for (size_t i = 0; i < count; i++)
        for (size_t r = 0; r < scopes[i]->count; r++)
            runs[filled++] = &scopes[i]->runs[r];
    qsort(runs, total, sizeof *runs, by_order);
    struct gt_xla_scope_run run = *runs[0];
    for (size_t i = 1; i < total; i++) {
        if (continues(&run, runs[i])) {
            extend(&run, runs[i]->start_ns, runs[i]->end_ns);
            continue;
        }
        add_range(builder, process, &run);
        run = *runs[i];
    }
    add_range(builder, process, &run);
    gt_mem_free(runs);
    return true;
}
