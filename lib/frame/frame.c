/* Frames: which columns there are, and their values when somebody asks. In come a store and its labels, out go arrays;
   frame_list.c has the table of all columns, frame_make.c and others fill arrays. */
#include "frame/frame.h"

#include "base/mem.h"
#include "frame/frame_make.h"

/* ---- what there is ---- */

size_t gt_frame_count(void) {
    return gt_frame_info_count;
}

size_t gt_frame_find(struct gt_str key) {
    for (size_t i = 0; i < gt_frame_info_count; i++)
        if (gt_str_eq(key, gt_str_of(gt_frame_infos[i].key)))
            return i;
    return SIZE_MAX;
}

const char *gt_frame_key(size_t frame) {
    return gt_frame_infos[frame].key;
}

const char *gt_frame_help(size_t frame) {
    return gt_frame_infos[frame].help;
}

uint32_t gt_frame_facts(size_t frame) {
    return gt_frame_infos[frame].facts;
}

uint32_t gt_frame_row_facts(size_t frame) {
    return gt_frame_infos[frame].row_facts;
}

size_t gt_frame_column_count(size_t frame) {
    return gt_frame_infos[frame].spec_count;
}

size_t gt_frame_find_column(size_t frame, struct gt_str key) {
    for (size_t i = 0; i < gt_frame_infos[frame].spec_count; i++)
        if (gt_str_eq(key, gt_str_of(gt_frame_infos[frame].specs[i].key)))
            return i;
    return SIZE_MAX;
}

/* The frame whose rows are those of a table of the store. */
static const char *frame_of_table(enum gt_table_id table) {
    for (size_t i = 0; i < gt_frame_info_count; i++)
        if (gt_frame_infos[i].table == (int)table)
            return gt_frame_infos[i].key;
    return NULL;
}

/* A value that means none, for a column whose values all are some. */
static enum gputime_null null_for(enum gputime_field_type type, enum gputime_null own) {
    if (own != GPUTIME_NULL_NEVER)
        return own;
    return type == GPUTIME_FIELD_I64   ? GPUTIME_NULL_MIN
           : type == GPUTIME_FIELD_F64 ? GPUTIME_NULL_NEGATIVE
                                       : GPUTIME_NULL_MAX;
}

static void describe_stored(const struct gt_column_info *info, struct gt_frame_column *out) {
    enum gt_table_id referred = gt_store_table_referred(info->refers);
    out->type = (enum gputime_field_type)info->element;
    out->null = gt_store_column_null(info);
    out->is_text = info->refers == GT_REFERS_STRING || gt_store_choices(info->refers);
    out->refers_to = referred == GT_TABLE_COUNT ? NULL : frame_of_table(referred);
}

static void describe_lookup(size_t frame, const struct gt_frame_spec *spec, struct gt_frame_column *out) {
    size_t other = gt_frame_find(gt_str_of(spec->other));
    struct gt_frame_column target = gt_frame_column(other, gt_frame_find_column(other, gt_str_of(spec->what)));
    struct gt_frame_column via = gt_frame_column(frame, gt_frame_find_column(frame, gt_str_of(spec->from)));
    out->type = target.type;
    out->null = null_for(target.type, target.null);
    out->is_text = target.is_text;
    out->refers_to = target.refers_to;
    out->facts |= target.facts | via.facts;
    out->unit = target.unit;
}

struct gt_frame_column gt_frame_column(size_t frame, size_t column) {
    const struct gt_frame_info *info = &gt_frame_infos[frame];
    const struct gt_frame_spec *spec = &info->specs[column];
    struct gt_frame_column out = {.key = spec->key,
                                  .unit = spec->unit,
                                  .help = spec->help,
                                  .type = spec->type,
                                  .null = spec->null,
                                  .is_text = spec->is_text,
                                  .refers_to = spec->refers_to,
                                  .facts = info->facts | spec->facts};
    switch (spec->how) {
    case GT_FRAME_STORED:
    case GT_FRAME_MOMENT:
        describe_stored(gt_frame_make_stored(frame, spec), &out);
        break;
    case GT_FRAME_SPARSE:
        describe_stored(gt_frame_make_stored(frame, spec), &out);
        out.null = null_for(out.type, out.null);
        break;
    case GT_FRAME_LENGTH:
        out.type = GPUTIME_FIELD_I64;
        break;
    case GT_FRAME_LOOKUP:
        describe_lookup(frame, spec, &out);
        break;
    case GT_FRAME_ROW:
        out.type = GPUTIME_FIELD_U32;
        break;
    case GT_FRAME_MADE:
        break;
    }
    out.unit = out.unit ? out.unit : "";
    return out;
}

