/* How columns are filled that need no more than a description: as stored, shifted, looked up, scattered. */
#include "frame/frame_make.h"

#include <string.h>

#include "base/mem.h"
#include "base/ns.h"

static enum gt_table_id table_named(const char *name) {
    for (size_t i = 0; i < gt_column_count; i++)
        if (strcmp(gt_column_infos[i].table_name, name) == 0)
            return gt_column_infos[i].table;
    return GT_TABLE_COUNT;
}

/* The table of frames names no other columns than there are. */
static const struct gt_column_info *find_column(enum gt_table_id table, const char *name) {
    const struct gt_column_info *info = gt_column_infos;
    while (info->table != table || strcmp(info->name, name) != 0)
        info++;
    return info;
}

const struct gt_column_info *gt_frame_make_stored(size_t frame, const struct gt_frame_spec *spec) {
    enum gt_table_id table =
        spec->how == GT_FRAME_SPARSE ? table_named(spec->other) : (enum gt_table_id)gt_frame_infos[frame].table;
    return find_column(table, spec->from);
}

static const void *stored_data(const struct gt_frames *frames, const struct gt_column_info *info) {
    return *gt_store_column((struct gt_store *)(uintptr_t)frames->trace.store, info); /* it is only read */
}

const struct gt_view *gt_frame_make_view(struct gt_frames *frames, struct gt_error *err) {
    if (!frames->view &&
        gt_view_new(frames->trace.store, frames->trace.labels, &frames->request, &frames->own_view, err) != GT_OK)
        return NULL;
    frames->view = frames->view ? frames->view : frames->own_view;
    return frames->view;
}

void *gt_frame_make_array(struct gt_frame_slot *slot, size_t elem_bytes, struct gt_error *err) {
    slot->owned = gt_mem_uninitialised(slot->count, elem_bytes);
    if (!slot->owned)
        gt_fail_memory(err);
    slot->data = slot->owned;
    return slot->owned;
}

/* ---- texts ---- */

enum gt_status gt_frame_make_choices(struct gt_frames *frames, struct gt_frame_slot *slot, const char *const *words,
                                     size_t count, struct gt_error *err) {
    if (!count)
        return GT_OK;
    struct gt_str *texts = gt_arena_array(&frames->arena, count, sizeof *texts);
    if (!texts)
        return gt_fail_memory(err);
    for (size_t i = 0; i < count; i++)
        texts[i] = gt_str_of(words[i]);
    slot->texts = texts;
    slot->text_count = count;
    return GT_OK;
}

struct gt_strtab *gt_frame_make_words(struct gt_frame_slot *slot, struct gt_error *err) {
    struct gt_strtab *words = gt_mem_array(1, sizeof *words);
    if (!words || !gt_strtab_init(words)) {
        gt_mem_free(words);
        gt_fail_memory(err);
        return NULL;
    }
    slot->words = words;
    return words;
}

enum gt_status gt_frame_make_end_words(struct gt_frame_slot *slot, struct gt_error *err) {
    if (slot->words->failed)
        return gt_fail_memory(err);
    slot->texts = slot->words->strings;
    slot->text_count = slot->words->count;
    return GT_OK;
}

/* "kernel|memcpy" as a list. */
static enum gt_status split_choices(struct gt_frames *frames, struct gt_frame_slot *slot, const char *choices,
                                    struct gt_error *err) {
    size_t count = 1, filled = 0;
    for (const char *at = choices; *at; at++)
        count += *at == '|';
    struct gt_str *texts = gt_arena_array(&frames->arena, count, sizeof *texts);
    if (!texts)
        return gt_fail_memory(err);
    for (const char *at = choices; filled < count; filled++) {
        size_t length = strcspn(at, "|");
        texts[filled] = (struct gt_str){at, length};
        at += length + (at[length] == '|');
    }
    slot->texts = texts;
    slot->text_count = count;
    return GT_OK;
}

