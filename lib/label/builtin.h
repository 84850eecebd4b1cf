/* The built-in categories and rules: data in rules/, answers for single names here. */
#ifndef GT_LABEL_BUILTIN_H
#define GT_LABEL_BUILTIN_H

#include "base/fail.h"
#include "events/labels.h"

/* In the order of rules/categories.def. */
enum gt_builtin_category {
#define CATEGORY(key, time_class, title) GT_CATEGORY_##key,
#include "label/rules/categories.def"
#undef CATEGORY
    GT_CATEGORY_COUNT
};
extern const struct gt_category gt_categories[GT_CATEGORY_COUNT];

/* A rule as people read it. */
struct gt_builtin_rule {
    enum gt_builtin_category category;
    const char *collective; /* NULL: it does not say */
    const char *patterns;
    uint32_t line; /* of rules/builtin.def: the number people know it by */
    bool in_name;  /* looks at the simplified name only */
};
extern const struct gt_builtin_rule gt_builtin_rules[];
extern const size_t gt_builtin_rule_count;

struct gt_builtin_answer {
    uint8_t category;       /* enum gt_builtin_category */
    uint32_t rule;          /* index of the rule that fired; GT_NO_ROW: none */
    struct gt_str pattern;  /* the part of it that matched */
    const char *collective; /* NULL unless it is known */
};

struct gt_builtin;
struct gt_builtin *gt_builtin_new(void); /* NULL: memory was short */
void gt_builtin_free(struct gt_builtin *builtin);

/* `name` is the simplified name, a part of `full`. A kernel that no rule knows is `other`. */
struct gt_builtin_answer gt_builtin_kernel(struct gt_builtin *builtin, struct gt_str full, struct gt_str name);

/* Copies by the direction in their name, sets and graphs by their kind alone; not for kernels. */
enum gt_builtin_category gt_builtin_kind(enum gt_op_kind kind, struct gt_str name);

/* False after memory ran short: answers since then are `other`. */
bool gt_builtin_ok(const struct gt_builtin *builtin);

#endif
