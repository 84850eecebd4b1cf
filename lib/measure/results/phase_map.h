/* Which phase of the program a range belongs to, by its name: as a user's file says, or by names that are common. */
#ifndef GT_MEASURE_RESULTS_PHASE_MAP_H
#define GT_MEASURE_RESULTS_PHASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"

#define GT_NO_PHASE       UINT32_MAX
#define GT_PHASE_UNMAPPED GT_STR("unmapped") /* what tables call it */

struct gt_phase_map {
    struct gt_arena arena;
    struct gt_str *phases; /* in the order of the file */
    size_t phase_count;
    struct gt_phase_pattern {
        struct gt_pattern *pattern;
        uint32_t phase;
        uint32_t letters; /* that a name must have to fit */
    } * patterns;         /* the first that fits wins */
    size_t pattern_count, pattern_capacity;
    bool is_guessed;
};

/* path: {"phase": "pattern" or ["pattern", ...], ...}; NULL: the common names. What is wrong with the file is a usage
   error with its place. Release in any case. */
enum gt_status gt_phase_map_init(struct gt_phase_map *map, const char *path, struct gt_error *err);
void gt_phase_map_release(struct gt_phase_map *map);

uint32_t gt_phase_map_find(const struct gt_phase_map *map, struct gt_str name); /* GT_NO_PHASE if none fits */

#endif
