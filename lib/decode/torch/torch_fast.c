/* Reads events along the learned layout: text that matches comes in, rows go out; the rest is for the portable reader.
   x86-64 with AVX2; elsewhere there is no fast reader.

   The text may be mapped, and change at any time. What is here and in torch_simd.h stays inside the text whatever it
   finds at a second look; other code sees a copy. */
#include "decode/torch/torch_fast.h"

#include "events/builder.h"

#if defined(__x86_64__)

#include "base/mem.h"
#include "decode/torch/torch_details.h"
#include "decode/torch/torch_facts.h"
#include "decode/torch/torch_repeats.h"

/* Names met lately, by the hash that comes out of the search for their end. */
enum { NAME_SLOTS = 4096 };

struct name_slot {
    uint64_t hash;
    struct gt_str text; /* in the string table; empty: the slot is free */
    gt_strid id;
    char head[32]; /* of the text, then zeros */
};

/* Texts of an event that are copied before other code sees them. */
enum private_text { PRIVATE_NAME, PRIVATE_MEMBERS, PRIVATE_LIMITS, PRIVATE_COUNT };

struct gt_torch_fast {
    struct simd_constants constants;
    struct gt_torch_layout layout;
    struct gt_torch_repeats repeats;
    struct gt_torch_node *last_folded, *last_open; /* where the last path through each tree ended; its root at first */
    const atomic_bool *is_cut;                     /* of the bytes being read; NULL: they are a copy */
    struct {
        char *bytes;
        size_t capacity;
    } private[PRIVATE_COUNT];
    struct name_slot names[NAME_SLOTS];
};

static void init_constants(struct simd_constants *k) {
    const struct {
        char *at;
        size_t size;
        int value;
    } fills[] = {
        {k->quote, 32, '"'},        {k->escape, 32, '\\'},       {k->last_control, 32, 0x1f},
        {k->brackets, 32, 0x7f},    {k->bracket_bits, 32, 0x26}, {k->comma, 32, ','},
        {k->colon, 32, ':'},        {k->close_list, 32, ']'},    {k->open_object, 32, '{'},
        {k->close_object, 32, '}'}, {k->zero_digit, 16, '0'},    {k->nine, 16, 9},
        {k->minus, 16, '-'},        {k->moves, 16, 0x80},        {k->minus_to_nine, 16, '9' - '-'},
        {k->from + 16, 16, 0xff},   {k->last_letter, 32, 'z'},
    };
    static const char pairs[] = {10, 1};
    static const int16_t fours[] = {100, 1}, eights[] = {10000, 1};
    for (size_t i = 0; i < sizeof fills / sizeof *fills; i++)
        memset(fills[i].at, fills[i].value, fills[i].size);
    for (size_t i = 0; i < 16; i += 4) {
        memcpy(k->pairs + i, pairs, 2);
        memcpy(k->pairs + i + 2, pairs, 2);
        memcpy(k->fours + i, fours, 4);
        memcpy(k->eights + i, eights, 4);
    }
    for (int i = 0; i < 32; i++) {
        k->positions[i] = (char)i;
        k->hash_key[i] = (char)(i * 151 + 89);
    }
    for (int i = 0; i < 16; i++)
        k->moves[16 + i] = (char)i;
}

struct gt_torch_fast *gt_torch_fast_new(bool is_eager, uint32_t facts) {
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi") || !__builtin_cpu_supports("pclmul"))
        return NULL;
    struct gt_torch_fast *fast = gt_mem_array(1, sizeof *fast);
    if (!fast)
        return NULL;
    gt_torch_repeats_init(&fast->repeats);
    if (!gt_torch_layout_init(&fast->layout, is_eager, facts)) {
        gt_torch_fast_free(fast);
        return NULL;
    }
    fast->last_folded = fast->layout.folded;
    fast->last_open = fast->layout.open;
    init_constants(&fast->constants);
    return fast;
}

void gt_torch_fast_free(struct gt_torch_fast *fast) {
    if (!fast)
        return;
    gt_torch_layout_release(&fast->layout);
    gt_torch_repeats_release(&fast->repeats);
    for (size_t i = 0; i < PRIVATE_COUNT; i++)
        gt_mem_free(fast->private[i].bytes);
    gt_mem_free(fast);
}

