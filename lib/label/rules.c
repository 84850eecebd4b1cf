/* A user's rules: the texts of options come in, rules that give every name a category go out. */
#include "label/rules.h"

#include "base/mem.h"
#include "label/rules_build.h"

/* ---- adding ---- */

static enum gt_status add_category(struct gt_rules *rules, struct gt_str key, const char **category,
                                   struct gt_error *err) {
    if (key.len == 0)
        return gt_fail_usage(err, "the name of a category is empty");
    for (size_t i = 0; i < rules->category_count; i++)
        if (gt_str_eq(gt_str_of(rules->categories[i]), key)) {
            *category = rules->categories[i];
            return GT_OK;
        }
    if (rules->category_count == GT_RULES_MAX_CATEGORIES)
        return gt_fail_usage(err, "more than %d categories", GT_RULES_MAX_CATEGORIES);
    *category = gt_arena_copy(&rules->arena, key).ptr;
    rules->categories[rules->category_count++] = *category;
    return GT_OK;
}

static enum gt_status add_item(struct gt_rules *rules, struct gt_str text, const char *category, struct gt_error *err) {
    if (text.len == 0)
        return gt_fail_usage(err, "a rule for category '%.100s' has an empty pattern", category);
    if (rules->count == GT_RULES_MAX)
        return gt_fail_usage(err, "more than %d rules", GT_RULES_MAX);
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

/* Case does not matter in a map. */
static bool is_same_text(const struct gt_rules *rules, struct gt_str a, struct gt_str b) {
    return rules->is_map ? a.len == b.len && gt_str_find_nocase(a, b) : gt_str_eq(a, b);
}

enum gt_status gt_rules_build_add(struct gt_rules *rules, struct gt_str text, struct gt_str category,
                                  struct gt_error *err) {
    const char *key = "";
    enum gt_status status = add_category(rules, category, &key, err);
    for (size_t i = 0; i < rules->count && status == GT_OK; i++)
        if (is_same_text(rules, rules->items[i].text, text)) {
            rules->items[i].category = key;
            return GT_OK;
        }
    if (status == GT_OK)
        status = add_item(rules, text, key, err);
    return status == GT_OK && gt_arena_failed(&rules->arena) ? gt_fail_memory(err) : status;
}

/* ---- all of them ---- */

struct gt_rules *gt_rules_build_make(bool is_map) {
    struct gt_rules *rules = gt_mem_array(1, sizeof *rules);
    if (rules)
        rules->items = gt_arena_array(&rules->arena, GT_RULES_MAX, sizeof *rules->items);
    if (!rules || !rules->items) {
        gt_rules_free(rules);
        return NULL;
    }
    rules->is_map = is_map;
    rules->source = "map";
    rules->otherwise = is_map ? "others" : "misc";
    return rules;
}

/* Puts the categories in the order of the rules, without those that a repeated text took away. */
static void list_categories(struct gt_rules *rules) {
    rules->category_count = 0;
    for (size_t i = 0; i < rules->count; i++) {
        size_t place = 0;
        while (place < rules->category_count && rules->categories[place] != rules->items[i].category)
            place++;
        rules->categories[place] = rules->items[i].category;
        rules->category_count += place == rules->category_count;
    }
}

/* Hands them out unless adding them failed. */
static enum gt_status finish_rules(struct gt_rules *made, enum gt_status status, struct gt_rules **out,
                                   struct gt_error *err) {
    list_categories(made);
    if (status == GT_OK && gt_arena_failed(&made->arena))
        status = gt_fail_memory(err);
    if (status == GT_OK)
        *out = made;
    else
        gt_rules_free(made);
    return status;
}

enum gt_status gt_rules_new(const struct gt_rules_request *request, struct gt_rules **out, struct gt_error *err) {
    *out = NULL;
    bool has_rules = request->path || request->engine || request->model;
    if (!has_rules && !request->map)
        return GT_OK;
    if (has_rules && request->map)
        return gt_fail_usage(err, "--rules and --map cannot be combined; both define the categories");
    struct gt_rules *made = gt_rules_build_make(request->map != NULL);
    if (!made)
        return gt_fail_memory(err);
    enum gt_status status =
        request->map ? gt_rules_build_add_map(made, request->map, err) : gt_rules_build_choose(made, request, err);
    return finish_rules(made, status, out, err);
}

enum gt_status gt_rules_new_map(const struct gt_class_key *keys, size_t count, struct gt_rules **out,
                                struct gt_error *err) {
    *out = NULL;
    struct gt_rules *made = gt_rules_build_make(true);
    enum gt_status status = GT_OK;
    if (!made)
        return gt_fail_memory(err);
    for (size_t i = 0; i < count && status == GT_OK; i++)
        status = gt_rules_build_add(made, gt_str_of(keys[i].text), gt_str_of(keys[i].category), err);
    return finish_rules(made, status, out, err);
}

void gt_rules_free(struct gt_rules *rules) {
    if (!rules)
        return;
    for (size_t i = 0; rules->items && i < rules->count; i++)
        gt_pattern_free(rules->items[i].pattern);
    gt_arena_release(&rules->arena);
    gt_mem_free(rules);
}

/* ---- answers ---- */

const char *gt_rules_source(const struct gt_rules *rules) {
    return rules->source;
}

const char *gt_rules_remark(const struct gt_rules *rules) {
    return rules->remark;
}

bool gt_rules_cover_memory(const struct gt_rules *rules) {
    return !rules->is_map;
}

const char *gt_rules_class(const struct gt_rules *rules, size_t index) {
    if (index == 0)
        return rules->otherwise;
    return index <= rules->category_count ? rules->categories[index - 1] : NULL;
}

/* The first substring in the name, unless a later one that contains it is in the name too. */
static const struct gt_rule *match_map(const struct gt_rules *rules, struct gt_str name, struct gt_str *shorter) {
    const struct gt_rule *match = NULL;
    for (size_t i = 0; i < rules->count; i++) {
        const struct gt_rule *rule = &rules->items[i];
        if ((match && !gt_str_find_nocase(rule->text, match->text)) || !gt_str_find_nocase(name, rule->text))
            continue;
        *shorter = match ? match->text : *shorter;
        match = rule;
    }
    return match;
}

static const struct gt_rule *match_expressions(const struct gt_rules *rules, struct gt_str name) {
    for (size_t i = 0; i < rules->count; i++)
        if (gt_pattern_matches(rules->items[i].pattern, name))
            return &rules->items[i];
    return NULL;
}

struct gt_rules_answer gt_rules_ask(const struct gt_rules *rules, struct gt_str name) {
    struct gt_rules_answer answer = {.category = rules->otherwise, .pattern = GT_STR(""), .shorter = GT_STR("")};
    /* As in GPU Performance Analyser, which keeps NCCL apart whatever the map says. */
    if (rules->is_map && (gt_str_find_nocase(name, GT_STR("nccl")) || gt_str_find_nocase(name, GT_STR("rccl")))) {
        answer.category = "nccl";
        return answer;
    }
    const struct gt_rule *match =
        rules->is_map ? match_map(rules, name, &answer.shorter) : match_expressions(rules, name);
    if (match) {
        answer.category = match->category;
        answer.rule = (uint32_t)(match - rules->items) + 1;
        answer.pattern = match->text;
    }
    return answer;
}
