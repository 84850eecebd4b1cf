/* Takes the text of an object or array apart, member by member. */
#include "decode/json/json_member.h"

#include "base/mem.h"

static enum gt_json_status scan_value(const char **p, const char *end, bool is_second_try,
                                      struct gt_json_value *value) {
    *value = (struct gt_json_value){{{*p, 0}, 0}, **p == '"'};
    if (value->is_string)
        return is_second_try ? gt_json_scan_member_string(p, end, &value->text)
                             : gt_json_scan_string(p, end, &value->text);
    if (**p != '{' && **p != '[')
        return gt_json_scan_bare(p, end, &value->text.raw);
    enum gt_json_status status = gt_json_scan_skip_nested(p, end);
    value->text.raw.len = (size_t)(*p - value->text.raw.ptr);
    return status;
}

static void skip_commas(const char **p, const char *end) {
    while (*p < end && (gt_json_scan_is_space(**p) || **p == ','))
        ++*p;
}

enum gt_json_status gt_json_member_next(const char **p, const char *end, bool is_second_try,
                                        struct gt_json_member *member) {
    skip_commas(p, end);
    if (*p < end && **p != '"')
        return GT_JSON_BAD;
    if (*p == end || gt_json_scan_string(p, end, &member->key) != GT_JSON_OK)
        return GT_JSON_MORE;
    *p = gt_json_scan_skip_space(*p, end);
    if (*p == end)
        return GT_JSON_MORE;
    if (**p != ':')
        return GT_JSON_BAD;
    *p = gt_json_scan_skip_space(*p + 1, end);
    if (*p == end)
        return GT_JSON_MORE;
    return scan_value(p, end, is_second_try, &member->value);
}

enum gt_json_status gt_json_member_next_item(const char **p, const char *end, struct gt_json_value *item) {
    skip_commas(p, end);
    if (*p == end)
        return GT_JSON_MORE;
    if (**p == ']' || **p == '}' || **p == ':')
        return GT_JSON_BAD;
    return scan_value(p, end, false, item);
}

gt_strid gt_json_member_intern(struct gt_builder *builder, const struct gt_json_value *value) {
    struct gt_json_value_text text = value->text;
    if (!value->is_string && gt_str_eq(text.raw, GT_STR("null")))
        return GT_STRID_EMPTY;
    if (text.marks == 0)
        return gt_builder_string(builder, text.raw);
    char *decoded = gt_mem_alloc(text.raw.len);
    bool repaired = false;
    if (!decoded) {
        builder->failed = true;
        return GT_STRID_EMPTY;
    }
    gt_strid id = gt_builder_string(builder, (struct gt_str){decoded, gt_json_scan_decode(text, decoded, &repaired)});
    gt_mem_free(decoded);
    return id;
}