/* ---- bytes that may change ---- */

/* Whether anything that was read of mapped bytes may have been no byte of the file. */
static inline bool is_cut(const struct gt_torch_fast *fast) {
    atomic_signal_fence(memory_order_acq_rel); /* after all looks at the bytes: a look is what sets it */
    return fast->is_cut && atomic_load_explicit(fast->is_cut, memory_order_relaxed);
}

/* A copy of a text that is mapped, with GT_JSON_PADDING zero bytes after it. false: memory is short. */
static bool make_private(struct gt_torch_fast *fast, enum private_text which, struct gt_str *text) {
    if (!fast->is_cut)
        return true;
    if (fast->private[which].capacity < text->len + GT_JSON_PADDING) {
        size_t capacity = 2 * (text->len + GT_JSON_PADDING);
        char *grown = gt_mem_realloc(fast->private[which].bytes, capacity);
        if (!grown)
            return false;
        fast->private[which].bytes = grown;
        fast->private[which].capacity = capacity;
    }
    char *copy = fast->private[which].bytes;
    memcpy(copy, text->ptr, text->len);
    memset(copy + text->len, 0, GT_JSON_PADDING);
    text->ptr = copy;
    return true;
}

/* The values of one event. */
struct reading {
    const char *name, *name_end;
    uint64_t name_hash;
    int64_t values[GT_TORCH_FIELD_COUNT]; /* of the fields that the path's end says */
    struct gt_str text;                   /* of a path that has such: members that mostly repeat */
    const struct gt_torch_repeat *repeat; /* ... and what they were the first time; NULL: they are new */
    struct gt_torch_args members;         /* new ones of an operator */
    struct gt_str object;                 /* of a path with GT_TORCH_LIMITS */
    const struct gt_torch_repeat *limits; /* ... and what that was the first time; NULL: it is new */
    struct gt_torch_limits new_limits;
    struct gt_torch_repeat met; /* new members of a kernel; its text, which would follow, is not used */
};

/* An object or array, whatever it holds. Rare ones go through the portable code, which relies on finding the same byte
   twice. */
GT_SIMD const char *skip_nested(const struct gt_torch_fast *fast, const char *p, const char *end) {
    const char *after = *p == '{' ? simd_skip_object(&fast->constants, p, end) : NULL;
    if (after || fast->is_cut)
        return after;
    after = p;
    return gt_json_scan_skip_nested(&after, end) == GT_JSON_OK ? after : NULL;
}

/* p: after the bracket. */
GT_SIMD_TARGET __attribute__((noinline)) static const char *take_nested(const struct gt_torch_fast *fast,
                                                                        const struct gt_torch_node *node, const char *p,
                                                                        const char *end, struct reading *reading) {
    const char *after = skip_nested(fast, --p, end);
    if (node->field == GT_TORCH_LIMITS && after)
        reading->object = (struct gt_str){p, (size_t)(after - p)};
    return after;
}

/* Members of args that were mostly met before. */
GT_SIMD_TARGET __attribute__((noinline)) static const char *
take_repeated(const struct gt_torch_fast *fast, const char *p, const char *end, struct reading *reading) {
    const struct gt_torch_repeat *guess = gt_torch_repeats_guess(&fast->repeats);
    if (guess && (size_t)(end - p) > guess->text_bytes &&
        simd_matches_long(p, guess->text, guess->text_bytes, guess->last_bits) &&
        simd_has_no_lists(&fast->constants, p + guess->text_bytes, end)) {
        reading->repeat = guess;
        return p + guess->text_bytes;
    }
    const char *after = simd_skip_lists(&fast->constants, p, end);
    if (!after)
        return NULL;
    reading->text = (struct gt_str){p, (size_t)(after - p)};
    reading->repeat = gt_torch_repeats_find(&fast->repeats, &fast->constants, reading->text);
    return after;
}

/* How often the size of a number may change before it is taken for one that always does. */
enum { MAX_SIZE_CHANGES = 64 };

