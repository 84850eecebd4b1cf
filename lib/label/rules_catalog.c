/* The catalogue of rules: all files of rules come in, a flat list of what each rule says goes out. */
#include "label/rules_catalog.h"

#include "base/mem.h"
#include "label/builtin.h"
#include "label/rules_build.h"

static const char builtin_source[] = "built-in";

static enum gt_status add_entry(struct gt_rules_catalog *catalog, struct gt_rule_entry entry, struct gt_error *err) {
    struct gt_rule_entry *entries = gt_mem_room(catalog->entries, catalog->count, &catalog->capacity, sizeof *entries);
    if (!entries)
        return gt_fail_memory(err);
    catalog->entries = entries;
    catalog->entries[catalog->count++] = entry;
    return GT_OK;
}

static enum gt_status add_builtin(struct gt_rules_catalog *catalog, struct gt_error *err) {
    enum gt_status status = GT_OK;
    for (size_t i = 0; status == GT_OK && i < gt_builtin_rule_count; i++) {
        const struct gt_builtin_rule *rule = &gt_builtin_rules[i];
        struct gt_rule_entry entry = {.model = "builtin",
                                      .source = builtin_source,
                                      .number = rule->line,
                                      .category = gt_categories[rule->category].key,
                                      .pattern = rule->patterns};
        status = add_entry(catalog, entry, err);
    }
    return status;
}

/* The next model of the same name, in a file that is read later; NULL: there is none. */
static const struct gt_rule_model *find_later(const struct gt_rule_files *files, size_t index) {
    const struct gt_rule_model *model = &files->models[index];
    for (size_t i = index + 1; model->engine.len && i < files->count; i++)
        if (gt_str_eq(files->models[i].engine, model->engine) && gt_str_eq(files->models[i].model, model->model))
            return &files->models[i];
    return NULL;
}

static enum gt_status add_model(struct gt_rules_catalog *catalog, const struct gt_rule_files *files, size_t index,
                                struct gt_error *err) {
    const struct gt_rule_model *model = &files->models[index], *later = find_later(files, index);
    struct gt_arena *arena = &catalog->arena;
    struct gt_rules *rules = gt_rules_build_make(false);
    if (!rules)
        return gt_fail_memory(err);
    const char *source = model->path ? gt_arena_copy(arena, gt_str_of(model->path)).ptr : builtin_source;
    struct gt_rule_entry entry = {
        .model = model->engine.len ? gt_arena_printf(arena, "%s/%s", model->engine.ptr, model->model.ptr).ptr : source,
        .source = source,
        .replaced_by = later ? gt_arena_copy(arena, gt_str_of(later->path)).ptr : NULL};
    enum gt_status status = gt_rules_build_add_model(rules, model, err);
    for (size_t i = 0; status == GT_OK && i < rules->count; i++) {
        entry.number = (uint32_t)i + 1;
        entry.category = gt_arena_copy(arena, gt_str_of(rules->items[i].category)).ptr;
        entry.pattern = gt_arena_copy(arena, rules->items[i].text).ptr;
        status = add_entry(catalog, entry, err);
    }
    gt_rules_free(rules);
    return status;
}

enum gt_status gt_rules_catalog_init(struct gt_rules_catalog *catalog, const struct gt_rules_request *request,
                                     struct gt_error *err) {
    struct gt_rule_files files = {0};
    *catalog = (struct gt_rules_catalog){0};
    enum gt_status status = add_builtin(catalog, err);
    if (status == GT_OK)
        status = gt_rules_build_files_gather(&files, request, err);
    for (size_t i = 0; status == GT_OK && i < files.count; i++)
        status = add_model(catalog, &files, i, err);
    if (status == GT_OK && gt_arena_failed(&catalog->arena))
        status = gt_fail_memory(err);
    gt_rules_build_files_release(&files);
    return status;
}

void gt_rules_catalog_release(struct gt_rules_catalog *catalog) {
    gt_mem_free(catalog->entries);
    gt_arena_release(&catalog->arena);
    *catalog = (struct gt_rules_catalog){0};
}
