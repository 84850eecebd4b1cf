/* Sums ops, or rows that are summed already, by class, by operation and by kind of copy. Each name is looked at once.
 */
#include "measure/results/class_sums.h"

#include "base/mem.h"
#include "base/ns.h"
#include "measure/results/measure.h"

/* ---- sums by name ---- */

static void add(struct gt_tally *sum, const struct gt_tally *more) {
    sum->instances = gt_ns_add(sum->instances, more->instances);
    sum->total_ns = gt_ns_add(sum->total_ns, more->total_ns);
}

static void tallies_add(struct gt_tallies *tallies, struct gt_str name, const struct gt_tally *more) {
    gt_strid id = gt_strtab_intern(&tallies->names, name);
    if (id >= tallies->capacity) {
        size_t capacity = (size_t)id * 2 + 16;
        struct gt_tally *grown = gt_mem_realloc(tallies->items, capacity * sizeof *grown);
        if (!grown) {
            tallies->names.failed = true;
            return;
        }
        memset(grown + tallies->capacity, 0, (capacity - tallies->capacity) * sizeof *grown);
        tallies->items = grown;
        tallies->capacity = capacity;
    }
    add(&tallies->items[id], more);
}

struct gt_tally gt_class_sums_of_tallies(const struct gt_tallies *tallies) {
    struct gt_tally sum = {0};
    for (size_t i = 0; i < tallies->names.count && i < tallies->capacity; i++)
        add(&sum, &tallies->items[i]);
    return sum;
}

/* ---- what a name belongs to ---- */

struct summing {
    struct gt_class_sums *sums;
    const struct gt_view *view;
    char text[1024]; /* room for a name that is made */
};

/* The word after "ncclDevKernel_", "ncclKernel_" and their like, up to what is no letter. */
static struct gt_str nccl_word(struct gt_str name) {
    static const struct gt_str mark = {"Kernel_", sizeof "Kernel_" - 1};
    const char *end = name.ptr + name.len;
    for (const char *p = name.ptr; (p = memmem(p, (size_t)(end - p), "nccl", 4)); p += 4) {
        const char *word = p;
        while (word < end && ((*word >= 'a' && *word <= 'z') || (*word >= 'A' && *word <= 'Z')))
            word++;
        if (word == end || *word != '_' || (size_t)(++word - p) < mark.len ||
            memcmp(word - mark.len, mark.ptr, mark.len) != 0)
            continue;
        size_t letters = 0;
        while (word + letters < end && ((word[letters] | 0x20) >= 'a' && (word[letters] | 0x20) <= 'z'))
            letters++;
        if (letters)
            return (struct gt_str){word, letters};
    }
    return GT_STR("");
}

/* "all_reduce" as NCCL writes it: "AllReduce". */
static struct gt_str joined_words(struct summing *summing, const char *words) {
    size_t bytes = 0;
    for (bool is_first = true; *words && bytes < sizeof summing->text; words++) {
        if (*words != '_')
            summing->text[bytes++] = is_first && *words >= 'a' ? (char)(*words - 'a' + 'A') : *words;
        is_first = *words == '_';
    }
    return (struct gt_str){summing->text, bytes};
}

static struct gt_str operation_of(struct summing *summing, gt_strid name, const struct gt_name_reason *reason) {
    struct gt_str word = nccl_word(gt_store_string(summing->view->store, name));
    if (word.len)
        return word;
    if (reason && reason->collective)
        return joined_words(summing, reason->collective);
    return gt_labels_short_name(summing->view->labels, name);
}

static struct gt_str lower_case(struct summing *summing, const char *text) {
    size_t bytes = 0;
    for (; bytes < sizeof summing->text && text[bytes]; bytes++)
        summing->text[bytes] = text[bytes] >= 'A' && text[bytes] <= 'Z' ? (char)(text[bytes] | 0x20) : text[bytes];
    return (struct gt_str){summing->text, bytes};
}

/* What NCCL's name is in goes before any rule; of the other communication, what no rule of the user claims. */
static bool is_communication(const struct gt_view *view, gt_strid name, const struct gt_category *category,
                             const struct gt_name_reason *reason) {
    struct gt_str text = gt_store_string(view->store, name), key = gt_str_of(category->key);
    if (gt_str_find_nocase(text, GT_STR("nccl")) || gt_str_find_nocase(text, GT_STR("rccl")))
        return true;
    if (!view->labels->rules)
        return category->time_class == GT_CLASS_COMM;
    bool is_class = key.len == 4 && gt_str_find_nocase(key, GT_STR("nccl"));
    return is_class || (category->time_class == GT_CLASS_COMM && !(reason && reason->rule));
}

