/* Sums compute kernels by name and launch configuration. */
#include "ranks/rank_work.h"

#include "base/mem.h"
#include "ranks/rank_join.h"

struct work_key {
    uint32_t name, grid[3], block[3];
};

/* Rows of configurations by row of ops; NULL: memory was short. */
static uint32_t *new_config_index(const struct gt_store *store) {
    const struct gt_kernel_configs *configs = &store->kernel_configs;
    uint32_t *config_of = gt_mem_uninitialised(store->ops.count, sizeof *config_of);
    if (!config_of)
        return NULL;
    memset(config_of, 0xFF, store->ops.count * sizeof *config_of);
    for (uint32_t i = 0; i < configs->count; i++)
        if (configs->op[i] < store->ops.count)
            config_of[configs->op[i]] = i;
    return config_of;
}

static struct work_key key_of(const struct gt_store *store, gt_strid name, uint32_t config) {
    const struct gt_kernel_configs *configs = &store->kernel_configs;
    struct work_key key = {.name = name};
    if (config != GT_NO_ROW) {
        key.grid[0] = configs->grid_x[config];
        key.grid[1] = configs->grid_y[config];
        key.grid[2] = configs->grid_z[config];
        key.block[0] = configs->block_x[config];
        key.block[1] = configs->block_y[config];
        key.block[2] = configs->block_z[config];
    }
    return key;
}

/* Kernels that came lately, where most are found again without hashing all of the key. */
enum { RECENT = 1024 };
struct recent {
    struct work_key key;
    uint32_t place; /* one more than that of the work; 0: none */
};

static struct recent *recent_of(struct recent *recent, const struct work_key *key) {
    uint32_t hash = (key->name * 31 + key->grid[0] * 7 + key->grid[1] + key->block[0]) * 0x9E3779B1u;
    return &recent[hash >> 22];
}

static void count_op(struct gt_rank_work *work, int64_t ns) {
    work->count++;
    work->total_ns = gt_ns_add(work->total_ns, ns);
}

/* The place of the kernel in the summary's work; GT_RANK_NONE: memory was short. */
static uint32_t add_op(const struct gt_view *view, size_t position, uint32_t config, struct gt_strtab *keys,
                       struct recent *recent, struct gt_rank_summary *summary) {
    struct work_key key = key_of(view->store, view->name[position], config);
    struct recent *found = recent_of(recent, &key);
    if (found->place && memcmp(&found->key, &key, sizeof key) == 0) {
        count_op(&summary->work[found->place - 1], gt_view_op_ns(view, position));
        return found->place - 1;
    }
    size_t before = keys->count;
    gt_strid id = gt_strtab_intern(keys, (struct gt_str){(const char *)&key, sizeof key});
    if (keys->failed)
        return GT_RANK_NONE;
    if (keys->count > before) {
        struct gt_rank_text name = gt_rank_summary_put_text(summary, gt_view_op_name(view, position));
        struct gt_rank_work *work = gt_rank_summary_add_work(summary);
        work->name = name;
        memcpy(work->grid, key.grid, sizeof key.grid);
        memcpy(work->block, key.block, sizeof key.block);
    }
    if (id == 0 || id > summary->work_count) /* "" has number 0 */
        return GT_RANK_NONE;
    *found = (struct recent){key, id};
    count_op(&summary->work[id - 1], gt_view_op_ns(view, position));
    return id - 1;
}

/* ---- usual steps ---- */

/* One kernel in the steps of a rank. */
struct in_steps {
    int64_t *count, *ns; /* by step: 0 between kernels */
    uint32_t *touched;   /* steps that have any */
    size_t touched_count, step_count;
    int64_t *scratch;
};

/* The low median of the steps, of which those that are not touched have 0. */
static int64_t median_step(const struct in_steps *it, const int64_t *values) {
    size_t without = it->step_count - it->touched_count, place = (it->step_count - 1) / 2;
    for (size_t i = 0; i < it->touched_count; i++)
        it->scratch[i] = values[it->touched[i]];
    return place < without ? 0 : gt_rank_join_select(it->scratch, it->touched_count, place - without);
}

