/* Collectives of ops: in come records about collectives and the launch calls of kernels, out goes labels->comms. A
   record is on the kernel itself and on the CPU operator around its launch (Kineto), or on the range that NCCL puts
   around each of its calls (Nsight). */
#include "base/map.h"
#include "base/mem.h"
#include "base/threads.h"
#include "events/comms.h"
#include "label/comm_externals.h"
#include "label/comm_groups.h"
#include "label/enclose.h"
#include "label/label.h"
#include "label/nccl_calls.h"

#define NO_COLLECTIVE UINT8_MAX /* instead of an operation */

struct joiner {
    const struct gt_store *store;
    struct gt_labels *labels;
    struct gt_collective *found; /* in the order of their launches */
    uint8_t *found_ops;          /* the operation of each: enum gt_comm_op or NO_COLLECTIVE */
    size_t found_count, threads;
    uint32_t launch_count;
    uint64_t *externals;       /* by record: gt_comm_externals_new() */
    uint32_t *op_launch;       /* labels->comms.op_launch, in numbers of this joiner until all is found */
    struct gt_map by_external; /* (process, id) -> index into found */
    struct gt_nccl_call *calls;
    size_t call_count;
    uint32_t *op_call; /* by op row, where kernels are looked for: index into calls whose range is around its launch */
};

static uint32_t add_collective(struct joiner *joiner, uint32_t record, uint32_t launch) {
    joiner->found[joiner->found_count] =
        (struct gt_collective){.record = record, .more = GT_NO_ROW, .launch = launch, .group = GT_NO_ROW};
    return (uint32_t)joiner->found_count++;
}

/* ---- records of kernels and CPU operators ---- */

static uint32_t process_of_thread(const struct gt_store *store, uint32_t thread) {
    return thread == GT_NO_TRACK ? GT_NO_TRACK : store->threads.process[thread];
}

/* All kernels of one collective carry a record with the same id. */
static void take_kernel_record(struct joiner *joiner, uint32_t record, uint32_t process) {
    const struct gt_comms *comms = &joiner->store->comms;
    uint32_t op = comms->op[record], index = GT_MAP_NONE;
    uint64_t external = joiner->externals[record];
    if (joiner->op_launch[op] != GT_NO_ROW)
        return;
    if (external != UINT64_MAX)
        index = gt_map_get(&joiner->by_external, process, external);
    if (index == GT_MAP_NONE) {
        index = add_collective(joiner, record, joiner->launch_count++);
        if (external != UINT64_MAX)
            gt_map_put(&joiner->by_external, process, external, index);
    }
    joiner->op_launch[op] = joiner->found[index].launch;
}

/* The process of a kernel may be unknown; its ids are then good as long as only one process has any. */
static uint32_t find_kernel(const struct joiner *joiner, uint32_t process, uint64_t external, bool is_only_process) {
    uint32_t index = gt_map_get(&joiner->by_external, process, external);
    if (index == GT_MAP_NONE && is_only_process)
        index = gt_map_get(&joiner->by_external, GT_NO_TRACK, external);
    return index;
}

static void take_operator_record(struct joiner *joiner, uint32_t record, bool is_only_process) {
    const struct gt_store *store = joiner->store;
    uint64_t external = store->comms.external[record];
    uint32_t process = process_of_thread(store, store->cpu_ops.thread[store->comms.cpu_op[record]]);
    uint32_t index = external == UINT64_MAX ? GT_MAP_NONE : find_kernel(joiner, process, external, is_only_process);
    if (index == GT_MAP_NONE)
        add_collective(joiner, record, joiner->launch_count++);
    else if (joiner->found[index].more == GT_NO_ROW)
        joiner->found[index].more = record;
}

/* The processes of the kernels of records: distant places, which several threads wait for at the same time. */
struct processes {
    const struct joiner *joiner;
    uint32_t *of; /* by record */
};

static void find_processes(void *context, size_t slice, size_t begin, size_t end) {
    const struct processes *it = context;
    const struct gt_store *store = it->joiner->store;
    (void)slice;
    for (size_t record = begin; record < end; record++) {
        uint32_t op = store->comms.op[record];
        it->of[record] = op == GT_NO_ROW ? GT_NO_TRACK : gt_labels_op_process(it->joiner->labels, store, op);
    }
}

