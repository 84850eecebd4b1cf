/* Steps of the program: in come ranges, out go labels->steps and the tree that finds the step of a call. */
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "base/sort.h"
#include "base/threads.h"
#include "label/label.h"
#include "label/step_tree.h"

/* ---- which ranges are steps ---- */

enum spelling {
    NUMBERED,  /* the text as a word somewhere, then a number: "train step 12", "_forward_step 7: 0 ctx reqs" */
    BLOCK,     /* the same with two numbers, the first of which counts: "Step 30 to 40" */
    WHOLE,     /* the text is the name */
    BEGINNING, /* the name begins with it, '%' in it is a number; counted in order of start, as with WHOLE */
    ENDING,    /* the name ends with it, from the beginning of a word; counted likewise */
};

/* The names that programs give to their steps, the clearest first: a trace's steps are all of one kind, the first that
   it has. Case does not matter. */
static const struct step_kind {
    const char *text;
    enum spelling spelling;
} step_kinds[] = {
    {"ProfilerStep#", NUMBERED}, /* PyTorch profiler */
    {"step", NUMBERED},          /* many; TensorRT-LLM: "[Executor] _forward_step 7: ..." */
    {"step_num", NUMBERED},      /* JAX: "train#step_num=7#" */
    {"iteration", NUMBERED},
    {"iter", NUMBERED},
    {"train_step", WHOLE},
    {"training_step", WHOLE},
    {"execute_context_", BEGINNING}, /* vLLM: "execute_context_1(888)_generation_0(0)" */
    {"execute_%_context_",
     BEGINNING}, /* the same with the number of tokens: "execute_32_context_0(0)_generation_..." */
    {"execute_new_", BEGINNING},
    {"step[", BEGINNING}, /* SGLang: "step[DECODE bs=4]" */
    {"execute_model", WHOLE},
    {"step", WHOLE},
    {"iteration", WHOLE},
    {"test_step", WHOLE},
    {"single_iteration", ENDING}, /* "CG_Single_Iteration" */
    {"step", BLOCK},
    {"iteration", BLOCK},
    {"batch", NUMBERED},
    {"request", NUMBERED},
};
enum { KIND_COUNT = sizeof step_kinds / sizeof *step_kinds };

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* What is left of the name after the text that it begins with; ptr NULL: it does not. */
static struct gt_str after_text(struct gt_str name, struct gt_str text) {
    struct gt_str head = {name.ptr, text.len};
    if (name.len < text.len || gt_str_find_nocase(head, text) != head.ptr)
        return (struct gt_str){NULL, 0};
    return (struct gt_str){name.ptr + text.len, name.len - text.len};
}

/* How many bytes of the text are a number with what is before it: "12", " 12", "_12: ...", "=12#". 0: none. */
static size_t take_number(struct gt_str text, int64_t *number) {
    size_t begin = 0, end;
    uint64_t digits;
    while (begin < text.len && begin < 2 && strchr(" _:#=-", text.ptr[begin]) && text.ptr[begin])
        begin++;
    for (end = begin; end < text.len && is_digit(text.ptr[end]);)
        end++;
    if (!gt_num_parse_uint((struct gt_str){text.ptr + begin, end - begin}, &digits) || digits > INT64_MAX)
        return 0;
    *number = (int64_t)digits;
    return end;
}

/* A number, after it no more words: not "12 layers". */
static bool parse_number(struct gt_str text, int64_t *number) {
    size_t end = take_number(text, number);
    if (!end)
        return false;
    while (end < text.len && text.ptr[end] == ' ')
        end++;
    return end == text.len || !(is_letter(text.ptr[end]) || is_digit(text.ptr[end]) || text.ptr[end] == '_');
}

/* "30 to 40" */
static bool parse_block(struct gt_str text, int64_t *number) {
    int64_t last;
    size_t end = take_number(text, number);
    struct gt_str rest = after_text((struct gt_str){text.ptr + end, text.len - end}, GT_STR(" to"));
    return end && rest.ptr && parse_number(rest, &last) && last > *number;
}

/* Steps that only warm up are no steps: "Warm-up Step 3". */
static bool is_warm_up(const char *name, const char *word) {
    const char *at = gt_str_find_nocase((struct gt_str){name, (size_t)(word - name)}, GT_STR("warm"));
    return at && (at == name || !is_letter(at[-1]));
}

static bool is_numbered(struct gt_str name, struct gt_str word, int64_t *number,
                        bool (*parse)(struct gt_str text, int64_t *number)) {
    for (struct gt_str rest = name;;) {
        const char *at = gt_str_find_nocase(rest, word);
        if (!at)
            return false;
        bool is_word = at == name.ptr || !is_letter(at[-1]);
        rest = (struct gt_str){at + word.len, (size_t)(name.ptr + name.len - at) - word.len};
        if (is_word && parse(rest, number))
            return !is_warm_up(name.ptr, at);
    }
}

