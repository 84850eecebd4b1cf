/* Rows that other rows refer to by id: events, timestamps, and in schema 2 which call launched which op. */
#include "base/mem.h"
#include "decode/json/json_scan.h"
#include "decode/rocm/rocpd.h"

/* The message of a marker: {"message": "..."}. */
static uint32_t message_of(const struct gt_rocpd_refer *refer, struct gt_str data) {
    struct gt_json_value_text value;
    bool is_repaired = false;
    if (!gt_rocpd_member(data, GT_STR("message"), &value))
        return 0;
    if (!(value.marks & GT_JSON_ESCAPES))
        return gt_rocpd_entries_message(refer->piece, value.raw);
    char *text = gt_mem_alloc(value.raw.len + 1);
    if (!text) {
        refer->piece->has_failed = true;
        return 0;
    }
    size_t length = gt_json_scan_decode(value, text, &is_repaired);
    uint32_t message = gt_rocpd_entries_message(refer->piece, (struct gt_str){text, length});
    gt_mem_free(text);
    return message;
}

/* Ids of calls and of what they launched meet in one of these columns; 0 is none. */
static uint64_t link_in(const struct gt_rocpd_refer *refer, const struct gt_sqlite_row *row,
                        enum gt_rocm_domain domain) {
    uint64_t stack = gt_rocpd_id(row, GT_ROCPD_EVENT_STACK), link = stack;
    if (refer->set->link == GT_ROCPD_BY_CORRELATION)
        link = gt_rocpd_id(row, GT_ROCPD_EVENT_CORRELATION);
    else if (refer->set->link == GT_ROCPD_BY_PARENT && domain == GT_ROCM_OTHER)
        link = gt_rocpd_id(row, GT_ROCPD_EVENT_PARENT);
    return link == 0 ? GT_ROCM_NONE : link;
}

static void take_event(void *context, const struct gt_sqlite_row *row) {
    const struct gt_rocpd_refer *refer = context;
    const struct gt_rocpd_set *set = refer->set;
    if (!gt_sqlite_record_is_int(row, GT_ROCPD_EVENT_ID))
        return;
    const struct gt_rocpd_names *names = set->tables[GT_ROCPD_CATEGORIES].table ? &set->categories : &set->strings;
    uint64_t category_id = gt_rocpd_id(row, GT_ROCPD_EVENT_CATEGORY);
    uint32_t category = category_id == GT_ROCM_NONE ? GT_MAP_NONE : gt_rocpd_names_find(names, category_id);
    struct gt_rocpd_entry entry = {.tag = category + 1};
    enum gt_rocm_domain domain = category < names->count ? (enum gt_rocm_domain)set->domains[category] : GT_ROCM_OTHER;
    entry.value = link_in(refer, row, domain);
    if (domain == GT_ROCM_OTHER)
        gt_rocpd_link_note(refer->piece, gt_rocpd_id(row, GT_ROCPD_EVENT_STACK),
                           gt_rocpd_id(row, GT_ROCPD_EVENT_PARENT), gt_rocpd_id(row, GT_ROCPD_EVENT_CORRELATION));
    struct gt_str data = gt_sqlite_record_text(row, GT_ROCPD_EVENT_DATA);
    bool may_have_message = data.len > 2 && (domain == GT_ROCM_MARKER || category >= names->count);
    if (may_have_message)
        entry.message = message_of(refer, data);
    gt_rocpd_entries_add(refer->piece, gt_rocpd_id(row, GT_ROCPD_EVENT_ID), &entry);
}

/* A number under an id. */
static void take_pair(void *context, const struct gt_sqlite_row *row) {
    const struct gt_rocpd_refer *refer = context;
    if (gt_sqlite_record_is_int(row, 0) && gt_sqlite_record_is_int(row, 1))
        gt_rocpd_entries_add(refer->piece, gt_rocpd_id(row, 0), &(struct gt_rocpd_entry){.value = gt_rocpd_id(row, 1)});
}

gt_sqlite_pages_row_fn *gt_rocpd_refer_function(enum gt_rocpd_role role) {
    return role == GT_ROCPD_EVENTS ? take_event : take_pair;
}
