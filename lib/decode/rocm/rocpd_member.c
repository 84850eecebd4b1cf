/* JSON objects that columns of a rocpd database hold. */
#include "decode/json/json_scan.h"
#include "decode/rocm/rocpd.h"

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
        if (gt_json_scan_value(&p, end, value) != GT_JSON_OK)
            return false;
        if (gt_str_eq(name.raw, key))
            return true;
        p = gt_json_scan_skip_space(p, end);
        if (p == end || *p++ != ',')
            return false;
    }
}