/* Whether the name begins with the text, where '%' is a number. */
static bool begins_with(struct gt_str name, struct gt_str text) {
    const char *number = memchr(text.ptr, '%', text.len);
    size_t head = number ? (size_t)(number - text.ptr) : text.len, digits = 0;
    struct gt_str rest = after_text(name, (struct gt_str){text.ptr, head});
    if (!rest.ptr || !number)
        return rest.ptr != NULL;
    while (digits < rest.len && is_digit(rest.ptr[digits]))
        digits++;
    struct gt_str tail = {number + 1, text.len - head - 1};
    return digits && after_text((struct gt_str){rest.ptr + digits, rest.len - digits}, tail).ptr;
}

static bool ends_with(struct gt_str name, struct gt_str text) {
    if (name.len < text.len)
        return false;
    size_t begin = name.len - text.len;
    struct gt_str end = {name.ptr + begin, text.len};
    return after_text(end, text).ptr && (begin == 0 || !is_letter(name.ptr[begin - 1]));
}

static bool fits_kind(const struct step_kind *kind, struct gt_str name, int64_t *number) {
    struct gt_str text = gt_str_of(kind->text);
    if (name.len && name.ptr[0] == ':') /* nsys stats puts it before names without a domain */
        name = (struct gt_str){name.ptr + 1, name.len - 1};
    switch (kind->spelling) {
    case NUMBERED:
        return is_numbered(name, text, number, parse_number);
    case BLOCK:
        return is_numbered(name, text, number, parse_block);
    case BEGINNING:
        return begins_with(name, text);
    case ENDING:
        return ends_with(name, text);
    default:
        return name.len == text.len && after_text(name, text).ptr;
    }
}

static bool has_numbers(const struct step_kind *kind) {
    return kind->spelling == NUMBERED || kind->spelling == BLOCK;
}

/* Kineto's copies of the steps on the GPU's side are microseconds long and say nothing. */
static bool can_be_step(const struct gt_store *store, size_t range) {
    const struct gt_ranges *ranges = &store->ranges;
    uint8_t kind = ranges->kind[range];
    return (kind != GT_RANGE_GPU) & (kind != GT_RANGE_MARK) & (ranges->thread[range] != GT_NO_TRACK) &
           (ranges->end_thread[range] == GT_NO_TRACK); /* names come in no order that branches could be foreseen in */
}

enum { NOT_ASKED, NO_STEP, FIRST_NUMBER }; /* of a name: then its number, from FIRST_NUMBER on */

struct collection {
    const struct gt_store *store;
    atomic_uchar *is_known; /* by name: somebody looks at it, or has; those of ranges that can be steps */
    atomic_size_t best;     /* of step_kinds, the first that was found */
    uint64_t *answers;      /* by name: whether ranges of it that can be steps are, and their number */
    size_t slices, *counts; /* of steps, by slice of the ranges */
    struct gt_step *steps;
};

static void lower(atomic_size_t *value, size_t to) {
    size_t now = atomic_load(value);
    while (to < now && !atomic_compare_exchange_weak(value, &now, to))
        ;
}

/* The clearest kind of steps that the trace has: each name is looked at once, or a few times where several threads come
   to it. */
static void choose_in_slice(void *context, size_t slice, size_t begin, size_t end) {
    struct collection *collection = context;
    int64_t number;
    (void)slice;
    for (size_t i = begin; i < end; i++) {
        gt_strid name = collection->store->ranges.name[i];
        atomic_uchar *is_known = &collection->is_known[name];
        if (atomic_load_explicit(is_known, memory_order_relaxed) || !can_be_step(collection->store, i))
            continue;
        atomic_store_explicit(is_known, 1, memory_order_relaxed);
        size_t best = atomic_load_explicit(&collection->best, memory_order_relaxed);
        for (size_t k = 0; k < best; k++)
            if (fits_kind(&step_kinds[k], gt_store_string(collection->store, name), &number))
                lower(&collection->best, best = k);
    }
}

static int compare(int64_t a, int64_t b) {
    return (a > b) - (a < b);
}

static int by_start(const void *a, const void *b, void *context) {
    const struct gt_step *x = a, *y = b;
    int order = compare(x->start_ns, y->start_ns);
    (void)context;
    order = order ? order : compare(x->number, y->number);
    return order ? order : compare(x->range, y->range);
}

