/* Takes the text of an event apart for learning: which parts are the same in all events like it, and which are values.
 */
#include "decode/torch/torch_draft.h"

#include <string.h>

#include "decode/torch/torch_facts.h"

enum { MAX_LITERAL_BYTES = 1024, MAX_REPEATED_BYTES = 4096 };

/* The most digits of a number: as many as microseconds since 1970 have. */
enum { MAX_DIGITS = 16 };

#define BIT(field) (UINT32_C(1) << (field))

/* Ends the literal at `to`, where a value is that ends at `after`. */
static bool add_step(struct gt_torch_draft *draft, enum gt_torch_slot slot, enum gt_torch_field field, const char *to,
                     const char *after) {
    struct gt_str literal = {draft->literal, (size_t)(to - draft->literal)};
    if (draft->step_count == GT_TORCH_DRAFT_STEPS || literal.len > MAX_LITERAL_BYTES ||
        memchr(literal.ptr, '\0', literal.len))
        return false;
    draft->steps[draft->step_count++] = (struct gt_torch_step){literal, {to, (size_t)(after - to)}, slot, field, 0};
    draft->literal = after;
    return true;
}

static bool is_digits(struct gt_str text) {
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return false;
    return text.len > 0;
}

/* Bytes that are part of a bare value wherever they are, and all that numbers without exponents are made of. */
static bool is_number(struct gt_str text) {
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] < '-' || text.ptr[i] > '9')
            return false;
    return text.len > 0;
}

static bool draft_bare(struct gt_torch_draft *draft, const char *p, struct gt_str text, enum gt_torch_field field,
                       bool is_wanted) {
    const char *after = p + text.len;
    if (!is_wanted) /* words stay in the literal */
        return !is_number(text) || add_step(draft, GT_TORCH_SLOT_NUMBER, field, p, after);
    if (field == GT_TORCH_TS || field == GT_TORCH_DUR) {
        const char *point = memchr(p, '.', text.len);
        struct gt_str whole = {p, point ? (size_t)(point - p) : text.len};
        return is_digits(whole) && whole.len <= MAX_DIGITS && is_number(text) &&
               add_step(draft, GT_TORCH_SLOT_MICROS, field, p, after);
    }
    return field != GT_TORCH_NAME && is_digits(text) && text.len <= MAX_DIGITS &&
           add_step(draft, GT_TORCH_SLOT_INT, field, p, after);
}

static bool draft_text(struct gt_torch_draft *draft, const char *p, struct gt_json_value_text text,
                       enum gt_torch_field field, bool is_wanted) {
    const char *begin = p + 1, *after = begin + text.raw.len;
    if (field == GT_TORCH_PH || field == GT_TORCH_CAT) /* they distinguish the kinds of events */
        return true;
    if (is_wanted && text.raw.len == 0)
        return false;
    if (is_wanted && field == GT_TORCH_NAME)
        return add_step(draft, GT_TORCH_SLOT_NAME, field, begin, after);
    draft->needs_fold |= is_wanted;
    return (!is_wanted || gt_torch_layout_names_track(field)) &&
           add_step(draft, GT_TORCH_SLOT_TEXT, field, begin, after);
}

/* The object at p, its end plain to see: what is between the blanks at its beginning and those at its end. */
static bool draft_lines(struct gt_torch_draft *draft, const char *p, const char *brace) {
    const char *begin = gt_json_scan_skip_space(p + 1, brace), *end = brace;
    while (end > begin && gt_json_scan_is_space(end[-1]))
        end--;
    if (begin == end)
        return true;
    if (!add_step(draft, GT_TORCH_SLOT_LINES, GT_TORCH_OTHER, begin, end))
        return false;
    draft->steps[draft->step_count - 1].indent = (uint32_t)(brace - end);
    return true;
}

static bool draft_nested(struct gt_torch_draft *draft, const char *p, const char *after) {
    const char *inside = p + 1, *last = after - 1, *plain = p;
    if (*p == '{' && gt_json_scan_skip_lines(&plain, after) == GT_JSON_OK)
        return draft_lines(draft, p, last);
    for (const char *at = inside; at < last; at++)
        if (*at == '"' || *at == '[' || *at == '{' || *at == '}' || (unsigned char)*at < ' ')
            return add_step(draft, GT_TORCH_SLOT_NESTED, GT_TORCH_OTHER, inside, after);
    if (*p == '{')
        return true; /* empty, or as good as that */
    return add_step(draft, GT_TORCH_SLOT_LIST, GT_TORCH_OTHER, inside, last);
}

