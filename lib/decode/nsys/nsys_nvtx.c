/* What one NVTX event of Nsight Systems means: ranges, marks, and names of domains, categories and threads. */
#include <stdio.h>

#include "decode/nsys/nsys.h"
#include "events/builder.h"

enum nvtx_type {
    NVTX_CATEGORY = 33,
    NVTX_MARK = 34,
    NVTX_THREAD_NAME = 39,
    NVTX_PUSH_POP = 59,
    NVTX_START_END = 60,
    NVTX_IMPORTED_PUSH_POP = 70,
    NVTX_IMPORTED_START_END = 71,
    NVTX_DOMAIN = 75,
};

/* The text of an event: inline or by id; nothing is an empty name. */
static gt_strid nvtx_name(struct gt_nsys_sink *sink, const struct gt_nsys_nvtx *event) {
    bool is_known;
    if (event->text.ptr)
        return gt_builder_string(sink->builder, event->text);
    return event->text_id == GT_NSYS_NO_ID ? GT_STRID_EMPTY
                                           : gt_nsys_name(sink, event->text_id, event->text, &is_known);
}

static struct gt_str nvtx_text(const struct gt_nsys_sink *sink, const struct gt_nsys_nvtx *event) {
    if (!event->text.ptr && event->text_id < sink->capture->string_count)
        return sink->capture->strings[event->text_id];
    return event->text;
}

static uint64_t domain_id(const struct gt_nsys_nvtx *event) {
    return event->domain_id == GT_NSYS_NO_ID ? 0 : event->domain_id;
}

/* The place of the domain's label instead of a string id. The default domain 0 may have been given a name, too. */
gt_strid gt_nsys_range_domain(struct gt_nsys_sink *sink, uint64_t global_tid, uint64_t domain) {
    uint64_t number = domain == GT_NSYS_NO_ID ? 0 : domain;
    size_t index = gt_nsys_label_index(sink, GT_NSYS_DOMAINS, gt_nsys_global_pid(global_tid), number);
    return index == SIZE_MAX ? 0 : (gt_strid)index;
}

/* 0 is no category, and what exports have that know no NULL. */
static bool has_category(const struct gt_nsys_nvtx *event) {
    return event->category != 0 && event->category <= UINT32_MAX && domain_id(event) <= UINT32_MAX;
}

/* Categories are numbered by domain. */
static uint64_t category_number(const struct gt_nsys_nvtx *event) {
    return domain_id(event) << 32 | event->category;
}

/* A category that no event names is known by its number. */
static void add_category(struct gt_nsys_sink *sink, const struct gt_nsys_nvtx *event) {
    uint64_t process = gt_nsys_global_pid(event->global_tid), number = category_number(event);
    char digits[24];
    size_t index = gt_nsys_label_index(sink, GT_NSYS_CATEGORIES, process, number);
    if (index == SIZE_MAX)
        return;
    snprintf(digits, sizeof digits, "%llu", (unsigned long long)event->category);
    gt_nsys_label_default(sink, GT_NSYS_CATEGORIES, index, gt_str_of(digits));
    gt_builder_range_category(sink->builder, &(struct gt_range_categories_row){.name = (gt_strid)index});
}

static void give_name(struct gt_nsys_sink *sink, enum gt_nsys_label_kind kind, uint64_t global_id, uint64_t number,
                      const struct gt_nsys_nvtx *event) {
    struct gt_str name = nvtx_text(sink, event);
    if (name.len)
        gt_nsys_label_give(sink, kind, global_id, number, name, 0);
}

/* No end, or what exporters write in its place: zero, or the largest number there is. */
static bool has_end(const struct gt_nsys_nvtx *event) {
    return event->end_ns != GT_NO_TIME && event->end_ns != GT_NSYS_OPEN_END &&
           !(event->end_ns == 0 && event->start_ns > 0);
}

