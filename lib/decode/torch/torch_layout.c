/* Learns how a file writes its events: an event's text comes in, literals and the values between them go into the tree.
 */
#include "decode/torch/torch_layout.h"

#include <string.h>

/* Files have a dozen kinds of events with a dozen members each. */
enum { MAX_NODES = 4096, MAX_LESSONS = 16384, MAX_STEPS = 64, MAX_LITERAL_BYTES = 1024 };

/* The most digits of a number: as many as microseconds since 1970 have. */
enum { MAX_DIGITS = 16 };

#define BIT(field) (UINT32_C(1) << (field))

void gt_torch_layout_release(struct gt_torch_layout *layout) {
    gt_arena_release(&layout->arena);
    memset(layout, 0, sizeof *layout);
}

/* ---- from text to steps ---- */

struct step {
    struct gt_str literal, value;
    enum gt_torch_slot slot;
    enum gt_torch_field field;
    uint32_t indent;
};

/* An event on its way into the tree. */
struct draft {
    const struct gt_torch_event *event;
    enum gt_torch_role role;
    uint32_t wanted;     /* fields whose values are kept */
    bool needs_fold;     /* one of them is text that represents a track */
    uint32_t seen;       /* fields met so far */
    const char *literal; /* begins here and is not yet ended */
    struct step steps[MAX_STEPS];
    size_t step_count;
};

