/* Memory of GPUs: the curve of what is allocated, its peak and who owned it, steps, and calls of allocators. */
#include <math.h>

#include "measure/memory_use/allocator_calls.h"
#include "measure/memory_use/memory_words.h"
#include "measure/results/measure.h"
#include "measure/results/results.h"
#include "report/row.h"

static const struct gt_report_column peak_columns[] = {
    {"device", "GPU", GT_UNIT_NONE, NULL, GT_COLUMN_KEY | GT_COLUMN_VARIES},
    {"time_ns", "At", GT_UNIT_NS, NULL, GT_COLUMN_MOMENT},
    {"allocated", "Peak", GT_UNIT_BYTES, NULL, GT_COLUMN_LEADS | GT_COLUMN_ADDS | GT_COLUMN_LEVEL},
    {"reserved", "Reserved", GT_UNIT_BYTES, NULL, GT_COLUMN_SPARSE},
    {"fragmentation", "Unused", GT_UNIT_BYTES, NULL, GT_COLUMN_SPARSE},
    {"fragmentation_share", "Fragmentation", GT_UNIT_SHARE, "reserved memory", GT_COLUMN_SPARSE},
    {"reserved_max", "Most reserved", GT_UNIT_BYTES, NULL, GT_COLUMN_SPARSE},
    {"first", "First", GT_UNIT_BYTES, NULL, GT_COLUMN_DETAIL},
    {"last", "Last", GT_UNIT_BYTES, NULL, GT_COLUMN_DETAIL},
    {"events", "Events", GT_UNIT_COUNT, NULL, 0},
};

static const struct gt_report_column timeline_columns[] = {
    {"device", "GPU", GT_UNIT_NONE, NULL, GT_COLUMN_KEY | GT_COLUMN_VARIES},
    {"start_ns", "Start", GT_UNIT_NS, NULL, GT_COLUMN_MOMENT},
    {"allocated_max", "Most", GT_UNIT_BYTES, NULL, 0},
    {"allocated_min", "Least", GT_UNIT_BYTES, NULL, 0},
    {"allocated_end", "At the end", GT_UNIT_BYTES, NULL, 0},
    {"reserved_max", "Reserved", GT_UNIT_BYTES, NULL, 0},
};

static const struct gt_report_column owner_columns[] = {
    {"device", "GPU", GT_UNIT_NONE, NULL, GT_COLUMN_KEY | GT_COLUMN_VARIES},
    {"op", "Allocated by", GT_UNIT_NONE, NULL, GT_COLUMN_NAME | GT_COLUMN_KEY},
    {"range", "Range", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"bytes", "Bytes", GT_UNIT_BYTES, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS | GT_COLUMN_LEVEL},
    {"blocks", "Blocks", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEVEL},
    {"share", "Share", GT_UNIT_SHARE, "peak", GT_COLUMN_BAR | GT_COLUMN_WHOLE},
};

static const struct gt_report_column step_columns[] = {
    {"device", "GPU", GT_UNIT_NONE, NULL, GT_COLUMN_KEY | GT_COLUMN_VARIES},
    {"step", "Step", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"peak", "Peak", GT_UNIT_BYTES, NULL, 0},
    {"first", "At start", GT_UNIT_BYTES, NULL, 0},
    {"last", "At end", GT_UNIT_BYTES, NULL, 0},
    {"kept_bytes", "Kept", GT_UNIT_BYTES, NULL, GT_COLUMN_SPARSE},
    {"kept_blocks", "Blocks kept", GT_UNIT_COUNT, NULL, GT_COLUMN_SPARSE},
};

static const struct gt_report_column call_columns[] = {
    {"name", "Call", GT_UNIT_NONE, NULL, GT_COLUMN_NAME | GT_COLUMN_KEY},
    {"count", "Calls", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS},
    {"total_ns", "Total", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},
    {"max_ns", "Longest", GT_UNIT_NS, NULL, GT_COLUMN_SINGLE},
    {"idle_ns", "GPU idle", GT_UNIT_NS, NULL, GT_COLUMN_ADDS},
};

static struct gt_cell reserved_cell(int64_t bytes) {
    return bytes == GT_MEMORY_SET_UNKNOWN ? gt_cell_null() : gt_cell_int(bytes);
}

