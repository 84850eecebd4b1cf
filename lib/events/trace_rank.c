/* Ranks of traces: what decoders found and the name of the file come in, one rank for each process goes out. */
#include "events/trace_rank.h"

#include "base/mem.h"
#include "base/num.h"

/* ---- names of files ---- */

enum { BETWEEN_MAX = 2 };

static size_t count_digits(struct gt_str text, size_t at) {
    size_t count = 0;
    while (at + count < text.len && text.ptr[at + count] >= '0' && text.ptr[at + count] <= '9')
        count++;
    return count;
}

/* The digits that follow the place soon enough; none if there are none. */
static struct gt_str digits_after(struct gt_str text, size_t place) {
    for (size_t between = 0; between <= BETWEEN_MAX; between++) {
        size_t digits = count_digits(text, place + between);
        if (digits)
            return (struct gt_str){text.ptr + place + between, digits};
    }
    return (struct gt_str){"", 0};
}

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (unsigned char)c >= 0x80;
}

/* The digits after "rank"; none: the name has none. A longer word that ends in it is not meant: "pagerank2". */
static struct gt_str digits_of_name(struct gt_str whole, int64_t *number) {
    const struct gt_str word = GT_STR("rank");
    struct gt_str name = whole;
    for (const char *found; (found = gt_str_find_nocase(name, word)) != NULL;) {
        size_t after = (size_t)(found - name.ptr) + word.len;
        bool is_word = found == whole.ptr || !is_letter(found[-1]);
        struct gt_str digits = is_word ? digits_after(name, after) : (struct gt_str){"", 0};
        if (digits.len && gt_num_parse_int(digits, number))
            return digits;
        name = (struct gt_str){name.ptr + after, name.len - after};
    }
    return (struct gt_str){"", 0};
}

int64_t gt_trace_rank_of_name(const char *path) {
    int64_t number;
    return digits_of_name(gt_str_path_tail(gt_str_of(path), 1), &number).len ? number : -1;
}

/* The last digits of a name that are this number. */
static struct gt_str digits_of_number(struct gt_str name, int64_t number) {
    struct gt_str found = {"", 0};
    for (size_t i = 0, digits; i < name.len; i += digits ? digits : 1) {
        int64_t value;
        digits = count_digits(name, i);
        struct gt_str text = {name.ptr + i, digits};
        found = digits && gt_num_parse_int(text, &value) && value == number ? text : found;
    }
    return found;
}

struct gt_str gt_trace_rank_pattern(const char *path, int64_t rank, struct gt_arena *arena) {
    struct gt_str whole = gt_str_of(path), name = gt_str_path_tail(whole, 1);
    int64_t number = -1;
    struct gt_str digits = digits_of_name(name, &number);
    if (!digits.len || number != rank)
        digits = digits_of_number(name, rank);
    if (!digits.len || rank < 0)
        return gt_arena_copy(arena, whole);
    size_t before = (size_t)(digits.ptr - whole.ptr), after = before + digits.len;
    return gt_arena_printf(arena, "%.*s*%.*s", (int)before, whole.ptr, (int)(whole.len - after), whole.ptr + after);
}

/* ---- processes ---- */

static bool has_unknown_process(const struct gt_store *store) {
    for (size_t lane = 0; lane < store->lanes.count; lane++)
        if (store->lanes.process[lane] == GT_NO_TRACK)
            return true;
    return false;
}

bool *gt_trace_rank_workers(const struct gt_store *store, const struct gt_labels *labels, size_t *count) {
    bool *works = gt_mem_array(store->processes.count, sizeof *works);
    *count = 0;
    if (!works)
        return NULL;
    for (size_t lane = 0; lane < store->lanes.count; lane++)
        if (store->lanes.process[lane] != GT_NO_TRACK)
            works[store->lanes.process[lane]] = true;
    bool needs_calls = labels && has_unknown_process(store);
    for (uint32_t op = 0; needs_calls && op < store->ops.count; op++) {
        uint32_t process = gt_labels_op_process(labels, store, op);
        if (process != GT_NO_TRACK)
            works[process] = true;
    }
    for (size_t process = 0; process < store->processes.count; process++)
        *count += works[process];
    return works;
}

