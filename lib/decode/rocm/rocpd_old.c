/* Rows of schema 2, which rocmProfileData (rpd) writes: one table of GPU work, one of calls, and one of who launched
   what. Ops have no process; names say what they are. */
#include "decode/rocm/rocpd.h"

static struct gt_str text_of(const struct gt_rocpd_rows *rows, uint64_t id) {
    uint32_t place = id == GT_ROCM_NONE ? GT_MAP_NONE : gt_rocpd_names_find(&rows->set->strings, id);
    return place == GT_MAP_NONE ? GT_STR("") : rows->set->strings.texts[place];
}

static uint64_t value_of(struct gt_rocpd_rows *rows, enum gt_rocpd_role role, uint64_t id) {
    const struct gt_rocpd_entry *entry =
        id == GT_ROCM_NONE ? NULL : gt_rocpd_entries_find(&rows->set->entries[role], id, &rows->hints[role]);
    return entry ? entry->value : GT_ROCM_NONE;
}

static void take_op(void *context, const struct gt_sqlite_row *from) {
    struct gt_rocpd_rows *rows = context;
    uint64_t name_id = gt_rocpd_id(from, GT_ROCPD_OP_NAME), type_id = gt_rocpd_id(from, GT_ROCPD_OP_TYPE);
    struct gt_str type = text_of(rows, type_id), description = text_of(rows, name_id);
    bool is_copy = gt_str_find_nocase(type, GT_STR("copy")) != NULL, is_known = true;
    bool is_fill = gt_str_find_nocase(type, GT_STR("fill")) || gt_str_find_nocase(type, GT_STR("memset"));
    if (gt_str_find_nocase(type, GT_STR("barrier")) || gt_str_find_nocase(type, GT_STR("marker"))) {
        gt_builder_skip(rows->sink->builder);
        return;
    }
    uint64_t call = value_of(rows, GT_ROCPD_LINKS, gt_rocpd_id(from, GT_ROCPD_OP_ID));
    struct gt_rocm_op op = {
        .start_ns = gt_rocpd_time(from, GT_ROCPD_OP_START),
        .end_ns = gt_rocpd_time(from, GT_ROCPD_OP_END),
        .correlation = call,
        .process = rows->set->only_process,
        .device = gt_sqlite_record_int(from, GT_ROCPD_OP_DEVICE, -1),
        .stream = gt_sqlite_record_int(from, GT_ROCPD_OP_QUEUE, 0),
        .is_copy = is_copy,
        .is_fill = !is_copy && is_fill,
        .way = is_copy ? gt_rocm_way_of(type) : GT_ROCM_WAY_UNKNOWN,
        .bytes = is_copy || is_fill ? value_of(rows, GT_ROCPD_TRANSFERS, call) : GT_ROCM_NONE,
    };
    bool is_kernel = !is_copy && !is_fill;
    if (is_kernel && description.len)
        op.name = gt_builder_string(rows->sink->builder, gt_rocm_kernel_name(description));
    else if (!is_fill)
        op.name = gt_rocpd_string(rows, type_id, &is_known);
    op.lacks_name = is_kernel && description.len == 0;
    gt_rocm_add_op(rows->sink, &op);
}

/* Ranges of ROCTX are calls of a name of their own, whose argument is the range's name. */
static void take_call(void *context, const struct gt_sqlite_row *from) {
    struct gt_rocpd_rows *rows = context;
    uint64_t name_id = gt_rocpd_id(from, GT_ROCPD_CALL_NAME), pid = gt_rocpd_id(from, GT_ROCPD_CALL_PID);
    struct gt_str name = text_of(rows, name_id), args = text_of(rows, gt_rocpd_id(from, GT_ROCPD_CALL_ARGS));
    bool is_marker = gt_str_eq_nocase(name, GT_STR("UserMarker")) || gt_str_starts(name, GT_STR("roctx")), is_known;
    gt_rocm_add_region(rows->sink, &(struct gt_rocm_region){
                                       .start_ns = gt_rocpd_time(from, GT_ROCPD_CALL_START),
                                       .end_ns = gt_rocpd_time(from, GT_ROCPD_CALL_END),
                                       .correlation = gt_rocpd_id(from, GT_ROCPD_CALL_ID),
                                       .process = gt_rocm_bare_process(pid),
                                       .tid = gt_sqlite_record_int(from, GT_ROCPD_CALL_TID, -1),
                                       .name = is_marker && args.len ? gt_builder_string(rows->sink->builder, args)
                                                                     : gt_rocpd_string(rows, name_id, &is_known),
                                       .domain = is_marker ? GT_ROCM_MARKER : GT_ROCM_CALL,
                                       .function = {"", 0},
                                   });
}

gt_sqlite_pages_row_fn *gt_rocpd_old_function(enum gt_rocpd_role role) {
    return role == GT_ROCPD_OPS ? take_op : take_call;
}