static void put_peak(struct gt_table *table, const struct gt_view *view, const struct gt_memory_device *device) {
    bool is_known = device->reserved_at_peak != GT_MEMORY_SET_UNKNOWN;
    int64_t unused = is_known ? gt_ns_between(device->peak, device->reserved_at_peak) : 0;
    struct gt_row row = gt_row_begin(table);
    gt_row_int(&row, "device", device->id);
    gt_row_cell(&row, "time_ns", gt_measure_time_cell(view, device->peak_ns));
    gt_row_int(&row, "allocated", device->peak);
    gt_row_cell(&row, "reserved", reserved_cell(device->reserved_at_peak));
    gt_row_cell(&row, "fragmentation", is_known ? gt_cell_int(unused) : gt_cell_null());
    gt_row_cell(&row, "fragmentation_share",
                is_known ? gt_cell_share((double)unused, (double)device->reserved_at_peak) : gt_cell_null());
    gt_row_cell(&row, "reserved_max", reserved_cell(device->reserved_max));
    gt_row_int(&row, "first", device->first);
    gt_row_int(&row, "last", device->last);
    gt_row_count(&row, "events", device->events);
    gt_row_end(&row);
}

static void put_buckets(struct gt_table *table, const struct gt_view *view, const struct gt_memory_device *device) {
    for (size_t i = 0; i < device->bucket_count; i++) {
        const struct gt_memory_bucket *bucket = &device->buckets[i];
        struct gt_row row = gt_row_begin(table);
        gt_row_int(&row, "device", device->id);
        gt_row_cell(&row, "start_ns", gt_measure_time_cell(view, bucket->start_ns));
        gt_row_int(&row, "allocated_max", bucket->max);
        gt_row_int(&row, "allocated_min", bucket->min);
        gt_row_int(&row, "allocated_end", bucket->end);
        gt_row_cell(&row, "reserved_max", reserved_cell(bucket->reserved_max));
        gt_row_end(&row);
    }
}

static void put_owners(struct gt_table *table, const struct gt_memory_device *device) {
    for (size_t i = 0; i < device->owner_count; i++) {
        const struct gt_memory_owner *owner = &device->owners[i];
        struct gt_row row = gt_row_begin(table);
        gt_row_int(&row, "device", device->id);
        gt_row_text(&row, "op", owner->op);
        gt_row_text(&row, "range", owner->range);
        gt_row_int(&row, "bytes", owner->bytes);
        gt_row_count(&row, "blocks", owner->blocks);
        gt_row_share(&row, "share", (double)owner->bytes, (double)device->peak);
        gt_row_end(&row);
    }
}

static void put_steps(struct gt_table *table, const struct gt_view *view, const struct gt_memory_device *device) {
    for (size_t i = 0; i < device->step_count; i++) {
        const struct gt_memory_step *step = &device->steps[i];
        struct gt_row row = gt_row_begin(table);
        gt_row_int(&row, "device", device->id);
        gt_row_int(&row, "step", view->labels->steps[step->step].number);
        gt_row_int(&row, "peak", step->peak);
        gt_row_int(&row, "first", step->first);
        gt_row_int(&row, "last", step->last);
        gt_row_cell(&row, "kept_bytes", step->has_blocks ? gt_cell_int(step->kept_bytes) : gt_cell_null());
        gt_row_cell(&row, "kept_blocks", step->has_blocks ? gt_cell_count(step->kept_blocks) : gt_cell_null());
        gt_row_end(&row);
    }
}

static enum gt_status put_calls(struct gt_section *section, const struct gt_view *view, struct gt_error *err) {
    struct gt_allocator_calls calls;
    enum gt_status status = gt_allocator_calls_init(&calls, view, err);
    if (status != GT_OK)
        return status;
    struct gt_table *table = gt_section_table(section, "allocator_calls", "Driver allocator calls", call_columns,
                                              GT_ARRAY_COUNT(call_columns));
    table->empty = GT_NONE_IN(view, "calls that allocate or free memory");
    for (size_t i = 0; i < calls.count; i++) {
        struct gt_row row = gt_row_begin(table);
        gt_row_text(&row, "name", calls.items[i].name);
        gt_row_count(&row, "count", calls.items[i].count);
        gt_row_int(&row, "total_ns", calls.items[i].total_ns);
        gt_row_int(&row, "max_ns", calls.items[i].max_ns);
        gt_row_int(&row, "idle_ns", calls.items[i].idle_ns);
        gt_row_end(&row);
    }
    gt_allocator_calls_release(&calls);
    return GT_OK;
}

