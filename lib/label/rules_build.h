/* How rules come into being: the readers of files and the built-in engines add one rule after the other. */
#ifndef GT_LABEL_RULES_BUILD_H
#define GT_LABEL_RULES_BUILD_H

#include "base/arena.h"
#include "base/json_tree.h"
#include "base/pattern.h"
#include "label/rules.h"

/* Twice the categories, for compute and communication, and those of memory ops must fit a byte. */
enum { GT_RULES_MAX = 4096, GT_RULES_MAX_CATEGORIES = 120, GT_RULES_MAX_MODELS = 1024 };

struct gt_rule {
    struct gt_str text;         /* the expression or substring */
    struct gt_pattern *pattern; /* NULL in a map */
    const char *category;
};

struct gt_rules {
    struct gt_arena arena;
    const char *source;
    const char *remark;    /* NULL: they replace nothing */
    const char *otherwise; /* category of what no rule knows */
    bool is_map;
    struct gt_rule *items; /* room for GT_RULES_MAX */
    size_t count;
    const char *categories[GT_RULES_MAX_CATEGORIES];
    size_t category_count;
};

struct gt_rules *gt_rules_build_make(bool is_map); /* without rules; NULL: memory was short */

/* Adds a rule; its texts are copied. A repeated text keeps its place and takes the new category, as in a JSON object.
 */
enum gt_status gt_rules_build_add(struct gt_rules *rules, struct gt_str text, struct gt_str category,
                                  struct gt_error *err);

/* rules_engines.c: the built-in engines. */
enum gt_status gt_rules_build_add_engine(struct gt_rules *rules, struct gt_str engine, struct gt_str model,
                                         struct gt_error *err);
/* The models of the built-in engines, one after the other. False: there are not so many. */
bool gt_rules_build_engine_model(size_t index, struct gt_str *engine, struct gt_str *model);

/* rules_file.c: the models of files. */
struct gt_rule_model {
    const char *path;            /* NULL: of a built-in engine, which has no object of rules */
    struct gt_str engine, model; /* empty: a file of rules alone */
    const struct gt_json *rules; /* object */
};

struct gt_rule_files {
    struct gt_arena arena;
    struct gt_rule_model *models; /* in the order they were read */
    size_t count, capacity;
};

enum gt_status gt_rules_build_files_add(struct gt_rule_files *files, struct gt_rule_model model, struct gt_error *err);
enum gt_status gt_rules_build_files_read(struct gt_rule_files *files, const char *path, struct gt_error *err);
void gt_rules_build_files_release(struct gt_rule_files *files);
enum gt_status gt_rules_build_add_model(struct gt_rules *rules, const struct gt_rule_model *model,
                                        struct gt_error *err);

/* rules_choose.c: every model there is, in the order they replace each other; then the one that is asked for. */
enum gt_status gt_rules_build_files_gather(struct gt_rule_files *files, const struct gt_rules_request *request,
                                           struct gt_error *err);
/* The model of the same name that comes last before `index` (or at all, with that of the count); NULL if none does. */
const struct gt_rule_model *gt_rules_build_files_find(const struct gt_rule_files *files, struct gt_str engine,
                                                      struct gt_str model, size_t index);
enum gt_status gt_rules_build_choose(struct gt_rules *rules, const struct gt_rules_request *request,
                                     struct gt_error *err);

enum gt_status gt_rules_build_add_map(struct gt_rules *rules, const char *path, struct gt_error *err);

#endif
