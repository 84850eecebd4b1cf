/* Categories and short names of ops: in come kinds and names, out go labels->op_category, group_category, name_reason
   and short_name. The built-in rules give every op's time class, and its category too, unless the user gave rules. Each
   kind and name is matched once. */
#include <stdatomic.h>

#include "base/ahead.h"
#include "base/mem.h"
#include "base/threads.h"
#include "label/builtin.h"
#include "label/label.h"
#include "label/nccl_name.h"
#include "label/rules.h"

enum { MAX_CATEGORIES = UINT8_MAX, KIND_COUNT = GT_OP_GRAPH + 1 };

struct classifier {
    const struct gt_store *store;
    struct gt_labels *labels;
    struct gt_builtin *builtin;
    uint8_t *known[UINT8_MAX + 1]; /* by kind, then string id: one more than the category of such ops, 0: unknown */
    struct gt_category *made;      /* categories of the user's rules, MAX_CATEGORIES at most */
    const struct gt_name_reason *reasons[MAX_CATEGORIES + 1]; /* by category: that of its last name, NULL: none yet */
};

/* ---- the user's rules ---- */

/* The entry of a user's category for one kind of time. */
static uint8_t made_category(struct classifier *classifier, const char *key, enum gt_class time_class) {
    struct gt_labels *labels = classifier->labels;
    for (size_t i = 0; i < labels->category_count; i++)
        if (classifier->made[i].time_class == time_class && strcmp(classifier->made[i].key, key) == 0)
            return (uint8_t)i;
    classifier->made[labels->category_count] = (struct gt_category){key, key, time_class};
    return (uint8_t)labels->category_count++;
}

/* What Nsight calls memory ops: rules are written for its names, whatever profiler the trace is from. */
static struct gt_str nsight_name(enum gt_builtin_category category) {
    switch (category) {
    case GT_CATEGORY_memcpy_h2d:
        return GT_STR("[CUDA memcpy Host-to-Device]");
    case GT_CATEGORY_memcpy_d2h:
        return GT_STR("[CUDA memcpy Device-to-Host]");
    case GT_CATEGORY_memcpy_d2d:
        return GT_STR("[CUDA memcpy Device-to-Device]");
    case GT_CATEGORY_memcpy_p2p:
        return GT_STR("[CUDA memcpy Peer-to-Peer]");
    case GT_CATEGORY_memset:
        return GT_STR("[CUDA memset]");
    default:
        return GT_STR("[CUDA memcpy Unknown]");
    }
}

static uint8_t by_user_rules(struct classifier *classifier, uint8_t category, struct gt_str name,
                             struct gt_name_reason *reason) {
    const struct gt_rules *rules = classifier->labels->rules;
    const struct gt_category *builtin = &gt_categories[category];
    bool is_memory = builtin->time_class == GT_CLASS_MEMORY;
    if (is_memory && !gt_rules_cover_memory(rules))
        return made_category(classifier, builtin->key, builtin->time_class);
    struct gt_rules_answer answer =
        gt_rules_ask(rules, is_memory ? nsight_name((enum gt_builtin_category)category) : name);
    reason->source = answer.rule ? gt_rules_source(rules) : NULL;
    reason->rule = answer.rule;
    reason->pattern = answer.pattern;
    reason->shorter = answer.shorter;
    return made_category(classifier, answer.category, builtin->time_class);
}

/* ---- all names ---- */

static bool is_same_text(struct gt_str a, struct gt_str b) {
    return a.ptr == b.ptr && a.len == b.len;
}

static bool is_same_reason(const struct gt_name_reason *a, const struct gt_name_reason *b) {
    return a->source == b->source && a->rule == b->rule && a->collective == b->collective &&
           a->algorithm == b->algorithm && a->protocol == b->protocol && is_same_text(a->pattern, b->pattern) &&
           is_same_text(a->shorter, b->shorter);
}

