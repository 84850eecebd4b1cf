/* Columns of names, counters, categories and of the input itself. */
#include "base/mem.h"
#include "base/ns.h"
#include "events/counter_track.h"
#include "frame/frame_makers.h"

/* ---- names of ops ---- */

/* The names that ops have, in order of their first ops, with what is summed of each. */
struct gt_frame_names {
    gt_strid *ids;
    uint32_t *ops;
    int64_t *total_ns;
    uint8_t *category; /* of the first op */
    size_t count;
};

static const struct gt_frame_names *names_of(struct gt_frames *frames, struct gt_error *err) {
    const struct gt_store *store = frames->trace.store;
    if (frames->names)
        return frames->names;
    struct gt_frame_names names = {0}, *kept = gt_arena_array(&frames->arena, 1, sizeof *kept);
    uint32_t *place = gt_mem_array(store->strings.count, sizeof *place); /* + 1; 0: no op has it */
    for (size_t i = 0; i < store->ops.count && place; i++)
        if (!place[store->ops.name[i]])
            place[store->ops.name[i]] = (uint32_t)++names.count;
    names.ids = gt_arena_array(&frames->arena, names.count, sizeof *names.ids);
    names.ops = gt_arena_array(&frames->arena, names.count, sizeof *names.ops);
    names.total_ns = gt_arena_array(&frames->arena, names.count, sizeof *names.total_ns);
    names.category = gt_arena_array(&frames->arena, names.count, sizeof *names.category);
    if (!kept || !place || !names.ids || !names.ops || !names.total_ns || !names.category) {
        gt_mem_free(place);
        gt_fail_memory(err);
        return NULL;
    }
    for (size_t i = 0; i < store->ops.count; i++) {
        uint32_t at = place[store->ops.name[i]] - 1;
        names.ids[at] = store->ops.name[i];
        if (!names.ops[at]++)
            names.category[at] = frames->trace.labels->op_category[i];
        names.total_ns[at] = gt_ns_add(names.total_ns[at], gt_ns_between(store->ops.start_ns[i], store->ops.end_ns[i]));
    }
    gt_mem_free(place);
    *kept = names;
    return frames->names = kept;
}

enum gt_status gt_frame_makers_name_rows(struct gt_frames *frames, size_t *count, struct gt_error *err) {
    const struct gt_frame_names *names = names_of(frames, err);
    *count = names ? names->count : 0;
    return names ? GT_OK : err->code;
}

#define NAMES_COLUMN(name, member, table)                                                                              \
    enum gt_status gt_frame_makers_##name(struct gt_frames *frames, const struct gt_frame_spec *spec,                  \
                                          struct gt_frame_slot *slot, struct gt_error *err) {                          \
        (void)spec;                                                                                                    \
        const struct gt_frame_names *names = names_of(frames, err);                                                    \
        const struct gt_strtab *texts = (table);                                                                       \
        if (!names)                                                                                                    \
            return err->code;                                                                                          \
        slot->data = names->member;                                                                                    \
        slot->texts = texts ? texts->strings : NULL;                                                                   \
        slot->text_count = texts ? texts->count : 0;                                                                   \
        return GT_OK;                                                                                                  \
    }
NAMES_COLUMN(name_name, ids, &frames->trace.store->strings)
NAMES_COLUMN(name_ops, ops, NULL)
NAMES_COLUMN(name_total_ns, total_ns, NULL)

enum gt_status gt_frame_makers_name_short_name(struct gt_frames *frames, const struct gt_frame_spec *spec,
                                               struct gt_frame_slot *slot, struct gt_error *err) {
    (void)spec;
    const struct gt_labels *labels = frames->trace.labels;
    const struct gt_frame_names *names = names_of(frames, err);
    gt_strid *out = names ? gt_frame_make_array(slot, sizeof *out, err) : NULL;
    for (size_t i = 0; i < slot->count && out; i++)
        out[i] = labels->short_name[names->ids[i]];
    slot->texts = labels->short_names.strings;
    slot->text_count = labels->short_names.count;
    return out ? GT_OK : err->code;
}

enum gt_status gt_frame_makers_name_category(struct gt_frames *frames, const struct gt_frame_spec *spec,
                                             struct gt_frame_slot *slot, struct gt_error *err) {
    (void)spec;
    struct gt_frame_values keys;
    const struct gt_frame_names *names = names_of(frames, err);
    if (!names || gt_frame_make_sibling(frames, "categories", "category", &keys, err) != GT_OK)
        return err->code;
    slot->data = names->category;
    slot->texts = keys.texts;
    slot->text_count = keys.text_count;
    return GT_OK;
}

