/* JSON of configuration files as a tree that keeps order and places. The traces have a scanner of their own. */
#ifndef GT_BASE_JSON_TREE_H
#define GT_BASE_JSON_TREE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"

enum gt_json_type {
    GT_JSON_NULL,
    GT_JSON_FALSE,
    GT_JSON_TRUE,
    GT_JSON_NUMBER,
    GT_JSON_STRING,
    GT_JSON_ARRAY,
    GT_JSON_OBJECT
};

struct gt_json {
    enum gt_json_type type;
    struct gt_str key;            /* inside an object, else empty; NUL-terminated like text */
    struct gt_str text;           /* of a string; of a number as it is written */
    struct gt_json *first, *next; /* first child; the one after this of the same parent */
    unsigned line, column;        /* where it begins (inside an object: where its key does), from 1 */
};

/* Reads a whole document of UTF-8. Forgiven: a byte order mark, // and # and block comments, commas after the last
   item. A key that comes twice stays twice. Errors are GT_ERR with line and column, without the file's name. The tree
   lives in the arena and does not refer to the input. Linear. */
enum gt_status gt_json_tree_parse(struct gt_str input, struct gt_arena *arena, struct gt_json **out,
                                  struct gt_error *err);

/* The same of a file (packed or not), of at most 16 MiB; errors begin with its name. */
enum gt_status gt_json_tree_read(const char *path, struct gt_arena *arena, struct gt_json **out, struct gt_error *err);

/* The last child of an object with this key, as in most readers of JSON; NULL if there is none. */
const struct gt_json *gt_json_tree_find(const struct gt_json *object, const char *key);

/* "an object", "a string" ... for messages. */
const char *gt_json_tree_type_name(enum gt_json_type type);

#endif