/* Where a number at p ends. Most keep their size, times above all: going on from where the last one ended lets the CPU
   begin with what follows while it still reads the digits. The compiler must not see that both places are the same. */
GT_SIMD const char *foresee_end(struct gt_torch_node *node, const char *p, const char *after) {
    const char *foreseen = p + node->value_bytes, *hidden = foreseen;
    __asm__("" : "+r"(hidden));
    if (after == foreseen)
        return hidden;
    if (after && node->size_changes < MAX_SIZE_CHANGES) {
        node->size_changes++;
        node->value_bytes = node->size_changes < MAX_SIZE_CHANGES ? (uint32_t)(after - p) : 0;
    }
    return after;
}

/* Reads the value of a node at p; the place after it, or NULL. */
GT_SIMD const char *take_value(const struct gt_torch_fast *fast, struct gt_torch_node *node, const char *p,
                               const char *end, struct reading *reading) {
    const struct simd_constants *k = &fast->constants;
    switch (node->slot) {
    case GT_TORCH_SLOT_NAME:
        reading->name = p;
        return reading->name_end = simd_hash_text(k, p, &reading->name_hash);
    case GT_TORCH_SLOT_TEXT:
        return simd_skip_text(k, p);
    case GT_TORCH_SLOT_INT:
        return foresee_end(node, p, simd_take_digits(k, p, &reading->values[node->field]));
    case GT_TORCH_SLOT_MICROS:
        return foresee_end(node, p, simd_take_micros(k, p, &reading->values[node->field]));
    case GT_TORCH_SLOT_NUMBER:
        return foresee_end(node, p, simd_skip_number(k, p));
    case GT_TORCH_SLOT_LIST:
        return simd_skip_list(k, p);
    case GT_TORCH_SLOT_LINES:
        return simd_skip_lines(k, p, end, node->indent);
    case GT_TORCH_SLOT_NESTED:
        return take_nested(fast, node, p, end, reading);
    case GT_TORCH_SLOT_REPEATED:
        return take_repeated(fast, p, end, reading);
    case GT_TORCH_SLOT_END:
        return p;
    }
    __builtin_unreachable();
}

/* Follows the event at *p through a tree: the end of its path, and *p after it; or NULL. Every node on the way
   remembers what came next, since that is what will most likely come next again. last: where the event before ended. */
GT_SIMD struct gt_torch_node *follow(const struct gt_torch_fast *fast, struct gt_torch_node *root,
                                     struct gt_torch_node *last, const char **p, const char *end,
                                     struct reading *reading) {
    struct gt_torch_node *parent = root, *node = last;
    const char *at = *p;
    if (!root->children)
        return NULL;
    do {
        struct gt_torch_node *guess = node->next, *child = guess;
        const char *after;
        while (!simd_matches(at, child->literal, child->literal_bytes, child->last_bits) ||
               !(after = take_value(fast, child, at + child->literal_bytes, end, reading))) {
            child = child == guess ? parent->children : child->other;
            if (child == guess)
                child = child->other;
            if (!child)
                return NULL;
        }
        node->next = child;
        parent = node = child;
        at = after;
    } while (node->slot != GT_TORCH_SLOT_END);
    *p = at;
    return node;
}

/* The same through the open tree, which is the less common way. */
GT_SIMD_TARGET __attribute__((noinline)) static struct gt_torch_node *
follow_open(struct gt_torch_fast *fast, const char **p, const char *end, struct reading *reading) {
    struct gt_torch_node *node = follow(fast, fast->layout.open, fast->last_open, p, end, reading);
    if (node)
        fast->last_open = node;
    return node;
}

/* Interns a name that is not among those met lately. */
__attribute__((noinline)) static gt_strid intern_name(struct gt_torch_fast *fast, struct gt_builder *builder,
                                                      struct gt_str name, uint64_t hash) {
    if (!make_private(fast, PRIVATE_NAME, &name)) {
        builder->failed = true;
        return GT_STRID_EMPTY;
    }
    gt_strid id = is_cut(fast) ? GT_STRID_EMPTY : gt_builder_string(builder, name);
    if (id != GT_STRID_EMPTY) {
        struct name_slot *slot = &fast->names[hash % NAME_SLOTS];
        *slot = (struct name_slot){hash, gt_strtab_get(&builder->store.strings, id), id, {0}};
        memcpy(slot->head, name.ptr, name.len < sizeof slot->head ? name.len : sizeof slot->head);
    }
    return id;
}