/* Names of a category mostly share their reason, and there may be millions. NULL: memory was short. */
static const struct gt_name_reason *keep_reason(struct classifier *classifier, uint8_t category,
                                                const struct gt_name_reason *reason) {
    const struct gt_name_reason **last = &classifier->reasons[category];
    if (*last && is_same_reason(*last, reason))
        return *last;
    struct gt_name_reason *kept = gt_arena_alloc(&classifier->labels->arenas[GT_PASS_CLASSIFY], sizeof *kept);
    if (kept)
        *kept = *reason;
    return *last = kept;
}

/* What takes most of the time of a new name, and changes nothing. */
struct look {
    struct gt_str full, name;        /* short: a part of the full one, equal ones of other names lie elsewhere */
    struct gt_builtin_answer answer; /* about a kernel */
};

static struct look look_at_name(const struct gt_store *store, struct gt_builtin *builtin, uint8_t kind, gt_strid id) {
    struct look look = {.full = gt_store_string(store, id)};
    look.name = gt_label_simplify_name(look.full);
    if (kind == GT_OP_KERNEL)
        look.answer = gt_builtin_kernel(builtin, look.full, look.name);
    return look;
}

static uint8_t classify_name(struct classifier *classifier, enum gt_op_kind kind, gt_strid id,
                             const struct look *look) {
    struct gt_labels *labels = classifier->labels;
    struct gt_name_reason reason = {0};
    uint8_t category;
    if (labels->short_name[id] == GT_STRID_EMPTY)
        labels->short_name[id] = gt_strtab_intern_borrowed(&labels->short_names, look->name);
    if (kind == GT_OP_KERNEL) {
        struct gt_builtin_answer answer = look->answer;
        category = answer.category;
        reason = (struct gt_name_reason){.source = answer.rule == GT_NO_ROW ? NULL : "builtin",
                                         .rule = answer.rule == GT_NO_ROW ? 0 : gt_builtin_rules[answer.rule].line,
                                         .pattern = answer.pattern,
                                         .collective = answer.collective};
        if (category == GT_CATEGORY_comm)
            gt_nccl_name_read(look->name, &reason.algorithm, &reason.protocol);
    } else {
        category = (uint8_t)gt_builtin_kind(kind, look->full);
    }
    if (labels->rules)
        category = by_user_rules(classifier, category, look->full, &reason);
    if (kind == GT_OP_KERNEL || kind == GT_OP_GRAPH)
        labels->name_reason[id] = keep_reason(classifier, category, &reason);
    return category;
}

static uint8_t classify_looked_at(struct classifier *classifier, uint8_t kind, gt_strid id, const struct look *look) {
    uint8_t category = classify_name(classifier, (enum gt_op_kind)kind, id, look);
    classifier->known[kind][id] = (uint8_t)(category + 1);
    return category;
}

static uint8_t classify_new(struct classifier *classifier, uint8_t kind, gt_strid id) {
    struct look look = look_at_name(classifier->store, classifier->builtin, kind, id);
    return classify_looked_at(classifier, kind, id, &look);
}

static uint8_t classify(struct classifier *classifier, uint8_t kind, gt_strid id) {
    uint8_t known = classifier->known[kind][id];
    return known ? (uint8_t)(known - 1) : classify_new(classifier, kind, id);
}

