/* Files of rules: {engine: {model: {expression: category}}}, {expression: category} alone, and maps of substrings. JSON
   comes in; models to choose from, and the rules of the chosen one, go out. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/oserror.h"
#include "label/rules_build.h"

enum { MAX_FILES = 1024 }; /* of one folder */

static enum gt_status fail_place(const char *path, const struct gt_json *item, const char *what, struct gt_error *err) {
    return gt_fail_usage(err, "'%s': line %u, column %u: %s, not %s", path, item->line, item->column, what,
                         gt_json_tree_type_name(item->type));
}

/* ---- engines and models ---- */

static bool is_rules(const struct gt_json *object) {
    return object->type == GT_JSON_OBJECT && object->first && object->first->type == GT_JSON_STRING;
}

enum gt_status gt_rules_build_files_add(struct gt_rule_files *files, struct gt_rule_model model, struct gt_error *err) {
    if (files->count == GT_RULES_MAX_MODELS)
        return gt_fail_usage(err, "'%s': more than %d models", model.path ? model.path : "", GT_RULES_MAX_MODELS);
    struct gt_rule_model *models = gt_mem_room(files->models, files->count, &files->capacity, sizeof *models);
    if (!models)
        return gt_fail_memory(err);
    files->models = models;
    files->models[files->count++] = model;
    return GT_OK;
}

static enum gt_status add_engine(struct gt_rule_files *files, const char *path, const struct gt_json *engine,
                                 struct gt_error *err) {
    if (engine->type != GT_JSON_OBJECT)
        return fail_place(path, engine, "an engine must be an object of models", err);
    for (const struct gt_json *model = engine->first; model; model = model->next) {
        if (model->type != GT_JSON_OBJECT)
            return fail_place(path, model, "a model must be an object of rules", err);
        struct gt_rule_model entry = {path, engine->key, model->key, model};
        enum gt_status status = gt_rules_build_files_add(files, entry, err);
        if (status != GT_OK)
            return status;
    }
    return GT_OK;
}

static enum gt_status read_file(struct gt_rule_files *files, const char *path, struct gt_error *err) {
    struct gt_json *root;
    enum gt_status status = gt_json_tree_read(path, &files->arena, &root, err);
    if (status != GT_OK)
        return status;
    if (root->type != GT_JSON_OBJECT)
        return fail_place(path, root, "rules must be an object {engine: {model: {expression: category}}}", err);
    if (is_rules(root))
        return gt_rules_build_files_add(files, (struct gt_rule_model){path, GT_STR(""), GT_STR(""), root}, err);
    for (const struct gt_json *engine = root->first; engine && status == GT_OK; engine = engine->next)
        status = add_engine(files, path, engine, err);
    return status;
}

static bool is_json_name(const char *name) {
    size_t bytes = strlen(name);
    return name[0] != '.' && bytes > 5 && strcmp(name + bytes - 5, ".json") == 0;
}

static int by_path(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The *.json files of a folder in alphabetical order. */
static enum gt_status list_folder(struct gt_rule_files *files, const char *folder, const char **paths, size_t *count,
                                  struct gt_error *err) {
    char reason[GT_OSERROR_MAX];
    DIR *entries = opendir(folder);
    if (!entries)
        return gt_fail(err, "cannot read directory '%s': %s", folder, gt_oserror_text(errno, reason));
    for (const struct dirent *entry; (entry = readdir(entries)) && *count < MAX_FILES;)
        if (is_json_name(entry->d_name))
            paths[(*count)++] = gt_arena_printf(&files->arena, "%s/%s", folder, entry->d_name).ptr;
    closedir(entries);
    if (gt_arena_failed(&files->arena))
        return gt_fail_memory(err);
    if (*count == MAX_FILES)
        return gt_fail(err, "'%s': too many JSON files for a rules directory (%d or more)", folder, MAX_FILES);
    qsort(paths, *count, sizeof *paths, by_path);
    return GT_OK;
}

enum gt_status gt_rules_build_files_read(struct gt_rule_files *files, const char *path, struct gt_error *err) {
    struct stat info;
    if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode)) {
        struct gt_str own = gt_arena_copy(&files->arena, gt_str_of(path));
        return gt_arena_failed(&files->arena) ? gt_fail_memory(err) : read_file(files, own.ptr, err);
    }
    const char *paths[MAX_FILES];
    size_t count = 0;
    enum gt_status status = list_folder(files, path, paths, &count, err);
    for (size_t i = 0; status == GT_OK && i < count; i++)
        status = read_file(files, paths[i], err);
    return status;
}

