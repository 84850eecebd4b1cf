/* NCCL's kernel names come in, algorithm and protocol go out. */
#include "label/nccl_name.h"

#include "base/mem.h"

struct word {
    struct gt_str now;    /* between underscores, since 2.11 */
    struct gt_str before; /* at the end of the first word before that, in front of "Kernel" */
    const char *spelling;
};

/* Longer ones before those that are a part of them. */
static const struct word algorithms[] = {
    {GT_STR("COLLNET_DIRECT"), GT_STR("CollNetDirect"), "CollnetDirect"},
    {GT_STR("COLLNET_CHAIN"), GT_STR("CollNetChain"), "CollnetChain"},
    {GT_STR("NVLS_TREE"), GT_STR("NVLSTree"), "NVLSTree"},
    {GT_STR("NVLS"), GT_STR("NVLS"), "NVLS"},
    {GT_STR("TREE"), GT_STR("Tree"), "Tree"},
    {GT_STR("RING"), GT_STR("Ring"), "Ring"},
    {GT_STR("PAT"), GT_STR("PAT"), "PAT"},
    {GT_STR("COLLNET"), GT_STR("CollNet"), "Collnet"},
};
static const struct word protocols[] = {
    {GT_STR("LL128"), GT_STR("LL128"), "LL128"},
    {GT_STR("LL"), GT_STR("LL"), "LL"},
    {GT_STR("SIMPLE"), GT_STR("Simple"), "Simple"},
};

/* Whether the words come one after the other between underscores. */
static bool has_words(struct gt_str name, struct gt_str words) {
    for (size_t at = 0; at + words.len <= name.len; at++)
        if (memcmp(name.ptr + at, words.ptr, words.len) == 0 && at > 0 && name.ptr[at - 1] == '_' &&
            (at + words.len == name.len || name.ptr[at + words.len] == '_'))
            return true;
    return false;
}

static const char *find(struct gt_str name, const struct word *words, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (has_words(name, words[i].now))
            return words[i].spelling;
    return NULL;
}

static const char *take(struct gt_str *name, const struct word *words, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (gt_str_take_end(name, words[i].before))
            return words[i].spelling;
    return NULL;
}

void gt_nccl_name_read(struct gt_str name, const char **algorithm, const char **protocol) {
    *algorithm = *protocol = NULL;
    if (!gt_str_starts(name, GT_STR("nccl")))
        return;
    const char *underscore = memchr(name.ptr, '_', name.len);
    struct gt_str first = {name.ptr, underscore ? (size_t)(underscore - name.ptr) : name.len};
    if (gt_str_take_end(&first, GT_STR("Kernel")) && !gt_str_eq(first, GT_STR("nccl")) &&
        !gt_str_eq(first, GT_STR("ncclDev"))) {
        *protocol = take(&first, protocols, GT_ARRAY_COUNT(protocols));
        *algorithm = take(&first, algorithms, GT_ARRAY_COUNT(algorithms));
    } else {
        *protocol = find(name, protocols, GT_ARRAY_COUNT(protocols));
        *algorithm = find(name, algorithms, GT_ARRAY_COUNT(algorithms));
    }
}
