/* GPU metrics of an export: rows of the tables that name and describe them come in, a list goes out. */
#include "decode/nsys/nsys_sqlite_metrics.h"

#include "base/mem.h"
#include "base/num.h"
#include "events/store.h"

enum { WIDTH_MAX = 8, FIELD_UNSIGNED = 1 };

void gt_nsys_sqlite_metrics_release(struct gt_nsys_sqlite_metrics *metrics) {
    gt_arena_release(&metrics->arena);
    gt_map_release(&metrics->index_of);
    gt_map_release(&metrics->width_of);
    gt_mem_free(metrics->list);
    *metrics = (struct gt_nsys_sqlite_metrics){0};
}

void gt_nsys_sqlite_metrics_take_option(void *context, const struct gt_sqlite_row *row) {
    struct gt_nsys_sqlite_metrics *metrics = context;
    int64_t hz;
    if (gt_str_eq(gt_sqlite_record_text(row, 0), GT_STR("GPU_METRICS_OPTIONS:SAMPLING_FREQUENCY")) &&
        gt_num_parse_int(gt_sqlite_record_text(row, 1), &hz) && hz > 0)
        metrics->hz = (uint64_t)hz;
}

/* Exports that know but one type of sample may leave its number out. */
static uint64_t type_in(const struct gt_sqlite_row *row, size_t slot) {
    return (uint64_t)gt_sqlite_record_int(row, slot, 0);
}

void gt_nsys_sqlite_metrics_take_name(void *context, const struct gt_sqlite_row *row) {
    struct gt_nsys_sqlite_metrics *metrics = context;
    struct gt_str name = gt_sqlite_record_text(row, 2);
    if (!gt_sqlite_record_is_int(row, 1) || name.len == 0 || name.len > metrics->text_left)
        return;
    uint64_t type_id = type_in(row, 0), metric_id = (uint64_t)row->cells[1].integer;
    size_t count = metrics->count;
    bool is_new = count < GT_MAP_NONE &&
                  gt_map_put_if_new(&metrics->index_of, type_id, metric_id, (uint32_t)count) == (uint32_t)count;
    metrics->has_failed |= metrics->index_of.failed;
    if (!is_new)
        return;
    struct gt_nsys_sqlite_metric *grown = gt_mem_room(metrics->list, count, &metrics->capacity, sizeof *grown);
    metrics->has_failed |= !grown;
    if (!grown)
        return;
    metrics->list = grown;
    metrics->text_left -= name.len;
    metrics->list[metrics->count++] = (struct gt_nsys_sqlite_metric){
        .type_id = type_id, .metric_id = metric_id, .name = gt_arena_copy(&metrics->arena, name)};
    metrics->has_failed |= gt_arena_failed(&metrics->arena);
}

void gt_nsys_sqlite_metrics_take_field(void *context, const struct gt_sqlite_row *row) {
    struct gt_nsys_sqlite_metrics *metrics = context;
    int64_t width = gt_sqlite_record_int(row, 2, 0);
    if (!gt_sqlite_record_is_int(row, 1) || width < 1 || width > WIDTH_MAX ||
        gt_sqlite_record_int(row, 3, -1) != FIELD_UNSIGNED)
        return;
    gt_map_put_if_new(&metrics->width_of, type_in(row, 0), (uint64_t)row->cells[1].integer, (uint32_t)width);
    metrics->has_failed |= metrics->width_of.failed;
}

void gt_nsys_sqlite_metrics_settle(struct gt_nsys_sqlite_metrics *metrics) {
    for (size_t i = 0; i < metrics->count; i++) {
        struct gt_nsys_sqlite_metric *metric = &metrics->list[i];
        uint32_t width = gt_map_get(&metrics->width_of, metric->type_id, metric->metric_id);
        metric->lift = width == GT_MAP_NONE ? 0 : 1;
        for (uint32_t byte = 0; width != GT_MAP_NONE && byte < width; byte++)
            metric->lift *= 256;
    }
}

size_t gt_nsys_sqlite_metrics_search(const struct gt_nsys_sqlite_metrics *metrics, uint64_t type_id,
                                     uint64_t metric_id) {
    uint32_t index = gt_map_get(&metrics->index_of, type_id, metric_id);
    return index < metrics->count ? index : SIZE_MAX;
}

uint32_t *gt_nsys_sqlite_metrics_tracks(const struct gt_nsys_sqlite_metrics *metrics) {
    uint32_t *tracks = gt_mem_array(metrics->count + 1, sizeof *tracks);
    for (size_t i = 0; tracks && i < metrics->count; i++)
        tracks[i] = GT_NO_TRACK;
    return tracks;
}
