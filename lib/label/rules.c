/* A user's rules: the texts of options come in, rules that give every name a category go out. */
#include "label/rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "label/rules_build.h"

/* ---- adding ---- */

static enum gt_status add_category(struct gt_rules *rules, struct gt_str key, const char **category,
                                   struct gt_error *err) {
    for (size_t i = 0; i < rules->category_count; i++)
        if (gt_str_eq(gt_str_of(rules->categories[i]), key)) {
            *category = rules->categories[i];
            return GT_OK;
        }
    if (rules->category_count == GT_RULES_MAX_CATEGORIES)
        return gt_fail_usage(err, "there are more than %d categories", GT_RULES_MAX_CATEGORIES);
    *category = gt_arena_copy(&rules->arena, key).ptr;
    rules->categories[rules->category_count++] = *category;
    return GT_OK;
}

static enum gt_status add_item(struct gt_rules *rules, struct gt_str text, const char *category, struct gt_error *err) {
    if (text.len == 0)
        return gt_fail_usage(err, "a rule for category '%.100s' has no text to look for", category);
    if (rules->count == GT_RULES_MAX)
        return gt_fail_usage(err, "there are more than %d rules", GT_RULES_MAX);
    struct gt_rule rule = {.text = gt_arena_copy(&rules->arena, text), .category = category};
    enum gt_status status = GT_OK;
    if (!rules->is_map) {
        const char *expression = gt_arena_printf(&rules->arena, "re:%s", rule.text.ptr).ptr;
        if (!gt_arena_failed(&rules->arena))
            status = gt_pattern_new(expression, &rule.pattern, err);
    }
    if (status == GT_OK)
        rules->items[rules->count++] = rule;
    return status;
}

enum gt_status gt_rules_add(struct gt_rules *rules, struct gt_str text, struct gt_str category, struct gt_error *err) {
    const char *key = "";
    enum gt_status status = add_category(rules, category, &key, err);
    for (size_t i = 0; i < rules->count && status == GT_OK; i++)
        if (gt_str_eq(rules->items[i].text, text)) {
            rules->items[i].category = key;
            return GT_OK;
        }
    if (status == GT_OK)
        status = add_item(rules, text, key, err);
    return status == GT_OK && gt_arena_failed(&rules->arena) ? gt_fail_memory(err) : status;
}

/* ---- what an option asks for ---- */

struct request {
    char *text;
    const char *path; /* NULL: the built-in engines and the user's own folder */
    struct gt_str engine, model;
};

static bool is_there(const char *path) {
    struct stat info;
    return stat(path, &info) == 0;
}

/* FILE | FILE,ENGINE,MODEL | ENGINE,MODEL; names of files may have commas. */
static enum gt_status parse_request(const char *option, struct request *request, struct gt_error *err) {
    size_t bytes = strlen(option) + 1;
    *request = (struct request){.text = gt_alloc(bytes)};
    if (!request->text)
        return gt_fail_memory(err);
    memcpy(request->text, option, bytes);
    char *comma = strrchr(request->text, ',');
    if (!comma || is_there(option)) {
        request->path = request->text;
        return GT_OK;
    }
    request->model = gt_str_of(comma + 1);
    *comma = '\0';
    comma = strrchr(request->text, ',');
    if (comma) {
        request->path = request->text;
        *comma = '\0';
    }
    request->engine = gt_str_of(comma ? comma + 1 : request->text);
    if (request->engine.len == 0 || request->model.len == 0 || (request->path && !*request->path))
        return gt_fail_usage(err, "cannot read --rules '%s'; write FILE, FILE,ENGINE,MODEL or ENGINE,MODEL", option);
    return GT_OK;
}

/* The user's own files; an empty text where there are none. */
static struct gt_str own_folder(struct gt_arena *arena) {
    const char *base = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    struct gt_str path = GT_STR("");
    if (base && base[0] == '/')
        path = gt_arena_printf(arena, "%s/gputime/rules", base);
    else if (home && *home)
        path = gt_arena_printf(arena, "%s/.config/gputime/rules", home);
    return path.len && is_there(path.ptr) ? path : GT_STR("");
}

/* "vllm: llama, ds; sglang: llama" */
static struct gt_str list_models(struct gt_arena *arena, const struct gt_rule_files *files, bool with_builtin) {
    struct gt_str list = GT_STR("");
    if (with_builtin)
        gt_rules_list_engines(arena, &list);
    for (size_t i = 0; files->models && i < files->count && list.len < 600; i++) {
        const struct gt_rule_model *model = &files->models[i];
        if (model->engine.len == 0)
            continue;
        bool is_same = i > 0 && gt_str_eq(model->engine, files->models[i - 1].engine);
        list = is_same ? gt_arena_printf(arena, "%s, %s", list.ptr, model->model.ptr)
                       : gt_arena_printf(arena, "%s%s%s: %s", list.ptr, list.len ? "; " : "", model->engine.ptr,
                                         model->model.ptr);
    }
    return list;
}

static enum gt_status fail_model(struct gt_rules *rules, const struct request *request,
                                 const struct gt_rule_files *files, struct gt_error *err) {
    struct gt_str list = list_models(&rules->arena, files, !request->path);
    const char *path = request->path ? request->path : "";
    if (request->engine.len == 0 && files->count == 0)
        return gt_fail_usage(err, "'%s' has no rules", path);
    if (request->engine.len == 0)
        return gt_fail_usage(err, "'%s' has several models; choose one with --rules FILE,ENGINE,MODEL: %s", path,
                             list.ptr);
    return gt_fail_usage(err, "no model '%s' of engine '%s'%s%s%s; there are %s", request->model.ptr,
                         request->engine.ptr, *path ? " in '" : "", path, *path ? "'" : "",
                         list.len ? list.ptr : "none");
}

