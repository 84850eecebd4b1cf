/* Sums compute kernels by name and launch configuration. */
#include "ranks/rank_work.h"

#include "base/mem.h"

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

static void add_op(const struct gt_view *view, size_t position, uint32_t config, struct gt_strtab *keys,
                   struct gt_rank_summary *summary) {
    struct work_key key = key_of(view->store, view->name[position], config);
    size_t before = keys->count;
    gt_strid id = gt_strtab_intern(keys, (struct gt_str){(const char *)&key, sizeof key});
    if (keys->failed)
        return;
    if (keys->count > before) {
        struct gt_rank_text name = gt_rank_summary_put_text(summary, gt_view_op_name(view, position));
        struct gt_rank_work *work = gt_rank_summary_add_work(summary);
        work->name = name;
        memcpy(work->grid, key.grid, sizeof key.grid);
        memcpy(work->block, key.block, sizeof key.block);
    }
    if (id == 0 || id > summary->work_count) /* "" has number 0 */
        return;
    summary->work[id - 1].count++;
    summary->work[id - 1].total_ns = gt_ns_add(summary->work[id - 1].total_ns, gt_view_op_ns(view, position));
}

enum gt_status gt_rank_work_sum(const struct gt_view *view, struct gt_rank_summary *summary, struct gt_error *err) {
    struct gt_strtab keys;
    if (!gt_strtab_init(&keys))
        return gt_fail_memory(err);
    uint32_t *config_of = new_config_index(view->store);
    for (size_t i = 0; config_of && i < view->op_count; i++)
        if (gt_view_op_class(view, i) == GT_CLASS_COMPUTE)
            add_op(view, i, config_of[view->row[i]], &keys, summary);
    bool ok = config_of && !keys.failed && !summary->failed;
    gt_mem_free(config_of);
    gt_strtab_release(&keys);
    return ok ? GT_OK : gt_fail_memory(err);
}