GT_SIMD_TARGET static inline gt_strid find_name(struct gt_torch_fast *fast, struct gt_builder *builder,
                                                const struct reading *reading) {
    const struct name_slot *slot = &fast->names[reading->name_hash % NAME_SLOTS];
    struct gt_str name = {reading->name, (size_t)(reading->name_end - reading->name)};
    if (slot->hash == reading->name_hash && slot->text.len == name.len &&
        simd_equal_texts(&fast->constants, slot->head, slot->text.ptr, name))
        return slot->id;
    return intern_name(fast, builder, name, reading->name_hash);
}

/* Reads the event at *p, along a folded path if there is one for it. */
GT_SIMD_TARGET static inline const struct gt_torch_path *read_event(struct gt_torch_fast *fast, const char **p,
                                                                    const char *end, struct reading *reading) {
    const char *begin = *p;
    struct gt_torch_node *node = follow(fast, fast->layout.folded, fast->last_folded, p, end, reading);
    if (node) {
        fast->last_folded = node;
        return node->path;
    }
    *p = begin;
    node = follow_open(fast, p, end, reading);
    if (!node || node->path->needs_fold || gt_torch_layout_wants(&fast->layout, node->path))
        return NULL;
    return node->path;
}

static inline int64_t value_or(const struct gt_torch_path *path, const struct reading *reading,
                               enum gt_torch_field field, int64_t absent) {
    return path->fields >> field & 1 ? reading->values[field] : absent;
}

static uint32_t find_track(struct gt_torch_sink *sink, const struct gt_torch_path *path,
                           const struct reading *reading) {
    if (path->is_folded)
        return path->track;
    if (path->role < GT_TORCH_ROLE_GPU_SIDE)
        return gt_torch_sink_thread(sink, reading->values[GT_TORCH_PID], reading->values[GT_TORCH_TID]);
    return gt_torch_sink_lane(sink, value_or(path, reading, GT_TORCH_DEVICE, reading->values[GT_TORCH_PID]),
                              path->fields >> GT_TORCH_STREAM & 1
                                  ? reading->values[GT_TORCH_STREAM]
                                  : gt_torch_sink_stream_of_row(reading->values[GT_TORCH_TID]));
}

static inline bool is_step(const struct reading *reading) {
    static const char prefix[] = "ProfilerStep#";
    /* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): every path has a name */
    return memcmp(reading->name, prefix, sizeof prefix - 1) == 0; /* a shorter name has a quote before that */
}

static inline bool is_comm_record(const struct reading *reading) {
    static const char name[] = GT_TORCH_COMM_RECORD "\"";
    /* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker) */
    return memcmp(reading->name, name, sizeof name - 1) == 0;
}

/* An op of any kind; false: it was left out. */
static inline bool add_op(struct gt_torch_sink *sink, const struct gt_torch_path *path, const struct reading *reading,
                          struct gt_torch_row *row) {
    if (!(path->fields & (UINT32_C(1) << GT_TORCH_GRAPH | UINT32_C(1) << GT_TORCH_GRAPH_NODE)))
        return gt_torch_sink_add_op(sink, row);
    int64_t graph = value_or(path, reading, GT_TORCH_GRAPH, 0), node = value_or(path, reading, GT_TORCH_GRAPH_NODE, 0);
    row->is_in_graph = graph || node;
    bool is_added = gt_torch_sink_add_op(sink, row);
    if (is_added && row->is_in_graph)
        gt_torch_sink_add_graph(sink, row->category, graph, node);
    return is_added;
}

