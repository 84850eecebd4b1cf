/* Numbers launches with a map from hashes; launches with equal hashes are compared. */
#include "measure/efficiency/launch_ids.h"

#include <string.h>

#include "base/map.h"
#include "base/mem.h"

static uint64_t mixed(uint64_t hash, uint64_t value) {
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

static uint64_t hash_of(const struct gt_kernel_configs *configs, size_t row, gt_strid name) {
    uint64_t hash = mixed(gt_map_key(configs->registers[row], name), configs->shared_bytes[row]);
    hash = mixed(hash, gt_map_key(configs->grid_x[row], configs->grid_y[row]));
    hash = mixed(hash, gt_map_key(configs->grid_z[row], configs->block_x[row]));
    hash = mixed(hash, gt_map_key(configs->block_y[row], configs->block_z[row]));
    return mixed(mixed(hash, configs->static_shared_bytes[row]), configs->dynamic_shared_bytes[row]);
}

static bool are_alike(const struct gt_store *store, size_t a, size_t b) {
    const struct gt_kernel_configs *configs = &store->kernel_configs;
#define SAME(column) (configs->column[a] == configs->column[b])
    return store->ops.name[configs->op[a]] == store->ops.name[configs->op[b]] && SAME(grid_x) && SAME(grid_y) &&
           SAME(grid_z) && SAME(block_x) && SAME(block_y) && SAME(block_z) && SAME(registers) && SAME(shared_bytes) &&
           SAME(static_shared_bytes) && SAME(dynamic_shared_bytes);
#undef SAME
}

/* So many launches that differ may have one hash. Of more, which somebody made to collide, the configuration counts as
   unknown. */
enum { COLLISIONS_MOST = 8 };

struct numbering {
    struct gt_launch_ids *ids;
    const struct gt_store *store;
    struct gt_map places;
    uint32_t *latest; /* by name of kernel: what its last launch was, and mostly is again; GT_NO_ROW */
};

static bool number_launch(struct numbering *it, size_t row) {
    const struct gt_store *store = it->store;
    const struct gt_kernel_configs *configs = &store->kernel_configs;
    struct gt_launch_ids *ids = it->ids;
    struct gt_map *places = &it->places;
    uint32_t op = configs->op[row], *latest = &it->latest[store->ops.name[op]];
    if (*latest != GT_NO_ROW && are_alike(store, ids->config[*latest], row)) {
        ids->of_op[op] = *latest;
        return true;
    }
    uint64_t hash = hash_of(configs, row, store->ops.name[op]);
    for (uint64_t turn = 0; turn < COLLISIONS_MOST; turn++) {
        uint32_t id = gt_map_put_if_new(places, hash, turn, (uint32_t)ids->count);
        if (places->failed)
            return false;
        if (id < ids->count && !are_alike(store, ids->config[id], row))
            continue;
        if (id == ids->count) {
            uint32_t *config = gt_mem_room(ids->config, ids->count, &ids->capacity, sizeof *config);
            if (!config)
                return false;
            ids->config = config;
            config[ids->count++] = (uint32_t)row;
        }
        ids->of_op[op] = *latest = id;
        return true;
    }
    return true;
}

bool gt_launch_ids_init(struct gt_launch_ids *ids, const struct gt_store *store) {
    struct numbering it = {
        .ids = ids, .store = store, .latest = gt_mem_uninitialised(store->strings.count, sizeof *it.latest)};
    *ids = (struct gt_launch_ids){.of_op = gt_mem_uninitialised(store->ops.count, sizeof *ids->of_op)};
    bool ok = ids->of_op && it.latest;
    if (ok) { /* GT_NO_ROW */
        memset(ids->of_op, 0xff, store->ops.count * sizeof *ids->of_op);
        memset(it.latest, 0xff, store->strings.count * sizeof *it.latest);
    }
    for (size_t i = 0; i < store->kernel_configs.count && ok; i++)
        ok = number_launch(&it, i);
    gt_map_release(&it.places);
    gt_mem_free(it.latest);
    return ok;
}

void gt_launch_ids_release(struct gt_launch_ids *ids) {
    gt_mem_free(ids->of_op);
    gt_mem_free(ids->config);
}
