/* Parsing of changes: each line sets factors or switches of the simulation. */
#include "measure/results/path_change.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/glob.h"
#include "base/mem.h"
#include "base/num.h"

enum { FACTOR_MOST = 1000 };

/* Those there are, or new ones that change nothing. NULL: memory was short. */
static uint32_t *new_factors(uint32_t **factors, size_t count, uint32_t none) {
    uint32_t *all = *factors ? *factors : gt_mem_uninitialised(count + 1, sizeof *all);
    for (size_t i = 0; i < count && all && !*factors; i++)
        all[i] = none;
    return *factors = all;
}

static enum gt_status parse_number(struct gt_str text, double most, double *number, struct gt_error *err) {
    if (!gt_num_parse_real(text, number) || !(*number >= 0 && *number <= most))
        return gt_fail_usage(err, "'%.*s' is not a factor from 0 to %g", (int)(text.len > 80 ? 80 : text.len), text.ptr,
                             most);
    return GT_OK;
}

/* NAME=F: the last '=' counts, since names may have some. */
static enum gt_status split(struct gt_str text, struct gt_str *name, uint32_t *ppm, struct gt_error *err) {
    const char *sign = memrchr(text.ptr, '=', text.len);
    double factor = 0;
    if (!sign || sign == text.ptr)
        return gt_fail_usage(err, "'%.*s' is not NAME=FACTOR; use for example 'flash*=0.5'",
                             (int)(text.len > 200 ? 200 : text.len), text.ptr);
    *name = (struct gt_str){text.ptr, (size_t)(sign - text.ptr)};
    enum gt_status status =
        parse_number((struct gt_str){sign + 1, text.len - name->len - 1}, FACTOR_MOST, &factor, err);
    *ppm = (uint32_t)llround(factor * GT_DAG_WHOLE);
    return status;
}

static enum gt_status scale_names(struct gt_path_change *change, const struct gt_view *view, struct gt_str text,
                                  struct gt_error *err) {
    const struct gt_store *store = view->store;
    struct gt_str glob;
    uint32_t ppm = 0;
    enum gt_status status = split(text, &glob, &ppm, err);
    if (status != GT_OK)
        return status;
    uint32_t *factors = new_factors(&change->name_ppm, store->strings.count, GT_DAG_NONE);
    uint8_t *answers = gt_mem_array(store->strings.count + 1, 1); /* 0: not asked yet, 1: no, 2: yes */
    bool has_match = false;
    for (size_t op = 0; op < store->ops.count && factors && answers; op++) {
        gt_strid name = store->ops.name[op];
        if (!answers[name])
            answers[name] = gt_glob_matches(glob, gt_store_string(store, name)) ||
                                    gt_glob_matches(glob, gt_labels_short_name(view->labels, name))
                                ? 2
                                : 1;
        if (answers[name] == 2)
            factors[name] = ppm;
        has_match |= answers[name] == 2;
    }
    bool ok = factors && answers;
    gt_mem_free(answers);
    if (!ok)
        return gt_fail_memory(err);
    if (!has_match)
        return gt_fail_usage(err, "no GPU op is named '%.*s'; see 'gputime kernels'",
                             (int)(glob.len > 200 ? 200 : glob.len), glob.ptr);
    return GT_OK;
}

static bool is_class(const struct gt_category *category, struct gt_str key) {
    static const char *const words[] = {
        [GT_CLASS_COMPUTE] = "compute", [GT_CLASS_COMM] = "comm", [GT_CLASS_MEMORY] = "memory"};
    return gt_str_eq(gt_str_of(category->key), key) || gt_str_eq(gt_str_of(words[category->time_class]), key);
}

static enum gt_status scale_class(struct gt_path_change *change, const struct gt_view *view, struct gt_str text,
                                  struct gt_error *err) {
    const struct gt_labels *labels = view->labels;
    struct gt_str key = {0};
    uint32_t ppm = 0;
    enum gt_status status = split(text, &key, &ppm, err);
    if (status != GT_OK)
        return status;
    bool has_match =
        gt_str_eq(key, GT_STR("compute")) || gt_str_eq(key, GT_STR("comm")) || gt_str_eq(key, GT_STR("memory"));
    uint32_t *factors = new_factors(&change->category_ppm, labels->category_count, GT_DAG_WHOLE);
    if (!factors)
        return gt_fail_memory(err);
    for (size_t i = 0; i < labels->category_count; i++)
        if (is_class(&labels->categories[i], key)) {
            factors[i] = ppm;
            has_match = true;
        }
    if (!has_match)
        return gt_fail_usage(err, "no category '%.*s'; see 'gputime list categories'",
                             (int)(key.len > 80 ? 80 : key.len), key.ptr);
    return GT_OK;
}