static void add_gpu_side(struct gt_torch_sink *sink, const struct gt_torch_path *path, const struct reading *reading,
                         struct gt_torch_row *row) {
    if (row->category == GT_TORCH_CAT_GPU_RANGE) {
        gt_torch_sink_add_range(sink, row);
        return;
    }
    if (add_op(sink, path, reading, row) && row->category != GT_TORCH_CAT_KERNEL)
        gt_torch_sink_add_bytes(sink, row, value_or(path, reading, GT_TORCH_BYTES, -1));
}

/* Whether there is more to what looks like an operator than its row. */
static inline bool is_odd_operator(const struct gt_torch_sink *sink, const struct gt_torch_path *path,
                                   const struct reading *reading) {
    return (path->role == GT_TORCH_ROLE_ARGUMENTS || path->role == GT_TORCH_ROLE_CPU_OP_OR_COMM) &&
           (is_step(reading) || (sink->facts & GT_FACT_COMMS && is_comm_record(reading)));
}

static void add_arguments(struct gt_builder *builder, const struct gt_torch_path *path, const struct reading *reading,
                          const struct gt_torch_repeat *repeat) {
    struct gt_operator_args_row row = {.external = UINT64_MAX, .sequence = -1, .forward_thread = -1};
    if (!repeat && !(path->fields & GT_TORCH_TEXT_FIELDS))
        return;
    if (repeat)
        row = repeat->row.arguments;
    row.external = (uint64_t)value_or(path, reading, GT_TORCH_EXTERNAL, -1);
    row.sequence = value_or(path, reading, GT_TORCH_SEQUENCE, -1);
    row.forward_thread = value_or(path, reading, GT_TORCH_FORWARD_THREAD, -1);
    gt_builder_operator_args(builder, &row);
}

static void add_config(struct gt_builder *builder, const struct gt_torch_path *path, const struct reading *reading,
                       const struct gt_torch_repeat *repeat) {
    static const struct gt_kernel_configs_row unknown = GT_KERNEL_CONFIG_UNKNOWN;
    struct gt_kernel_configs_row row = repeat ? repeat->row.config : unknown;
    if (!repeat && !(path->fields & GT_TORCH_TEXT_FIELDS))
        return;
    row.external = (uint64_t)value_or(path, reading, GT_TORCH_EXTERNAL, -1);
    row.priority = value_or(path, reading, GT_TORCH_PRIORITY, INT64_MIN);
    if (path->fields >> GT_TORCH_OCCUPANCY & 1)
        row.occupancy_percent = (double)reading->values[GT_TORCH_OCCUPANCY];
    gt_builder_kernel_config(builder, &row);
}

/* What limits the kernel; false: that is odd, and for the portable reader. */
static bool read_limits(const struct gt_torch_fast *fast, struct reading *reading) {
    const struct gt_json_value *limiters = &reading->new_limits.limiters;
    reading->limits = gt_torch_repeats_find(&fast->repeats, &fast->constants, reading->object);
    return reading->limits ? reading->limits->role == GT_TORCH_ROLE_LIMITS
                           : gt_torch_details_read_limits(reading->object, &reading->new_limits) &&
                                 limiters->is_string && limiters->text.marks == 0;
}

static bool is_small(const struct gt_torch_path *path, const struct reading *reading, enum gt_torch_field field) {
    return value_or(path, reading, field, 0) < UINT32_MAX;
}

/* Before a row is made: whether the details are as they should be. */
static bool read_details(const struct gt_torch_fast *fast, const struct gt_torch_path *path, struct reading *reading) {
    return (!(path->fields >> GT_TORCH_LIMITS & 1) || read_limits(fast, reading)) &&
           is_small(path, reading, GT_TORCH_CHANNEL) && is_small(path, reading, GT_TORCH_CHANNEL_TYPE);
}

