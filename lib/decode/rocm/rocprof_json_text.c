/* A JSON document as a stream of members and elements, and the values inside of one of them. */
#include "base/num.h"
#include "decode/rocm/rocprof_json.h"

enum { DEPTH_MAX = 24 };

/* ---- the stream ---- */

/* More bytes after the current ones. false: there are none, or no room for them. */
static bool fill(struct gt_rocprof_json_text *text) {
    struct gt_json_bytes *bytes = &text->window.bytes;
    if (text->status != GT_OK || gt_json_window_is_final(bytes, bytes->p))
        return false;
    text->status = gt_json_window_fill(&text->window, text->err);
    return text->status == GT_OK;
}

/* The bytes ended inside of something: the input is cut, or what is there is too long. */
static bool fail_at_end(struct gt_rocprof_json_text *text) {
    if (text->status == GT_OK && text->window.bytes.is_all)
        text->is_cut = true;
    else
        text->is_damaged = true;
    return false;
}

char gt_rocprof_json_text_peek(struct gt_rocprof_json_text *text) {
    struct gt_json_bytes *bytes = &text->window.bytes;
    do {
        if (gt_rocprof_json_text_ends(text))
            return '\0';
        gt_json_window_move(bytes, gt_json_scan_skip_space(bytes->p, bytes->end));
        if (bytes->p < bytes->end)
            return *bytes->p;
    } while (fill(text));
    fail_at_end(text);
    return '\0';
}

bool gt_rocprof_json_text_take(struct gt_rocprof_json_text *text, char sign) {
    bool is_there = gt_rocprof_json_text_peek(text) == sign && sign;
    if (is_there)
        gt_json_window_move(&text->window.bytes, text->window.bytes.p + 1);
    return is_there;
}

bool gt_rocprof_json_text_next(struct gt_rocprof_json_text *text, char closing, bool is_first) {
    if (gt_rocprof_json_text_take(text, closing))
        return false;
    if (!is_first && !gt_rocprof_json_text_take(text, ',')) {
        text->is_damaged |= !gt_rocprof_json_text_ends(text);
        return false;
    }
    return gt_rocprof_json_text_peek(text) != '\0';
}

bool gt_rocprof_json_text_whole(struct gt_rocprof_json_text *text, struct gt_str *value) {
    struct gt_json_bytes *bytes = &text->window.bytes;
    if (gt_rocprof_json_text_peek(text) == '\0')
        return false;
    for (;;) {
        const char *p = bytes->p;
        struct gt_json_value_text ignored;
        enum gt_json_status status = gt_json_scan_value(&p, bytes->end, &ignored);
        if (status == GT_JSON_OK && p == bytes->p)
            status = GT_JSON_BAD; /* nothing at all */
        if (status == GT_JSON_OK) {
            *value = (struct gt_str){bytes->p, (size_t)(p - bytes->p)};
            gt_json_window_move(bytes, p);
            return true;
        }
        if (status == GT_JSON_BAD) {
            text->is_damaged = true;
            return false;
        }
        if (!fill(text))
            return fail_at_end(text);
    }
}

bool gt_rocprof_json_text_key(struct gt_rocprof_json_text *text, char *key, size_t room) {
    struct gt_str name;
    if (gt_rocprof_json_text_peek(text) != '"') {
        text->is_damaged |= !gt_rocprof_json_text_ends(text);
        return false;
    }
    if (!gt_rocprof_json_text_whole(text, &name))
        return false;
    size_t length = name.len - 2 < room - 1 ? name.len - 2 : 0;
    memcpy(key, name.ptr + 1, length);
    key[length] = '\0';
    if (gt_rocprof_json_text_take(text, ':'))
        return true;
    text->is_damaged |= !gt_rocprof_json_text_ends(text);
    return false;
}

