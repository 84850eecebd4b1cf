/* Maps of phases: a JSON file or the built-in table comes in, patterns in order go out. */
#include "measure/results/phase_map.h"

#include <string.h>

#include "base/json_tree.h"
#include "base/mem.h"
#include "base/pattern.h"
#include "measure/results/measure.h"

enum { MOST_PATTERNS = 24 }; /* of a built-in phase */

static const struct common_phase {
    const char *name;
    const char *patterns[MOST_PATTERNS + 1];
} common_phases[] = {
#define GT_PHASE(name, ...) {name, {__VA_ARGS__}},
#include "measure/results/phases.def"
#undef GT_PHASE
};

/* Which letters a text has, a bit each, whatever their case. */
static uint32_t letters_of(struct gt_str text) {
    uint32_t letters = 0;
    for (size_t i = 0; i < text.len; i++) {
        unsigned place = (unsigned char)(text.ptr[i] | 0x20) - (unsigned)'a';
        letters |= place < 26 ? 1u << place : 0;
    }
    return letters;
}

/* The letters that a text must have for an expression to fit, as far as that is plain to see: those outside groups,
   classes and escapes that nothing makes optional. */
static uint32_t letters_of_expression(struct gt_str text) {
    uint32_t letters = 0;
    for (size_t i = 0, depth = 0; i < text.len; i++) {
        char c = text.ptr[i], next = i + 1 < text.len ? text.ptr[i + 1] : 0;
        if (c == '|' && depth == 0)
            return 0;
        depth += c == '(' || c == '[';
        depth -= depth && (c == ')' || c == ']');
        i += c == '\\';
        if (depth == 0 && c != '\\' && !strchr("?*{", next ? next : ' '))
            letters |= letters_of((struct gt_str){&text.ptr[i], 1});
    }
    return letters;
}

static enum gt_status add_pattern(struct gt_phase_map *map, const char *text, uint32_t phase, struct gt_error *err) {
    struct gt_phase_pattern *grown =
        gt_mem_room(map->patterns, map->pattern_count, &map->pattern_capacity, sizeof *grown);
    if (!grown)
        return gt_fail_memory(err);
    map->patterns = grown;
    struct gt_phase_pattern *added = &map->patterns[map->pattern_count];
    struct gt_str rest = gt_str_of(text);
    bool is_expression = gt_str_take_start(&rest, GT_STR("re:"));
    *added = (struct gt_phase_pattern){.phase = phase,
                                       .letters = !is_expression    ? letters_of(rest)
                                                  : map->is_guessed ? letters_of_expression(rest)
                                                                    : 0};
    enum gt_status status = gt_pattern_new(text, &added->pattern, err);
    map->pattern_count += status == GT_OK;
    return status;
}

static enum gt_status add_common(struct gt_phase_map *map, struct gt_error *err) {
    enum gt_status status = GT_OK;
    map->is_guessed = true;
    map->phase_count = GT_ARRAY_COUNT(common_phases);
    map->phases = gt_arena_array(&map->arena, map->phase_count, sizeof *map->phases);
    if (!map->phases)
        return gt_fail_memory(err);
    for (uint32_t i = 0; i < map->phase_count; i++) {
        map->phases[i] = gt_str_of(common_phases[i].name);
        for (size_t p = 0; common_phases[i].patterns[p] && status == GT_OK; p++)
            status = add_pattern(map, common_phases[i].patterns[p], i, err);
    }
    return status;
}

static enum gt_status add_item(struct gt_phase_map *map, const struct gt_json *item, uint32_t phase,
                               struct gt_error *err) {
    if (item->type == GT_JSON_STRING && item->text.len)
        return add_pattern(map, item->text.ptr, phase, err);
    return gt_fail_usage(err, "a pattern must be a non-empty string, not %s", gt_json_tree_type_name(item->type));
}

static enum gt_status add_phase(struct gt_phase_map *map, const struct gt_json *item, struct gt_error *err) {
    uint32_t phase = (uint32_t)map->phase_count;
    map->phases[map->phase_count++] = item->key;
    if (item->type != GT_JSON_ARRAY)
        return add_item(map, item, phase, err);
    enum gt_status status = GT_OK;
    for (const struct gt_json *part = item->first; part && status == GT_OK; part = part->next)
        status = add_item(map, part, phase, err);
    return status;
}

static enum gt_status add_file(struct gt_phase_map *map, const char *path, struct gt_error *err) {
    struct gt_json *root;
    size_t count = 0;
    enum gt_status status = gt_json_tree_read(path, &map->arena, &root, err);
    if (status != GT_OK)
        return status;
    if (root->type != GT_JSON_OBJECT)
        return gt_fail_usage(err,
                             "'%s': line %u, column %u: a phase map must be an object {phase: [pattern, ...]}, not %s",
                             path, root->line, root->column, gt_json_tree_type_name(root->type));
    for (const struct gt_json *item = root->first; item; item = item->next)
        count++;
    map->phases = gt_arena_array(&map->arena, count, sizeof *map->phases);
    if (!map->phases)
        return gt_fail_memory(err);
    for (const struct gt_json *item = root->first; item && status == GT_OK; item = item->next)
        if (add_phase(map, item, err) != GT_OK)
            status = gt_fail_context(err, "'%s': line %u, column %u: phase '%.100s'", path, item->line, item->column,
                                     item->key.ptr);
    return status;
}

enum gt_status gt_phase_map_init(struct gt_phase_map *map, const char *path, struct gt_error *err) {
    *map = (struct gt_phase_map){0};
    return path ? add_file(map, path, err) : add_common(map, err);
}

void gt_phase_map_release(struct gt_phase_map *map) {
    for (size_t i = 0; i < map->pattern_count; i++)
        gt_pattern_free(map->patterns[i].pattern);
    gt_mem_free(map->patterns);
    gt_arena_release(&map->arena);
    *map = (struct gt_phase_map){0};
}

uint32_t gt_phase_map_find(const struct gt_phase_map *map, struct gt_str name) {
    uint32_t letters = letters_of(name);
    for (size_t i = 0; i < map->pattern_count; i++)
        if (!(map->patterns[i].letters & ~letters) && gt_pattern_matches(map->patterns[i].pattern, name))
            return map->patterns[i].phase;
    return GT_NO_PHASE;
}
