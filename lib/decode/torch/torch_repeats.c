/* A hash table of texts and rows. Files that never repeat themselves fill it and are read without it: with operators
   the part for them, with kernels theirs. */
#include "decode/torch/torch_repeats.h"

#include "base/mem.h"

#if defined(__x86_64__)

enum { SLOTS = 32768, MAX_REPEATS = SLOTS / 4, MAX_TEXT_BYTES = 4096 };

void gt_torch_repeats_init(struct gt_torch_repeats *repeats) {
    *repeats = (struct gt_torch_repeats){0};
    gt_arena_init(&repeats->arena);
}

void gt_torch_repeats_release(struct gt_torch_repeats *repeats) {
    gt_mem_free(repeats->slots);
    gt_mem_free(repeats->guesses);
    gt_arena_release(&repeats->arena);
}

/* Where the text is, or the free slot where it would be. */
GT_SIMD struct gt_torch_repeats_slot *find_slot(const struct gt_torch_repeats *repeats, struct gt_str text,
                                                uint64_t hash) {
    for (size_t i = hash % SLOTS;; i = (i + 1) % SLOTS) {
        struct gt_torch_repeats_slot *slot = &repeats->slots[i];
        const struct gt_torch_repeat *repeat = slot->repeat;
        if (!repeat || (slot->hash == hash && repeat->text_bytes == text.len &&
                        simd_matches(text.ptr, repeat->text, text.len, repeat->last_bits)))
            return slot;
    }
}

GT_SIMD_TARGET const struct gt_torch_repeat *gt_torch_repeats_find(const struct gt_torch_repeats *repeats,
                                                                   const struct simd_constants *k, struct gt_str text) {
    return repeats->slots ? find_slot(repeats, text, simd_hash_bytes(k, text))->repeat : NULL;
}

/* read_ops(&ops, i, &row) and so on: one function for each table, of which three are used. */
#define GT_TABLE(table, columns)                                                                                       \
    __attribute__((unused)) static void read_##table(const struct gt_##table *rows, size_t i,                          \
                                                     struct gt_##table##_row *row) {                                   \
        columns                                                                                                        \
    }
#define GT_COLUMN(table, type, name, refers) row->name = rows->name[i];
#include "events/columns.def"
#undef GT_TABLE
#undef GT_COLUMN

static bool read_arguments(const struct gt_store *store, struct gt_operator_args_row *row) {
    const struct gt_operator_args *args = &store->operator_args;
    if (args->count == 0 || args->cpu_op[args->count - 1] + 1 != store->cpu_ops.count)
        return false;
    read_operator_args(args, args->count - 1, row);
    row->external = UINT64_MAX;
    row->sequence = row->forward_thread = -1;
    return true;
}

static bool read_config(const struct gt_store *store, struct gt_kernel_configs_row *row) {
    const struct gt_kernel_configs *configs = &store->kernel_configs;
    if (configs->count == 0 || configs->op[configs->count - 1] + 1 != store->ops.count)
        return false;
    read_kernel_configs(configs, configs->count - 1, row);
    row->external = UINT64_MAX;
    row->occupancy_percent = -1;
    row->priority = INT64_MIN;
    return true;
}

static bool read_details(const struct gt_store *store, struct gt_launch_details_row *row) {
    const struct gt_launch_details *details = &store->launch_details;
    if (details->count == 0 || details->op[details->count - 1] + 1 != store->ops.count)
        return false;
    read_launch_details(details, details->count - 1, row);
    row->graph_node = UINT64_MAX;
    row->channel = row->channel_type = UINT32_MAX;
    return true;
}

static bool read_row(const struct gt_store *store, struct gt_torch_repeat *learned) {
    switch (learned->role) {
    case GT_TORCH_ROLE_CONFIG:
        return read_config(store, &learned->row.config);
    case GT_TORCH_ROLE_LIMITS:
        return read_details(store, &learned->row.details);
    default:
        return read_arguments(store, &learned->row.arguments);
    }
}

GT_SIMD_TARGET void gt_torch_repeats_learn(struct gt_torch_repeats *repeats, const struct simd_constants *k,
                                           enum gt_torch_role role, struct gt_str text, const struct gt_store *store) {
    struct gt_torch_repeat learned = {.role = role, .text_bytes = (uint32_t)text.len};
    size_t *count = &repeats->count[role == GT_TORCH_ROLE_CONFIG ? 1 : role == GT_TORCH_ROLE_LIMITS ? 2 : 0];
    if (text.len == 0 || text.len > MAX_TEXT_BYTES || *count == MAX_REPEATS || !read_row(store, &learned))
        return;
    learned.last_bits = UINT32_MAX >> (-learned.text_bytes & 31);
    if (!repeats->slots)
        repeats->slots = gt_mem_array(SLOTS, sizeof *repeats->slots);
    if (!repeats->slots)
        return;
    if (!repeats->guesses)
        repeats->guesses = gt_mem_array(GT_TORCH_GUESSES, sizeof *repeats->guesses);
    learned.number = (uint32_t)(repeats->count[0] + repeats->count[1] + repeats->count[2]);
    uint64_t hash = simd_hash_bytes(k, text);
    struct gt_torch_repeats_slot *slot = find_slot(repeats, text, hash);
    struct gt_torch_repeat *repeat =
        slot->repeat ? NULL : gt_arena_alloc(&repeats->arena, sizeof *repeat + text.len + GT_JSON_PADDING);
    if (!repeat)
        return; /* it is known already, or memory was short: then it stays unknown */
    *repeat = learned;
    memcpy(repeat->text, text.ptr, text.len);
    *slot = (struct gt_torch_repeats_slot){hash, repeat};
    ++*count;
}

#endif
