/* What follows the path of an address: parameters, decoded and checked. */
#ifndef GT_VIEWING_QUERY_H
#define GT_VIEWING_QUERY_H

#include <stdint.h>

#include "base/arena.h"
#include "base/fail.h"

enum { GT_VIEWING_QUERY_PARAMETERS = 16 };

struct gt_viewing_query {
    struct gt_str keys[GT_VIEWING_QUERY_PARAMETERS];
    struct gt_str values[GT_VIEWING_QUERY_PARAMETERS]; /* terminated; not empty, since an empty one is none */
    size_t count;
    struct gt_arena arena; /* owns them */
};

/* Parses "a=1&b=x%20y". allowed: "a,b", the keys that there are; others, keys that come twice, broken escapes and NULs
   are usage errors. Release also after a failure. */
enum gt_status gt_viewing_query_parse(struct gt_viewing_query *query, struct gt_str text, const char *allowed,
                                      struct gt_error *err);
void gt_viewing_query_release(struct gt_viewing_query *query);

/* NULL: not given. */
const char *gt_viewing_query_text(const struct gt_viewing_query *query, const char *key);

/* A whole number from min to max; *value stays as it is where none is given. */
enum gt_status gt_viewing_query_int(const struct gt_viewing_query *query, const char *key, int64_t min, int64_t max,
                                    int64_t *value, struct gt_error *err);

/* A time in ns, small enough that differences of two cannot overflow. */
#define GT_VIEWING_QUERY_TIME_MAX (INT64_C(1) << 61)
enum gt_status gt_viewing_query_time(const struct gt_viewing_query *query, const char *key, int64_t *value,
                                     struct gt_error *err);

/* One of "a|b|c" by its number; *value stays where none is given. */
enum gt_status gt_viewing_query_choice(const struct gt_viewing_query *query, const char *key, const char *choices,
                                       unsigned *value, struct gt_error *err);

/* "a,b" as an array in the query's arena; *count is 0 and the result NULL where none is given. */
enum gt_status gt_viewing_query_keys(struct gt_viewing_query *query, const char *key, const char *const **out,
                                     size_t *count, struct gt_error *err);

/* "1,2,5" likewise. */
enum gt_status gt_viewing_query_numbers(struct gt_viewing_query *query, const char *key, uint32_t **out, size_t *count,
                                        struct gt_error *err);

#endif