/* The GPU whose peak is nearest to all of its memory, or largest where that is not known. */
static const struct gt_memory_device *fullest(const struct gt_view *view, const struct gt_memory_set *set) {
    const struct gt_memory_device *best = set->devices;
    for (size_t d = 1; d < set->device_count; d++)
        if (gt_memory_words_fullness(view, &set->devices[d]) > gt_memory_words_fullness(view, best))
            best = &set->devices[d];
    return best;
}

/* Of all GPUs: the one that is fullest may have less than another with more memory. */
static int64_t largest_peak(const struct gt_memory_set *set) {
    int64_t peak = set->devices[0].peak;
    for (size_t d = 1; d < set->device_count; d++)
        peak = set->devices[d].peak > peak ? set->devices[d].peak : peak;
    return peak;
}

static void put_words(struct gt_section *section, const struct gt_view *view, const struct gt_memory_set *set) {
    const struct gt_memory_device *device = fullest(view, set);
    struct gt_measure_fact_group facts = {.section = section, .title = "Memory", .audience = GT_FOR_DATA | GT_FOR_PAGE};
    gt_section_note(section, GT_FOR_ALL,
                    gt_memory_words_peak(&section->report->arena, view, device, set->device_count > 1));
    gt_measure_fact_group_add(&facts, "peak_memory", "Peak memory", GT_UNIT_BYTES, gt_cell_int(largest_peak(set)));
    gt_measure_fact_group_add(&facts, "memory_growth", "Memory growth a step", GT_UNIT_BYTES,
                              isnan(device->growth) ? gt_cell_null() : gt_cell_real(device->growth));
    if (set->left_out)
        gt_section_note(
            section, GT_FOR_ALL,
            gt_arena_printf(&section->report->arena, "Memory of %zu more GPUs is not shown.", set->left_out));
    gt_measure_issue(section, GT_ISSUE_MEMORY_FREE_OF_UNKNOWN, set->free_of_unknown);
    gt_measure_issue(section, GT_ISSUE_MEMORY_ADDRESS_TWICE, set->address_twice);
    gt_measure_issue(section, GT_ISSUE_MEMORY_WITHOUT_ADDRESSES, set->without_address);
}

enum gt_status gt_memory_use_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    const struct gt_memory_set *set = gt_results_memory_use(view, err);
    if (!set)
        return err->code;
    if (set->device_count)
        put_words(section, view, set);
    struct gt_table *peaks =
        gt_section_table(section, "memory_peak", "Peak memory", peak_columns, GT_ARRAY_COUNT(peak_columns));
    struct gt_table *owners = gt_section_table(section, "memory_owners", "Memory at the peak by owner", owner_columns,
                                               GT_ARRAY_COUNT(owner_columns));
    struct gt_table *steps =
        gt_section_table(section, "memory_steps", "Memory by step", step_columns, GT_ARRAY_COUNT(step_columns));
    struct gt_table *curve = gt_section_table(section, "memory_timeline", "Memory over time", timeline_columns,
                                              GT_ARRAY_COUNT(timeline_columns));
    peaks->empty = view->is_whole ? "The trace has no memory events: record them with "
                                    "torch.profiler.profile(profile_memory=True) or nsys --cuda-memory-usage=true."
                                  : "No memory events in the selection.";
    owners->screen_limit = 15;
    steps->screen_limit = 15;
    gt_measure_table_for(section, curve, GT_FOR_DATA | GT_FOR_PAGE);
    for (size_t d = 0; d < set->device_count; d++) {
        put_peak(peaks, view, &set->devices[d]);
        put_owners(owners, &set->devices[d]);
        put_steps(steps, view, &set->devices[d]);
        put_buckets(curve, view, &set->devices[d]);
    }
    return put_calls(section, view, err);
}