/* What else is known of the kernel that was added. */
static void add_details(struct gt_torch_fast *fast, struct gt_builder *builder, const struct gt_torch_path *path,
                        const struct reading *reading) {
    static const struct gt_launch_details_row unknown = GT_LAUNCH_DETAIL_UNKNOWN;
    int64_t node = value_or(path, reading, GT_TORCH_GRAPH_NODE, 0);
    bool has_limits = path->fields >> GT_TORCH_LIMITS & 1;
    if (!(path->fields & GT_TORCH_DETAIL_FIELDS) && !node)
        return;
    struct gt_launch_details_row row = !has_limits       ? unknown
                                       : reading->limits ? reading->limits->row.details
                                                         : reading->new_limits.row;
    if (has_limits && !reading->limits)
        row.limiters = gt_builder_string(builder, reading->new_limits.limiters.text.raw);
    row.graph_node = node ? (uint64_t)node : UINT64_MAX;
    row.channel = (uint32_t)value_or(path, reading, GT_TORCH_CHANNEL, UINT32_MAX);
    row.channel_type = (uint32_t)value_or(path, reading, GT_TORCH_CHANNEL_TYPE, UINT32_MAX);
    gt_builder_launch_detail(builder, &row);
    if (has_limits && !reading->limits)
        gt_torch_repeats_learn(&fast->repeats, &fast->constants, GT_TORCH_ROLE_LIMITS, reading->object,
                               &builder->store);
}

/* Reads members that were not met before. They may be anything: what is odd about them is for the portable reader. */
static bool read_new(const struct gt_torch_path *path, struct reading *reading) {
    return path->role == GT_TORCH_ROLE_CONFIG ? gt_torch_facts_read_config(reading->text, &reading->met.row.config)
                                              : gt_torch_facts_read_arguments(reading->text, &reading->members);
}

/* An operator with its arguments, or a kernel with its launch configuration. */
__attribute__((noinline)) static bool add_with_text(struct gt_torch_fast *fast, struct gt_torch_sink *sink,
                                                    const struct gt_torch_path *path, struct reading *reading,
                                                    struct gt_torch_row *row) {
    bool is_new = path->has_repeated && !reading->repeat;
    const struct gt_torch_repeat *repeat = is_new ? &reading->met : path->has_repeated ? reading->repeat : NULL;
    if ((repeat && !is_new && repeat->role != path->role) ||
        (path->fields & GT_TORCH_DETAIL_FIELDS && !read_details(fast, path, reading)))
        return false;
    if (path->role == GT_TORCH_ROLE_CONFIG) {
        if (add_op(sink, path, reading, row)) {
            add_details(fast, sink->builder, path, reading);
            add_config(sink->builder, path, reading, repeat);
        }
    } else {
        gt_torch_sink_add_cpu_side(sink, row);
        if (is_new)
            reading->met.row.arguments = gt_torch_facts_arguments(sink->builder, &reading->members);
        add_arguments(sink->builder, path, reading, repeat);
    }
    if (is_new)
        gt_torch_repeats_learn(&fast->repeats, &fast->constants, path->role, reading->text, &sink->builder->store);
    else if (repeat)
        gt_torch_repeats_met(&fast->repeats, repeat);
    return true;
}

/* Texts that other code will see: copied, and read if they are new. */
__attribute__((noinline)) static bool take_texts(struct gt_torch_fast *fast, const struct gt_torch_path *path,
                                                 struct reading *reading) {
    if (path->fields >> GT_TORCH_LIMITS & 1 && !make_private(fast, PRIVATE_LIMITS, &reading->object))
        return false;
    return !path->has_repeated || reading->repeat ||
           (make_private(fast, PRIVATE_MEMBERS, &reading->text) && read_new(path, reading));
}

