/* JSON objects that columns of a rocpd database hold. */
#include "decode/rocm/rocpd.h"
#include "decode/torch/json_scan.h"

static enum gt_json_status skip_value(const char **p, const char *end, struct gt_json_value_text *value) {
    value->marks = 0;
    if (*p == end)
        return GT_JSON_MORE;
    if (**p == '"')
        return gt_json_scan_string(p, end, value);
    const char *start = *p;
    if (**p != '{' && **p != '[')
        return gt_json_scan_bare(p, end, &value->raw);
    enum gt_json_status status = gt_json_scan_skip_nested(p, end);
    value->raw = (struct gt_str){start, (size_t)(*p - start)};
    return status;
}

bool gt_rocpd_member(struct gt_str object, struct gt_str key, struct gt_json_value_text *value) {
    const char *p = object.ptr, *end = object.ptr ? p + object.len : p;
    p = gt_json_scan_skip_space(p, end);
    if (p == end || *p++ != '{')
        return false;
    for (;;) {
        struct gt_json_value_text name;
        p = gt_json_scan_skip_space(p, end);
        if (p == end || *p != '"' || gt_json_scan_string(&p, end, &name) != GT_JSON_OK)
            return false;
        p = gt_json_scan_skip_space(p, end);
        if (p == end || *p++ != ':')
            return false;
        p = gt_json_scan_skip_space(p, end);
        if (skip_value(&p, end, value) != GT_JSON_OK)
            return false;
        if (gt_str_eq(name.raw, key))
            return true;
        p = gt_json_scan_skip_space(p, end);
        if (p == end || *p++ != ',')
            return false;
    }
}