void gt_rules_build_files_release(struct gt_rule_files *files) {
    gt_mem_free(files->models);
    gt_arena_release(&files->arena);
    *files = (struct gt_rule_files){0};
}

/* ---- rules of a model ---- */

/* Where a rule is, put in front of what is wrong with it. */
static enum gt_status fail_rule(const struct gt_rule_model *model, const struct gt_json *rule, struct gt_error *err) {
    if (model->engine.len == 0)
        return gt_fail_context(err, "'%s': line %u, column %u", model->path, rule->line, rule->column);
    return gt_fail_context(err, "'%s': engine '%s', model '%s', line %u, column %u", model->path, model->engine.ptr,
                           model->model.ptr, rule->line, rule->column);
}

enum gt_status gt_rules_build_add_model(struct gt_rules *rules, const struct gt_rule_model *model,
                                        struct gt_error *err) {
    if (!model->path)
        return gt_rules_build_add_engine(rules, model->engine, model->model, err);
    for (const struct gt_json *rule = model->rules->first; rule; rule = rule->next) {
        enum gt_status status;
        if (rule->type != GT_JSON_STRING)
            status = gt_fail_usage(err, "the category of '%.100s' must be a string", rule->key.ptr);
        else
            status = gt_rules_build_add(rules, rule->key, rule->text, err);
        if (status != GT_OK)
            return fail_rule(model, rule, err);
    }
    return GT_OK;
}

/* ---- maps ---- */

/* {class: [substring, ...]} or {substring: class}, also mixed. */
static enum gt_status add_class(struct gt_rules *rules, const struct gt_json *item, struct gt_error *err) {
    if (item->type == GT_JSON_STRING)
        return gt_rules_build_add(rules, item->key, item->text, err);
    if (item->type != GT_JSON_ARRAY)
        return gt_fail_usage(err, "expected a class with a list of substrings or a substring with its class, not %s",
                             gt_json_tree_type_name(item->type));
    enum gt_status status = GT_OK;
    for (const struct gt_json *part = item->first; part && status == GT_OK; part = part->next)
        status = part->type == GT_JSON_STRING
                     ? gt_rules_build_add(rules, part->text, item->key, err)
                     : gt_fail_usage(err, "a substring must be a string, not %s", gt_json_tree_type_name(part->type));
    return status;
}

enum gt_status gt_rules_build_add_map(struct gt_rules *rules, const char *path, struct gt_error *err) {
    struct gt_arena arena = {0};
    struct gt_json *root;
    enum gt_status status = gt_json_tree_read(path, &arena, &root, err);
    if (status == GT_OK && root->type != GT_JSON_OBJECT)
        status = fail_place(path, root, "a map must be an object {substring: class} or {class: [substring, ...]}", err);
    if (status == GT_OK) {
        /* A configuration of GPU Performance Analyser has the map among other things. */
        const struct gt_json *map = gt_json_tree_find(root, "kernel_to_class_map");
        map = map && map->type == GT_JSON_OBJECT ? map : root;
        for (const struct gt_json *item = map->first; item && status == GT_OK; item = item->next)
            if (add_class(rules, item, err) != GT_OK)
                status = gt_fail_context(err, "'%s': line %u, column %u", path, item->line, item->column);
    }
    gt_arena_release(&arena);
    return status;
}