/* false: this one event is for the portable reader. */
GT_SIMD_TARGET static inline bool add_event(struct gt_torch_fast *fast, struct gt_torch_sink *sink,
                                            const struct gt_torch_path *path, struct reading *reading) {
    if (path->role <= GT_TORCH_ROLE_CPU_OP) {
        if (path->role != GT_TORCH_ROLE_SKIP && is_step(reading))
            return false;
        if (path->role < GT_TORCH_ROLE_ARGUMENTS) {
            if (is_cut(fast))
                return false;
            gt_builder_skip(sink->builder);
            return true;
        }
    }
    if (path->has_texts && !take_texts(fast, path, reading))
        return false;
    int64_t start_ns = reading->values[GT_TORCH_TS], end_ns;
    if (__builtin_add_overflow(start_ns, value_or(path, reading, GT_TORCH_DUR, 0), &end_ns) ||
        reading->name == reading->name_end)
        return false;
    uint32_t track = find_track(sink, path, reading);
    gt_strid name = find_name(fast, sink->builder, reading);
    if (is_odd_operator(sink, path, reading) || is_cut(fast))
        return false;
    /* All at once and after all calls, so that its values need not be read from memory again. */
    struct gt_torch_row row = {
        .category = path->category,
        .start_ns = start_ns,
        .end_ns = end_ns,
        .name = name,
        .track = track,
        .correlation = (uint64_t)value_or(path, reading, GT_TORCH_CORRELATION, (int64_t)GT_NO_CORRELATION),
    };
    if (path->role >= GT_TORCH_ROLE_CPU_OP && path->role <= GT_TORCH_ROLE_CPU_OP_OR_COMM) {
        gt_torch_sink_add_cpu_side(sink, &row);
        return true;
    }
    if (path->role != GT_TORCH_ROLE_GPU_SIDE)
        return add_with_text(fast, sink, path, reading, &row);
    add_gpu_side(sink, path, reading, &row);
    return true;
}

/* Asks for bytes that will be wanted some events later: CPUs do not foresee anything beyond a page of memory, and what
   is mapped was not copied lately. As much as an event has; after the end of the text nothing happens. */
static inline void ask_ahead(const char *p) {
    enum { AHEAD_BYTES = 2048, USUAL_BYTES = 384, LINE_BYTES = 64 };
    uintptr_t ahead = (uintptr_t)p + AHEAD_BYTES;
    for (uintptr_t i = 0; i < USUAL_BYTES; i += LINE_BYTES)
        __builtin_prefetch((const void *)(ahead + i)); /* NOLINT(performance-no-int-to-ptr) */
}

GT_SIMD_TARGET uint64_t gt_torch_fast_run(struct gt_torch_fast *fast, struct gt_torch_sink *sink,
                                          struct gt_json_bytes *bytes, uint64_t limit) {
    const char *p = bytes->p, *end = bytes->end, *stop = end;
    uint64_t count = 0;
    struct reading reading = {0};
    if (limit < bytes->offset)
        return 0;
    if (limit - bytes->offset < (uint64_t)(end - p))
        stop = p + (limit - bytes->offset);
    fast->is_cut = bytes->is_cut;
    while (p < stop) {
        const char *after = p;
        ask_ahead(p);
        const struct gt_torch_path *path = read_event(fast, &after, end, &reading);
        if (!path || !add_event(fast, sink, path, &reading))
            break;
        p = after;
        count++;
    }
    sink->event_count += count;
    gt_json_window_move(bytes, p);
    return count;
}

void gt_torch_fast_learn(struct gt_torch_fast *fast, const struct gt_torch_event *event,
                         const struct gt_json_bytes *bytes, const struct gt_torch_sink *sink) {
    struct gt_str repeated = gt_torch_layout_learn(&fast->layout, event, bytes->p, bytes->end, sink->last_track);
    enum gt_torch_role role = event->category == GT_TORCH_CAT_KERNEL ? GT_TORCH_ROLE_CONFIG : GT_TORCH_ROLE_ARGUMENTS;
    gt_torch_repeats_learn(&fast->repeats, &fast->constants, role, repeated, &sink->builder->store);
}

#else

struct gt_torch_fast *gt_torch_fast_new(bool is_eager, uint32_t facts) {
    (void)is_eager, (void)facts;
    return NULL;
}

void gt_torch_fast_free(struct gt_torch_fast *fast) {
    (void)fast;
}

uint64_t gt_torch_fast_run(struct gt_torch_fast *fast, struct gt_torch_sink *sink, struct gt_json_bytes *bytes,
                           uint64_t limit) {
    (void)fast, (void)sink, (void)bytes, (void)limit;
    return 0;
}

void gt_torch_fast_learn(struct gt_torch_fast *fast, const struct gt_torch_event *event,
                         const struct gt_json_bytes *bytes, const struct gt_torch_sink *sink) {
    (void)fast, (void)event, (void)bytes, (void)sink;
}

#endif