static enum gt_status take_texts(struct gt_frames *frames, const struct gt_column_info *info,
                                 struct gt_frame_slot *slot, struct gt_error *err) {
    if (gt_store_choices(info->refers))
        return split_choices(frames, slot, gt_store_choices(info->refers), err);
    if (info->refers == GT_REFERS_STRING) {
        slot->texts = frames->trace.store->strings.strings;
        slot->text_count = frames->trace.store->strings.count;
    }
    return GT_OK;
}

/* ---- values ---- */

static enum gt_status fill_stored(struct gt_frames *frames, size_t frame, const struct gt_frame_spec *spec,
                                  struct gt_frame_slot *slot, struct gt_error *err) {
    const struct gt_column_info *info = gt_frame_make_stored(frame, spec);
    slot->data = stored_data(frames, info);
    return take_texts(frames, info, slot, err);
}

static enum gt_status fill_moment(struct gt_frames *frames, size_t frame, const struct gt_frame_spec *spec,
                                  struct gt_frame_slot *slot, struct gt_error *err) {
    const struct gt_column_info *info = gt_frame_make_stored(frame, spec);
    bool has_null = gt_store_column_null(info) == GPUTIME_NULL_MIN;
    const int64_t *times_ns = stored_data(frames, info);
    int64_t origin_ns = frames->trace.store->origin_ns, *out = gt_frame_make_array(slot, sizeof *out, err);
    for (size_t i = 0; i < slot->count && out; i++)
        out[i] = has_null && times_ns[i] == INT64_MIN ? INT64_MIN : gt_ns_between(origin_ns, times_ns[i]);
    return out ? GT_OK : err->code;
}

static enum gt_status fill_length(struct gt_frames *frames, size_t frame, struct gt_frame_slot *slot,
                                  struct gt_error *err) {
    enum gt_table_id table = (enum gt_table_id)gt_frame_infos[frame].table;
    const int64_t *start_ns = stored_data(frames, find_column(table, "start_ns")),
                  *end_ns = stored_data(frames, find_column(table, "end_ns"));
    int64_t *out = gt_frame_make_array(slot, sizeof *out, err);
    for (size_t i = 0; i < slot->count && out; i++)
        out[i] = gt_ns_between(start_ns[i], end_ns[i]);
    return out ? GT_OK : err->code;
}

static enum gt_status fill_rows(struct gt_frame_slot *slot, struct gt_error *err) {
    uint32_t *out = gt_frame_make_array(slot, sizeof *out, err);
    for (size_t i = 0; i < slot->count && out; i++)
        out[i] = (uint32_t)i;
    return out ? GT_OK : err->code;
}

static size_t bytes_of(enum gputime_field_type type) {
    return type == GPUTIME_FIELD_U8 ? 1 : type == GPUTIME_FIELD_U16 ? 2 : type == GPUTIME_FIELD_U32 ? 4 : 8;
}

/* The value that means none, as many bytes as the type has. */
static void null_value(const struct gt_frame_column *column, unsigned char out[8]) {
    const int64_t least = INT64_MIN, negative = -1;
    const double real = -1;
    memset(out, 0xff, 8); /* the largest without a sign */
    if (column->type == GPUTIME_FIELD_I64)
        memcpy(out, column->null == GPUTIME_NULL_MIN ? &least : &negative, 8);
    else if (column->type == GPUTIME_FIELD_F64)
        memcpy(out, &real, 8);
}

#define GATHER(type)                                                                                                   \
    do {                                                                                                               \
        const type *from = data;                                                                                       \
        type *to = out, none;                                                                                          \
        memcpy(&none, missing, sizeof none);                                                                           \
        for (size_t i = 0; i < slot->count; i++)                                                                       \
            to[i] = rows[i] < row_count ? from[rows[i]] : none;                                                        \
    } while (0)

