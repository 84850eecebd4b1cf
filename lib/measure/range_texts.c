/* Range texts: what a program wrote about its ranges, such as the instruction that XLA compiled and where in the source
   it comes from. Only traces that kept such texts have this table. */
#include <stdlib.h>

#include "base/mem.h"
#include "measure/results/grouping.h"
#include "measure/results/measure.h"
#include "report/row.h"

struct text {
    gt_strid name, domain, key, text;
    size_t count;
};

static const struct gt_report_column columns[] = {
    {"name", "Range", GT_UNIT_NONE, NULL, GT_COLUMN_NAME | GT_COLUMN_KEY},
    {"domain", "Domain", GT_UNIT_NONE, NULL, GT_COLUMN_DETAIL | GT_COLUMN_KEY},
    {"key", "Key", GT_UNIT_NONE, NULL, GT_COLUMN_KEY},
    {"text", "Text", GT_UNIT_NONE, NULL, GT_COLUMN_NAME | GT_COLUMN_KEY},
    {"count", "Count", GT_UNIT_COUNT, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},
};

static bool add_up(const struct gt_view *view, struct gt_grouping *texts) {
    const struct gt_store *store = view->store;
    bool *processes = gt_view_processes(view), is_new;
    bool is_done = processes != NULL;
    for (size_t i = 0; is_done && i < store->range_texts.count; i++) {
        uint32_t range = store->range_texts.range[i];
        struct text found = {store->ranges.name[range], store->ranges.domain[range], store->range_texts.key[i],
                             store->range_texts.text[i], 0};
        if (!gt_view_has_range(view, processes, range))
            continue;
        struct text *text = gt_grouping_find(texts, (uint64_t)found.name << 32 | found.domain,
                                             (uint64_t)found.key << 32 | found.text, &is_new);
        is_done = text != NULL;
        if (is_done && is_new)
            *text = found;
        if (is_done)
            text->count++;
    }
    gt_mem_free(processes);
    return is_done;
}

static int by_name(const void *a, const void *b, void *context) {
    const struct text *x = a, *y = b;
    const gt_strid of_x[] = {x->name, x->domain, x->key, x->text}, of_y[] = {y->name, y->domain, y->key, y->text};
    for (size_t i = 0; i < GT_ARRAY_COUNT(of_x); i++)
        if (of_x[i] != of_y[i])
            return gt_str_cmp(gt_store_string(context, of_x[i]), gt_store_string(context, of_y[i]));
    return 0;
}

static void add_table(const struct gt_store *store, struct gt_section *section, const struct gt_grouping *texts) {
    const struct text *list = (const void *)texts->list;
    struct gt_table *table = gt_section_table(section, "range_texts", "Range texts", columns, GT_ARRAY_COUNT(columns));
    table->screen_limit = 10;
    table->empty = store->range_texts.count ? "No ranges with a text in the selection." : NULL;
    for (size_t i = 0; i < texts->count; i++) {
        struct gt_row row = gt_row_begin(table);
        gt_row_text(&row, "name", gt_store_string(store, list[i].name));
        gt_row_text(&row, "domain", gt_store_string(store, list[i].domain));
        gt_row_text(&row, "key", gt_store_string(store, list[i].key));
        gt_row_text(&row, "text", gt_store_string(store, list[i].text));
        gt_row_count(&row, "count", list[i].count);
        gt_row_end(&row);
    }
}

enum gt_status gt_range_texts_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    struct gt_grouping texts = {.elem_bytes = sizeof(struct text)};
    enum gt_status status = GT_OK;
    if (add_up(view, &texts)) {
        if (texts.count)
            qsort_r(texts.list, texts.count, sizeof(struct text), by_name, (void *)(uintptr_t)view->store);
        add_table(view->store, section, &texts);
    } else {
        status = gt_fail_memory(err);
    }
    gt_grouping_release(&texts);
    return status;
}