static void answer_in_slice(void *context, size_t slice, size_t begin, size_t end) {
    struct collection *collection = context;
    const struct step_kind *kind = &step_kinds[collection->best];
    int64_t number = 0;
    (void)slice;
    for (size_t name = begin; name < end; name++)
        if (collection->is_known[name]) {
            bool fits = fits_kind(kind, gt_store_string(collection->store, (gt_strid)name), &number);
            collection->answers[name] = fits ? (uint64_t)number + FIRST_NUMBER : NO_STEP;
        }
}

static void count_in_slice(void *context, size_t slice, size_t begin, size_t end) {
    struct collection *collection = context;
    const gt_strid *names = collection->store->ranges.name;
    size_t count = 0;
    for (size_t i = begin; i < end; i++)
        count += (collection->answers[names[i]] >= FIRST_NUMBER) & can_be_step(collection->store, i);
    collection->counts[slice] = count;
}

static void collect_in_slice(void *context, size_t slice, size_t begin, size_t end) {
    const struct collection *collection = context;
    const struct gt_store *store = collection->store;
    const struct gt_ranges *ranges = &store->ranges;
    struct gt_step *step = collection->steps;
    for (size_t s = 0; s < slice; s++)
        step += collection->counts[s];
    for (size_t i = begin; i < end; i++) {
        uint64_t answer = collection->answers[ranges->name[i]];
        if (answer >= FIRST_NUMBER && can_be_step(store, i))
            *step++ = (struct gt_step){.number = (int64_t)(answer - FIRST_NUMBER),
                                       .start_ns = ranges->start_ns[i],
                                       .end_ns = ranges->end_ns[i],
                                       .process = store->threads.process[ranges->thread[i]],
                                       .range = (uint32_t)i};
    }
}

/* Chooses a kind and counts its ranges. */
static size_t count_steps(struct collection *collection) {
    size_t range_count = collection->store->ranges.count, name_count = collection->store->strings.count, count = 0;
    gt_threads_rows(collection->slices, range_count, choose_in_slice, collection);
    if (collection->best == KIND_COUNT)
        return 0;
    gt_threads_rows(collection->slices, name_count, answer_in_slice, collection);
    gt_threads_rows(collection->slices, range_count, count_in_slice, collection);
    for (size_t s = 0; s < collection->slices; s++)
        count += collection->counts[s];
    return count;
}

static bool list_steps(struct collection *collection, struct gt_labels *labels) {
    const struct gt_store *store = collection->store;
    collection->is_known = gt_mem_array(store->strings.count, sizeof *collection->is_known);
    collection->answers = gt_mem_array(store->strings.count, sizeof *collection->answers);
    collection->counts = gt_mem_array(collection->slices, sizeof *collection->counts);
    bool ok = collection->is_known && collection->answers && collection->counts;
    if (ok) {
        labels->step_count = count_steps(collection);
        labels->steps = collection->steps =
            gt_arena_uninitialised(&labels->arenas[GT_PASS_STEPS], labels->step_count, sizeof *labels->steps);
    }
    ok = ok && labels->steps;
    if (ok && labels->step_count)
        gt_threads_rows(collection->slices, store->ranges.count, collect_in_slice, collection);
    gt_mem_free(collection->is_known);
    gt_mem_free(collection->answers);
    gt_mem_free(collection->counts);
    return ok;
}

/* As files mostly have them. */
static bool are_in_order(const struct gt_step *steps, size_t count) {
    for (size_t i = 1; i < count; i++)
        if (steps[i - 1].start_ns >= steps[i].start_ns && by_start(&steps[i - 1], &steps[i], NULL) > 0)
            return false;
    return true;
}

static bool collect_steps(const struct gt_store *store, size_t threads, struct gt_labels *labels) {
    struct collection collection = {
        .store = store, .best = KIND_COUNT, .slices = gt_threads_slices(threads, store->ranges.count, 0)};
    if (!list_steps(&collection, labels))
        return false;
    if (!are_in_order(labels->steps, labels->step_count))
        gt_sort(labels->steps, labels->step_count, sizeof *labels->steps, by_start, NULL, threads);
    for (size_t i = 0; i < labels->step_count && !has_numbers(&step_kinds[collection.best]); i++)
        labels->steps[i].number = (int64_t)i;
    return true;
}

static enum gt_status find_steps(const struct gt_store *store, struct gt_labels *labels,
                                 struct gt_label_scratch *scratch, struct gt_error *err) {
    struct gt_step_tree *tree = scratch->steps = gt_arena_alloc(&scratch->step_arena, sizeof *tree);
    bool ok = tree && collect_steps(store, scratch->threads, labels) &&
              gt_step_tree_init(tree, store, labels, &scratch->step_arena, scratch->threads);
    return ok ? GT_OK : gt_fail_memory(err);
}

const struct gt_label_pass gt_label_pass_steps = {"steps", "steps", GT_LABEL_FIRST, find_steps};