static void add_range(struct gt_nsys_sink *sink, const struct gt_nsys_nvtx *event, enum gt_range_kind kind) {
    if (event->start_ns == GT_NO_TIME) {
        gt_builder_issue_of(sink->builder, GT_ISSUE_EVENT_DAMAGED, GT_FACT_RANGES, 1, GT_NO_OFFSET);
        return;
    }
    struct gt_ranges_row row = {
        .start_ns = event->start_ns,
        .end_ns = event->end_ns,
        .name = nvtx_name(sink, event),
        .domain = gt_nsys_range_domain(sink, event->global_tid, event->domain_id),
        .thread = gt_nsys_thread(sink, event->global_tid),
        .end_thread = GT_NO_TRACK,
        .lane = GT_NO_TRACK,
        .kind = (uint8_t)kind,
    };
    if (kind == GT_RANGE_MARK) {
        row.end_ns = row.start_ns;
    } else if (!has_end(event) || (event->end_ns == sink->capture->duration_ns && event->end_ns > 0)) {
        gt_builder_issue_of(sink->builder, GT_ISSUE_RANGE_OPEN, GT_FACT_RANGES, 1, GT_NO_OFFSET);
        row.end_ns = has_end(event) ? event->end_ns : GT_NSYS_OPEN_END;
    }
    /* Exports of 2019 to 2021 have 0 where there is no other thread. */
    if (event->end_global_tid != GT_NSYS_NO_ID && event->end_global_tid != 0 &&
        event->end_global_tid != event->global_tid)
        row.end_thread = gt_nsys_thread(sink, event->end_global_tid);
    gt_builder_range(sink->builder, &row);
    if (has_category(event) && sink->facts & GT_FACT_RANGE_TEXTS)
        add_category(sink, event);
}

/* A mark without a text is a carrier of its payload: Nsight's own samples are such marks. */
static void add_mark(struct gt_nsys_sink *sink, const struct gt_nsys_nvtx *event) {
    if (event->text.ptr || event->text_id != GT_NSYS_NO_ID || event->start_ns == GT_NO_TIME) {
        add_range(sink, event, GT_RANGE_MARK);
        return;
    }
    if (sink->facts & GT_FACT_STACKS)
        gt_nsys_add_python_sample(sink, event);
    else
        gt_builder_skip(sink->builder);
}

int gt_nsys_range_kind(uint64_t nvtx_type) {
    switch (nvtx_type) {
    case NVTX_PUSH_POP:
    case NVTX_IMPORTED_PUSH_POP:
        return GT_RANGE_NESTED;
    case NVTX_START_END:
    case NVTX_IMPORTED_START_END:
        return GT_RANGE_START_END;
    default:
        return -1;
    }
}

void gt_nsys_add_nvtx(struct gt_nsys_sink *sink, const struct gt_nsys_nvtx *event) {
    switch (event->type) {
    case NVTX_PUSH_POP:
    case NVTX_IMPORTED_PUSH_POP:
    case NVTX_START_END:
    case NVTX_IMPORTED_START_END:
        add_range(sink, event, (enum gt_range_kind)gt_nsys_range_kind(event->type));
        break;
    case GT_NSYS_NO_ID: /* the export does not say what its events are */
        add_range(sink, event, GT_RANGE_NESTED);
        break;
    case NVTX_MARK:
        add_mark(sink, event);
        break;
    case NVTX_DOMAIN:
        give_name(sink, GT_NSYS_DOMAINS, gt_nsys_global_pid(event->global_tid), domain_id(event), event);
        break;
    case NVTX_CATEGORY:
        if (has_category(event))
            give_name(sink, GT_NSYS_CATEGORIES, gt_nsys_global_pid(event->global_tid), category_number(event), event);
        break;
    case NVTX_THREAD_NAME:
        give_name(sink, GT_NSYS_THREAD_NAMES, event->global_tid, 0, event);
        break;
    default:
        gt_builder_skip(sink->builder);
    }
}