/* false: memory was short. */
static bool take_kernel_records(struct joiner *joiner) {
    enum { ROWS = 8 }; /* of a pass over a column that take as long as one record */
    const struct gt_comms *comms = &joiner->store->comms;
    struct processes processes = {joiner, gt_mem_uninitialised(comms->count, sizeof *processes.of)};
    if (!processes.of)
        return false;
    gt_threads_rows(gt_threads_slices(joiner->threads, ROWS * comms->count, 0), comms->count, find_processes,
                    &processes);
    for (uint32_t record = 0; record < comms->count; record++)
        if (comms->op[record] != GT_NO_ROW)
            take_kernel_record(joiner, record, processes.of[record]);
    gt_mem_free(processes.of);
    return true;
}

static bool take_kineto_records(struct joiner *joiner) {
    const struct gt_store *store = joiner->store;
    const struct gt_comms *comms = &store->comms;
    uint32_t process = GT_NO_TRACK;
    bool is_first = true, is_only = true;
    for (uint32_t record = 0; record < comms->count; record++) {
        if (comms->cpu_op[record] == GT_NO_ROW)
            continue;
        uint32_t other = process_of_thread(store, store->cpu_ops.thread[comms->cpu_op[record]]);
        is_only &= is_first || other == process;
        process = other;
        is_first = false;
    }
    joiner->externals = gt_comm_externals_new(store, joiner->labels, is_only ? process : GT_NO_TRACK);
    if (!joiner->externals || !take_kernel_records(joiner))
        return false;
    for (uint32_t record = 0; record < comms->count; record++)
        if (comms->cpu_op[record] != GT_NO_ROW)
            take_operator_record(joiner, record, is_only);
    return true;
}

/* ---- kernels by their launch calls ---- */

static bool may_be_carried(const struct joiner *joiner, uint32_t op) {
    const struct gt_store *store = joiner->store;
    const struct gt_labels *labels = joiner->labels;
    uint32_t call = labels->op_call[op];
    return store->ops.kind[op] == GT_OP_KERNEL && call != GT_NO_ROW && store->calls.thread[call] != GT_NO_TRACK &&
           labels->categories[labels->op_category[op]].time_class == GT_CLASS_COMM &&
           joiner->op_launch[op] == GT_NO_ROW;
}

/* Slices of the ops, which count before they list. */
struct spans {
    const struct joiner *joiner;
    struct gt_enclose_span *items;
    size_t first[GT_THREADS_MOST + 1]; /* by slice */
};

static void count_spans(void *context, size_t slice, size_t begin, size_t end) {
    struct spans *spans = context;
    size_t count = 0;
    for (size_t op = begin; op < end; op++)
        count += may_be_carried(spans->joiner, (uint32_t)op);
    spans->first[slice + 1] = count;
}

static void list_spans(void *context, size_t slice, size_t begin, size_t end) {
    const struct spans *spans = context;
    const struct gt_calls *calls = &spans->joiner->store->calls;
    struct gt_enclose_span *item = spans->items + spans->first[slice];
    for (size_t op = begin; op < end && item < spans->items + spans->first[slice + 1]; op++) {
        uint32_t call = spans->joiner->labels->op_call[op];
        if (may_be_carried(spans->joiner, (uint32_t)op))
            *item++ =
                (struct gt_enclose_span){calls->start_ns[call], calls->end_ns[call], calls->thread[call], (uint32_t)op};
    }
}

/* Launches of kernels without a record of their own; NULL: memory was short. */
static struct gt_enclose_span *new_kernel_spans(const struct joiner *joiner, size_t *count) {
    struct spans spans = {.joiner = joiner};
    size_t ops = joiner->store->ops.count, slices = gt_threads_slices(joiner->threads, ops, 0);
    gt_threads_rows(slices, ops, count_spans, &spans);
    for (size_t i = 0; i < slices; i++)
        spans.first[i + 1] += spans.first[i];
    *count = spans.first[slices];
    spans.items = gt_mem_array(*count, sizeof *spans.items);
    if (spans.items && *count)
        gt_threads_rows(slices, ops, list_spans, &spans);
    return spans.items;
}

