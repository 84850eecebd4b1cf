/* Reads what an XSpace has besides events: one walk over the file, in which planes, lines and events are only
   measured. Names come after the lines that use them, so events are read when this is done. */
#include "decode/xla/xplane_space.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { DENSE_SLACK = 128, DENSE_FACTOR = 4 };

/* ---- words ---- */

static enum gt_status add_word(struct gt_xplane_words *words, uint64_t id, const struct gt_xplane_word *word,
                               struct gt_error *err) {
    uint32_t known = words->count ? gt_map_get(&words->index_of, 0, id) : GT_MAP_NONE;
    if (known != GT_MAP_NONE) { /* of equal keys of a map the last one counts */
        words->list[known] = *word;
        return GT_OK;
    }
    while (words->count == 0 || known == GT_MAP_NONE) {
        struct gt_xplane_word *grown = gt_mem_room(words->list, words->count, &words->capacity, sizeof *grown);
        if (!grown)
            return gt_fail_memory(err);
        words->list = grown;
        if (words->count == 0) {
            words->list[words->count++] = (struct gt_xplane_word){.name = {"", 0}};
            continue;
        }
        known = (uint32_t)words->count++;
        words->list[known] = *word;
    }
    gt_map_put(&words->index_of, 0, id, known);
    return words->index_of.failed ? gt_fail_memory(err) : GT_OK;
}

/* Numbers are usually given out from 1 on. */
static enum gt_status index_words(struct gt_xplane_words *words, struct gt_error *err) {
    const struct gt_map *map = &words->index_of;
    if (words->count == 0) {
        words->list = gt_mem_array(1, sizeof *words->list);
        if (!words->list)
            return gt_fail_memory(err);
        words->count = words->capacity = 1;
        words->list[0].name = (struct gt_str){"", 0};
    }
    words->dense_count = DENSE_FACTOR * words->count + DENSE_SLACK;
    words->dense = gt_mem_array(words->dense_count, sizeof *words->dense);
    if (!words->dense) {
        words->dense_count = 0;
        return gt_fail_memory(err);
    }
    for (size_t i = 0; i < map->slot_count; i++)
        if (map->slots[i].value != GT_MAP_NONE && map->slots[i].key_lo < words->dense_count)
            words->dense[map->slots[i].key_lo] = map->slots[i].value;
    return GT_OK;
}

static void release_words(struct gt_xplane_words *words) {
    gt_map_release(&words->index_of);
    gt_mem_free(words->list);
    gt_mem_free(words->dense);
}

/* An entry of a map from numbers to names: of events with a name to show, which they have where it differs. */
static enum gt_status take_word(struct gt_xplane_space *space, struct gt_xplane_words *words, struct gt_str entry,
                                bool is_event, struct gt_error *err) {
    struct gt_str value = gt_proto_find_bytes(entry, GT_PROTO_BYTES(2));
    struct gt_str shown = is_event ? gt_proto_find_bytes(value, GT_PROTO_BYTES(4)) : (struct gt_str){NULL, 0};
    struct gt_str name = shown.len ? shown : gt_proto_find_bytes(value, GT_PROTO_BYTES(2));
    uint64_t id = gt_proto_find_value(entry, GT_PROTO_VARINT(1), gt_proto_find_value(value, GT_PROTO_VARINT(1), 0));
    struct gt_xplane_word word = {.name = gt_arena_copy(&space->arena, name)};
    if (gt_arena_failed(&space->arena))
        return gt_fail_memory(err);
    if (is_event)
        word.host = gt_xla_names_host(word.name);
    else
        word.stat = gt_xla_names_stat(word.name);
    return add_word(words, id, &word, err);
}

/* ---- stats of planes ---- */

struct stat {
    struct gt_str name, text;
    uint64_t number;
};

static struct stat read_stat(const struct gt_xplane_plane *plane, struct gt_str bytes) {
    struct stat stat = {.text = {"", 0}};
    struct gt_proto fields = gt_proto_of(bytes);
    struct gt_proto_field field;
    const struct gt_xplane_words *words = &plane->stats;
    while (gt_proto_next(&fields, &field)) {
        if (field.tag == GT_PROTO_VARINT(1))
            stat.name = words->list[gt_xplane_space_word(words, field.value)].name;
        else if (field.tag == GT_PROTO_VARINT(3) || field.tag == GT_PROTO_VARINT(4))
            stat.number = field.value;
        else if (field.tag == GT_PROTO_BYTES(5))
            stat.text = field.bytes;
        else if (field.tag == GT_PROTO_VARINT(7))
            stat.text = words->list[gt_xplane_space_word(words, field.value)].name;
    }
    return stat;
}

