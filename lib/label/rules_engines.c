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

enum gt_status gt_rules_build_add_engine(struct gt_rules *rules, struct gt_str engine, struct gt_str model,
                                         struct gt_error *err) {
    for (size_t i = 0; i < ENGINE_RULE_COUNT; i++) {
        const struct engine_rule *rule = &engine_rules[i];
        if (!gt_str_eq(gt_str_of(rule->engine), engine) || !gt_str_eq(gt_str_of(rule->model), model))
            continue;
        enum gt_status status = gt_rules_build_add(rules, gt_str_of(rule->expression), gt_str_of(rule->category), err);
        if (status != GT_OK)
            return gt_fail_context(err, "built-in engine '%s', model '%s'", rule->engine, rule->model);
    }
    return GT_OK;
}

bool gt_rules_build_engine_model(size_t index, struct gt_str *engine, struct gt_str *model) {
    for (size_t i = 0; i < ENGINE_RULE_COUNT; i++) {
        const struct engine_rule *rule = &engine_rules[i], *before = i ? rule - 1 : NULL;
        bool is_new = !before || strcmp(rule->engine, before->engine) != 0 || strcmp(rule->model, before->model) != 0;
        if (!is_new || index--)
            continue;
        *engine = gt_str_of(rule->engine);
        *model = gt_str_of(rule->model);
        return true;
    }
    return false;
}
