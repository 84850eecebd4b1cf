/* The first lines of a comparison: how much longer a step takes, and which of its parts changed. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "verdict/verdict.h"

enum {
    MOST_PARTS = 64,
    LISTED_PARTS = 5,
    MOST_DETAILS = 4,
    LONGEST_NAME = 40,
    SEARCHED_DETAILS = 25, /* the largest first; each needs a search */
};

/* A part of the whole: the changes of all parts sum to that of the whole. */
struct part {
    struct gt_str name;
    double delta_ns;
};

struct parts {
    struct part items[MOST_PARTS];
    size_t count;
};

static void add_part(struct parts *parts, struct gt_str name, double delta_ns) {
    if (isnan(delta_ns))
        return;
    for (size_t i = 0; i < parts->count; i++)
        if (gt_str_eq(parts->items[i].name, name)) {
            parts->items[i].delta_ns += delta_ns;
            return;
        }
    if (parts->count == MOST_PARTS) /* users may define many categories */
        parts->items[MOST_PARTS - 1] = (struct part){GT_STR("other"), parts->items[MOST_PARTS - 1].delta_ns + delta_ns};
    else
        parts->items[parts->count++] = (struct part){name, delta_ns};
}

/* ---- the tables that have them ---- */

/* The table that a block compares, if it has parts; NULL: it has none. */
static const struct gt_table *parts_of(const struct gt_block *block) {
    const struct gt_table *table = block->kind == GT_BLOCK_TABLE ? block->table : NULL;
    bool has_parts = table && table->shape && gt_table_column_flagged(table->shape, GT_COLUMN_PART) != SIZE_MAX;
    return has_parts ? table : NULL;
}

static const struct gt_parts *role_of(const struct gt_table *table) {
    static const struct gt_parts of_the_whole = {0};
    return table->shape->parts ? table->shape->parts : &of_the_whole;
}

bool gt_verdict_is_of_the_whole(const struct gt_block *block) {
    const struct gt_table *table = parts_of(block);
    return table && !role_of(table)->table && !role_of(table)->whole;
}

/* ---- labels of rows ---- */

/* The text that captures have for a row of that name; from the first capture that has it. */
static struct gt_str find_text(const struct gt_compare_sides *sides, const struct gt_table *shape, struct gt_str name,
                               size_t column) {
    size_t named = gt_table_name_column(shape);
    for (size_t i = 0; i < sides->capture_count; i++) {
        const struct gt_table *table = gt_section_find(gt_compare_section(sides, i), shape->key);
        for (size_t row = 0; table && row < table->row_count; row++) {
            const struct gt_cell *cells = &table->cells[row * table->column_count];
            if (gt_str_eq(gt_cell_as_text(&cells[named]), name))
                return gt_cell_as_text(&cells[column]);
        }
    }
    return (struct gt_str){0};
}

static struct gt_str term_of(const struct gt_term *terms, struct gt_str text, struct gt_str name) {
    for (; terms && terms->text; terms++)
        if (gt_str_eq(gt_str_of(terms->text), text))
            return gt_str_of(terms->words);
    return name;
}

/* Rows of a table of a comparison and their labels. */
struct naming {
    const struct gt_compare_sides *sides;
    const struct gt_table *table;
    size_t name, name_of_b; /* columns */
    size_t words;           /* column of the tables of captures; SIZE_MAX: there is only the name */
    bool is_name;           /* the label is the name */
};

static struct naming naming_of(const struct gt_compare_sides *sides, const struct gt_table *table) {
    size_t name = gt_table_name_column(table->shape), words = gt_table_column_flagged(table->shape, GT_COLUMN_WORDS);
    return (struct naming){.sides = sides,
                           .table = table,
                           .name =
                               name == SIZE_MAX ? SIZE_MAX : gt_table_column(table, table->shape->columns[name].key),
                           .name_of_b = gt_compare_find_columns(table, name).b,
                           .words = words,
                           .is_name = words == SIZE_MAX || words == name};
}

static struct gt_str text_at(const struct naming *naming, size_t row, size_t column) {
    const struct gt_table *table = naming->table;
    if (column == SIZE_MAX)
        return (struct gt_str){0};
    return gt_cell_as_text(&table->cells[row * table->column_count + column]);
}

