/* The built-in categories: rules/builtin.def and the kinds of ops come in, the category of a name and the rule that
   says so go out. */
#include "label/builtin.h"

#include "base/mem.h"
#include "label/globs.h"

const struct gt_category gt_categories[GT_CATEGORY_COUNT] = {
#define CATEGORY(key, time_class, title) {#key, title, GT_CLASS_##time_class},
#include "label/rules/categories.def"
#undef CATEGORY
};

const struct gt_builtin_rule gt_builtin_rules[] = {
#define FULL(category, patterns)   {GT_CATEGORY_##category, NULL, patterns, __LINE__, false},
#define NAME(category, patterns)   {GT_CATEGORY_##category, NULL, patterns, __LINE__, true},
#define COMM(collective, patterns) {GT_CATEGORY_comm, #collective, patterns, __LINE__, false},
#include "label/rules/builtin.def"
#undef FULL
#undef NAME
#undef COMM
};
const size_t gt_builtin_rule_count = sizeof gt_builtin_rules / sizeof *gt_builtin_rules;

struct gt_builtin {
    struct gt_globs globs;
};

struct gt_builtin *gt_builtin_new(void) {
    struct gt_builtin *builtin = gt_mem_array(1, sizeof *builtin);
    bool ok = builtin != NULL;
    for (size_t i = 0; ok && i < gt_builtin_rule_count; i++) {
        const struct gt_builtin_rule *rule = &gt_builtin_rules[i];
        ok = gt_globs_add(&builtin->globs, (uint32_t)i, rule->in_name ? GT_GLOB_NAME : GT_GLOB_FULL, rule->patterns) &&
             gt_builtin_ok(builtin);
    }
    if (ok)
        return builtin;
    gt_builtin_free(builtin);
    return NULL;
}

void gt_builtin_free(struct gt_builtin *builtin) {
    if (!builtin)
        return;
    gt_globs_release(&builtin->globs);
    gt_mem_free(builtin);
}

bool gt_builtin_ok(const struct gt_builtin *builtin) {
    return !builtin->globs.failed;
}

struct gt_builtin_answer gt_builtin_kernel(struct gt_builtin *builtin, struct gt_str full, struct gt_str name) {
    uint32_t match = gt_globs_match(&builtin->globs, full, name);
    if (match == GT_GLOBS_NONE)
        return (struct gt_builtin_answer){.category = GT_CATEGORY_other, .rule = GT_NO_ROW, .pattern = GT_STR("")};
    const struct gt_glob *glob = &builtin->globs.items[match];
    const struct gt_builtin_rule *rule = &gt_builtin_rules[glob->rule];
    return (struct gt_builtin_answer){
        .category = (uint8_t)rule->category, .rule = glob->rule, .pattern = glob->text, .collective = rule->collective};
}

/* What profilers call the directions of copies; the first that a name has in it, in any case. */
static const struct {
    struct gt_str word;
    enum gt_builtin_category category;
} directions[] = {
    {GT_STR("htod"), GT_CATEGORY_memcpy_h2d},           {GT_STR("host-to-device"), GT_CATEGORY_memcpy_h2d},
    {GT_STR("hosttodevice"), GT_CATEGORY_memcpy_h2d},   {GT_STR("htoa"), GT_CATEGORY_memcpy_h2d},
    {GT_STR("host-to-array"), GT_CATEGORY_memcpy_h2d},  {GT_STR("dtoh"), GT_CATEGORY_memcpy_d2h},
    {GT_STR("device-to-host"), GT_CATEGORY_memcpy_d2h}, {GT_STR("devicetohost"), GT_CATEGORY_memcpy_d2h},
    {GT_STR("atoh"), GT_CATEGORY_memcpy_d2h},           {GT_STR("array-to-host"), GT_CATEGORY_memcpy_d2h},
    {GT_STR("ptop"), GT_CATEGORY_memcpy_p2p},           {GT_STR("peer"), GT_CATEGORY_memcpy_p2p},
    {GT_STR("dtod"), GT_CATEGORY_memcpy_d2d},           {GT_STR("device-to-device"), GT_CATEGORY_memcpy_d2d},
    {GT_STR("devicetodevice"), GT_CATEGORY_memcpy_d2d}, {GT_STR("dtoa"), GT_CATEGORY_memcpy_d2d},
    {GT_STR("atod"), GT_CATEGORY_memcpy_d2d},           {GT_STR("atoa"), GT_CATEGORY_memcpy_d2d},
    {GT_STR("array"), GT_CATEGORY_memcpy_d2d},
};

enum gt_builtin_category gt_builtin_kind(enum gt_op_kind kind, struct gt_str name) {
    if (kind == GT_OP_MEMSET)
        return GT_CATEGORY_memset;
    if (kind != GT_OP_MEMCPY)
        return kind == GT_OP_GRAPH ? GT_CATEGORY_graph : GT_CATEGORY_other;
    for (size_t i = 0; i < sizeof directions / sizeof *directions; i++)
        if (gt_str_find_nocase(name, directions[i].word))
            return directions[i].category;
    return GT_CATEGORY_memcpy;
}