/* out[i] = data[rows[i]], or what means none. */
static void gather(const struct gt_frame_slot *slot, void *out, const void *data, size_t row_count,
                   const uint32_t *rows, size_t elem_bytes, const unsigned char missing[8]) {
    if (elem_bytes == 1)
        GATHER(uint8_t);
    else if (elem_bytes == 2)
        GATHER(uint16_t);
    else if (elem_bytes == 4)
        GATHER(uint32_t);
    else
        GATHER(uint64_t);
}

static enum gt_status fill_lookup(struct gt_frames *frames, size_t frame, size_t column,
                                  const struct gt_frame_spec *spec, struct gt_frame_slot *slot, struct gt_error *err) {
    struct gt_frame_values via, target;
    unsigned char missing[8];
    struct gt_frame_column about = gt_frame_column(frame, column);
    size_t elem_bytes = bytes_of(about.type);
    enum gt_status status = gt_frame_make_sibling(frames, gt_frame_infos[frame].key, spec->from, &via, err);
    if (status == GT_OK)
        status = gt_frame_make_sibling(frames, spec->other, spec->what, &target, err);
    if (status != GT_OK)
        return status;
    void *out = gt_frame_make_array(slot, elem_bytes, err);
    if (!out)
        return err->code;
    null_value(&about, missing);
    gather(slot, out, target.data, target.count, via.data, elem_bytes, missing);
    slot->texts = target.texts;
    slot->text_count = target.text_count;
    return GT_OK;
}

static enum gt_status fill_sparse(struct gt_frames *frames, size_t frame, size_t column,
                                  const struct gt_frame_spec *spec, struct gt_frame_slot *slot, struct gt_error *err) {
    const struct gt_column_info *info = gt_frame_make_stored(frame, spec);
    const char *data = stored_data(frames, info);
    const uint32_t *row_of = stored_data(frames, find_column(info->table, spec->what));
    size_t rows = *gt_store_row_count((struct gt_store *)(uintptr_t)frames->trace.store, info->table);
    struct gt_frame_column about = gt_frame_column(frame, column);
    unsigned char missing[8];
    char *out = gt_frame_make_array(slot, info->elem_bytes, err);
    if (!out)
        return err->code;
    null_value(&about, missing);
    for (size_t i = 0; i < slot->count; i++)
        memcpy(out + i * info->elem_bytes, missing, info->elem_bytes);
    for (size_t i = 0; i < rows; i++)
        if (row_of[i] < slot->count)
            memcpy(out + row_of[i] * info->elem_bytes, data + i * info->elem_bytes, info->elem_bytes);
    return take_texts(frames, info, slot, err);
}

enum gt_status gt_frame_make_fill(struct gt_frames *frames, size_t frame, const struct gt_frame_spec *spec,
                                  struct gt_frame_slot *slot, struct gt_error *err) {
    size_t column = (size_t)(spec - gt_frame_infos[frame].specs);
    switch (spec->how) {
    case GT_FRAME_STORED:
        return fill_stored(frames, frame, spec, slot, err);
    case GT_FRAME_MOMENT:
        return fill_moment(frames, frame, spec, slot, err);
    case GT_FRAME_LENGTH:
        return fill_length(frames, frame, slot, err);
    case GT_FRAME_LOOKUP:
        return fill_lookup(frames, frame, column, spec, slot, err);
    case GT_FRAME_SPARSE:
        return fill_sparse(frames, frame, column, spec, slot, err);
    case GT_FRAME_ROW:
        return fill_rows(slot, err);
    case GT_FRAME_MADE:
        break;
    }
    return spec->make(frames, spec, slot, err);
}

enum gt_status gt_frame_make_sibling(struct gt_frames *frames, const char *frame, const char *column,
                                     struct gt_frame_values *out, struct gt_error *err) {
    size_t number = gt_frame_find(gt_str_of(frame));
    return gt_frame_values(frames, number, gt_frame_find_column(number, gt_str_of(column)), out, err);
}