static int64_t world_size_of(const struct gt_store *store) {
    int64_t largest = store->meta.world_size > 0 ? store->meta.world_size : -1;
    for (size_t process = 0; process < store->processes.count; process++)
        if (store->processes.world_size[process] > largest && store->processes.world_size[process] > 0)
            largest = store->processes.world_size[process];
    return largest;
}

struct gt_trace_rank gt_trace_rank_of_process(const struct gt_store *store, uint32_t process, bool is_only,
                                              const char *path) {
    struct gt_trace_rank found = {.rank = store->meta.rank, .world_size = world_size_of(store)};
    int64_t recorded = process == GT_NO_TRACK ? -1 : store->processes.rank[process];
    enum gt_rank_source source =
        recorded < 0 ? GT_RANK_UNKNOWN : (enum gt_rank_source)store->processes.rank_source[process];
    found.source = GT_RANK_OF_TRACE;
    if (found.rank < 0) {
        bool counts = source != GT_RANK_UNKNOWN && (!gt_store_is_environment(source) || is_only);
        found.rank = counts ? recorded : -1;
        found.source = source;
    }
    if (found.rank < 0 && is_only) {
        found.rank = gt_trace_rank_of_name(path);
        found.source = GT_RANK_OF_FILE_NAME;
    }
    if (found.rank < 0) {
        found.rank = -1;
        found.source = GT_RANK_UNKNOWN;
    }
    return found;
}

/* ---- the trace as a whole ---- */

/* Whether there is anything to know beyond what the trace says about itself: most traces are of no job. */
static bool may_have_rank(const struct gt_store *store, const char *path) {
    bool may = gt_trace_rank_of_name(path) >= 0;
    for (size_t process = 0; process < store->processes.count && !may; process++)
        may = store->processes.rank[process] >= 0;
    return may;
}

enum gt_status gt_trace_rank_find(const struct gt_store *store, const char *path, struct gt_trace_rank *out,
                                  struct gt_error *err) {
    *out = gt_trace_rank_of_process(store, GT_NO_TRACK, false, path);
    if (out->rank >= 0 || !may_have_rank(store, path))
        return GT_OK;
    size_t count;
    bool *works = gt_trace_rank_workers(store, NULL, &count), is_first = true;
    if (!works)
        return gt_fail_memory(err);
    if (count == 0)
        *out = gt_trace_rank_of_process(store, GT_NO_TRACK, true, path);
    for (uint32_t process = 0; process < store->processes.count; process++) {
        if (!works[process])
            continue;
        /* Communicators are read only with collectives: what a trace says about itself must not depend on that. */
        bool is_of_nccl = store->processes.rank_source[process] == GT_RANK_OF_NCCL;
        struct gt_trace_rank one =
            gt_trace_rank_of_process(store, is_of_nccl ? GT_NO_TRACK : process, count == 1, path);
        if (is_first)
            *out = one;
        else if (one.rank != out->rank)
            *out = (struct gt_trace_rank){.rank = -1, .world_size = out->world_size};
        is_first = false;
    }
    gt_mem_free(works);
    return GT_OK;
}

const char *gt_trace_rank_source_key(enum gt_rank_source source) {
    static const char *const keys[] = {
        [GT_RANK_OF_TRACE] = "trace",
        [GT_RANK_OF_MPI] = "mpi",
        [GT_RANK_OF_ENVIRONMENT] = "environment",
        [GT_RANK_OF_SLURM] = "environment",
        [GT_RANK_OF_OPEN_MPI] = "environment",
        [GT_RANK_OF_PMI] = "environment",
        [GT_RANK_OF_NCCL] = "nccl",
        [GT_RANK_OF_FILE_NAME] = "file_name",
    };
    return keys[source];
}