static void skip(struct gt_rocprof_json_text *text, int depth) {
    char sign = gt_rocprof_json_text_peek(text), key[2];
    struct gt_str ignored;
    if ((sign != '{' && sign != '[') || depth == DEPTH_MAX) {
        gt_rocprof_json_text_whole(text, &ignored);
        return;
    }
    gt_rocprof_json_text_take(text, sign);
    char closing = sign == '{' ? '}' : ']';
    for (bool is_first = true; gt_rocprof_json_text_next(text, closing, is_first); is_first = false)
        if (sign == '[' || gt_rocprof_json_text_key(text, key, sizeof key))
            skip(text, depth + 1);
}

void gt_rocprof_json_text_skip(struct gt_rocprof_json_text *text) {
    skip(text, 0);
}

/* ---- values ---- */

struct walking {
    const char *p, *end;
    struct gt_str except;
    gt_rocprof_json_take_fn *take;
    void *context;
};

static char next_sign(struct walking *walking) {
    walking->p = gt_json_scan_skip_space(walking->p, walking->end);
    return walking->p < walking->end ? *walking->p : '\0';
}

static bool walk(struct walking *walking, struct gt_str key, struct gt_str parent, int depth);

static bool walk_members(struct walking *walking, struct gt_str parent, int depth) {
    for (bool is_first = true;; is_first = false) {
        struct gt_json_value_text name;
        char sign = next_sign(walking);
        if (sign == '}')
            return walking->p++, true;
        if (!is_first && sign == ',')
            walking->p++, sign = next_sign(walking);
        if (sign != '"' || gt_json_scan_string(&walking->p, walking->end, &name) != GT_JSON_OK ||
            next_sign(walking) != ':')
            return false;
        walking->p++;
        next_sign(walking);
        if (!walk(walking, name.raw, parent, depth))
            return false;
    }
}

static bool walk_elements(struct walking *walking, struct gt_str key, struct gt_str parent, int depth) {
    for (bool is_first = true;; is_first = false) {
        char sign = next_sign(walking);
        if (sign == ']')
            return walking->p++, true;
        if (!is_first && sign == ',')
            walking->p++;
        else if (!is_first)
            return false;
        next_sign(walking);
        if (!walk(walking, key, parent, depth))
            return false;
    }
}

/* A value at p. */
static bool walk(struct walking *walking, struct gt_str key, struct gt_str parent, int depth) {
    struct gt_rocprof_json_value value = {.key = key, .parent = parent};
    char sign = next_sign(walking);
    bool is_passed = depth == DEPTH_MAX || (walking->except.len && gt_str_eq(key, walking->except));
    if ((sign == '{' || sign == '[') && !is_passed) {
        walking->p++;
        return sign == '{' ? walk_members(walking, key, depth + 1) : walk_elements(walking, key, parent, depth + 1);
    }
    const char *start = walking->p;
    enum gt_json_status status = gt_json_scan_value(&walking->p, walking->end, &value.text);
    bool is_bare = sign != '"' && sign != '{' && sign != '[';
    if (status == GT_JSON_MORE && is_bare && walking->p < walking->end) { /* a number that ends the text */
        value.text.raw = (struct gt_str){walking->p, (size_t)(walking->end - walking->p)};
        walking->p = walking->end;
        status = GT_JSON_OK;
    }
    if (status != GT_JSON_OK || walking->p == start)
        return false;
    value.is_text = sign == '"';
    if (!is_passed && (value.is_text || is_bare))
        walking->take(walking->context, &value);
    return true;
}

bool gt_rocprof_json_values(struct gt_str element, const char *except, gt_rocprof_json_take_fn *take, void *context) {
    struct walking walking = {element.ptr, element.ptr + element.len, gt_str_of(except), take, context};
    return walk(&walking, GT_STR(""), GT_STR(""), 0);
}

bool gt_rocprof_json_number(const struct gt_rocprof_json_value *value, uint64_t *number) {
    struct gt_str text = value->text.raw;
    if (!gt_str_take_start(&text, GT_STR("0x")))
        return gt_num_parse_uint(text, number);
    return gt_num_parse_hex(text, number);
}