static void kernel_in_call(void *context, uint32_t op, uint32_t call) {
    struct joiner *joiner = context;
    joiner->op_call[op] = call;
    joiner->calls[call].has_kernel = true;
}

/* Where kernels are launched says which calls belong together, so that it is found out first. */
static bool find_launches(struct joiner *joiner, struct gt_enclose_span *kernels, size_t kernel_count) {
    const struct gt_ranges *ranges = &joiner->store->ranges;
    size_t op_count = kernel_count ? joiner->store->ops.count : 0, span_count = 0;
    joiner->calls = gt_nccl_calls_new(joiner->store, &joiner->call_count);
    joiner->op_call = gt_mem_uninitialised(op_count, sizeof *joiner->op_call);
    struct gt_enclose_span *spans = gt_mem_array(joiner->call_count, sizeof *spans);
    bool ok = joiner->calls && joiner->op_call && spans;
    if (ok)
        memset(joiner->op_call, 0xFF, op_count * sizeof *joiner->op_call);
    for (uint32_t i = 0; ok && i < joiner->call_count; i++) {
        uint32_t range = joiner->calls[i].range;
        if (joiner->calls[i].kind != GT_NCCL_STARTS_GROUP)
            spans[span_count++] =
                (struct gt_enclose_span){ranges->start_ns[range], ranges->end_ns[range], ranges->thread[range], i};
    }
    ok = ok && gt_enclose(spans, span_count, kernels, kernel_count, kernel_in_call, joiner);
    gt_mem_free(spans);
    return ok;
}

static void take_range_records(struct joiner *joiner) {
    const struct gt_store *store = joiner->store;
    for (uint32_t record = 0; record < store->comms.count; record++) {
        uint32_t range = store->comms.range[record];
        if (range != GT_NO_ROW && !gt_nccl_calls_is_on_thread(store, range))
            add_collective(joiner, record, joiner->launch_count++);
    }
    gt_nccl_calls_number(store, joiner->calls, joiner->call_count, &joiner->launch_count);
    for (size_t i = 0; i < joiner->call_count; i++)
        if (joiner->calls[i].kind == GT_NCCL_COMMUNICATES)
            add_collective(joiner, joiner->calls[i].record, joiner->calls[i].launch);
}

static bool join_ranges(struct joiner *joiner, struct gt_enclose_span *kernels, size_t kernel_count) {
    if (!find_launches(joiner, kernels, kernel_count))
        return false;
    take_range_records(joiner);
    for (size_t i = 0; i < kernel_count; i++) {
        uint32_t op = kernels[i].id, call = joiner->op_call[op];
        if (call != GT_NO_ROW && joiner->op_launch[op] == GT_NO_ROW)
            joiner->op_launch[op] = joiner->calls[call].launch;
    }
    return true;
}

static void kernel_in_operator(void *context, uint32_t op, uint32_t index) {
    struct joiner *joiner = context;
    joiner->op_launch[op] = joiner->found[index].launch;
}

/* Older versions of Kineto write records to CPU operators alone. */
static bool join_operators(struct joiner *joiner, struct gt_enclose_span *kernels, size_t kernel_count) {
    const struct gt_store *store = joiner->store;
    const struct gt_cpu_ops *cpu_ops = &store->cpu_ops;
    size_t span_count = 0;
    struct gt_enclose_span *spans = gt_mem_array(joiner->found_count, sizeof *spans);
    for (uint32_t i = 0; spans && i < joiner->found_count; i++) {
        uint32_t cpu_op = gt_comms_merged(store, &joiner->found[i]).cpu_op;
        if (cpu_op != GT_NO_ROW && cpu_ops->thread[cpu_op] != GT_NO_TRACK && joiner->found_ops[i] != NO_COLLECTIVE)
            spans[span_count++] = (struct gt_enclose_span){cpu_ops->start_ns[cpu_op], cpu_ops->end_ns[cpu_op],
                                                           cpu_ops->thread[cpu_op], i};
    }
    bool ok = spans && gt_enclose(spans, span_count, kernels, kernel_count, kernel_in_operator, joiner);
    gt_mem_free(spans);
    return ok;
}

