/* Every rule there is, for people to look at: the built-in ones, those of all engines and those of a user's files. */
#ifndef GT_LABEL_RULES_CATALOG_H
#define GT_LABEL_RULES_CATALOG_H

#include "base/arena.h"
#include "label/rules.h"

struct gt_rule_entry {
    const char *model;       /* "builtin", "vllm/llama"; the file for rules of no model */
    const char *source;      /* "built-in", or the file */
    const char *replaced_by; /* the file with a later model of the same name; NULL: these are the ones that count */
    uint32_t number;         /* as reports show it */
    const char *category, *pattern;
};

struct gt_rules_catalog {
    struct gt_arena arena;
    struct gt_rule_entry *entries; /* in the order rules are tried, model after model */
    size_t count, capacity;
};

/* Reads and checks all files: a bad one is an error. Release also after a failure. */
enum gt_status gt_rules_catalog_init(struct gt_rules_catalog *catalog, const struct gt_rules_request *request,
                                     struct gt_error *err);
void gt_rules_catalog_release(struct gt_rules_catalog *catalog);

#endif
