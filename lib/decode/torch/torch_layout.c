/* Learns how a file writes its events: an event's text comes in, literals and the values between them go into the tree.
 */
#include "decode/torch/torch_draft.h"

#include <string.h>

/* Files have a dozen kinds of events with a dozen members each. */
enum { MAX_NODES = 4096, MAX_LESSONS = 16384, MAX_STEPS = GT_TORCH_DRAFT_STEPS };

#define BIT(field) (UINT32_C(1) << (field))

void gt_torch_layout_release(struct gt_torch_layout *layout) {
    gt_arena_release(&layout->arena);
    memset(layout, 0, sizeof *layout);
}

/* ---- from steps to a tree ---- */

static struct gt_torch_node *find_child(const struct gt_torch_node *parent, const struct gt_torch_step *step) {
    for (struct gt_torch_node *node = parent->children; node; node = node->other)
        if (node->slot == step->slot && node->field == step->field && node->indent == step->indent &&
            gt_str_eq((struct gt_str){node->literal, node->literal_bytes}, step->literal))
            return node;
    return NULL;
}

static struct gt_torch_node *new_node(struct gt_torch_layout *layout, struct gt_str literal) {
    struct gt_torch_node *node = gt_arena_alloc(&layout->arena, sizeof *node + literal.len + GT_JSON_PADDING);
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
                                       struct gt_torch_node *parent, const struct gt_torch_step *step) {
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
                                      const struct gt_torch_draft *draft, struct gt_torch_node **nodes) {
    struct gt_torch_node *node = root;
    uint32_t fields = 0;
    for (size_t i = 0; i < draft->step_count; i++) {
        const struct gt_torch_step *step = &draft->steps[i];
        struct gt_torch_node *child = find_child(node, step);
        node = child ? child : add_child(layout, root, node, step);
        if (!node)
            return NULL;
        if (nodes)
            nodes[i] = node;
        if (step->slot == GT_TORCH_SLOT_INT || step->slot == GT_TORCH_SLOT_MICROS || step->field == GT_TORCH_LIMITS)
            fields |= BIT(step->field);
    }
    if (!node->path && (node->path = gt_arena_array(&layout->arena, 1, sizeof *node->path)))
        *node->path = (struct gt_torch_path){
            .role = draft->purpose.role,
            .category = draft->event->category,
            .fields = fields,
            .needs_fold = draft->needs_fold,
            .has_repeated = draft->repeated,
            .has_texts = draft->repeated || fields & BIT(GT_TORCH_LIMITS),
        };
    return node->path;
}

/* ---- folding ---- */

/* Values that name a track are few. Others are folded if they never changed and something wanted follows them: what
   comes last (sizes of grids, registers) distinguishes launches. */
static void fold(struct gt_torch_draft *draft, struct gt_torch_node *const *nodes) {
    size_t count = 0, last_wanted = 0;
    for (size_t i = 0; i < draft->step_count; i++)
        if (draft->purpose.wanted >> draft->steps[i].field & 1)
            last_wanted = i;
    const char *literal = draft->steps[0].literal.ptr;
    for (size_t i = 0; i < draft->step_count; i++) {
        struct gt_torch_step step = draft->steps[i];
        if (gt_torch_layout_names_track(step.field))
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

static void keep_lesson(struct gt_torch_layout *layout, struct gt_torch_draft *draft, uint32_t track) {
    struct gt_torch_node *nodes[MAX_STEPS];
    struct gt_torch_path *path = add_path(layout, layout->open, draft, nodes);
    if (!path || path->fold_count == layout->max_folds)
        return;
    for (size_t i = 0; i < draft->step_count; i++)
        compare_value(layout, nodes[i], draft->steps[i].value);
    if (++path->lesson_count < layout->lessons_before_fold)
        return;
    fold(draft, nodes);
    struct gt_torch_path *folded = add_path(layout, layout->folded, draft, NULL);
    if (!folded)
        return;
    folded->is_folded = true;
    folded->track = track;
    path->fold_count++;
}

struct gt_str gt_torch_layout_learn(struct gt_torch_layout *layout, const struct gt_torch_event *event, const char *p,
                                    const char *end, uint32_t track) {
    struct gt_torch_draft draft; /* large: only what is used is set */
    struct gt_str repeated = {"", 0};
    if (is_full(layout) || !gt_torch_layout_choose_role(layout, event, &draft.purpose))
        return repeated;
    layout->lesson_count++;
    if (!gt_torch_draft_make(&draft, event, p, end))
        return repeated;
    if (draft.repeated)
        repeated = draft.repeated->value;
    keep_lesson(layout, &draft, track);
    if (!gt_arena_failed(&layout->arena))
        return repeated;
    /* A lesson that memory ran out on leaves paths without an end: better to know nothing from here on. */
    layout->open->children = layout->folded->children = NULL;
    layout->lesson_count = MAX_LESSONS;
    return repeated;
}
