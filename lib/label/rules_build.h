/* How rules come into being: the readers of files and the built-in engines add one rule after the other. */
#ifndef GT_LABEL_RULES_BUILD_H
#define GT_LABEL_RULES_BUILD_H

#include "base/arena.h"
#include "base/json_tree.h"
#include "base/pattern.h"
#include "label/rules.h"

/* Twice the categories, for compute and communication, and those of memory ops must fit a byte. */
enum { GT_RULES_MAX = 4096, GT_RULES_MAX_CATEGORIES = 120 };

struct gt_rule {
    struct gt_str text;         /* the expression or substring */
    struct gt_pattern *pattern; /* NULL in a map */
    const char *category;
};

struct gt_rules {
    struct gt_arena arena;
    const char *source;
    const char *otherwise; /* category of what no rule knows */
    bool is_map;
    struct gt_rule *items; /* room for GT_RULES_MAX */
    size_t count;
    const char *categories[GT_RULES_MAX_CATEGORIES];
    size_t category_count;
};

/* Adds a rule; its texts are copied. A repeated text keeps its place and takes the new category, as in a JSON object.
 */
enum gt_status gt_rules_add(struct gt_rules *rules, struct gt_str text, struct gt_str category, struct gt_error *err);

/* rules_engines.c: the built-in engines. False: it has no such model. */
enum gt_status gt_rules_add_engine(struct gt_rules *rules, struct gt_str engine, struct gt_str model, bool *found,
                                   struct gt_error *err);
/* "vllm: llama, ds, gpt-oss; sglang: ..." */
void gt_rules_list_engines(struct gt_arena *arena, struct gt_str *text);

/* rules_file.c: the models of files. */
struct gt_rule_model {
    const char *path;
    struct gt_str engine, model; /* empty: a file of rules alone */
    const struct gt_json *rules; /* object */
};

struct gt_rule_files {
    struct gt_arena arena;
    struct gt_rule_model *models; /* in the order they were read */
    size_t count, capacity;
};

enum gt_status gt_rule_files_read(struct gt_rule_files *files, const char *path, struct gt_error *err);
void gt_rule_files_release(struct gt_rule_files *files);
enum gt_status gt_rules_add_model(struct gt_rules *rules, const struct gt_rule_model *model, struct gt_error *err);
enum gt_status gt_rules_add_map(struct gt_rules *rules, const char *path, struct gt_error *err);

#endif