static void take_plane_stat(struct gt_xplane_space *space, struct gt_xplane_plane *plane, const struct stat *stat) {
    const struct {
        struct gt_str name;
        uint64_t *number;
        struct gt_str *text;
    } stats[] = {
        {GT_STR("gpu_device_name"), NULL, &plane->gpu.name},
        {GT_STR("device_vendor"), NULL, &plane->gpu.vendor},
        {GT_STR("memory_size"), &plane->gpu.memory_bytes, NULL},
        {GT_STR("memory_bandwidth"), &plane->gpu.bandwidth, NULL},
        {GT_STR("clock_rate"), &plane->gpu.clock_khz, NULL},
        {GT_STR("core_count"), &plane->gpu.multiprocessors, NULL},
        {GT_STR("compute_cap_major"), &plane->gpu.compute_major, NULL},
        {GT_STR("compute_cap_minor"), &plane->gpu.compute_minor, NULL},
        {GT_STR("jax_version"), NULL, &space->jax_version},
    };
    for (size_t i = 0; i < GT_ARRAY_COUNT(stats); i++) {
        if (!gt_str_eq(stat->name, stats[i].name))
            continue;
        if (stats[i].number)
            *stats[i].number = stat->number;
        else
            *stats[i].text = gt_arena_copy(&space->arena, stat->text);
    }
    if (gt_str_eq(stat->name, GT_STR("process_id")) && space->pid < 0 && stat->number <= INT32_MAX)
        space->pid = (int64_t)stat->number;
    if (gt_str_eq(stat->name, GT_STR("profile_start_time")) && stat->number <= INT64_MAX)
        space->start_ns = (int64_t)stat->number;
}

/* ---- lines ---- */

static enum gt_status add_piece(struct gt_xplane_space *space, struct gt_xplane_span span, uint32_t line,
                                struct gt_error *err) {
    struct gt_xplane_piece *grown =
        gt_mem_room(space->pieces, space->piece_count, &space->piece_capacity, sizeof *grown);
    if (!grown)
        return gt_fail_memory(err);
    space->pieces = grown;
    space->pieces[space->piece_count++] = (struct gt_xplane_piece){span, line};
    return GT_OK;
}

/* Cuts the events of a line into pieces. */
struct cutting {
    struct gt_xplane_space *space;
    uint32_t line;
    uint64_t begin, end; /* of the piece that is being made; equal: it is empty */
};

static enum gt_status end_piece(struct cutting *cutting, struct gt_error *err) {
    struct gt_xplane_span span = {cutting->begin, cutting->end - cutting->begin};
    if (span.size == 0)
        return GT_OK;
    cutting->begin = cutting->end;
    return add_piece(cutting->space, span, cutting->line, err);
}

static enum gt_status take_event(struct cutting *cutting, const struct gt_xplane_field *field, struct gt_error *err) {
    if (cutting->begin == cutting->end || field->offset - cutting->begin >= cutting->space->piece_bytes) {
        if (end_piece(cutting, err) != GT_OK)
            return GT_ERR;
        cutting->begin = field->offset;
    }
    cutting->end = field->span.offset + field->span.size;
    return GT_OK;
}

static enum gt_status walk_line(struct gt_xplane_space *space, struct gt_xplane_window *window,
                                struct gt_xplane_span span, uint32_t line_number, struct gt_error *err) {
    struct cutting cutting = {.space = space, .line = line_number};
    struct gt_xplane_walk walk = gt_xplane_walk_of(window, span);
    struct gt_xplane_field field;
    enum gt_xplane_step step;
    struct gt_str name = {"", 0};
    int64_t id = 0;
    while ((step = gt_xplane_walk_next(&walk, &field, err)) == GT_XPLANE_STEP_FIELD) {
        if (field.tag == GT_PROTO_BYTES(4)) {
            if (field.span.size > GT_XPLANE_MAX_BYTES) {
                gt_xplane_walk_damage(window, field.offset);
                if (end_piece(&cutting, err) != GT_OK)
                    return GT_ERR;
            } else if (!field.is_clipped && take_event(&cutting, &field, err) != GT_OK)
                return GT_ERR;
        } else if (field.tag == GT_PROTO_VARINT(1)) {
            id = (int64_t)field.value;
        } else if (field.tag == GT_PROTO_VARINT(3)) {
            space->lines[line_number].timestamp_ns = (int64_t)field.value;
        } else if (field.tag == GT_PROTO_BYTES(2)) {
            if (gt_xplane_walk_bytes(window, field.span, &name, err) != GT_OK)
                return GT_ERR;
            name = gt_arena_copy(&space->arena, name);
        }
    }
    struct gt_xplane_line *line = &space->lines[line_number];
    const struct gt_xplane_plane *plane = &space->planes[line->plane];
    line->track = gt_xla_names_line(plane->kind, plane->device, name, id);
    return step == GT_XPLANE_STEP_FAILED ? GT_ERR : end_piece(&cutting, err);
}