/* Empty: the row has no label. */
static struct gt_str words_of(const struct naming *naming, size_t row, struct gt_arena *arena) {
    const struct gt_parts *role = role_of(naming->table);
    struct gt_str name = text_at(naming, row, naming->name), text = name;
    if (!naming->is_name) {
        struct gt_str name_of_b = text_at(naming, row, naming->name_of_b);
        text = find_text(naming->sides, naming->table->shape, name, naming->words);
        if (!text.len && name_of_b.len)
            text = find_text(naming->sides, naming->table->shape, name_of_b, naming->words);
    }
    if (role->terms)
        text = term_of(role->terms, text, name);
    if (!role->prefix || !text.len)
        return text;
    return gt_arena_printf(arena, "%s%.*s%s", role->prefix, (int)text.len, text.ptr, role->suffix);
}

/* ---- the parts ---- */

/* Tables may divide the same whole in several ways. */
static bool is_part(const struct gt_table *table, size_t row) {
    const struct gt_parts *role = role_of(table);
    return !role->column || gt_str_eq(gt_table_text(table, row, role->column), gt_str_of(role->text));
}

/* Subtracted from the row of another table that they are part of. */
struct detail {
    struct gt_str row;
    double ns;
};

/* Adds the rows that have labels; returns their sum. */
static double add_details(struct parts *parts, const struct gt_compare_sides *sides, const struct gt_table *table,
                          struct gt_arena *arena) {
    struct naming naming = naming_of(sides, table);
    size_t delta = gt_compare_find_amount(table, GT_COLUMN_PART).delta;
    double listed_ns = 0;
    for (size_t row = 0; row < table->row_count && row < SEARCHED_DETAILS; row++) {
        struct gt_str words = words_of(&naming, row, arena);
        if (!words.len)
            continue;
        add_part(parts, words, gt_compare_number(table, row, delta));
        listed_ns += gt_compare_number(table, row, delta);
    }
    return listed_ns;
}

/* The details of a table come from later tables. */
static size_t find_details(struct parts *parts, const struct gt_compare_sides *sides, const struct gt_section *section,
                           const struct gt_table *table, struct detail details[MOST_DETAILS]) {
    size_t count = 0;
    for (size_t b = 0; b < section->block_count && count < MOST_DETAILS; b++) {
        const struct gt_table *inner = parts_of(&section->blocks[b]);
        const struct gt_parts *role = inner ? role_of(inner) : NULL;
        if (role && role->table && strcmp(role->table, table->key) == 0)
            details[count++] =
                (struct detail){gt_str_of(role->row), add_details(parts, sides, inner, &section->report->arena)};
    }
    return count;
}

/* The rows of one table; of rows with details, only the remainder. */
static void add_table(struct parts *parts, const struct gt_compare_sides *sides, const struct gt_section *section,
                      const struct gt_table *table, uint32_t flag) {
    struct detail details[MOST_DETAILS];
    size_t detail_count = find_details(parts, sides, section, table, details);
    struct naming naming = naming_of(sides, table);
    size_t delta = gt_compare_find_amount(table, flag).delta;
    for (size_t row = 0; row < table->row_count; row++) {
        double delta_ns = gt_compare_number(table, row, delta);
        if (!is_part(table, row))
            continue;
        for (size_t i = 0; i < detail_count; i++)
            if (gt_str_eq(details[i].row, text_at(&naming, row, naming.name))) {
                delta_ns -= details[i].ns;
                details[i].ns = 0; /* other GPUs have rows of that name too */
            }
        struct gt_str words = words_of(&naming, row, &section->report->arena);
        add_part(parts, words.len ? words : text_at(&naming, row, naming.name), delta_ns);
    }
}

static int by_size(const void *a, const void *b) {
    const struct part *x = a, *y = b;
    double size = fabs(y->delta_ns) - fabs(x->delta_ns);
    return size > 0 ? 1 : size < 0 ? -1 : gt_str_cmp(x->name, y->name);
}

/* ---- the sentence ---- */

static const struct {
    double ns;
    const char *name;
} scales[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};

static size_t scale_of(double ns) {
    size_t i = 0;
    while (i + 1 < sizeof scales / sizeof *scales && fabs(ns) < scales[i].ns)
        i++;
    return i;
}

/* "+12.4": three digits or one decimal, whichever is more. */
static void format_change(char *text, size_t size, double ns, size_t scale) {
    double value = ns / scales[scale].ns;
    snprintf(text, size, "%+.*f", fabs(value) >= 99.95 ? 0 : fabs(value) >= 9.995 ? 1 : 2, value);
}