/* ---- of a trace ---- */

struct gt_frames *gt_frame_new(const struct gt_frame_trace *trace) {
    struct gt_frames *frames = gt_mem_array(1, sizeof *frames);
    if (!frames)
        return NULL;
    frames->trace = *trace;
    frames->view = trace->view;
    frames->request.facts = trace->store->asked;
    frames->slots = gt_mem_array(gt_frame_info_count, sizeof(struct gt_frame_slot *));
    if (!frames->slots) {
        gt_frame_free(frames);
        return NULL;
    }
    return frames;
}

static void release_slot(struct gt_frame_slot *slot) {
    gt_mem_free(slot->owned);
    if (slot->words)
        gt_strtab_release(slot->words);
    gt_mem_free(slot->words);
    *slot = (struct gt_frame_slot){0};
}

void gt_frame_free(struct gt_frames *frames) {
    if (!frames)
        return;
    for (size_t f = 0; f < gt_frame_info_count && frames->slots; f++) {
        for (size_t c = 0; c < gt_frame_infos[f].spec_count && frames->slots[f]; c++)
            release_slot(&frames->slots[f][c]);
        gt_mem_free(frames->slots[f]);
    }
    gt_mem_free(frames->slots);
    gt_view_free(frames->own_view);
    gt_arena_release(&frames->arena);
    gt_mem_free(frames);
}

int64_t gt_frame_rank(const struct gt_frames *frames) {
    return frames->trace.rank.rank;
}

enum gt_status gt_frame_rows(struct gt_frames *frames, size_t frame, size_t *count, struct gt_error *err) {
    const struct gt_frame_info *info = &gt_frame_infos[frame];
    *count = 0;
    if (info->rows)
        return info->rows(frames, count, err);
    struct gt_store *store = (struct gt_store *)(uintptr_t)frames->trace.store; /* only its count is read */
    *count = *gt_store_row_count(store, (enum gt_table_id)info->table);
    return GT_OK;
}

static enum gt_status make_slot(struct gt_frames *frames, size_t frame, size_t column, struct gt_frame_slot *slot,
                                struct gt_error *err) {
    const struct gt_frame_spec *spec = &gt_frame_infos[frame].specs[column];
    if (slot->is_being_made)
        return gt_fail(err, "column '%s' of '%s' needs itself", spec->key, gt_frame_infos[frame].key);
    *slot = (struct gt_frame_slot){.is_being_made = true};
    enum gt_status status = gt_frame_rows(frames, frame, &slot->count, err);
    if (status == GT_OK)
        status = gt_frame_make_fill(frames, frame, spec, slot, err);
    if (status != GT_OK)
        release_slot(slot);
    slot->is_made = status == GT_OK;
    slot->is_being_made = false;
    return status;
}

enum gt_status gt_frame_values(struct gt_frames *frames, size_t frame, size_t column, struct gt_frame_values *out,
                               struct gt_error *err) {
    enum gt_status status = GT_OK;
    *out = (struct gt_frame_values){0};
    if (!frames->slots[frame])
        frames->slots[frame] = gt_mem_array(gt_frame_infos[frame].spec_count, sizeof *frames->slots[frame]);
    if (!frames->slots[frame])
        return gt_fail_memory(err);
    struct gt_frame_slot *slot = &frames->slots[frame][column];
    if (!slot->is_made)
        status = make_slot(frames, frame, column, slot, err);
    if (status != GT_OK)
        return status;
    struct gt_frame_column about = gt_frame_column(frame, column);
    *out = (struct gt_frame_values){.data = slot->data,
                                    .count = slot->count,
                                    .type = about.type,
                                    .null = about.null,
                                    .texts = slot->texts,
                                    .text_count = slot->text_count};
    return GT_OK;
}
