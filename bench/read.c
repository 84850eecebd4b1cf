/* Reads a trace and does nothing else: what the benchmark compares with other readers. Prints what it found. With
   "open" launches are matched and ops classified as well, as for any report; with "keep" the trace is put into the
   cache, with "cached" it comes from there; with "ops" only what `kernels` needs is read, with "all" every fact, with
   "counters" nothing but those, with "arguments" those of operators and launch configurations, too. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/source.h"
#include "decode/decoder.h"
#include "decode/torch/torch_json.h"
#include "events/cache.h"
#include "events/labels.h"
#include "gputime.h"
#include "label/label.h"

/* What every reader of the benchmark must agree on, then what this one keeps. */
static void print_sums(const struct gt_store *store) {
    uint64_t kernels = 0, name_bytes = 0;
    int64_t kernel_ns = 0;
    for (size_t i = 0; i < store->ops.count; i++) {
        if (store->ops.kind[i] != GT_OP_KERNEL)
            continue;
        kernels++;
        kernel_ns += store->ops.end_ns[i] - store->ops.start_ns[i];
    }
    for (gt_strid i = 0; i < store->strings.count; i++)
        name_bytes += gt_store_string(store, i).len;
    size_t kept = store->ops.count + store->calls.count + store->ranges.count + store->cpu_ops.count +
                  store->counters.count + store->sample_values.count;
    printf("kernels %" PRIu64 " kernel_ns %" PRId64 " kept %zu name_bytes %" PRIu64 "\n", kernels, kernel_ns, kept,
           name_bytes);
}

static enum gt_status read_portable(struct gt_source *source, const struct gt_decode_options *options,
                                    struct gt_store **store, struct gt_error *error) {
    const struct gt_torch_sizes sizes = {8 << 20, 256 << 10, 64 << 20, GT_TORCH_PORTABLE, 0};
    return gt_torch_json_decode_sized(source, options, &sizes, store, error);
}

enum how { USUAL, PORTABLE, OPEN, OPS, ALL, EXPORTED, COUNTERS, ARGUMENTS, KEEP, CACHED };

static enum how parse_how(const char *word) {
    const char *const words[] = {"usual",    "portable", "open",      "ops",  "all",
                                 "exported", "counters", "arguments", "keep", "cached"};
    for (enum how how = USUAL; how <= CACHED; how++)
        if (strcmp(word, words[how]) == 0)
            return how;
    fprintf(stderr,
            "usage: read THREADS TRACE [usual|portable|open|ops|all|exported|counters|arguments|keep|cached]\n");
    exit(2);
}

static uint32_t facts_of_kernels(void) {
    const char *const analyses[] = {"kernels"};
    struct gputime_report_options options = GPUTIME_REPORT_OPTIONS_INIT;
    options.analyses = analyses;
    options.analysis_count = 1;
    return (uint32_t)gputime_report_facts(&options);
}

/* What is read; 0: what most reports need. */
static uint32_t facts_of(enum how how) {
    switch (how) {
    case OPS:
        return facts_of_kernels();
    case ALL:
        return GT_FACTS_ALL;
    case EXPORTED:
        return (uint32_t)gputime_export_facts(NULL, "to/");
    case COUNTERS:
        return GT_FACT_COUNTERS;
    case ARGUMENTS:
        return GT_FACTS_USUAL | GT_FACT_ARGUMENTS | GT_FACT_CONFIGS;
    default:
        return 0;
    }
}

static enum gt_status decode(const char *path, size_t threads, enum how how, struct gt_store **store,
                             struct gt_error *error) {
    struct gt_decode_options options = {.threads = threads, .facts = facts_of(how)};
    const struct gt_decoder *decoder;
    struct gt_source *source = NULL;
    enum gt_status status = gt_source_open(path, &source, error);
    if (status == GT_OK)
        status = gt_decoder_choose(source, &decoder, error);
    if (status == GT_OK)
        status = how == PORTABLE ? read_portable(source, &options, store, error)
                                 : decoder->decode(&source, 1, &options, store, error);
    gt_source_close(source);
    return status;
}

int main(int argc, char **argv) {
    enum how how = parse_how(argc == 4 ? argv[3] : argc == 3 ? "usual" : "");
    const char *path = argv[2];
    struct gt_cache_key key;
    struct gt_store *store = NULL;
    struct gt_labels *labels = NULL;
    struct gt_error error = {0};
    uint32_t held;
    if (how >= KEEP)
        gt_cache_key_init(&key, &path, 1);
    if (how == CACHED && !gt_cache_load(&key, GT_FACTS_USUAL, &store, &held))
        snprintf(error.message, sizeof error.message, "'%s' is not in the cache", path);
    else if (how != CACHED)
        decode(path, strtoul(argv[1], NULL, 10), how, &store, &error);
    if (!store) {
        fprintf(stderr, "read: %s\n", error.message);
        return 1;
    }
    store->asked = GT_FACTS_USUAL; /* a cache says what it has */
    if (how == KEEP)
        gt_cache_save(&key, &path, 1, store);
    if (how == OPEN && gt_label_new_by_rules(store, NULL, strtoul(argv[1], NULL, 10), &labels, &error) != GT_OK)
        return 1;
    print_sums(store);
    gt_label_free(labels);
    gt_store_free_on(store, strtoul(argv[1], NULL, 10)); /* as the program does */
    return 0;
}
