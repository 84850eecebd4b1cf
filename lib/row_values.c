/* Reads rows for callers: kinds, fields and values go out, as rows.c listed them. */
#include <string.h>

#include "events/counter_track.h"
#include "internal.h"

API size_t gputime_trace_rows_count(const struct gputime_trace *trace) {
    (void)trace;
    return GT_ROW_KINDS;
}

API const struct gputime_rows *gputime_trace_rows(const struct gputime_trace *trace, const char *key) {
    const struct gputime_rows *rows = gt_internal_rows(trace);
    for (size_t i = 0; rows && i < GT_ROW_KINDS; i++)
        if (strcmp(rows[i].key, key) == 0)
            return &rows[i];
    return NULL;
}

API const struct gputime_rows *gputime_trace_rows_at(const struct gputime_trace *trace, size_t index) {
    const struct gputime_rows *rows = index < GT_ROW_KINDS ? gt_internal_rows(trace) : NULL;
    return rows ? &rows[index] : NULL;
}

API const char *gputime_rows_key(const struct gputime_rows *rows) {
    return rows ? rows->key : NULL;
}

API size_t gputime_rows_count(const struct gputime_rows *rows) {
    return rows ? rows->count : 0;
}

API size_t gputime_rows_field_count(const struct gputime_rows *rows) {
    return rows ? rows->field_count : 0;
}

API struct gputime_field gputime_rows_field(const struct gputime_rows *rows, size_t field) {
    return field < gputime_rows_field_count(rows) ? rows->fields[field] : (struct gputime_field){0};
}

API size_t gputime_rows_find_field(const struct gputime_rows *rows, const char *key) {
    for (size_t i = 0; i < gputime_rows_field_count(rows); i++)
        if (strcmp(rows->fields[i].key, key) == 0)
            return i;
    return SIZE_MAX;
}

/* NULL out of range. */
static const struct gputime_field *field_at(const struct gputime_rows *rows, size_t row, size_t field) {
    return rows && field < rows->field_count && row < rows->count ? &rows->fields[field] : NULL;
}

/* Unsigned values as their bits; 0 for text and reals. */
static uint64_t bits_of(const struct gputime_field *field, size_t row) {
    switch (field->type) {
    case GPUTIME_FIELD_U8:
        return ((const uint8_t *)field->data)[row];
    case GPUTIME_FIELD_U16:
        return ((const uint16_t *)field->data)[row];
    case GPUTIME_FIELD_U32:
        return ((const uint32_t *)field->data)[row];
    case GPUTIME_FIELD_U64:
        return ((const uint64_t *)field->data)[row];
    case GPUTIME_FIELD_I64:
        return (uint64_t)((const int64_t *)field->data)[row];
    case GPUTIME_FIELD_F64:
    case GPUTIME_FIELD_TEXT:
        break;
    }
    return 0;
}

static uint64_t largest_of(enum gputime_field_type type) {
    switch (type) {
    case GPUTIME_FIELD_U8:
        return UINT8_MAX;
    case GPUTIME_FIELD_U16:
        return UINT16_MAX;
    case GPUTIME_FIELD_U32:
        return UINT32_MAX;
    default:
        return UINT64_MAX;
    }
}

API int gputime_rows_is_null(const struct gputime_rows *rows, size_t row, size_t field) {
    const struct gputime_field *from = field_at(rows, row, field);
    if (!from)
        return 1;
    switch (from->null) {
    case GPUTIME_NULL_MAX:
        return bits_of(from, row) == largest_of(from->type);
    case GPUTIME_NULL_MIN:
        return (int64_t)bits_of(from, row) == INT64_MIN;
    case GPUTIME_NULL_NEGATIVE:
        return from->type == GPUTIME_FIELD_F64 ? ((const double *)from->data)[row] < 0
                                               : (int64_t)bits_of(from, row) < 0;
    case GPUTIME_NULL_NEVER:
        break;
    }
    return 0;
}

API int64_t gputime_rows_int(const struct gputime_rows *rows, size_t row, size_t field) {
    const struct gputime_field *from = field_at(rows, row, field);
    if (!from)
        return 0;
    if (from->type != GPUTIME_FIELD_F64)
        return (int64_t)bits_of(from, row);
    double value = ((const double *)from->data)[row];
    return value >= -9223372036854775808.0 && value < 9223372036854775808.0 ? (int64_t)value
                                                                            : 0; /* others have no integer */
}

API double gputime_rows_real(const struct gputime_rows *rows, size_t row, size_t field) {
    const struct gputime_field *from = field_at(rows, row, field);
    if (!from)
        return 0;
    if (from->type == GPUTIME_FIELD_F64)
        return ((const double *)from->data)[row];
    return from->type == GPUTIME_FIELD_I64 ? (double)(int64_t)bits_of(from, row) : (double)bits_of(from, row);
}

/* Number `index` of "a|b|c". */
static struct gputime_text choice_text(const char *choices, uint64_t index) {
    for (; index > 0 && choices; index--) {
        choices = strchr(choices, '|');
        choices = choices ? choices + 1 : NULL;
    }
    return choices ? (struct gputime_text){choices, strcspn(choices, "|")} : (struct gputime_text){NULL, 0};
}

static struct gputime_text string_of(const struct gt_reading *reading, uint32_t id) {
    if (id >= reading->store->strings.count)
        return (struct gputime_text){NULL, 0};
    struct gt_str text = gt_store_string(reading->store, id);
    return (struct gputime_text){text.ptr, text.len};
}

API struct gputime_text gputime_rows_text(const struct gputime_rows *rows, size_t row, size_t field) {
    const struct gputime_field *from = field_at(rows, row, field);
    if (!from)
        return (struct gputime_text){NULL, 0};
    if (from->type == GPUTIME_FIELD_TEXT) {
        const char *text = ((const char *const *)from->data)[row];
        return (struct gputime_text){text, strlen(text)};
    }
    if (from->choices)
        return choice_text(from->choices, bits_of(from, row));
    if (from->refers_to && strcmp(from->refers_to, "strings") == 0)
        return string_of(rows->reading, (uint32_t)bits_of(from, row));
    return (struct gputime_text){NULL, 0};
}

API size_t gputime_trace_string_count(const struct gputime_trace *trace) {
    return trace->shown->store->strings.count;
}

API struct gputime_text gputime_trace_string(const struct gputime_trace *trace, uint32_t id) {
    return string_of(trace->shown, id);
}

API size_t gputime_trace_counter_count(const struct gputime_trace *trace, size_t track) {
    const struct gt_store *store = trace->shown->store;
    return track < store->counter_tracks.count ? gt_counter_track_count(store, (uint32_t)track) : 0;
}

API size_t gputime_trace_counter_read(const struct gputime_trace *trace, size_t track, size_t first, size_t count,
                                      int64_t *times_ns, double *values) {
    const struct gt_store *store = trace->shown->store;
    return track < store->counter_tracks.count
               ? gt_counter_track_read(store, (uint32_t)track, first, count, times_ns, values)
               : 0;
}

API struct gputime_text gputime_trace_short_name(const struct gputime_trace *trace, uint32_t id) {
    if (id >= trace->shown->store->strings.count)
        return (struct gputime_text){NULL, 0};
    struct gt_str text = gt_labels_short_name(trace->shown->labels, id);
    return text.len ? (struct gputime_text){text.ptr, text.len} : (struct gputime_text){NULL, 0};
}