static bool classifier_init(struct classifier *classifier, const struct gt_store *store, struct gt_labels *labels) {
    size_t strings = store->strings.count;
    *classifier = (struct classifier){.store = store, .labels = labels, .builtin = gt_builtin_new()};
    labels->short_name = gt_arena_array(&labels->arenas[GT_PASS_CLASSIFY], strings, sizeof *labels->short_name);
    labels->op_category =
        gt_arena_uninitialised(&labels->arenas[GT_PASS_CLASSIFY], store->ops.count, sizeof *labels->op_category);
    labels->group_category =
        gt_arena_array(&labels->arenas[GT_PASS_CLASSIFY], store->groups.count, sizeof *labels->group_category);
    labels->name_reason =
        gt_arena_array(&labels->arenas[GT_PASS_CLASSIFY], strings, sizeof(const struct gt_name_reason *));
    labels->categories = gt_categories;
    labels->category_count = GT_CATEGORY_COUNT;
    if (labels->rules) {
        classifier->made = gt_arena_array(&labels->arenas[GT_PASS_CLASSIFY], MAX_CATEGORIES, sizeof *classifier->made);
        labels->categories = classifier->made;
        labels->category_count = 0;
    }
    const char *key;
    for (size_t i = 0; classifier->made && (key = gt_rules_class(labels->rules, i)); i++)
        made_category(classifier, key, GT_CLASS_COMPUTE);
    labels->named_category_count = classifier->made ? labels->category_count : 0;
    uint8_t *known = gt_mem_array(strings, KIND_COUNT);
    for (size_t k = 0; known && k < GT_ARRAY_COUNT(classifier->known); k++)
        classifier->known[k] = known + (k < KIND_COUNT ? k : GT_OP_KERNEL) * strings;
    return gt_strtab_init(&labels->short_names) && classifier->builtin && known &&
           !gt_arena_failed(&labels->arenas[GT_PASS_CLASSIFY]);
}

/* ---- all ops ---- */

/* Several threads list the names that are new in their slices and look at those that are new to all; these get their
   categories in that order, as one thread would meet them, and then every op does. */
struct slices {
    struct classifier *classifier;
    uint8_t *seen; /* by slice, kind and string id */
    uint32_t
        *news; /* ops whose kind and name are the first of that slice: room for as many as it has bytes in `seen` */
    size_t new_count[GT_THREADS_MOST];
    size_t name_count, task_count;
    struct look *looks; /* at name_count names, those of the first ops in `news` */
    atomic_bool failed;
};

static size_t place_of_name(const struct gt_store *store, uint32_t op) {
    uint8_t kind = store->ops.kind[op];
    return (kind < KIND_COUNT ? kind : GT_OP_KERNEL) * store->strings.count + store->ops.name[op];
}

static void list_new(void *context, size_t slice, size_t begin, size_t end) {
    struct slices *slices = context;
    const struct gt_store *store = slices->classifier->store;
    size_t room = store->strings.count * KIND_COUNT;
    uint8_t *seen = slices->seen + slice * room;
    uint32_t *news = slices->news + slice * room;
    size_t count = 0;
    for (size_t i = begin; i < end; i++) {
        uint8_t *known = &seen[place_of_name(store, (uint32_t)i)];
        if (!*known) {
            *known = 1;
            news[count++] = (uint32_t)i;
        }
    }
    slices->new_count[slice] = count;
}

static void classify_slice(void *context, size_t slice, size_t begin, size_t end) {
    const struct slices *slices = context;
    const struct classifier *classifier = slices->classifier;
    uint8_t *restrict op_category = classifier->labels->op_category; /* bytes may alias everything otherwise */
    const uint8_t *restrict kinds = classifier->store->ops.kind;
    const gt_strid *restrict names = classifier->store->ops.name;
    (void)slice;
    for (size_t i = begin; i < end; i++)
        op_category[i] = (uint8_t)(classifier->known[kinds[i]][names[i]] - 1);
}

/* Moves the ops whose names no slice before has next to those of the first slice. */
static void join_news(struct slices *slices, size_t count) {
    const struct gt_store *store = slices->classifier->store;
    size_t room = store->strings.count * KIND_COUNT;
    slices->name_count = slices->new_count[0];
    for (size_t slice = 1; slice < count; slice++)
        for (size_t i = 0; i < slices->new_count[slice]; i++) {
            uint32_t op = slices->news[slice * room + i];
            uint8_t *known = &slices->seen[place_of_name(store, op)];
            if (!*known)
                slices->news[slices->name_count++] = op;
            *known = 1;
        }
}