/* "activation -184, idle (host) +12, the rest +1"; sorts the parts. Empty: there is none. */
static struct gt_str list_parts(struct gt_arena *arena, struct parts *parts, size_t scale) {
    double listed_ns = 0, change_ns = 0;
    size_t listed = 0;
    struct gt_str list = {"", 0};
    for (size_t i = 0; i < parts->count; i++)
        change_ns += parts->items[i].delta_ns;
    qsort(parts->items, parts->count, sizeof *parts->items, by_size);
    for (size_t i = 0; i < parts->count && i < LISTED_PARTS; i++) {
        char number[64];
        const struct part *part = &parts->items[i];
        if (fabs(part->delta_ns) < GT_COMPARE_SMALL_PART * fabs(parts->items[0].delta_ns) || part->delta_ns == 0)
            break;
        format_change(number, sizeof number, part->delta_ns, scale);
        struct gt_str name = gt_str_cut(part->name, LONGEST_NAME);
        bool is_closed = part->name.len && part->name.ptr[part->name.len - 1] == ')';
        const char *cut = name.len == part->name.len ? "" : is_closed ? "...)" : "...";
        list = gt_arena_printf(arena, "%s%s%.*s%s %s", list.ptr, listed++ ? ", " : "", (int)name.len, name.ptr, cut,
                               number);
        listed_ns += part->delta_ns;
    }
    char rest[64];
    format_change(rest, sizeof rest, change_ns - listed_ns, scale);
    if (listed && strspn(rest, "+-0.") < strlen(rest))
        list = gt_arena_printf(arena, "%s, the rest %s", list.ptr, rest);
    return list;
}

struct whole {
    double a_ns, b_ns;
    double noise_ns; /* the largest insignificant change; NAN: unknown */
    bool is_noise;
    const char *what; /* "GPU span", "GPU work" */
    const char *unit; /* "per step"; "" */
};

/* A change too small to be shown. */
static bool is_unchanged(const struct whole *whole) {
    return fabs(whole->b_ns - whole->a_ns) < 0.0005 * fmax(whole->a_ns, whole->b_ns) &&
           (whole->is_noise || whole->a_ns == whole->b_ns);
}

static void add_sentence(struct gt_section *section, const struct whole *whole, struct parts *parts) {
    struct gt_arena *arena = &section->report->arena;
    char a[GT_NUM_MAX], b[GT_NUM_MAX], change[64];
    double delta_ns = whole->b_ns - whole->a_ns;
    double largest_ns = 0;
    for (size_t i = 0; i < parts->count; i++)
        largest_ns = fmax(largest_ns, fabs(parts->items[i].delta_ns));
    size_t scale = scale_of(fmax(fabs(delta_ns), largest_ns));
    struct gt_str list = list_parts(arena, parts, scale);
    gt_num_format_duration(a, whole->a_ns);
    gt_num_format_duration(b, whole->b_ns);
    format_change(change, sizeof change, delta_ns, scale);
    const char *blank = *whole->unit ? " " : "";
    struct gt_str text;
    if (largest_ns == 0 && delta_ns == 0)
        text = gt_arena_printf(arena, "No change: %s of %s%s%s in both traces.", a, whole->what, blank, whole->unit);
    else if (is_unchanged(whole) && list.len)
        text = gt_arena_printf(arena, "Total unchanged (%s of %s%s%s); within it, in %s: %s.", b, whole->what, blank,
                               whole->unit, scales[scale].name, list.ptr);
    else
        text = gt_arena_printf(arena, "%s%s %s of %s%s%s (%s -> %s, %+.1f%%)%s%s.",
                               whole->is_noise ? "Within the noise: " : "", change, scales[scale].name, whole->what,
                               blank, whole->unit, a, b, whole->a_ns > 0 ? 100 * delta_ns / whole->a_ns : 0.0,
                               list.len ? ": " : "", list.ptr);
    gt_section_note(section, GT_FOR_ALL, text);
}

/* ---- the whole ---- */

/* The row of the total in the table of measures; false: a side does not have it. */
static bool find_whole(const struct gt_compare_sides *sides, const struct gt_section *section, struct whole *whole) {
    const struct gt_table *measures = sides->roles->measures ? gt_section_find(section, sides->roles->measures) : NULL;
    if (!measures || !measures->shape)
        return false;
    struct gt_compare_columns time = gt_compare_find_amount(measures, GT_COLUMN_LEADS);
    struct naming naming = naming_of(sides, measures);
    size_t row = 0;
    while (row < measures->row_count && !gt_str_eq(text_at(&naming, row, naming.name), gt_str_of(sides->roles->whole)))
        row++;
    if (row == measures->row_count || isnan(gt_compare_number(measures, row, time.delta)))
        return false;
    *whole = (struct whole){.a_ns = gt_compare_number(measures, row, time.a),
                            .b_ns = gt_compare_number(measures, row, time.b),
                            .noise_ns = gt_compare_number(measures, row, time.noise),
                            .is_noise = gt_str_eq(gt_table_text(measures, row, "status"), GT_STR("noise")),
                            .what = sides->roles->whole_words,
                            .unit = sides->unit};
    return true;
}

