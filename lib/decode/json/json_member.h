/* Members of an object and items of an array that are at hand as text, one by one. */
#ifndef GT_DECODE_JSON_JSON_MEMBER_H
#define GT_DECODE_JSON_JSON_MEMBER_H

#include "decode/json/json_scan.h"
#include "events/builder.h"

struct gt_json_member {
    struct gt_json_value_text key;
    struct gt_json_value value; /* of a nested one: all of its text */
};

/* The next member; *p is after the object's brace or after the member before. BAD: there is none, or nothing sensible,
   and *p is where that showed. is_second_try: takes more care where strings end, for text that came out BAD. */
enum gt_json_status gt_json_member_next(const char **p, const char *end, bool is_second_try,
                                        struct gt_json_member *member);

/* The same for the items of an array; *p is after its bracket or after the item before. */
enum gt_json_status gt_json_member_next_item(const char **p, const char *end, struct gt_json_value *item);

/* The text of a value outside events, decoded. */
gt_strid gt_json_member_intern(struct gt_builder *builder, const struct gt_json_value *value);

#endif
