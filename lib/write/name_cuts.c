/* The names of a column cut to a width: what the cut leaves alike is cut once more, where the names differ. */
#include "write/name_cuts.h"

#include <stdlib.h>

#include "base/mem.h"
#include "write/cell_format.h"

struct name {
    struct gt_str text;
    struct gt_cut cut;
    size_t around; /* byte that the cut is around; 0: none */
    size_t row;
};

/* Names of one family are distinguished by what is late in them, and may then look like those of another. */
enum { PASSES = 3 };

static int compare_cuts(const struct name *a, const struct name *b) {
    int order = gt_str_cmp(a->cut.head, b->cut.head);
    order = order ? order : gt_str_cmp(a->cut.tail, b->cut.tail);
    order = order ? order : a->cut.has_lost_front - b->cut.has_lost_front;
    return order ? order : a->cut.has_lost_end - b->cut.has_lost_end;
}

/* Those that look alike together, in the order of their texts: the one that shares most with a name is next to it. */
static int compare_names(const void *a, const void *b) {
    const struct name *x = a, *y = b;
    int order = compare_cuts(x, y);
    order = order ? order : gt_str_cmp(x->text, y->text);
    return order ? order : (x->row > y->row) - (x->row < y->row);
}

static size_t shared_bytes(struct gt_str a, struct gt_str b) {
    size_t count = 0;
    while (count < a.len && count < b.len && a.ptr[count] == b.ptr[count])
        count++;
    return count;
}

/* Where the next name begins; rows of one name are together. */
static size_t name_end(const struct name *names, size_t count, size_t first) {
    size_t end = first + 1;
    while (end < count && gt_str_eq(names[end].text, names[first].text))
        end++;
    return end;
}

/* From where on two names differ that look alike; 0: they do not. */
static size_t difference_at(const struct name *a, const struct name *b) {
    return compare_cuts(a, b) == 0 ? shared_bytes(a->text, b->text) : 0;
}

/* Cuts every name that looks like the one before or after it around its difference from the more similar one. false:
   there is none. */
static bool make_distinct(struct name *names, size_t count, size_t width, bool utf8) {
    size_t before = 0; /* difference from the name before */
    bool is_changed = false;
    if (count > 1)
        qsort(names, count, sizeof *names, compare_names);
    for (size_t first = 0, end; first < count; first = end) {
        end = name_end(names, count, first);
        size_t after = end < count ? difference_at(&names[first], &names[end]) : 0;
        size_t at = before > after ? before : after;
        is_changed |= at > 0;
        for (size_t i = first; i < end && at; i++)
            names[i].around = at;
        before = after;
    }
    for (size_t i = 0; i < count; i++)
        if (names[i].around)
            names[i].cut = gt_glyph_name_cut_around(names[i].text, names[i].around, width, utf8);
    return is_changed;
}

struct gt_cut *gt_name_cuts_new(const struct gt_table *table, size_t column, size_t rows, size_t width, bool utf8) {
    struct gt_cut *cuts = gt_mem_array(rows, sizeof *cuts);
    struct name *names = gt_mem_array(rows, sizeof *names);
    size_t count = 0;
    for (size_t row = 0; row < rows && cuts && names; row++) {
        const struct gt_cell *cell = &table->cells[row * table->column_count + column];
        if (!gt_cell_is_text(cell))
            continue;
        cuts[row] = gt_glyph_name_cut(gt_cell_str(cell), width, utf8);
        if (cuts[row].is_cut)
            names[count++] = (struct name){.text = gt_cell_str(cell), .cut = cuts[row], .row = row};
    }
    for (int pass = 0; pass < PASSES && make_distinct(names, count, width, utf8);)
        pass++;
    for (size_t i = 0; i < count; i++)
        cuts[names[i].row] = names[i].cut;
    if (!names) {
        gt_mem_free(cuts);
        cuts = NULL;
    }
    gt_mem_free(names);
    return cuts;
}