/* The work that both sides have data for: the sum of its rows. false: there is none. */
static bool sum_work(const struct gt_compare_sides *sides, const struct gt_table *table, struct whole *whole) {
    struct gt_compare_columns time = gt_compare_find_amount(table, GT_COLUMN_WORK);
    size_t listed = 0;
    *whole = (struct whole){.unit = sides->unit};
    for (size_t row = 0; row < table->row_count; row++) {
        double a_ns = gt_compare_number(table, row, time.a), b_ns = gt_compare_number(table, row, time.b);
        if (isnan(a_ns) || isnan(b_ns))
            continue;
        whole->a_ns += a_ns;
        whole->b_ns += b_ns;
        listed++;
    }
    whole->what = listed < table->row_count ? "GPU work known in both" : "GPU work";
    return listed > 0;
}

/* GPUs of a capture: the parts are sums over GPUs, the whole is the mean over them. 0: captures have different numbers,
   so that the parts do not sum to the whole. */
static double gpu_count(const struct gt_compare_sides *sides) {
    double count = 0;
    if (!sides->roles->gpus)
        return 1;
    for (size_t i = 0; i < sides->capture_count; i++) {
        const struct gt_table *gpus = gt_section_find(gt_compare_section(sides, i), sides->roles->gpus);
        double rows = gpus ? (double)gpus->row_count : 0;
        if (i && rows != count)
            return 0;
        count = rows;
    }
    return count;
}

/* From the last table to the first: idle time, which has details, before work. */
static void add_parts_of_the_whole(struct parts *parts, const struct gt_compare_sides *sides,
                                   const struct gt_section *section) {
    double gpus = gpu_count(sides);
    for (size_t b = section->block_count; b > 0; b--)
        if (gt_verdict_is_of_the_whole(&section->blocks[b - 1]))
            add_table(parts, sides, section, section->blocks[b - 1].table, GT_COLUMN_PART);
    for (size_t i = 0; i < parts->count && gpus > 1; i++)
        parts->items[i].delta_ns /= gpus;
    parts->count = gpus > 0 ? parts->count : 0;
}

static const struct gt_table *find_work(const struct gt_section *section) {
    for (size_t b = 0; b < section->block_count; b++) {
        const struct gt_table *table = section->blocks[b].kind == GT_BLOCK_TABLE ? section->blocks[b].table : NULL;
        if (table && table->shape && gt_table_column_flagged(table->shape, GT_COLUMN_WORK) != SIZE_MAX)
            return table;
    }
    return NULL;
}

void gt_verdict_note_change(const struct gt_compare_sides *sides, struct gt_section *section) {
    struct parts parts = {.count = 0};
    struct whole whole;
    const struct gt_table *work = find_work(section);
    if (find_whole(sides, section, &whole))
        add_parts_of_the_whole(&parts, sides, section);
    else if (work && sum_work(sides, work, &whole))
        add_table(&parts, sides, section, work, GT_COLUMN_WORK);
    else
        return;
    add_sentence(section, &whole, &parts);
}

/* ---- wholes of their own ---- */

static bool is_per_step(const struct gt_compare_sides *sides) {
    for (size_t i = 0; i < sides->roles->divisor_count; i++)
        if (strcmp(sides->roles->divisors[i].key, sides->per) == 0)
            return sides->roles->divisors[i].rows == GT_DIVISOR_STEPS;
    return false;
}

/* Whether the rows of the table are means over several in some capture. */
static bool has_means(const struct gt_compare_sides *sides, const struct gt_table *shape) {
    size_t mean = gt_table_column_flagged(shape, GT_COLUMN_MEAN);
    for (size_t i = 0; i < sides->capture_count && mean != SIZE_MAX; i++) {
        const struct gt_table *table = gt_section_find(gt_compare_section(sides, i), shape->key);
        if (table && table->row_count && gt_cell_as_number(&table->cells[mean]) > 1)
            return true;
    }
    return false;
}