static void settle(struct in_steps *it, struct gt_rank_work *work) {
    work->usual_count = median_step(it, it->count);
    work->usual_ns = median_step(it, it->ns);
    for (size_t i = 0; i < it->touched_count; i++)
        it->count[it->touched[i]] = it->ns[it->touched[i]] = 0;
    it->touched_count = 0;
}

static void add_to_step(struct in_steps *it, uint32_t step, int64_t ns) {
    if (it->count[step]++ == 0)
        it->touched[it->touched_count++] = step;
    it->ns[step] = gt_ns_add(it->ns[step], ns);
}

/* places: positions in the view by work, as `firsts` says. */
static bool find_usual(const struct gt_view *view, const uint32_t *step_of, const uint32_t *places,
                       const uint32_t *firsts, struct gt_rank_summary *summary) {
    size_t steps = summary->steps_count;
    struct in_steps it = {.count = gt_mem_array(steps, sizeof *it.count),
                          .ns = gt_mem_array(steps, sizeof *it.ns),
                          .touched = gt_mem_uninitialised(steps, sizeof *it.touched),
                          .scratch = gt_mem_uninitialised(steps, sizeof *it.scratch),
                          .step_count = steps};
    bool ok = it.count && it.ns && it.touched && it.scratch;
    for (size_t w = 0; ok && w < summary->work_count; w++) {
        for (uint32_t i = firsts[w]; i < firsts[w + 1]; i++)
            if (step_of[places[i]] < steps)
                add_to_step(&it, step_of[places[i]], gt_view_op_ns(view, places[i]));
        settle(&it, &summary->work[w]);
    }
    gt_mem_free(it.count);
    gt_mem_free(it.ns);
    gt_mem_free(it.touched);
    gt_mem_free(it.scratch);
    return ok;
}

/* work_of: by position; GT_RANK_NONE: no compute. */
static bool sort_and_find_usual(const struct gt_view *view, const uint32_t *step_of, const uint32_t *work_of,
                                struct gt_rank_summary *summary) {
    enum { LEAST_STEPS = 3 };
    if (summary->steps_count < LEAST_STEPS)
        return true;
    uint32_t *firsts = gt_mem_array(summary->work_count + 2, sizeof *firsts);
    uint32_t *places = gt_mem_uninitialised(view->op_count, sizeof *places);
    bool ok = firsts && places;
    for (size_t i = 0; ok && i < view->op_count; i++)
        if (work_of[i] != GT_RANK_NONE)
            firsts[work_of[i] + 2]++;
    for (size_t w = 0; ok && w < summary->work_count; w++)
        firsts[w + 2] += firsts[w + 1];
    for (uint32_t i = 0; ok && i < view->op_count; i++)
        if (work_of[i] != GT_RANK_NONE)
            places[firsts[work_of[i] + 1]++] = i;
    ok = ok && find_usual(view, step_of, places, firsts, summary);
    gt_mem_free(firsts);
    gt_mem_free(places);
    return ok;
}

enum gt_status gt_rank_work_sum(const struct gt_view *view, const uint32_t *step_of, struct gt_rank_summary *summary,
                                struct gt_error *err) {
    struct gt_strtab keys;
    if (!gt_strtab_init(&keys))
        return gt_fail_memory(err);
    uint32_t *config_of = new_config_index(view->store);
    uint32_t *work_of = gt_mem_uninitialised(view->op_count, sizeof *work_of);
    struct recent *recent = gt_mem_array(RECENT, sizeof *recent);
    for (size_t i = 0; config_of && work_of && recent && i < view->op_count; i++)
        work_of[i] = gt_view_op_class(view, i) == GT_CLASS_COMPUTE
                         ? add_op(view, i, config_of[view->row[i]], &keys, recent, summary)
                         : GT_RANK_NONE;
    bool ok = config_of && work_of && recent && !keys.failed && !summary->failed &&
              sort_and_find_usual(view, step_of, work_of, summary);
    gt_mem_free(work_of);
    gt_mem_free(recent);
    gt_mem_free(config_of);
    gt_strtab_release(&keys);
    return ok ? GT_OK : gt_fail_memory(err);
}