/* The value at *p, of any kind; *p is then after it. */
static bool draft_value(struct gt_torch_draft *draft, const char **p, const char *end, enum gt_torch_field field,
                        bool is_wanted) {
    const char *value = *p;
    struct gt_json_value_text text;
    if (*value == '"')
        return gt_json_scan_string(p, end, &text) == GT_JSON_OK && draft_text(draft, value, text, field, is_wanted);
    if (*value == '{' || *value == '[')
        return !is_wanted && gt_json_scan_skip_nested(p, end) == GT_JSON_OK && draft_nested(draft, value, *p);
    return gt_json_scan_bare(p, end, &text.raw) == GT_JSON_OK && draft_bare(draft, value, text.raw, field, is_wanted);
}

/* Takes note of a field; whether it is the first one. */
static bool see(struct gt_torch_draft *draft, enum gt_torch_field field) {
    bool is_first = field < GT_TORCH_FIELD_COUNT && !(draft->seen & BIT(field));
    if (is_first)
        draft->seen |= BIT(field);
    return is_first;
}

/* ---- args that are known as text ---- */

static bool has_braces(struct gt_str text) {
    return memchr(text.ptr, '{', text.len) || memchr(text.ptr, '}', text.len);
}

/* A member between the first and the last of those that repeat: from `key` to `after`. The text that repeats goes on
   to its end; numbers in between that differ from event to event would keep it from repeating. */
static bool extend_repeated(struct gt_torch_draft *draft, const char *key, const char *after) {
    if (!draft->repeated) {
        if (!add_step(draft, GT_TORCH_SLOT_REPEATED, GT_TORCH_ARGS, key, after))
            return false;
        draft->repeated = &draft->steps[draft->step_count - 1];
    }
    struct gt_torch_step *repeated = draft->repeated;
    for (struct gt_torch_step *step = repeated + 1; step < draft->steps + draft->step_count; step++)
        if (draft->purpose.wanted >> step->field & 1)
            return false;
    draft->step_count = (size_t)(repeated - draft->steps) + 1;
    repeated->value.len = (size_t)(after - repeated->value.ptr);
    draft->literal = after;
    return repeated->value.len <= MAX_REPEATED_BYTES && !has_braces(repeated->value);
}

/* What limits a kernel: an object that is asked for as a whole. */
static bool draft_limits(struct gt_torch_draft *draft, const char **p, const char *end) {
    const char *object = *p;
    return *object == '{' && gt_json_scan_skip_nested(p, end) == GT_JSON_OK &&
           add_step(draft, GT_TORCH_SLOT_NESTED, GT_TORCH_LIMITS, object + 1, *p);
}

/* A member that gt_torch_facts.h reads from the text; *p is at its value. Twice the same is for the portable reader. */
static bool draft_known(struct gt_torch_draft *draft, const char *key, const char **p, const char *end,
                        enum gt_torch_field field) {
    struct gt_json_value_text text;
    if (field == GT_TORCH_LIMITS)
        return see(draft, field) && draft_limits(draft, p, end);
    if (field != GT_TORCH_ARGS)
        return see(draft, field) && **p != '"' && draft_value(draft, p, end, field, true);
    if (**p == '"' || **p == '{')
        return false;
    enum gt_json_status status = **p == '[' ? gt_json_scan_skip_nested(p, end) : gt_json_scan_bare(p, end, &text.raw);
    return status == GT_JSON_OK && extend_repeated(draft, key, *p);
}

/* A member of args that are asked for as text; *p is at its value. Where gt_torch_event_parse() passed over the args,
   their first closing brace outside texts has to be their end. */