/* Ends the literal at `to`, where a value is that ends at `after`. */
static bool add_step(struct draft *draft, enum gt_torch_slot slot, enum gt_torch_field field, const char *to,
                     const char *after) {
    struct gt_str literal = {draft->literal, (size_t)(to - draft->literal)};
    if (draft->step_count == MAX_STEPS || literal.len > MAX_LITERAL_BYTES || memchr(literal.ptr, '\0', literal.len))
        return false;
    draft->steps[draft->step_count++] = (struct step){literal, {to, (size_t)(after - to)}, slot, field, 0};
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

static bool names_track(enum gt_torch_field field) {
    return field == GT_TORCH_PID || field == GT_TORCH_TID || field == GT_TORCH_DEVICE || field == GT_TORCH_STREAM;
}

static bool draft_bare(struct draft *draft, const char *p, struct gt_str text, enum gt_torch_field field,
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

static bool draft_text(struct draft *draft, const char *p, struct gt_json_value_text text, enum gt_torch_field field,
                       bool is_wanted) {
    const char *begin = p + 1, *after = begin + text.raw.len;
    if (field == GT_TORCH_PH || field == GT_TORCH_CAT) /* they distinguish the kinds of events */
        return true;
    if (is_wanted && text.raw.len == 0)
        return false;
    if (is_wanted && field == GT_TORCH_NAME)
        return add_step(draft, GT_TORCH_SLOT_NAME, field, begin, after);
    draft->needs_fold |= is_wanted;
    return (!is_wanted || names_track(field)) && add_step(draft, GT_TORCH_SLOT_TEXT, field, begin, after);
}

/* The object at p, its end plain to see: what is between the blanks at its beginning and those at its end. */
static bool draft_lines(struct draft *draft, const char *p, const char *brace) {
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

static bool draft_nested(struct draft *draft, const char *p, const char *after) {
    const char *inside = p + 1, *last = after - 1, *plain = p;
    if (*p == '{' && gt_json_scan_skip_lines(&plain, after) == GT_JSON_OK)
        return draft_lines(draft, p, last);
    for (const char *at = inside; at < last; at++)
        if (*at == '"' || *at == '[' || *at == '{' || *at == '}' || (unsigned char)*at < ' ')
            return add_step(draft, GT_TORCH_SLOT_NESTED, GT_TORCH_OTHER, p, after);
    if (*p == '{')
        return true; /* empty, or as good as that */
    return add_step(draft, GT_TORCH_SLOT_LIST, GT_TORCH_OTHER, inside, last);
}

/* Whether gt_torch_event_parse() took the args that begin now apart. */
static bool enters_args(const struct draft *draft) {
    if (draft->seen & BIT(GT_TORCH_ARGS))
        return false;
    uint32_t kind = BIT(GT_TORCH_CAT) | BIT(GT_TORCH_PH);
    return (draft->seen & kind) != kind || draft->event->args_wanted >> draft->event->category & 1;
}

/* The key at *p and its value. An object that is to be entered is left to the caller: then *p is at its brace. */
static bool draft_member(struct draft *draft, const char **p, const char *end, bool is_in_args) {
    struct gt_json_value_text key, text;
    if (**p != '"' || gt_json_scan_string(p, end, &key) != GT_JSON_OK)
        return false;
    *p = gt_json_scan_skip_space(*p, end);
    *p = gt_json_scan_skip_space(*p + 1, end);
    enum gt_torch_field field = is_in_args ? gt_torch_event_args_field(key.raw) : gt_torch_event_field(key.raw);
    const char *value = *p;
    if (field == GT_TORCH_ARGS && *value == '{' && enters_args(draft))
        return true;
    bool is_first = field < GT_TORCH_FIELD_COUNT && !(draft->seen & BIT(field));
    bool is_wanted = is_first && draft->wanted & BIT(field);
    if (is_first)
        draft->seen |= BIT(field);
    if (*value == '"')
        return gt_json_scan_string(p, end, &text) == GT_JSON_OK && draft_text(draft, value, text, field, is_wanted);
    if (*value == '{' || *value == '[')
        return !is_wanted && gt_json_scan_skip_nested(p, end) == GT_JSON_OK && draft_nested(draft, value, *p);
    return gt_json_scan_bare(p, end, &text.raw) == GT_JSON_OK && draft_bare(draft, value, text.raw, field, is_wanted);
}

/* The members of the event, and those of its args in their place; *p is at the event's brace, then after it. */
static bool draft_members(struct draft *draft, const char **p, const char *end) {
    bool is_in_args = false;
    for (++*p;;) {
        *p = gt_json_scan_skip_space(*p, end);
        if (**p == ',') {
            ++*p;
        } else if (**p == '}') {
            ++*p;
            if (!is_in_args)
                return true;
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
static bool draft_end(struct draft *draft, const char *p, const char *end) {
    p = gt_json_scan_skip_space(p, end);
    if (p == end || *p != ',')
        return false;
    p = gt_json_scan_skip_space(p + 1, end);
    return p < end && *p == '{' && add_step(draft, GT_TORCH_SLOT_END, GT_TORCH_OTHER, p, p);
}

/* Fields without which an event is odd: those are counted on the long way. */
static bool has_needful(const struct draft *draft) {
    uint32_t may_lack = BIT(GT_TORCH_DUR) | BIT(GT_TORCH_CORRELATION) | BIT(GT_TORCH_GRAPH) | BIT(GT_TORCH_GRAPH_NODE) |
                        BIT(GT_TORCH_BYTES);
    return (draft->wanted & ~may_lack & ~draft->seen) == 0;
}

/* ---- from steps to a tree ---- */

static struct gt_torch_node *find_child(const struct gt_torch_node *parent, const struct step *step) {
    for (struct gt_torch_node *node = parent->children; node; node = node->other)
        if (node->slot == step->slot && node->field == step->field && node->indent == step->indent &&
            gt_str_eq((struct gt_str){node->literal, node->literal_bytes}, step->literal))
            return node;
    return NULL;
}

static struct gt_torch_node *new_node(struct gt_torch_layout *layout, struct gt_str literal) {
    struct gt_torch_node *node = gt_arena_alloc(&layout->arena, sizeof *node + literal.len + GT_TORCH_PADDING);
    if (!node)
        return NULL;
    memcpy(node->literal, literal.ptr, literal.len);
    node->literal_bytes = (uint32_t)literal.len;
    node->last_bits = UINT32_MAX >> (-node->literal_bytes & 31);
    layout->node_count++;
    return node;
}

bool gt_torch_layout_init(struct gt_torch_layout *layout, bool is_eager, uint32_t facts) {
    memset(layout, 0, sizeof *layout);
    layout->facts = facts;
    layout->taken = gt_torch_sink_categories(facts);
    layout->lessons_before_fold = is_eager ? 1 : 16;
    layout->max_folds = is_eager ? 1 : 16;
    gt_arena_init(&layout->arena);
    layout->open = new_node(layout, GT_STR(""));
    layout->folded = new_node(layout, GT_STR(""));
    return layout->open && layout->folded;
}

static struct gt_torch_node *add_child(struct gt_torch_layout *layout, struct gt_torch_node *root,
                                       struct gt_torch_node *parent, const struct step *step) {
    struct gt_torch_node *node = new_node(layout, step->literal);
    if (!node)
        return NULL;
    node->slot = step->slot;
    node->field = step->field;
    node->indent = step->indent;
    node->other = parent->children;
    parent->children = node;
    parent->next = node;
    if (node->slot == GT_TORCH_SLOT_END)
        node->next = root->children;
    return node;
}

/* What was for a number the last time, in the open tree. */
static void compare_value(struct gt_torch_layout *layout, struct gt_torch_node *node, struct gt_str value) {
    if (node->has_changed || (node->last_value.ptr && gt_str_eq(node->last_value, value)))
        return;
    node->has_changed = node->last_value.ptr != NULL;
    node->last_value = gt_arena_copy(&layout->arena, value);
}

/* Finds or makes the nodes for the steps; the path at their end, or NULL. nodes: where to put them, or NULL. */
static struct gt_torch_path *add_path(struct gt_torch_layout *layout, struct gt_torch_node *root,
                                      const struct draft *draft, struct gt_torch_node **nodes) {
    struct gt_torch_node *node = root;
    uint32_t fields = 0;
    for (size_t i = 0; i < draft->step_count; i++) {
        const struct step *step = &draft->steps[i];
        struct gt_torch_node *child = find_child(node, step);
        node = child ? child : add_child(layout, root, node, step);
        if (!node)
            return NULL;
        if (nodes)
            nodes[i] = node;
        if (step->slot == GT_TORCH_SLOT_INT || step->slot == GT_TORCH_SLOT_MICROS)
            fields |= BIT(step->field);
    }
    if (!node->path && (node->path = gt_arena_array(&layout->arena, 1, sizeof *node->path)))
        *node->path = (struct gt_torch_path){
            .role = draft->role, .category = draft->event->category, .fields = fields, .needs_fold = draft->needs_fold};
    return node->path;
}

/* ---- folding ---- */

/* Values that name a track are few. Others are folded if they never changed and something wanted follows them: what
   comes last (sizes of grids, registers) distinguishes launches. */
static void fold(struct draft *draft, struct gt_torch_node *const *nodes) {
    size_t count = 0, last_wanted = 0;
    for (size_t i = 0; i < draft->step_count; i++)
        if (draft->wanted >> draft->steps[i].field & 1)
            last_wanted = i;
    const char *literal = draft->steps[0].literal.ptr;
    for (size_t i = 0; i < draft->step_count; i++) {
        struct step step = draft->steps[i];
        if (names_track(step.field))
            continue;
        if (step.slot == GT_TORCH_SLOT_NUMBER && !nodes[i]->has_changed && (i < last_wanted || last_wanted == 0))
            continue;
        step.literal = (struct gt_str){literal, (size_t)(step.value.ptr - literal)};
        draft->steps[count++] = step;
        literal = step.value.ptr + step.value.len;
    }
    draft->step_count = count;
}

static bool is_full(const struct gt_torch_layout *layout) {
    return layout->lesson_count >= MAX_LESSONS || layout->node_count + 2 * MAX_STEPS > MAX_NODES;
}

bool gt_torch_layout_wants(const struct gt_torch_layout *layout, const struct gt_torch_path *path) {
    return path->fold_count < layout->max_folds && !is_full(layout);
}

static void take_lesson(struct gt_torch_layout *layout, const struct gt_torch_event *event, const char *p,
                        const char *end, uint32_t track) {
    struct draft draft;
    struct gt_torch_node *nodes[MAX_STEPS];
    draft.event = event;
    draft.literal = p;
    draft.step_count = 0;
    draft.seen = 0;
    draft.needs_fold = false;
    if (!gt_torch_layout_choose_role(layout, event, &draft.role, &draft.wanted))
        return;
    layout->lesson_count++;
    if (!draft_members(&draft, &p, end) || !has_needful(&draft) || !draft_end(&draft, p, end))
        return;
    struct gt_torch_path *path = add_path(layout, layout->open, &draft, nodes);
    if (!path || path->fold_count == layout->max_folds)
        return;
    for (size_t i = 0; i < draft.step_count; i++)
        compare_value(layout, nodes[i], draft.steps[i].value);
    if (++path->lesson_count < layout->lessons_before_fold)
        return;
    fold(&draft, nodes);
    struct gt_torch_path *folded = add_path(layout, layout->folded, &draft, NULL);
    if (!folded)
        return;
    folded->is_folded = true;
    folded->track = track;
    path->fold_count++;
}

void gt_torch_layout_learn(struct gt_torch_layout *layout, const struct gt_torch_event *event, const char *p,
                           const char *end, uint32_t track) {
    if (is_full(layout))
        return;
    take_lesson(layout, event, p, end, track);
    if (!gt_arena_failed(&layout->arena))
        return;
    /* A lesson that memory ran out on leaves paths without an end: better to know nothing from here on. */
    layout->open->children = layout->folded->children = NULL;
    layout->lesson_count = MAX_LESSONS;
}