/* The rules keep notes while they are asked: each thread has its own. */
static void look_at_names(void *context, size_t task) {
    struct slices *slices = context;
    const struct gt_store *store = slices->classifier->store;
    struct gt_builtin *builtin = task ? gt_builtin_new() : slices->classifier->builtin;
    size_t end = gt_threads_slice_begin(slices->name_count, slices->task_count, task + 1);
    for (size_t i = gt_threads_slice_begin(slices->name_count, slices->task_count, task); i < end && builtin; i++) {
        uint32_t op = slices->news[i];
        slices->looks[i] = look_at_name(store, builtin, store->ops.kind[op], store->ops.name[op]);
    }
    if (!builtin || !gt_builtin_ok(builtin))
        atomic_store(&slices->failed, true);
    if (task)
        gt_builtin_free(builtin);
}

/* false: memory is short. */
static bool classify_names(struct slices *slices, size_t count) {
    enum { LEAST_NAMES = 64 }; /* which take longer than a thread's own rules */
    const struct gt_ops *ops = &slices->classifier->store->ops;
    join_news(slices, count);
    slices->task_count = slices->name_count / LEAST_NAMES < count ? slices->name_count / LEAST_NAMES + 1 : count;
    slices->looks = gt_mem_uninitialised(slices->name_count, sizeof *slices->looks);
    if (!slices->looks)
        return false;
    gt_threads_parts(slices->task_count, slices->task_count, look_at_names, slices);
    bool ok = !atomic_load(&slices->failed);
    for (size_t i = 0; i < slices->name_count && ok; i++) {
        uint32_t op = slices->news[i];
        classify_looked_at(slices->classifier, ops->kind[op], ops->name[op], &slices->looks[i]);
    }
    gt_mem_free(slices->looks);
    return ok;
}

/* false: memory is short. */
static bool classify_in_slices(struct classifier *classifier, size_t count) {
    const struct gt_ops *ops = &classifier->store->ops;
    size_t room = classifier->store->strings.count * KIND_COUNT;
    struct slices slices = {.classifier = classifier,
                            .seen = gt_mem_array(count * room, sizeof *slices.seen),
                            .news = gt_mem_uninitialised(count * room, sizeof *slices.news)};
    bool ok = slices.seen && slices.news;
    if (ok)
        gt_threads_rows(count, ops->count, list_new, &slices);
    ok = ok && classify_names(&slices, count);
    if (ok)
        gt_threads_rows(count, ops->count, classify_slice, &slices);
    gt_mem_free(slices.seen);
    gt_mem_free(slices.news);
    return ok;
}

static void classify_all(struct classifier *classifier) {
    uint8_t *restrict op_category = classifier->labels->op_category; /* bytes may alias everything otherwise */
    const uint8_t *restrict kinds = classifier->store->ops.kind;
    const gt_strid *restrict names = classifier->store->ops.name;
    for (size_t i = 0, count = classifier->store->ops.count; i < count; i++) {
        if (i % GT_AHEAD_EACH == 0)
            gt_ahead_fetch(&names[gt_ahead_row(i, count)]);
        op_category[i] = classify(classifier, kinds[i], names[i]);
    }
}

static enum gt_status classify_ops(const struct gt_store *store, struct gt_labels *labels,
                                   struct gt_label_scratch *scratch, struct gt_error *err) {
    const struct gt_groups *groups = &store->groups;
    struct classifier classifier;
    bool ok = classifier_init(&classifier, store, labels);
    size_t slices = gt_threads_slices(scratch->threads, store->ops.count, store->strings.count * KIND_COUNT);
    if (ok && slices > 1)
        ok = classify_in_slices(&classifier, slices);
    else if (ok)
        classify_all(&classifier);
    for (size_t i = 0; ok && i < groups->count; i++)
        labels->group_category[i] = classify(&classifier, groups->kind[i], groups->name[i]);
    ok = ok && gt_builtin_ok(classifier.builtin) && !labels->short_names.failed &&
         !gt_arena_failed(&labels->arenas[GT_PASS_CLASSIFY]);
    gt_builtin_free(classifier.builtin);
    gt_mem_free(classifier.known[0]);
    return ok ? GT_OK : gt_fail_memory(err);
}

const struct gt_label_pass gt_label_pass_classify = {"classify", "categories and simplified names of ops",
                                                     GT_LABEL_FIRST, classify_ops};