/* The last of that name, since later files win; without a name the only one there is. */
static const struct gt_rule_model *find_model(const struct gt_rule_files *files, const struct request *request) {
    if (request->engine.len == 0)
        return files->count == 1 ? &files->models[0] : NULL;
    for (size_t i = files->count; i-- > 0;)
        if (gt_str_eq(files->models[i].engine, request->engine) && gt_str_eq(files->models[i].model, request->model))
            return &files->models[i];
    return NULL;
}

static enum gt_status load_request(struct gt_rules *rules, const struct request *request, struct gt_error *err) {
    struct gt_rule_files files = {0};
    struct gt_str folder = request->path ? gt_str_of(request->path) : own_folder(&rules->arena);
    enum gt_status status = folder.len ? gt_rule_files_read(&files, folder.ptr, err) : GT_OK;
    const struct gt_rule_model *model = find_model(&files, request);
    bool found = model != NULL;
    if (status == GT_OK && model)
        status = gt_rules_add_model(rules, model, err);
    else if (status == GT_OK && !request->path)
        status = gt_rules_add_engine(rules, request->engine, request->model, &found, err);
    if (status == GT_OK && !found)
        status = fail_model(rules, request, &files, err);
    if (status == GT_OK)
        rules->source = model && model->engine.len == 0
                            ? gt_arena_copy(&rules->arena, gt_str_of(model->path)).ptr
                            : gt_arena_printf(&rules->arena, "%s/%s", model ? model->engine.ptr : request->engine.ptr,
                                              model ? model->model.ptr : request->model.ptr)
                                  .ptr;
    gt_rule_files_release(&files);
    return status;
}

static enum gt_status load_rules(struct gt_rules *rules, const char *option, struct gt_error *err) {
    struct request request;
    enum gt_status status = parse_request(option, &request, err);
    if (status == GT_OK)
        status = load_request(rules, &request, err);
    gt_free(request.text);
    return status;
}

enum gt_status gt_rules_new(const char *rules, const char *map, struct gt_rules **out, struct gt_error *err) {
    *out = NULL;
    if (!rules && !map)
        return GT_OK;
    if (rules && map)
        return gt_fail_usage(err, "--rules and --map cannot be given together; both say what the categories are");
    struct gt_rules *made = gt_alloc_array(1, sizeof *made);
    if (made)
        made->items = gt_arena_array(&made->arena, GT_RULES_MAX, sizeof *made->items);
    if (!made || !made->items) {
        gt_rules_free(made);
        return gt_fail_memory(err);
    }
    made->is_map = map != NULL;
    made->source = "map";
    made->otherwise = map ? "others" : "misc";
    enum gt_status status = map ? gt_rules_add_map(made, map, err) : load_rules(made, rules, err);
    if (status == GT_OK && gt_arena_failed(&made->arena))
        status = gt_fail_memory(err);
    if (status != GT_OK) {
        gt_rules_free(made);
        return status;
    }
    *out = made;
    return GT_OK;
}

void gt_rules_free(struct gt_rules *rules) {
    if (!rules)
        return;
    for (size_t i = 0; rules->items && i < rules->count; i++)
        gt_pattern_free(rules->items[i].pattern);
    gt_arena_release(&rules->arena);
    gt_free(rules);
}

/* ---- answers ---- */

const char *gt_rules_source(const struct gt_rules *rules) {
    return rules->source;
}

bool gt_rules_cover_memory(const struct gt_rules *rules) {
    return !rules->is_map;
}

const char *gt_rules_class(const struct gt_rules *rules, size_t index) {
    if (index == 0)
        return rules->otherwise;
    return index <= rules->category_count ? rules->categories[index - 1] : NULL;
}

struct gt_str gt_rules_pattern(const struct gt_rules *rules, uint32_t number) {
    return number ? rules->items[number - 1].text : GT_STR("");
}

/* The first substring in the name, unless a later one that contains it is in the name too. */
static uint32_t match_map(const struct gt_rules *rules, struct gt_str name, uint32_t *first) {
    uint32_t match = *first = 0;
    for (size_t i = 0; i < rules->count; i++) {
        struct gt_str text = rules->items[i].text;
        if (!gt_str_find_nocase(name, text) || (match && !gt_str_find_nocase(text, rules->items[match - 1].text)))
            continue;
        match = (uint32_t)i + 1;
        *first = *first ? *first : match;
    }
    return match;
}

uint32_t gt_rules_shorter(const struct gt_rules *rules, struct gt_str name) {
    uint32_t first = 0, match = rules->is_map ? match_map(rules, name, &first) : 0;
    return match != first ? first : 0;
}

const char *gt_rules_category(const struct gt_rules *rules, struct gt_str name, uint32_t *number) {
    *number = 0;
    if (rules->is_map) {
        /* As in GPU Performance Analyser, which keeps NCCL apart whatever the map says. */
        if (gt_str_find_nocase(name, GT_STR("nccl")) || gt_str_find_nocase(name, GT_STR("rccl")))
            return "nccl";
        uint32_t first;
        *number = match_map(rules, name, &first);
    }
    for (size_t i = 0; i < rules->count && !rules->is_map && !*number; i++)
        if (gt_pattern_matches(rules->items[i].pattern, name))
            *number = (uint32_t)i + 1;
    return *number ? rules->items[*number - 1].category : rules->otherwise;
}