static bool draft_known_or_other(struct gt_torch_draft *draft, const char *key, struct gt_str name, const char **p,
                                 const char *end, enum gt_torch_field field) {
    enum gt_torch_field known = gt_torch_facts_field(draft->event->category, name);
    if (known != GT_TORCH_OTHER)
        return draft_known(draft, key, p, end, known);
    if (draft->event->category == GT_TORCH_CAT_CPU_OP) {
        size_t steps = draft->step_count;
        return !has_braces(name) && draft_value(draft, p, end, GT_TORCH_OTHER, false) &&
               (draft->step_count == steps || draft->steps[steps].slot == GT_TORCH_SLOT_NUMBER ||
                draft->steps[steps].slot == GT_TORCH_SLOT_TEXT || draft->steps[steps].slot == GT_TORCH_SLOT_LIST);
    }
    return draft_value(draft, p, end, field, see(draft, field) && draft->purpose.wanted & BIT(field));
}

/* ---- members ---- */

/* Whether the args that begin now are taken apart: gt_torch_event_parse() did so, or their text is asked for. */
static bool enters_args(const struct gt_torch_draft *draft) {
    if (draft->seen & BIT(GT_TORCH_ARGS))
        return false;
    uint32_t kind = BIT(GT_TORCH_CAT) | BIT(GT_TORCH_PH);
    return (draft->seen & kind) != kind || draft->event->args_wanted >> draft->event->category & 1 ||
           draft->purpose.reads_text;
}

/* The key at *p and its value. An object that is to be entered is left to the caller: then *p is at its brace. */
static bool draft_member(struct gt_torch_draft *draft, const char **p, const char *end, bool is_in_args) {
    struct gt_json_value_text key;
    const char *begin = *p;
    if (**p != '"' || gt_json_scan_string(p, end, &key) != GT_JSON_OK)
        return false;
    *p = gt_json_scan_skip_space(*p, end);
    *p = gt_json_scan_skip_space(*p + 1, end);
    enum gt_torch_field field = is_in_args ? gt_torch_event_args_field(key.raw) : gt_torch_event_field(key.raw);
    if (field == GT_TORCH_ARGS && **p == '{' && enters_args(draft))
        return true;
    if (is_in_args && draft->purpose.reads_text)
        return draft_known_or_other(draft, begin, key.raw, p, end, field);
    return draft_value(draft, p, end, field, see(draft, field) && draft->purpose.wanted & BIT(field));
}

/* The members of the event, and those of its args in their place; *p is at the event's brace, then after it. */
static bool draft_members(struct gt_torch_draft *draft, const char **p, const char *end) {
    bool is_in_args = false;
    for (++*p;;) {
        *p = gt_json_scan_skip_space(*p, end);
        if (**p == ',') {
            ++*p;
        } else if (**p == '}') {
            ++*p;
            if (!is_in_args)
                return true;
            if (draft->purpose.reads_text && *p != draft->event->args.ptr + draft->event->args.len)
                return false;
            is_in_args = false;
        } else {
            if (!draft_member(draft, p, end, is_in_args))
                return false;
            if (**p == '{') {
                ++*p;
                is_in_args = true;
                draft->seen |= BIT(GT_TORCH_ARGS);
            }
        }
    }
}

/* After the event: the comma and white space up to the next one. */
static bool draft_end(struct gt_torch_draft *draft, const char *p, const char *end) {
    p = gt_json_scan_skip_space(p, end);
    if (p == end || *p != ',')
        return false;
    p = gt_json_scan_skip_space(p + 1, end);
    return p < end && *p == '{' && add_step(draft, GT_TORCH_SLOT_END, GT_TORCH_OTHER, p, p);
}

/* Fields without which an event is odd: those are counted on the long way. */
static bool has_needful(const struct gt_torch_draft *draft) {
    uint32_t may_lack = BIT(GT_TORCH_DUR) | BIT(GT_TORCH_CORRELATION) | BIT(GT_TORCH_GRAPH) | BIT(GT_TORCH_GRAPH_NODE) |
                        BIT(GT_TORCH_BYTES) | GT_TORCH_TEXT_FIELDS | GT_TORCH_DETAIL_FIELDS;
    return (draft->purpose.wanted & ~may_lack & ~draft->seen) == 0;
}

bool gt_torch_draft_make(struct gt_torch_draft *draft, const struct gt_torch_event *event, const char *p,
                         const char *end) {
    draft->event = event;
    draft->literal = p;
    draft->step_count = 0;
    draft->seen = 0;
    draft->needs_fold = false;
    draft->repeated = NULL;
    return draft_members(draft, &p, end) && has_needful(draft) && draft_end(draft, p, end);
}