/* Why a kernel is in its category, in words of its own table. */
static enum gt_status name_reasons(struct gt_frames *frames, struct gt_frame_slot *slot,
                                   struct gt_str (*text)(const struct gt_name_reason *), struct gt_error *err) {
    const struct gt_frame_names *names = names_of(frames, err);
    struct gt_strtab *words = names ? gt_frame_make_words(slot, err) : NULL;
    uint32_t *out = words ? gt_frame_make_array(slot, sizeof *out, err) : NULL;
    if (!out)
        return err->code;
    for (size_t i = 0; i < slot->count; i++) {
        const struct gt_name_reason *reason = frames->trace.labels->name_reason[names->ids[i]];
        out[i] = reason && reason->source ? gt_strtab_intern(words, text(reason)) : UINT32_MAX;
    }
    return gt_frame_make_end_words(slot, err);
}

static struct gt_str reason_source(const struct gt_name_reason *reason) {
    return gt_str_of(reason->source);
}

static struct gt_str reason_pattern(const struct gt_name_reason *reason) {
    return reason->pattern;
}

enum gt_status gt_frame_makers_name_source(struct gt_frames *frames, const struct gt_frame_spec *spec,
                                           struct gt_frame_slot *slot, struct gt_error *err) {
    (void)spec;
    return name_reasons(frames, slot, reason_source, err);
}

enum gt_status gt_frame_makers_name_pattern(struct gt_frames *frames, const struct gt_frame_spec *spec,
                                            struct gt_frame_slot *slot, struct gt_error *err) {
    (void)spec;
    return name_reasons(frames, slot, reason_pattern, err);
}

/* ---- counters: the values of all tracks, one after the other ---- */

enum gt_status gt_frame_makers_counter_rows(struct gt_frames *frames, size_t *count, struct gt_error *err) {
    const struct gt_store *store = frames->trace.store;
    (void)err;
    for (uint32_t track = 0; track < store->counter_tracks.count; track++)
        *count += gt_counter_track_count(store, track);
    return GT_OK;
}

enum gt_status gt_frame_makers_counter_track(struct gt_frames *frames, const struct gt_frame_spec *spec,
                                             struct gt_frame_slot *slot, struct gt_error *err) {
    (void)spec;
    const struct gt_store *store = frames->trace.store;
    uint32_t *out = gt_frame_make_array(slot, sizeof *out, err);
    size_t filled = 0;
    for (uint32_t track = 0; track < store->counter_tracks.count && out; track++)
        for (size_t left = gt_counter_track_count(store, track); left > 0; left--)
            out[filled++] = track;
    return out ? GT_OK : err->code;
}

enum gt_status gt_frame_makers_counter_time_ns(struct gt_frames *frames, const struct gt_frame_spec *spec,
                                               struct gt_frame_slot *slot, struct gt_error *err) {
    (void)spec;
    const struct gt_store *store = frames->trace.store;
    int64_t *out = gt_frame_make_array(slot, sizeof *out, err);
    size_t filled = 0;
    for (uint32_t track = 0; track < store->counter_tracks.count && out; track++)
        filled += gt_counter_track_read(store, track, 0, slot->count - filled, out + filled, NULL);
    for (size_t i = 0; i < slot->count && out; i++)
        out[i] = gt_ns_between(store->origin_ns, out[i]);
    return out ? GT_OK : err->code;
}

enum gt_status gt_frame_makers_counter_value(struct gt_frames *frames, const struct gt_frame_spec *spec,
                                             struct gt_frame_slot *slot, struct gt_error *err) {
    (void)spec;
    const struct gt_store *store = frames->trace.store;
    double *out = gt_frame_make_array(slot, sizeof *out, err);
    size_t filled = 0;
    for (uint32_t track = 0; track < store->counter_tracks.count && out; track++)
        filled += gt_counter_track_read(store, track, 0, slot->count - filled, NULL, out + filled);
    return out ? GT_OK : err->code;
}

enum gt_status gt_frame_makers_track_values(struct gt_frames *frames, const struct gt_frame_spec *spec,
                                            struct gt_frame_slot *slot, struct gt_error *err) {
    (void)spec;
    uint64_t *out = gt_frame_make_array(slot, sizeof *out, err);
    for (uint32_t i = 0; i < slot->count && out; i++)
        out[i] = gt_counter_track_count(frames->trace.store, i);
    return out ? GT_OK : err->code;
}

/* ---- categories ---- */

enum gt_status gt_frame_makers_category_rows(struct gt_frames *frames, size_t *count, struct gt_error *err) {
    (void)err;
    *count = frames->trace.labels->category_count;
    return GT_OK;
}

/* Numbers 0, 1 ... of the categories as texts. */
static enum gt_status category_texts(struct gt_frames *frames, struct gt_frame_slot *slot, bool of_titles,
                                     struct gt_error *err) {
    const struct gt_labels *labels = frames->trace.labels;
    struct gt_str *texts = gt_arena_array(&frames->arena, labels->category_count, sizeof *texts);
    uint8_t *out = gt_frame_make_array(slot, sizeof *out, err);
    if (!texts || !out)
        return gt_fail_memory(err);
    for (size_t i = 0; i < slot->count; i++) {
        out[i] = (uint8_t)i;
        texts[i] = gt_str_of(of_titles ? labels->categories[i].title : labels->categories[i].key);
    }
    slot->texts = texts;
    slot->text_count = slot->count;
    return GT_OK;
}

