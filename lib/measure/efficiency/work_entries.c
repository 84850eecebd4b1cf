/* Looks up models and parses arguments, each once. */
#include "measure/efficiency/work_entries.h"

#include <string.h>

#include "base/mem.h"

/* Entries met lately: programs call the same operators with the same arguments over and over. */
enum { RECENT_SLOTS = 1024 };

struct gt_work_recent {
    gt_strid name, dims, types, strides, inputs;
    uint32_t entry_plus_1; /* 0: the slot is free */
};

/* Arguments of a shape, parsed: operators of different names have the same ones. Where shapes never repeat it would be
   memory for nothing, so only so many are kept. */
enum { PARSED_MOST = 2048 };

struct gt_work_parsed {
    struct gt_work_args args;
    bool is_parsed, is_valid;
};

bool gt_work_entries_init(struct gt_work_entries *entries, const struct gt_store *store) {
    const struct gt_operator_args *args = &store->operator_args;
    *entries = (struct gt_work_entries){
        .store = store,
        .args_of = gt_mem_uninitialised(store->cpu_ops.count, sizeof *entries->args_of),
        .model_of = gt_mem_array(store->strings.count, sizeof *entries->model_of),
        .recent = gt_mem_array(RECENT_SLOTS, sizeof *entries->recent),
        .parsed = gt_mem_array(PARSED_MOST, sizeof *entries->parsed),
    };
    if (!entries->args_of || !entries->model_of || !entries->recent || !entries->parsed)
        return false;
    memset(entries->args_of, 0xff, store->cpu_ops.count * sizeof *entries->args_of); /* GT_NO_ROW */
    for (size_t i = 0; i < args->count; i++)
        entries->args_of[args->cpu_op[i]] = (uint32_t)i;
    return true;
}

void gt_work_entries_release(struct gt_work_entries *entries) {
    gt_arena_release(&entries->arena);
    gt_arena_release(&entries->kept);
    gt_arena_release(&entries->scratch);
    gt_mem_free(entries->args_of);
    gt_mem_free(entries->model_of);
    gt_mem_free(entries->recent);
    gt_mem_free(entries->parsed);
    gt_mem_free(entries->models);
    gt_mem_free(entries->items);
    gt_map_release(&entries->shapes);
    gt_map_release(&entries->entry_of);
}

/* ---- models ---- */

/* Few names have a model, and as many models are kept. */
static uint16_t add_model(struct gt_work_entries *entries, const struct gt_work_model *model) {
    if (!model || entries->model_count > UINT16_MAX - 3)
        return 1;
    for (size_t i = 0; i < entries->model_count; i++)
        if (entries->models[i] == model)
            return (uint16_t)(i + 2);
    const struct gt_work_model **models =
        gt_mem_room(entries->models, entries->model_count, &entries->model_capacity, sizeof *models);
    if (!models) {
        entries->failed = true;
        return 1;
    }
    entries->models = models;
    models[entries->model_count++] = model;
    return (uint16_t)(entries->model_count + 1);
}

const struct gt_work_model *gt_work_entries_model(struct gt_work_entries *entries, uint32_t operator_row) {
    gt_strid name = entries->store->cpu_ops.name[operator_row];
    uint16_t *known = &entries->model_of[name];
    if (*known == 0)
        *known = add_model(entries, gt_work_model_find(gt_store_string(entries->store, name)));
    return *known >= 2 ? entries->models[*known - 2] : NULL;
}

/* ---- entries ---- */

/* false: the texts are no arguments. */
static bool parse(struct gt_work_entries *entries, const struct gt_work_texts *texts, uint32_t shape,
                  struct gt_work_args *args) {
    if (shape >= PARSED_MOST)
        return gt_work_args_parse(args, texts, &entries->scratch);
    struct gt_work_parsed *parsed = &entries->parsed[shape];
    if (!parsed->is_parsed) {
        parsed->is_parsed = true;
        parsed->is_valid = gt_work_args_parse(&parsed->args, texts, &entries->kept);
    }
    *args = parsed->args;
    return parsed->is_valid;
}

