/* The rules of the built-in engines: rules/engines.def comes in, the rules of one model go out. */
#include "label/rules_build.h"

struct engine_rule {
    const char *engine, *model, *expression, *category;
};

static const struct engine_rule engine_rules[] = {
#define RULE(engine, model, category, expression) {engine, model, expression, category},
#include "label/rules/engines.def"
#undef RULE
};
#define ENGINE_RULE_COUNT (sizeof engine_rules / sizeof *engine_rules)

enum gt_status gt_rules_add_engine(struct gt_rules *rules, struct gt_str engine, struct gt_str model, bool *found,
                                   struct gt_error *err) {
    *found = false;
    for (size_t i = 0; i < ENGINE_RULE_COUNT; i++) {
        const struct engine_rule *rule = &engine_rules[i];
        if (!gt_str_eq(gt_str_of(rule->engine), engine) || !gt_str_eq(gt_str_of(rule->model), model))
            continue;
        enum gt_status status = gt_rules_add(rules, gt_str_of(rule->expression), gt_str_of(rule->category), err);
        if (status != GT_OK)
            return gt_fail_context(err, "built-in engine '%s', model '%s'", rule->engine, rule->model);
        *found = true;
    }
    return GT_OK;
}

void gt_rules_list_engines(struct gt_arena *arena, struct gt_str *text) {
    *text = GT_STR("");
    for (size_t i = 0; i < ENGINE_RULE_COUNT; i++) {
        const struct engine_rule *rule = &engine_rules[i], *before = i ? rule - 1 : NULL;
        if (!before || strcmp(rule->engine, before->engine) != 0)
            *text = gt_arena_printf(arena, "%s%s%s: %s", text->ptr, i ? "; " : "", rule->engine, rule->model);
        else if (strcmp(rule->model, before->model) != 0)
            *text = gt_arena_printf(arena, "%s, %s", text->ptr, rule->model);
    }
}