static void find_op_slice(void *context, size_t slice, size_t begin, size_t end) {
    struct joiner *joiner = context;
    enum gt_comm_op op;
    (void)slice;
    for (size_t i = begin; i < end; i++)
        joiner->found_ops[i] =
            gt_comms_is_collective(joiner->store, &joiner->found[i], &op) ? (uint8_t)op : NO_COLLECTIVE;
}

/* Of all that is found by now. */
static void find_ops(struct joiner *joiner) {
    size_t slices = gt_threads_slices(joiner->threads, joiner->found_count, 0);
    gt_threads_rows(slices, joiner->found_count, find_op_slice, joiner);
}

static bool join_kernels(struct joiner *joiner) {
    size_t kernel_count, of_kineto = joiner->found_count;
    struct gt_enclose_span *kernels = new_kernel_spans(joiner, &kernel_count);
    find_ops(joiner);
    bool ok = kernels && join_operators(joiner, kernels, kernel_count) && join_ranges(joiner, kernels, kernel_count);
    if (joiner->found_count > of_kineto)
        find_ops(joiner);
    gt_mem_free(kernels);
    return ok;
}

/* ---- the result ---- */

/* Keeps what is about collectives; launches are numbered anew by those that have any. */
static void keep_collectives(struct joiner *joiner, uint32_t *number_of) {
    struct gt_comm_labels *comms = &joiner->labels->comms;
    for (size_t i = 0; i < joiner->found_count; i++) {
        struct gt_collective collective = joiner->found[i];
        if (joiner->found_ops[i] == NO_COLLECTIVE)
            continue;
        if (number_of[collective.launch] == GT_NO_ROW) {
            number_of[collective.launch] = (uint32_t)comms->launch_count++;
            comms->launches[number_of[collective.launch]].first = (uint32_t)comms->collective_count;
        }
        collective.launch = number_of[collective.launch];
        collective.op = joiner->found_ops[i];
        comms->launches[collective.launch].count++;
        comms->collectives[comms->collective_count++] = collective;
    }
}

/* Ops of a launch, in slices of all ops, which count before they list. */
struct carried {
    const struct joiner *joiner;
    uint32_t *ops;
    size_t first[GT_THREADS_MOST + 1]; /* by slice */
};

static void count_carried(void *context, size_t slice, size_t begin, size_t end) {
    struct carried *carried = context;
    const uint32_t *op_launch = carried->joiner->op_launch;
    size_t count = 0;
    for (size_t op = begin; op < end; op++)
        count += op_launch[op] != GT_NO_ROW;
    carried->first[slice + 1] = count;
}

static void list_carried(void *context, size_t slice, size_t begin, size_t end) {
    const struct carried *carried = context;
    const uint32_t *op_launch = carried->joiner->op_launch;
    uint32_t *next = carried->ops + carried->first[slice];
    for (size_t op = begin; op < end && next < carried->ops + carried->first[slice + 1]; op++)
        if (op_launch[op] != GT_NO_ROW)
            *next++ = (uint32_t)op;
}

/* The ops that have a launch, to be freed; NULL: memory was short. */
static uint32_t *new_carried(const struct joiner *joiner, size_t *count) {
    struct carried carried = {.joiner = joiner};
    size_t ops = joiner->store->ops.count, slices = gt_threads_slices(joiner->threads, ops, 0);
    gt_threads_rows(slices, ops, count_carried, &carried);
    for (size_t i = 0; i < slices; i++)
        carried.first[i + 1] += carried.first[i];
    *count = carried.first[slices];
    carried.ops = gt_mem_uninitialised(*count, sizeof *carried.ops);
    if (carried.ops && *count)
        gt_threads_rows(slices, ops, list_carried, &carried);
    return carried.ops;
}

/* Numbers the launches of ops anew, and says how many each has. */
static void count_ops(struct joiner *joiner, const uint32_t *number_of, const uint32_t *carried, size_t count) {
    struct gt_comm_labels *comms = &joiner->labels->comms;
    for (size_t i = 0; i < count; i++) {
        uint32_t number = number_of[joiner->op_launch[carried[i]]];
        joiner->op_launch[carried[i]] = number;
        if (number != GT_NO_ROW)
            comms->launches[number].op_count++;
    }
    for (size_t i = 0; i < comms->launch_count; i++) {
        comms->launches[i].first_op = (uint32_t)comms->op_count;
        comms->op_count += comms->launches[i].op_count;
        comms->launches[i].op_count = 0;
    }
}