static enum gt_status speed_up(struct gt_path_change *change, struct gt_str text, struct gt_error *err) {
    double times = 0;
    enum gt_status status = parse_number(text, 1e6, &times, err);
    if (status == GT_OK && times < 0.001)
        return gt_fail_usage(err, "a CPU that is %g times as fast makes no sense", times);
    if (status == GT_OK) {
        change->change.cpu_ppm = (uint32_t)llround(GT_DAG_WHOLE / times);
        change->change.cpu_ppm += change->change.cpu_ppm == 0; /* 0 would mean no change */
    }
    return status;
}

static bool set_switch(struct gt_dag_change *change, struct gt_str text) {
    const struct {
        struct gt_str text;
        bool *is_on;
    } switches[] = {
        {GT_STR("no:launch"), &change->no_launch},
        {GT_STR("no:think"), &change->no_think},
        {GT_STR("no:sync"), &change->no_sync},
        {GT_STR("overlap:comm"), &change->overlap_comm},
    };
    for (size_t i = 0; i < GT_ARRAY_COUNT(switches); i++)
        if (gt_str_eq(text, switches[i].text))
            return *switches[i].is_on = true;
    return false;
}

/* ---- work of threads that takes no time ---- */

static bool add_skip(struct gt_path_change *change, uint32_t thread, int64_t start_ns, int64_t end_ns) {
    if (thread == GT_NO_TRACK || end_ns <= start_ns)
        return true;
    struct gt_dag_skip *room =
        gt_mem_room(change->skips, change->skip_count, &change->skip_capacity, sizeof *change->skips);
    if (!room)
        return false;
    change->skips = room;
    change->skips[change->skip_count++] = (struct gt_dag_skip){thread, start_ns, end_ns};
    return true;
}

/* Whether names match a glob, each asked once. */
struct matching {
    const struct gt_view *view;
    struct gt_str glob;
    uint8_t *answers; /* by name; 0: not asked yet, 1: no, 2: yes */
    bool has_match, ok;
};

static bool matches(struct matching *it, gt_strid name) {
    struct gt_str text = gt_store_string(it->view->store, name);
    if (!it->answers[name])
        it->answers[name] = gt_glob_matches(it->glob, text) ? 2 : 1;
    it->has_match |= it->answers[name] == 2;
    return it->answers[name] == 2;
}

/* Rows of calls, ranges, operators and Python functions have these columns. */
#define ADD_MATCHES(rows, counts)                                                                                      \
    for (size_t i = 0; i < (rows)->count && it.ok; i++)                                                                \
        if ((counts) && matches(&it, (rows)->name[i]))                                                                 \
            it.ok = add_skip(change, (rows)->thread[i], (rows)->start_ns[i], (rows)->end_ns[i]);

static enum gt_status skip_names(struct gt_path_change *change, const struct gt_view *view, struct gt_str glob,
                                 struct gt_error *err) {
    const struct gt_store *store = view->store;
    struct matching it = {.view = view, .glob = glob, .answers = gt_mem_array(store->strings.count + 1, 1)};
    it.ok = it.answers;
    ADD_MATCHES(&store->calls, true)
    ADD_MATCHES(&store->ranges, gt_store_range_is_of_thread(&store->ranges, i))
    ADD_MATCHES(&store->cpu_ops, true)
    ADD_MATCHES(&store->python_calls, true)
    gt_mem_free(it.answers);
    if (!it.ok)
        return gt_fail_memory(err);
    if (!it.has_match)
        return gt_fail_usage(err,
                             "no call, operator or nested range is named '%.*s'; see 'gputime path --table path_host'",
                             (int)(glob.len > 200 ? 200 : glob.len), glob.ptr);
    return GT_OK;
}
#undef ADD_MATCHES