/* The sum of the rows; false: a side lacks some, or there are none. It varies at least as the whole of all does. */
static bool sum_rows(const struct gt_compare_sides *sides, const struct gt_section *section,
                     const struct gt_table *table, struct whole *whole) {
    struct gt_compare_columns time = gt_compare_find_amount(table, GT_COLUMN_PART);
    *whole = (struct whole){.what = role_of(table)->whole, .unit = ""};
    if (has_means(sides, table->shape))
        whole->unit = is_per_step(sides) ? sides->unit : "on average";
    if (role_of(table)->is_by_gpu)
        whole->unit = sides->unit;
    for (size_t row = 0; row < table->row_count; row++)
        if (is_part(table, row)) {
            whole->a_ns += gt_compare_number(table, row, time.a);
            whole->b_ns += gt_compare_number(table, row, time.b);
        }
    struct whole usual = {.noise_ns = 0};
    whole->noise_ns = sides->noise_share * fmax(whole->a_ns, whole->b_ns);
    if (is_per_step(sides) && !sides->is_noise_given && find_whole(sides, section, &usual))
        whole->noise_ns = fmax(whole->noise_ns, usual.noise_ns); /* of two the one that is a number */
    whole->is_noise = fabs(whole->b_ns - whole->a_ns) <= whole->noise_ns;
    return table->row_count && !isnan(whole->a_ns) && !isnan(whole->b_ns);
}

/* The mean over GPUs; false: captures have different numbers of them. */
static bool average(const struct gt_compare_sides *sides, const struct gt_table *table, struct whole *whole,
                    struct parts *parts) {
    double gpus = role_of(table)->is_by_gpu ? gpu_count(sides) : 1;
    if (gpus == 0)
        return false;
    whole->a_ns /= gpus;
    whole->b_ns /= gpus;
    for (size_t i = 0; i < parts->count; i++)
        parts->items[i].delta_ns /= gpus;
    return true;
}

static bool has_changed(const struct whole *whole, const struct parts *parts) {
    bool has = whole->a_ns != whole->b_ns;
    for (size_t i = 0; i < parts->count; i++)
        has |= parts->items[i].delta_ns != 0;
    return has;
}

/* Shares of the whole that are not known where they differ much: then what is known differs, too. */
static void note_unknown(const struct gt_compare_sides *sides, struct gt_section *section, const struct gt_table *table,
                         const struct whole *whole) {
    static const double much = 0.05;
    struct gt_compare_columns time = gt_compare_find_amount(table, GT_COLUMN_PART);
    struct naming naming = naming_of(sides, table);
    const char *unknown = role_of(table)->unknown;
    double a_ns = 0, b_ns = 0;
    for (size_t row = 0; row < table->row_count && unknown; row++)
        if (is_part(table, row) && gt_str_starts(text_at(&naming, row, naming.name), gt_str_of(unknown))) {
            a_ns += gt_compare_number(table, row, time.a);
            b_ns += gt_compare_number(table, row, time.b);
        }
    double of_a = whole->a_ns > 0 ? a_ns / whole->a_ns : 0, of_b = whole->b_ns > 0 ? b_ns / whole->b_ns : 0;
    if (!(fabs(of_a - of_b) >= much))
        return;
    gt_section_note(section, GT_FOR_ALL,
                    gt_arena_printf(&section->report->arena,
                                    "Not comparable part by part: %.1f%% of %s in %s is %s, but %.1f%% in %s.",
                                    100 * of_a, whole->what, sides->names[GT_SIDE_A], unknown, 100 * of_b,
                                    sides->names[GT_SIDE_B]));
}

/* Nothing where the whole did not change: the first sentence says so already. But parts of a GPU's time that others do
   not have may have changed all the same. */
void gt_verdict_note_wholes(const struct gt_compare_sides *sides, struct gt_section *section) {
    size_t count = section->block_count;
    for (size_t b = 0; b < count; b++) {
        const struct gt_table *table = parts_of(&section->blocks[b]);
        struct parts parts = {.count = 0};
        struct whole whole;
        if (!table || !role_of(table)->whole || !sum_rows(sides, section, table, &whole) ||
            (is_unchanged(&whole) && !role_of(table)->is_by_gpu))
            continue;
        add_table(&parts, sides, section, table, GT_COLUMN_PART);
        note_unknown(sides, section, table, &whole);
        if (average(sides, table, &whole, &parts) && has_changed(&whole, &parts))
            add_sentence(section, &whole, &parts);
    }
}