static void list_ops(struct joiner *joiner, const uint32_t *carried, size_t count) {
    struct gt_comm_labels *comms = &joiner->labels->comms;
    for (size_t i = 0; i < count; i++) {
        if (joiner->op_launch[carried[i]] == GT_NO_ROW)
            continue;
        struct gt_comm_launch *launch = &comms->launches[joiner->op_launch[carried[i]]];
        comms->ops[launch->first_op + launch->op_count++] = carried[i];
    }
}

static bool make_labels(struct joiner *joiner) {
    struct gt_comm_labels *comms = &joiner->labels->comms;
    struct gt_arena *arena = &joiner->labels->arenas[GT_PASS_COMMS];
    comms->collectives = gt_arena_array(arena, joiner->found_count, sizeof *comms->collectives);
    comms->launches = gt_arena_array(arena, joiner->launch_count, sizeof *comms->launches);
    uint32_t *number_of = gt_mem_uninitialised(joiner->launch_count, sizeof *number_of);
    size_t carried_count;
    uint32_t *carried = new_carried(joiner, &carried_count);
    bool ok = number_of && carried && !gt_arena_failed(arena);
    if (ok) {
        memset(number_of, 0xFF, joiner->launch_count * sizeof *number_of);
        keep_collectives(joiner, number_of);
        count_ops(joiner, number_of, carried, carried_count);
        comms->ops = gt_arena_array(arena, comms->op_count, sizeof *comms->ops);
        ok = !gt_arena_failed(arena);
    }
    if (ok)
        list_ops(joiner, carried, carried_count);
    gt_mem_free(carried);
    gt_mem_free(number_of);
    return ok;
}

static void count_ambiguous(struct gt_labels *labels) {
    const struct gt_comm_labels *comms = &labels->comms;
    for (size_t i = 0; i < comms->launch_count; i++) {
        const struct gt_comm_launch *launch = &comms->launches[i];
        bool is_ambiguous = launch->op_count > 1;
        for (uint32_t k = 1; k < launch->count; k++)
            is_ambiguous |= comms->collectives[launch->first + k].group != comms->collectives[launch->first].group;
        labels->issues[GT_ISSUE_COLLECTIVE_AMBIGUOUS_GROUP] += is_ambiguous && launch->count > 1;
    }
}

static bool joiner_init(struct joiner *joiner, const struct gt_store *store, struct gt_labels *labels, size_t threads) {
    *joiner = (struct joiner){.store = store, .labels = labels, .threads = threads};
    joiner->found = gt_mem_array(store->comms.count, sizeof *joiner->found);
    joiner->found_ops = gt_mem_uninitialised(store->comms.count, sizeof *joiner->found_ops);
    joiner->op_launch = labels->comms.op_launch =
        gt_arena_array(&labels->arenas[GT_PASS_COMMS], store->ops.count, sizeof *joiner->op_launch);
    if (joiner->op_launch)
        memset(joiner->op_launch, 0xFF, store->ops.count * sizeof *joiner->op_launch);
    return joiner->found && joiner->found_ops && joiner->op_launch;
}

static enum gt_status join_comms(const struct gt_store *store, struct gt_labels *labels,
                                 struct gt_label_scratch *scratch, struct gt_error *err) {
    struct joiner joiner;
    if (!store->comms.count)
        return GT_OK;
    bool ok = joiner_init(&joiner, store, labels, scratch->threads);
    ok = ok && take_kineto_records(&joiner) && join_kernels(&joiner) && !joiner.by_external.failed &&
         make_labels(&joiner);
    gt_mem_free(joiner.found);
    gt_mem_free(joiner.found_ops);
    gt_mem_free(joiner.externals);
    gt_mem_free(joiner.calls);
    gt_mem_free(joiner.op_call);
    gt_map_release(&joiner.by_external);
    enum gt_status status = ok ? gt_comm_groups_resolve(store, labels, err) : gt_fail_memory(err);
    if (status == GT_OK)
        count_ambiguous(labels);
    return status;
}

const struct gt_label_pass gt_label_pass_comms = {"comms", "collectives of ops", GT_LABEL_SECOND, join_comms};