static int by_thread_and_start(const void *a, const void *b) {
    const struct gt_dag_skip *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

/* Events are nested in each other: of those that overlap one remains. */
static void join_skips(struct gt_path_change *change) {
    size_t kept = 0;
    if (change->skip_count)
        qsort(change->skips, change->skip_count, sizeof *change->skips, by_thread_and_start);
    for (size_t i = 0; i < change->skip_count; i++) {
        const struct gt_dag_skip skip = change->skips[i];
        struct gt_dag_skip *last = kept ? &change->skips[kept - 1] : NULL;
        if (!last || last->thread != skip.thread || last->end_ns < skip.start_ns)
            change->skips[kept++] = skip;
        else if (last->end_ns < skip.end_ns)
            last->end_ns = skip.end_ns;
    }
    change->skip_count = kept;
}

/* ---- parsing ---- */

static enum gt_status add_line(struct gt_path_change *change, const struct gt_view *view, struct gt_str line,
                               struct gt_error *err) {
    if (gt_str_take_start(&line, GT_STR("scale:")))
        return scale_names(change, view, line, err);
    if (gt_str_take_start(&line, GT_STR("class:")))
        return scale_class(change, view, line, err);
    if (gt_str_take_start(&line, GT_STR("cpu=")))
        return speed_up(change, line, err);
    if (gt_str_take_start(&line, GT_STR("without:")))
        return skip_names(change, view, line, err);
    if (set_switch(&change->change, line))
        return GT_OK;
    int shown = (int)(line.len > 200 ? 200 : line.len);
    if (gt_str_starts(line, GT_STR("no:")))
        return gt_fail_usage(err, "'%.*s' is nothing to leave out; --no takes launch, think or sync", shown - 3,
                             line.ptr + 3);
    if (gt_str_starts(line, GT_STR("overlap:")))
        return gt_fail_usage(err, "'%.*s' is nothing to overlap; --overlap takes comm", shown - 8, line.ptr + 8);
    return gt_fail_usage(err,
                         "unknown change '%.*s'; use scale:GLOB=F, class:KEY=F, cpu=N, no:launch, no:think, no:sync, "
                         "overlap:comm or without:GLOB",
                         shown, line.ptr);
}

bool gt_path_change_has_ops(const struct gt_view *view, struct gt_str line) {
    struct gt_str key = GT_STR("comm");
    if (gt_str_take_start(&line, GT_STR("class:"))) {
        const char *sign = memrchr(line.ptr, '=', line.len);
        key = (struct gt_str){line.ptr, sign ? (size_t)(sign - line.ptr) : line.len};
    } else if (!gt_str_eq(line, GT_STR("overlap:comm"))) {
        return true;
    }
    for (size_t op = 0; op < view->store->ops.count; op++)
        if (is_class(&view->labels->categories[view->labels->op_category[op]], key))
            return true;
    return false;
}

static void settle(struct gt_path_change *change) {
    change->change.name_ppm = change->name_ppm;
    change->change.category_ppm = change->category_ppm;
    join_skips(change);
    change->change.skips = change->skips;
    change->change.skip_count = change->skip_count;
}

enum gt_status gt_path_change_init(struct gt_path_change *change, const struct gt_view *view, struct gt_str text,
                                   struct gt_error *err) {
    enum gt_status status = GT_OK;
    while (text.len && status == GT_OK) {
        const char *end = memchr(text.ptr, '\n', text.len);
        struct gt_str line = {text.ptr, end ? (size_t)(end - text.ptr) : text.len};
        size_t taken = line.len + (end != NULL);
        text.ptr += taken;
        text.len -= taken;
        if (line.len)
            status = add_line(change, view, line, err);
    }
    settle(change);
    return status;
}

bool gt_path_change_init_name(struct gt_path_change *change, const struct gt_view *view, gt_strid name, uint32_t ppm) {
    const struct gt_store *store = view->store;
    uint32_t *factors = new_factors(&change->name_ppm, store->strings.count, GT_DAG_NONE);
    for (size_t op = 0; op < store->ops.count && factors; op++)
        if (gt_view_name_id(view, store->ops.name[op]) == name)
            factors[store->ops.name[op]] = ppm;
    settle(change);
    return factors;
}

void gt_path_change_release(struct gt_path_change *change) {
    gt_mem_free(change->name_ppm);
    gt_mem_free(change->category_ppm);
    gt_mem_free(change->skips);
    *change = (struct gt_path_change){0};
}
