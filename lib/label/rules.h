/* A user's rules for categories: regular expressions by engine and model, or a map of substrings. */
#ifndef GT_LABEL_RULES_H
#define GT_LABEL_RULES_H

#include <stdint.h>

#include "base/error.h"
#include "base/str.h"

struct gt_rules;

/* rules: "FILE,ENGINE,MODEL"; "FILE" where it holds one model only; "ENGINE,MODEL" of the built-in engines and of the
          user's files in $XDG_CONFIG_HOME/gputime/rules. FILE may be a folder of *.json files, of which the later in
          alphabetical order wins.
   map:   "FILE" of substrings.
   At most one may be given; without both *out is NULL, which stands for the built-in rules. What is wrong in a file is
   told with its name, engine, model and place. */
enum gt_status gt_rules_new(const char *rules, const char *map, struct gt_rules **out, struct gt_error *err);
void gt_rules_free(struct gt_rules *rules); /* NULL is fine */

const char *gt_rules_source(const struct gt_rules *rules); /* "vllm/llama", "map"; the file for rules of no model */
bool gt_rules_cover_memory(const struct gt_rules *rules);  /* false: copies and sets keep the built-in categories */

/* The category of what no rule knows, then those of the rules as they first appear; NULL behind the last. */
const char *gt_rules_class(const struct gt_rules *rules, size_t index);

/* The category of a name, and the number of the rule that says so, from 1; 0 where none does. Every name gets one. */
const char *gt_rules_category(const struct gt_rules *rules, struct gt_str name, uint32_t *number);
/* Of a map: the number of the key that would decide if a longer one that contains it did not; 0: there is none. */
uint32_t gt_rules_shorter(const struct gt_rules *rules, struct gt_str name);
struct gt_str gt_rules_pattern(const struct gt_rules *rules, uint32_t number);

#endif