static void fill_entry(struct gt_work_entries *entries, struct gt_work_entry *entry, uint32_t args_row,
                       uint32_t shape) {
    const struct gt_store *store = entries->store;
    const struct gt_operator_args *rows = &store->operator_args;
    const struct gt_work_texts texts = {
        .dims = gt_store_string(store, rows->dims[args_row]),
        .types = gt_store_string(store, rows->types[args_row]),
        .strides = gt_store_string(store, rows->strides[args_row]),
        .inputs = gt_store_string(store, rows->inputs[args_row]),
    };
    struct gt_work_args args;
    if (parse(entries, &texts, shape, &args)) {
        args.operator_name = gt_store_string(store, entry->name);
        entry->is_known = gt_work_model_apply(entry->model, &args, &entry->work);
        entry->shape = gt_work_args_text(&args, entry->work.is_causal ? " causal" : "", &entries->arena);
    }
    entries->failed |=
        gt_arena_failed(&entries->scratch) || gt_arena_failed(&entries->kept) || gt_arena_failed(&entries->arena);
    gt_arena_reset(&entries->scratch);
}

static uint32_t add_entry(struct gt_work_entries *entries, uint32_t operator_row, uint32_t args_row, uint32_t shape) {
    struct gt_work_entry *items =
        gt_mem_room(entries->items, entries->count, &entries->capacity, sizeof *entries->items);
    if (!items) {
        entries->failed = true;
        return GT_NO_ROW;
    }
    entries->items = items;
    items[entries->count] = (struct gt_work_entry){.model = gt_work_entries_model(entries, operator_row),
                                                   .name = entries->store->cpu_ops.name[operator_row]};
    fill_entry(entries, &items[entries->count], args_row, shape);
    return (uint32_t)entries->count++;
}

static uint32_t find_entry(struct gt_work_entries *entries, uint32_t operator_row, uint32_t args) {
    const struct gt_operator_args *rows = &entries->store->operator_args;
    gt_strid name = entries->store->cpu_ops.name[operator_row];
    uint32_t shape =
        gt_map_put_if_new(&entries->shapes, gt_map_key(rows->dims[args], rows->types[args]),
                          gt_map_key(rows->strides[args], rows->inputs[args]), (uint32_t)entries->shapes.count);
    uint32_t entry = gt_map_get(&entries->entry_of, name, shape);
    if (entry == GT_MAP_NONE) {
        entry = add_entry(entries, operator_row, args, shape);
        if (entry != GT_NO_ROW)
            gt_map_put(&entries->entry_of, name, shape, entry);
    }
    entries->failed |= entries->shapes.failed || entries->entry_of.failed;
    return entries->failed ? GT_NO_ROW : entry;
}

uint32_t gt_work_entries_get(struct gt_work_entries *entries, uint32_t operator_row) {
    const struct gt_operator_args *rows = &entries->store->operator_args;
    uint32_t args = entries->args_of[operator_row];
    struct gt_work_recent wanted = {.name = entries->store->cpu_ops.name[operator_row],
                                    .dims = rows->dims[args],
                                    .types = rows->types[args],
                                    .strides = rows->strides[args],
                                    .inputs = rows->inputs[args]};
    struct gt_work_recent *recent =
        &entries->recent[(wanted.dims + wanted.name * 61 + wanted.strides * 7 + wanted.inputs * 3) % RECENT_SLOTS];
    if (recent->entry_plus_1 && recent->dims == wanted.dims && recent->name == wanted.name &&
        recent->strides == wanted.strides && recent->inputs == wanted.inputs && recent->types == wanted.types)
        return recent->entry_plus_1 - 1;
    uint32_t entry = find_entry(entries, operator_row, args);
    if (entry != GT_NO_ROW) {
        wanted.entry_plus_1 = entry + 1;
        *recent = wanted;
    }
    return entry;
}
