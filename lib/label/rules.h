/* A user's rules for categories: regular expressions by engine and model, or a map of substrings. */
#ifndef GT_LABEL_RULES_H
#define GT_LABEL_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fail.h"
#include "base/str.h"

struct gt_rules;

/* Where a name represents a file, it may be a folder of *.json files, of which the later in alphabetical order wins. */
struct gt_rules_request {
    const char *path;           /* of rules; NULL: all there are */
    const char *engine, *model; /* both, or neither: the only model of the path */
    const char *map;            /* path of substrings; instead of the others */
    /* What there is next to the built-in engines and the user's own files in $XDG_CONFIG_HOME/gputime/rules. A later
       file adds its models, and replaces those of the same name. */
    const char *const *files;
    size_t file_count;
};

/* Without path, engine and map *out is NULL, which represents the built-in rules. What is wrong in a file is reported
   with its name, engine, model and place. */
enum gt_status gt_rules_new(const struct gt_rules_request *request, struct gt_rules **out, struct gt_error *err);

/* A map that is not in a file: names of kernels with this substring are of this class. */
struct gt_class_key {
    const char *text, *category;
};
enum gt_status gt_rules_new_map(const struct gt_class_key *keys, size_t count, struct gt_rules **out,
                                struct gt_error *err);
void gt_rules_free(struct gt_rules *rules); /* NULL is fine */

const char *gt_rules_source(const struct gt_rules *rules); /* "vllm/llama", "map"; the file for rules of no model */
const char *gt_rules_remark(const struct gt_rules *rules); /* a sentence on rules that these replace; NULL: none */
bool gt_rules_cover_memory(const struct gt_rules *rules);  /* false: copies and sets keep the built-in categories */

/* The category of what no rule knows, then those of the rules as they first appear; NULL after the last. */
const char *gt_rules_class(const struct gt_rules *rules, size_t index);

struct gt_rules_answer {
    const char *category;  /* every name gets one */
    uint32_t rule;         /* the number of the one that says so, from 1; 0: none does */
    struct gt_str pattern; /* its expression or key; else empty */
    struct gt_str shorter; /* of a map: an earlier key that is a part of this one, and decides where this is not in the
                              name; else empty */
};
struct gt_rules_answer gt_rules_ask(const struct gt_rules *rules, struct gt_str name);

#endif