static void add_kernel(struct summing *summing, gt_strid name, uint8_t category_index, const struct gt_tally *sum) {
    const struct gt_labels *labels = summing->view->labels;
    const struct gt_category *category = &labels->categories[category_index];
    const struct gt_name_reason *reason = labels->name_reason[name];
    if (is_communication(summing->view, name, category, reason)) {
        tallies_add(&summing->sums->operations, operation_of(summing, name, reason), sum);
        return;
    }
    tallies_add(&summing->sums->classes, lower_case(summing, category->key), sum);
    if (reason && reason->shorter.len && summing->sums->shorter.len == 0) {
        summing->sums->shorter = reason->shorter;
        summing->sums->longer = reason->pattern;
    }
}

/* Names of copies between host and device are long. */
static struct gt_str copy_name(struct gt_str name) {
    static const struct {
        struct gt_str name, shown;
    } names[] = {
        {GT_STR("[CUDA memcpy Device-to-Device]"), GT_STR("[CUDA memcpy D2D]")},
        {GT_STR("[CUDA memcpy Device-to-Host]"), GT_STR("[CUDA memcpy D2H]")},
        {GT_STR("[CUDA memcpy Host-to-Device]"), GT_STR("[CUDA memcpy H2D]")},
        {GT_STR("[CUDA memcpy Host-to-Host]"), GT_STR("[CUDA memcpy H2H]")},
    };
    for (size_t i = 0; i < GT_ARRAY_COUNT(names); i++)
        if (gt_str_eq(names[i].name, name))
            return names[i].shown;
    return name;
}

/* ---- ops and groups ---- */

/* What the ops of one name sum up to; kernels and copies may share a name. */
struct name_sum {
    struct gt_tally kernels, copies;
    uint8_t category; /* of the kernels */
};

static bool sum_ops(struct summing *summing) {
    const struct gt_view *view = summing->view;
    struct name_sum *names = gt_mem_array(view->store->strings.count, sizeof *names);
    for (size_t i = 0; i < view->op_count && names; i++) {
        uint32_t row = view->row[i];
        struct name_sum *name = &names[view->store->ops.name[row]];
        bool is_kernel = gt_store_kind_is_kernel(view->store->ops.kind[row]);
        if (is_kernel)
            name->category = view->labels->op_category[row];
        add(is_kernel ? &name->kernels : &name->copies, &(struct gt_tally){1, gt_view_op_ns(view, i)});
    }
    for (gt_strid id = 0; id < view->store->strings.count && names; id++) {
        if (names[id].kernels.instances)
            add_kernel(summing, id, names[id].category, &names[id].kernels);
        if (names[id].copies.instances)
            tallies_add(&summing->sums->copies, copy_name(gt_store_string(view->store, id)), &names[id].copies);
    }
    gt_mem_free(names);
    return names != NULL;
}

static void sum_groups(struct summing *summing) {
    const struct gt_store *store = summing->view->store;
    const struct gt_groups *groups = &store->groups;
    for (size_t i = 0; i < summing->view->group_count; i++) {
        uint32_t row = summing->view->groups[i];
        struct gt_tally sum = {gt_ns_of_sum((__int128)groups->instances[row]), groups->total_ns[row]};
        if (gt_store_kind_is_kernel(groups->kind[row]))
            add_kernel(summing, groups->name[row], summing->view->labels->group_category[row], &sum);
        else
            tallies_add(&summing->sums->copies, copy_name(gt_store_string(store, groups->printed[row])), &sum);
    }
}

static bool sum_all(struct summing *summing) {
    const struct gt_labels *labels = summing->view->labels;
    struct gt_class_sums *sums = summing->sums;
    if (!gt_strtab_init(&sums->classes.names) || !gt_strtab_init(&sums->operations.names) ||
        !gt_strtab_init(&sums->copies.names))
        return false;
    for (size_t i = 0; i < labels->named_category_count; i++)
        tallies_add(&sums->classes, lower_case(summing, labels->categories[i].key), &(struct gt_tally){0});
    if (summing->view->is_summed)
        sum_groups(summing);
    else if (!sum_ops(summing))
        return false;
    return !sums->classes.names.failed && !sums->operations.names.failed && !sums->copies.names.failed;
}

enum gt_status gt_class_sums_init(struct gt_class_sums *sums, const struct gt_view *view, struct gt_error *err) {
    *sums = (struct gt_class_sums){0};
    struct summing summing = {.sums = sums, .view = view};
    if (sum_all(&summing))
        return GT_OK;
    gt_class_sums_release(sums);
    return gt_fail_memory(err);
}

static void tallies_release(struct gt_tallies *tallies) {
    gt_strtab_release(&tallies->names);
    gt_mem_free(tallies->items);
    *tallies = (struct gt_tallies){0};
}

void gt_class_sums_release(struct gt_class_sums *sums) {
    tallies_release(&sums->classes);
    tallies_release(&sums->operations);
    tallies_release(&sums->copies);
}