/* ---- planes ---- */

/* Lines and stats of the plane that is being read: those wait until its name and its words are known. */
struct waiting {
    struct gt_xplane_span *lines, *stats;
    size_t line_count, line_capacity, stat_count, stat_capacity;
};

static enum gt_status wait_for(struct gt_xplane_span **list, size_t *count, size_t *capacity,
                               struct gt_xplane_span span, struct gt_error *err) {
    struct gt_xplane_span *grown = gt_mem_room(*list, *count, capacity, sizeof *grown);
    if (!grown)
        return gt_fail_memory(err);
    *list = grown;
    (*list)[(*count)++] = span;
    return GT_OK;
}

static enum gt_status take_name(struct gt_xplane_space *space, struct gt_xplane_plane *plane, struct gt_str name,
                                struct gt_error *err) {
    plane->name = gt_arena_copy(&space->arena, name);
    plane->kind = gt_xla_names_plane(plane->name, &plane->device);
    return gt_arena_failed(&space->arena) ? gt_fail_memory(err) : GT_OK;
}

/* Words for events of planes that have no lines for us are not kept: there lie whole programs. */
static enum gt_status take_plane_field(struct gt_xplane_space *space, struct gt_xplane_window *window,
                                       struct gt_xplane_plane *plane, const struct gt_xplane_field *field,
                                       struct waiting *waiting, struct gt_error *err) {
    struct gt_str bytes;
    bool has_no_name = plane->name.len == 0;
    switch (field->tag) {
    case GT_PROTO_BYTES(3):
        return wait_for(&waiting->lines, &waiting->line_count, &waiting->line_capacity, field->span, err);
    case GT_PROTO_BYTES(6):
        return wait_for(&waiting->stats, &waiting->stat_count, &waiting->stat_capacity, field->span, err);
    case GT_PROTO_BYTES(4):
        if (field->is_clipped || (plane->kind == GT_XLA_PLANE_OTHER && !has_no_name))
            return GT_OK;
        break;
    case GT_PROTO_BYTES(2):
    case GT_PROTO_BYTES(5):
        if (field->is_clipped)
            return GT_OK;
        break;
    default:
        return GT_OK;
    }
    if (gt_xplane_walk_bytes(window, field->span, &bytes, err) != GT_OK)
        return GT_ERR;
    if (field->tag == GT_PROTO_BYTES(2))
        return take_name(space, plane, bytes, err);
    bool is_event = field->tag == GT_PROTO_BYTES(4);
    return take_word(space, is_event ? &plane->events : &plane->stats, bytes, is_event, err);
}

static enum gt_status take_waiting(struct gt_xplane_space *space, struct gt_xplane_window *window,
                                   struct gt_xplane_plane *plane, const struct waiting *waiting, struct gt_error *err) {
    struct gt_str bytes;
    bool has_lines = waiting->line_count > 0 && plane->kind != GT_XLA_PLANE_OTHER;
    if (waiting->stat_count == 0 && !has_lines)
        return GT_OK;
    if (index_words(&plane->events, err) != GT_OK || index_words(&plane->stats, err) != GT_OK)
        return GT_ERR;
    for (size_t i = 0; i < waiting->stat_count; i++) {
        if (gt_xplane_walk_bytes(window, waiting->stats[i], &bytes, err) != GT_OK)
            return GT_ERR;
        struct stat stat = read_stat(plane, bytes);
        take_plane_stat(space, plane, &stat);
    }
    for (size_t i = 0; has_lines && i < waiting->line_count; i++) {
        struct gt_xplane_line *grown =
            gt_mem_room(space->lines, space->line_count, &space->line_capacity, sizeof *grown);
        if (!grown)
            return gt_fail_memory(err);
        space->lines = grown;
        space->lines[space->line_count] = (struct gt_xplane_line){.plane = (uint32_t)(plane - space->planes)};
        size_t pieces = space->piece_count;
        if (walk_line(space, window, waiting->lines[i], (uint32_t)space->line_count, err) != GT_OK)
            return GT_ERR;
        space->line_count += space->piece_count > pieces; /* empty ones cost nothing */
    }
    return gt_arena_failed(&space->arena) ? gt_fail_memory(err) : GT_OK;
}

