/* Reads the values that a table names out of the text of an object. */
#include "decode/torch/torch_args.h"

#include "decode/json/json_member.h"
#include "decode/torch/torch_value.h"

static void keep(struct gt_torch_args *args, const struct gt_json_member *member, const struct gt_torch_args_key *keys,
                 size_t count) {
    for (size_t i = 0; i < count; i++)
        if (gt_str_eq(member->key.raw, keys[i].key)) {
            if (!gt_torch_args_has(args, keys[i].field))
                args->values[keys[i].field] = member->value;
            args->seen |= UINT32_C(1) << keys[i].field;
            return;
        }
}

void gt_torch_args_read(struct gt_torch_args *args, const struct gt_torch_event *event,
                        const struct gt_torch_args_key *keys, size_t count) {
    struct gt_json_member member;
    args->seen = 0;
    args->is_damaged = false;
    if (event->args.len == 0)
        return;
    const char *p = event->args.ptr + 1, *end = event->args.ptr + event->args.len;
    while (gt_json_member_next(&p, end, event->is_second_try, &member) == GT_JSON_OK)
        keep(args, &member, keys, count);
    args->is_damaged = p == end || *p != '}';
}

void gt_torch_args_read_object(struct gt_torch_args *args, struct gt_str object, const struct gt_torch_args_key *keys,
                               size_t count) {
    const struct gt_torch_event event = {.args = object};
    gt_torch_args_read(args, &event, keys, count);
}

bool gt_torch_args_read_members(struct gt_torch_args *args, struct gt_str text, const struct gt_torch_args_key *keys,
                                size_t count) {
    const char *p = text.ptr, *end = text.ptr + text.len;
    struct gt_json_member member;
    args->seen = 0;
    args->is_damaged = false;
    for (;;) {
        uint32_t seen = args->seen;
        if (p == end || *p != '"' || gt_json_member_next(&p, end, false, &member) != GT_JSON_OK)
            return false;
        keep(args, &member, keys, count);
        if (args->seen == seen)
            return false;
        if (p == end)
            return true;
        p = gt_json_scan_skip_space(p, end);
        if (p == end || *p != ',')
            return false;
        p = gt_json_scan_skip_space(p + 1, end);
    }
}

void gt_torch_args_take(struct gt_torch_args *args, const struct gt_torch_subject *at,
                        const struct gt_torch_args_key *keys, size_t count) {
    gt_torch_args_read(args, at->event, keys, count);
    if (args->is_damaged)
        gt_torch_subject_issue(at, GT_ISSUE_NUMBER_UNREADABLE);
}

/* Whether the value is there; counts one that cannot be read. */
static bool is_number(const struct gt_torch_subject *at, enum gt_json_number found) {
    if (found == GT_JSON_UNREADABLE)
        gt_torch_subject_issue(at, GT_ISSUE_NUMBER_UNREADABLE);
    return found == GT_JSON_NUMBER;
}

int64_t gt_torch_args_int(const struct gt_torch_subject *at, const struct gt_torch_args *args, unsigned field,
                          int64_t absent) {
    int64_t value;
    bool is_there =
        gt_torch_args_has(args, field) && is_number(at, gt_json_number_to_int(&args->values[field], &value));
    return is_there ? value : absent;
}

uint64_t gt_torch_args_uint(const struct gt_torch_subject *at, const struct gt_torch_args *args, unsigned field) {
    uint64_t value;
    bool is_there =
        gt_torch_args_has(args, field) && is_number(at, gt_json_number_to_uint(&args->values[field], &value));
    return is_there ? value : UINT64_MAX;
}

double gt_torch_args_real(const struct gt_torch_subject *at, const struct gt_torch_args *args, unsigned field) {
    double value;
    bool is_there =
        gt_torch_args_has(args, field) && is_number(at, gt_json_number_to_real(&args->values[field], &value));
    return is_there ? value : -1;
}

gt_strid gt_torch_args_text(const struct gt_torch_subject *at, const struct gt_torch_args *args, unsigned field) {
    if (!gt_torch_args_has(args, field))
        return GT_STRID_EMPTY;
    return gt_builder_string(at->sink->builder, gt_torch_subject_decode(at, &args->values[field]));
}
