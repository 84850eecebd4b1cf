/* Keys that files of older tools use: finds the columns and facts that such a key represents. */
#include <stdbool.h>
#include <string.h>

#include "gputime.h"
#include "internal.h"
#include "report/folders.h"

struct search {
    const char *key;
    struct gputime_source *found;
    size_t capacity, count;
};

static bool is_same(const struct gputime_source *a, const struct gputime_source *b) {
    bool is_same_table = a->table && b->table ? strcmp(a->table, b->table) == 0 : a->table == b->table;
    return is_same_table && a->key_bytes == b->key_bytes && memcmp(a->key, b->key, a->key_bytes) == 0;
}

/* A value such as "gap_ns/1000000" of a table, or a fact, if it bears the key. */
static void look_at(struct search *search, const char *title, const char *value, const char *table) {
    if (strcmp(title, search->key) != 0 || *value == '@')
        return;
    size_t length = strcspn(value, "/*+");
    struct gputime_source source = {.key = value, .key_bytes = length, .operation = value + length, .table = table};
    for (size_t i = 0; i < search->count; i++)
        if (is_same(&search->found[i], &source))
            return;
    if (search->count < search->capacity)
        search->found[search->count++] = source;
}

static void search_csv(struct search *search, const struct gt_csv_layout *csv) {
    for (size_t i = 0; i < GT_CSV_LAYOUT_COLUMNS && csv->columns[i].title; i++)
        look_at(search, csv->columns[i].title, csv->columns[i].value, csv->rows.table);
}

static bool has_members(enum gt_key_kind kind) {
    return kind == GT_KEY_OBJECT || kind == GT_KEY_ROWS || kind == GT_KEY_ROW || kind == GT_KEY_AMOUNTS ||
           kind == GT_KEY_MAP;
}

static void search_keys(struct search *search, const struct gt_key *keys) {
    enum { DEPTH_MAX = 16 };
    const char *tables[DEPTH_MAX] = {NULL}; /* whose rows the values at each level are of */
    size_t depth = 0;
    for (; keys->kind != GT_KEY_END || depth > 0; keys++) {
        if (keys->kind == GT_KEY_END)
            depth--;
        else if (keys->kind == GT_KEY_VALUE || keys->kind == GT_KEY_FLAG)
            look_at(search, keys->key, keys->value, depth < DEPTH_MAX ? tables[depth] : NULL);
        if (has_members(keys->kind) && ++depth < DEPTH_MAX)
            tables[depth] = keys->rows.table;
    }
}

API size_t gputime_sources(const char *key, struct gputime_source *out, size_t capacity) {
    struct search search = {.key = key, .found = out, .capacity = capacity};
    for (const struct gt_folder_file *file = gt_explain_files; file->path; file++) {
        if (file->csv)
            search_csv(&search, file->csv);
        if (file->keys)
            search_keys(&search, file->keys);
    }
    return search.count;
}