static enum gt_status walk_plane(struct gt_xplane_space *space, struct gt_xplane_window *window,
                                 struct gt_xplane_span span, struct gt_error *err) {
    struct waiting waiting = {0};
    struct gt_xplane_field field;
    enum gt_xplane_step step = GT_XPLANE_STEP_FAILED;
    enum gt_status status = GT_OK;
    struct gt_xplane_plane *grown =
        gt_mem_room(space->planes, space->plane_count, &space->plane_capacity, sizeof *grown);
    if (!grown)
        return gt_fail_memory(err);
    space->planes = grown;
    struct gt_xplane_plane *plane = &space->planes[space->plane_count++];
    *plane = (struct gt_xplane_plane){.name = {"", 0}, .device = -1};
    struct gt_xplane_walk walk = gt_xplane_walk_of(window, span);
    while (status == GT_OK && (step = gt_xplane_walk_next(&walk, &field, err)) == GT_XPLANE_STEP_FIELD)
        status = take_plane_field(space, window, plane, &field, &waiting, err);
    if (status == GT_OK)
        status = step == GT_XPLANE_STEP_FAILED ? GT_ERR : take_waiting(space, window, plane, &waiting, err);
    gt_mem_free(waiting.lines);
    gt_mem_free(waiting.stats);
    if (status == GT_OK && plane->kind == GT_XLA_PLANE_OTHER) { /* all that it says is known now */
        release_words(&plane->events);
        release_words(&plane->stats);
        space->tpu_count += waiting.line_count > 0 && gt_xla_names_is_tpu(plane->name);
        space->plane_count--;
    }
    return status;
}

/* A thread may have several lines, with names of their own: the first of them is the thread's, whichever line is read
   first. */
static enum gt_status name_threads(struct gt_xplane_space *space, struct gt_error *err) {
    struct gt_map line_of = {0}; /* by thread: the first line with a name */
    for (size_t i = 0; i < space->line_count; i++) {
        const struct gt_xla_line *track = &space->lines[i].track;
        if (track->kind == GT_XLA_LINE_THREAD && track->name.len)
            gt_map_put_if_new(&line_of, 0, (uint64_t)track->number, (uint32_t)i);
    }
    for (size_t i = 0; i < space->line_count && !line_of.failed; i++) {
        struct gt_xla_line *track = &space->lines[i].track;
        uint32_t named = gt_map_get(&line_of, 0, (uint64_t)track->number);
        if (track->kind == GT_XLA_LINE_THREAD && named != GT_MAP_NONE)
            track->name = space->lines[named].track.name;
    }
    enum gt_status status = line_of.failed ? gt_fail_memory(err) : GT_OK;
    gt_map_release(&line_of);
    return status;
}

/* ---- the file ---- */

static void take_warning(struct gt_xplane_space *space, struct gt_str text) {
    static const char *const words[] = {"drop", "lost", "truncat", "exceed"};
    space->loss_count += gt_str_has_any_nocase(text, words, GT_ARRAY_COUNT(words));
}

static enum gt_status take_text(struct gt_xplane_space *space, struct gt_xplane_window *window,
                                const struct gt_xplane_field *field, struct gt_error *err) {
    struct gt_str bytes;
    if (gt_xplane_walk_bytes(window, field->span, &bytes, err) != GT_OK)
        return GT_ERR;
    if (field->tag != GT_PROTO_BYTES(4))
        take_warning(space, bytes);
    else if (space->host.len == 0)
        space->host = gt_arena_copy(&space->arena, bytes);
    return gt_arena_failed(&space->arena) ? gt_fail_memory(err) : GT_OK;
}

enum gt_status gt_xplane_space_init(struct gt_xplane_space *space, struct gt_xplane_window *window, size_t piece_bytes,
                                    struct gt_error *err) {
    *space = (struct gt_xplane_space){.pid = -1, .piece_bytes = piece_bytes, .host = {"", 0}, .jax_version = {"", 0}};
    gt_arena_init(&space->arena);
    struct gt_xplane_walk walk = gt_xplane_walk_of(window, (struct gt_xplane_span){0, window->size});
    struct gt_xplane_field field;
    enum gt_xplane_step step;
    while ((step = gt_xplane_walk_next(&walk, &field, err)) == GT_XPLANE_STEP_FIELD) {
        enum gt_status status = GT_OK;
        if (field.tag == GT_PROTO_BYTES(1))
            status = walk_plane(space, window, field.span, err);
        else if (field.tag == GT_PROTO_BYTES(2) || field.tag == GT_PROTO_BYTES(3) || field.tag == GT_PROTO_BYTES(4))
            status = take_text(space, window, &field, err);
        if (status != GT_OK)
            return status;
    }
    return step == GT_XPLANE_STEP_FAILED ? GT_ERR : name_threads(space, err);
}

void gt_xplane_space_release(struct gt_xplane_space *space) {
    for (size_t i = 0; i < space->plane_count; i++) {
        release_words(&space->planes[i].events);
        release_words(&space->planes[i].stats);
    }
    gt_mem_free(space->planes);
    gt_mem_free(space->lines);
    gt_mem_free(space->pieces);
    gt_arena_release(&space->arena);
}