enum gt_status gt_frame_makers_category_key(struct gt_frames *frames, const struct gt_frame_spec *spec,
                                            struct gt_frame_slot *slot, struct gt_error *err) {
    (void)spec;
    return category_texts(frames, slot, false, err);
}

enum gt_status gt_frame_makers_category_title(struct gt_frames *frames, const struct gt_frame_spec *spec,
                                              struct gt_frame_slot *slot, struct gt_error *err) {
    (void)spec;
    return category_texts(frames, slot, true, err);
}

enum gt_status gt_frame_makers_category_class(struct gt_frames *frames, const struct gt_frame_spec *spec,
                                              struct gt_frame_slot *slot, struct gt_error *err) {
    static const char *const words[] = {
        [GT_CLASS_COMPUTE] = "compute", [GT_CLASS_COMM] = "comm", [GT_CLASS_MEMORY] = "memory"};
    (void)spec;
    uint8_t *out = gt_frame_make_array(slot, sizeof *out, err);
    for (size_t i = 0; i < slot->count && out; i++)
        out[i] = (uint8_t)frames->trace.labels->categories[i].time_class;
    return out ? gt_frame_make_choices(frames, slot, words, GT_ARRAY_COUNT(words), err) : err->code;
}

enum gt_status gt_frame_makers_group_category(struct gt_frames *frames, const struct gt_frame_spec *spec,
                                              struct gt_frame_slot *slot, struct gt_error *err) {
    struct gt_frame_values keys;
    (void)spec;
    slot->data = frames->trace.labels->group_category;
    enum gt_status status = gt_frame_make_sibling(frames, "categories", "category", &keys, err);
    slot->texts = keys.texts;
    slot->text_count = keys.text_count;
    return status;
}

/* ---- the input: one row ---- */

enum gt_status gt_frame_makers_input_rows(struct gt_frames *frames, size_t *count, struct gt_error *err) {
    (void)frames, (void)err;
    *count = 1;
    return GT_OK;
}

enum gt_status gt_frame_makers_input_text(struct gt_frames *frames, const struct gt_frame_spec *spec,
                                          struct gt_frame_slot *slot, struct gt_error *err) {
    const struct gt_store *store = frames->trace.store;
    struct gt_str key = gt_str_of(spec->key), text = frames->trace.path;
    if (gt_str_eq(key, GT_STR("format")))
        text = gt_str_of(store->meta.format);
    else if (gt_str_eq(key, GT_STR("producer")))
        text = gt_store_string(store, store->meta.producer);
    else if (gt_str_eq(key, GT_STR("host")))
        text = gt_store_string(store, store->meta.host);
    struct gt_strtab *words = gt_frame_make_words(slot, err);
    uint32_t *out = words ? gt_frame_make_array(slot, sizeof *out, err) : NULL;
    if (!out)
        return err->code;
    *out = gt_strtab_intern(words, text);
    return gt_frame_make_end_words(slot, err);
}

enum gt_status gt_frame_makers_input_loss(struct gt_frames *frames, const struct gt_frame_spec *spec,
                                          struct gt_frame_slot *slot, struct gt_error *err) {
    (void)spec;
    enum gt_issue_id loss = gt_store_loss(frames->trace.store, GT_FACTS_USUAL);
    struct gt_strtab *words = gt_frame_make_words(slot, err);
    uint32_t *out = words ? gt_frame_make_array(slot, sizeof *out, err) : NULL;
    if (!out)
        return err->code;
    *out = loss == GT_ISSUE_COUNT ? UINT32_MAX : gt_strtab_intern(words, gt_str_of(gt_issue_infos[loss].help));
    return gt_frame_make_end_words(slot, err);
}

enum gt_status gt_frame_makers_input_number(struct gt_frames *frames, const struct gt_frame_spec *spec,
                                            struct gt_frame_slot *slot, struct gt_error *err) {
    const struct gt_frame_trace *trace = &frames->trace;
    struct gt_str key = gt_str_of(spec->key);
    int64_t *out = gt_frame_make_array(slot, sizeof *out, err);
    if (!out)
        return err->code;
    *out = gt_str_eq(key, GT_STR("origin_ns")) ? trace->store->origin_ns
           : gt_str_eq(key, GT_STR("base_ns")) ? (trace->store->meta.base_ns ? trace->store->meta.base_ns : INT64_MIN)
           : gt_str_eq(key, GT_STR("rank"))    ? trace->rank.rank
           : gt_str_eq(key, GT_STR("world_size"))  ? trace->rank.world_size
           : gt_str_eq(key, GT_STR("duration_ns")) ? trace->store->meta.duration_ns
                                                   : (int64_t)trace->store->ops.count;
    return GT_OK;
}
