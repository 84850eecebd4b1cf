/* The registries of the public interface, and the cache directory. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "decode/decoder.h"
#include "events/cache.h"
#include "export/exporter.h"
#include "internal.h"
#include "label/builtin.h"
#include "label/rules_catalog.h"
#include "measure/analysis.h"
#include "measure/options.h"
#include "write/writer.h"

static const char *const class_names[] = {
    [GT_CLASS_COMPUTE] = "compute", [GT_CLASS_COMM] = "communication", [GT_CLASS_MEMORY] = "memory"};

API size_t gputime_registry_count(enum gputime_registry registry) {
    switch (registry) {
    case GPUTIME_INPUTS:
        return gt_decoder_count;
    case GPUTIME_ANALYSES:
        return gt_analysis_count;
    case GPUTIME_OUTPUTS:
        return gt_writer_count;
    case GPUTIME_CATEGORIES:
        return GT_CATEGORY_COUNT;
    case GPUTIME_EXPORTS:
        return gt_exporter_count;
    }
    return 0;
}

API struct gputime_entry gputime_registry_entry(enum gputime_registry registry, size_t index) {
    if (index >= gputime_registry_count(registry))
        return (struct gputime_entry){0};
    switch (registry) {
    case GPUTIME_INPUTS:
        return (struct gputime_entry){
            .key = gt_decoders[index].key, .title = gt_decoders[index].title, .detail = gt_decoders[index].suffixes};
    case GPUTIME_ANALYSES:
        return (struct gputime_entry){
            .key = gt_analyses[index].key, .title = gt_analyses[index].title, .detail = gt_analyses[index].tables};
    case GPUTIME_OUTPUTS:
        return (struct gputime_entry){.key = gt_writers[index].key,
                                      .title = gt_writers[index].title,
                                      .detail = gt_writers[index].suffix,
                                      .is_data = gt_writers[index].is_data,
                                      .is_missing = !gt_writer_is_built(&gt_writers[index]),
                                      .fills_folders = gt_writers[index].fills_folders,
                                      .is_binary = gt_writers[index].is_binary};
    case GPUTIME_CATEGORIES:
        return (struct gputime_entry){.key = gt_categories[index].key,
                                      .title = gt_categories[index].title,
                                      .detail = class_names[gt_categories[index].time_class]};
    case GPUTIME_EXPORTS:
        return (struct gputime_entry){.key = gt_exporters[index].key,
                                      .title = gt_exporters[index].title,
                                      .detail = gt_exporters[index].suffix,
                                      .is_data = 1};
    }
    return (struct gputime_entry){0};
}

API struct gputime_entry gputime_registry_find(enum gputime_registry registry, const char *key) {
    for (size_t i = 0; i < gputime_registry_count(registry); i++) {
        struct gputime_entry entry = gputime_registry_entry(registry, i);
        if (strcmp(entry.key, key) == 0)
            return entry;
    }
    return (struct gputime_entry){0};
}

/* ---- options of analyses ---- */

API size_t gputime_option_count(void) {
    return GT_OPTION_COUNT;
}

API struct gputime_option_info gputime_option_at(size_t index) {
    return index < GT_OPTION_COUNT ? gt_option_infos[index] : (struct gputime_option_info){0};
}

API struct gputime_option gputime_option_flag(const char *key, int is_on) {
    return (struct gputime_option){.key = key, .type = GPUTIME_OPTION_FLAG, .integer = is_on != 0};
}

API struct gputime_option gputime_option_int(const char *key, int64_t value) {
    return (struct gputime_option){.key = key, .type = GPUTIME_OPTION_INT, .integer = value};
}

API struct gputime_option gputime_option_real(const char *key, double value) {
    return (struct gputime_option){.key = key, .type = GPUTIME_OPTION_REAL, .real = value};
}

API struct gputime_option gputime_option_text(const char *key, const char *text) {
    return (struct gputime_option){.key = key, .type = GPUTIME_OPTION_TEXT, .text = text};
}

API struct gputime_option gputime_option_choice(const char *key, const char *choice) {
    return (struct gputime_option){.key = key, .type = GPUTIME_OPTION_CHOICE, .text = choice};
}

/* ---- rules ---- */

struct gputime_rules {
    struct gt_rules_catalog catalog;
};

API enum gputime_status gputime_rules_list(const char *const *paths, size_t path_count, struct gputime_rules **out,
                                           struct gputime_error *err) {
    struct gt_error error = {0};
    struct gt_rules_request request = {.files = paths, .file_count = path_count};
    *out = NULL;
    struct gputime_rules *rules = gt_mem_array(1, sizeof *rules);
    enum gt_status status = rules ? gt_rules_catalog_init(&rules->catalog, &request, &error) : gt_fail_memory(&error);
    if (status == GT_OK)
        *out = rules;
    else
        gputime_rules_free(rules);
    return gt_internal_fail(status, &error, err);
}

API void gputime_rules_free(struct gputime_rules *rules) {
    if (rules)
        gt_rules_catalog_release(&rules->catalog);
    gt_mem_free(rules);
}

API size_t gputime_rules_count(const struct gputime_rules *rules) {
    return rules->catalog.count;
}

API struct gputime_rule gputime_rules_at(const struct gputime_rules *rules, size_t index) {
    if (index >= rules->catalog.count)
        return (struct gputime_rule){0};
    const struct gt_rule_entry *entry = &rules->catalog.entries[index];
    return (struct gputime_rule){entry->model,  entry->source,   entry->replaced_by,
                                 entry->number, entry->category, entry->pattern};
}

/* ---- the cache ---- */

API enum gputime_status gputime_cache_show(char *text, size_t size, struct gputime_error *err) {
    struct gt_error error = {0};
    struct gt_cache_summary summary;
    enum gt_status status = gt_cache_describe(&summary, &error);
    if (status == GT_OK && summary.is_off) {
        snprintf(text, size, "the cache is off (GPUTIME_CACHE=off)");
    } else if (status == GT_OK) {
        char files[GT_NUM_MAX], bytes[GT_NUM_MAX];
        gt_num_format_grouped(files, (int64_t)summary.files);
        gt_num_format_bytes(bytes, (double)summary.size_bytes);
        snprintf(text, size, "%s: %s trace%s, %s", summary.folder, files, summary.files == 1 ? "" : "s", bytes);
    }
    return gt_internal_fail(status, &error, err);
}

API enum gputime_status gputime_cache_clear(uint64_t *removed_files, struct gputime_error *err) {
    struct gt_error error = {0};
    return gt_internal_fail(gt_cache_clear(removed_files, &error), &error, err);
}
