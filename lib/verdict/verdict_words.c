/* The first lines of a comparison: how much longer a step takes, and which parts of it have changed. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "verdict/verdict.h"

enum { MOST_PARTS = 64, TOLD_PARTS = 5 };

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
    if (parts->count == MOST_PARTS) /* categories of a user may be many */
        parts->items[MOST_PARTS - 1] = (struct part){GT_STR("other"), parts->items[MOST_PARTS - 1].delta_ns + delta_ns};
    else
        parts->items[parts->count++] = (struct part){name, delta_ns};
}

/* The row of a measure; SIZE_MAX: there is none. */
static size_t find_measure(const struct gt_table *measures, struct gt_str name) {
    for (size_t row = 0; measures && row < measures->row_count; row++)
        if (gt_str_eq(gt_table_text(measures, row, "measure"), name))
            return row;
    return SIZE_MAX;
}

/* ---- the parts ---- */

/* Does any capture say of this work that it is of a kind (waiting for data)? */
static struct gt_str kind_of(const struct gt_compare_sides *sides, struct gt_str name) {
    for (size_t i = 0; i < sides->capture_count; i++) {
        const struct gt_table *work = gt_section_find(gt_compare_section(sides, i), "idle_work");
        for (size_t row = 0; work && row < work->row_count; row++)
            if (gt_str_eq(gt_table_text(work, row, "name"), name))
                return gt_table_text(work, row, "kind");
    }
    return (struct gt_str){0};
}

/* Idle time by cause; what the CPU did that has a name of its own is told apart from other host gaps. */
static void add_idle(struct parts *parts, const struct gt_compare_sides *sides, struct gt_arena *arena,
                     const struct gt_table *causes, const struct gt_table *work) {
    double told_ns = 0;
    for (size_t row = 0; work && row < work->row_count; row++) {
        double delta_ns = gt_table_number(work, row, "delta_total_ns");
        bool is_seen = row < TOLD_PARTS * TOLD_PARTS; /* the largest come first; each costs a search */
        struct gt_str kind = is_seen ? kind_of(sides, gt_table_text(work, row, "name")) : (struct gt_str){0};
        if (!kind.len)
            kind = is_seen ? kind_of(sides, gt_table_text(work, row, "b_name")) : kind;
        if (!kind.len)
            continue;
        add_part(parts, kind, delta_ns);
        told_ns += delta_ns;
    }
    for (size_t row = 0; causes && row < causes->row_count; row++) {
        struct gt_str cause = gt_table_text(causes, row, "cause");
        bool is_host = gt_str_eq(cause, GT_STR("host"));
        double delta_ns = gt_table_number(causes, row, "delta_total_ns") - (is_host ? told_ns : 0);
        told_ns = is_host ? 0 : told_ns;
        add_part(parts, gt_arena_printf(arena, "idle (%.*s)", (int)cause.len, cause.ptr), delta_ns);
    }
}

static struct gt_str class_of(const struct gt_compare_sides *sides, struct gt_str category) {
    for (size_t i = 0; i < sides->capture_count; i++) {
        const struct gt_table *categories = gt_section_find(gt_compare_section(sides, i), "categories");
        for (size_t row = 0; categories && row < categories->row_count; row++)
            if (gt_str_eq(gt_table_text(categories, row, "category"), category))
                return gt_table_text(categories, row, "time_class");
    }
    return (struct gt_str){0};
}

static void add_categories(struct parts *parts, const struct gt_compare_sides *sides, const struct gt_table *categories,
                           const char *column) {
    for (size_t row = 0; categories && row < categories->row_count; row++) {
        struct gt_str name = gt_table_text(categories, row, "category"), class = class_of(sides, name);
        if (gt_str_eq(class, GT_STR("comm")))
            name = GT_STR("exposed communication");
        else if (gt_str_eq(class, GT_STR("memory")))
            name = GT_STR("exposed memory");
        add_part(parts, name, gt_table_number(categories, row, column));
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
    double told_ns = 0, change_ns = 0;
    size_t told = 0;
    struct gt_str list = {"", 0};
    for (size_t i = 0; i < parts->count; i++)
        change_ns += parts->items[i].delta_ns;
    qsort(parts->items, parts->count, sizeof *parts->items, by_size);
    for (size_t i = 0; i < parts->count && i < TOLD_PARTS; i++) {
        char number[64];
        const struct part *part = &parts->items[i];
        if (fabs(part->delta_ns) < GT_COMPARE_SMALL_PART * fabs(parts->items[0].delta_ns) || part->delta_ns == 0)
            break;
        format_change(number, sizeof number, part->delta_ns, scale);
        list = gt_arena_printf(arena, "%s%s%.*s %s", list.ptr, told++ ? ", " : "", (int)part->name.len, part->name.ptr,
                               number);
        told_ns += part->delta_ns;
    }
    char rest[64];
    format_change(rest, sizeof rest, change_ns - told_ns, scale);
    if (told && strspn(rest, "+-0.") < strlen(rest))
        list = gt_arena_printf(arena, "%s, the rest %s", list.ptr, rest);
    return list;
}

struct whole {
    double a_ns, b_ns;
    bool is_noise;
    const char *what; /* "", " of GPU work" */
};

/* So little that it is shown as nothing. */
static bool is_unchanged(const struct whole *whole) {
    return fabs(whole->b_ns - whole->a_ns) < 0.0005 * fmax(whole->a_ns, whole->b_ns) &&
           (whole->is_noise || whole->a_ns == whole->b_ns);
}

static void add_sentence(const struct gt_compare_sides *sides, struct gt_section *section, const struct whole *whole,
                         struct parts *parts) {
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
    const char *unit = *sides->unit ? " " : "";
    struct gt_str text;
    if (largest_ns == 0 && delta_ns == 0)
        text = gt_arena_printf(arena, "No change: %s%s%s%s on both sides.", a, whole->what, unit, sides->unit);
    else if (is_unchanged(whole) && list.len)
        text = gt_arena_printf(arena, "The total is unchanged (%s%s%s%s); inside it, in %s: %s.", b, whole->what, unit,
                               sides->unit, scales[scale].name, list.ptr);
    else
        text = gt_arena_printf(arena, "%s%s %s%s%s%s (%s -> %s, %+.1f%%)%s%s.",
                               whole->is_noise ? "Within the noise: " : "", change, scales[scale].name, whole->what,
                               unit, sides->unit, a, b, whole->a_ns > 0 ? 100 * delta_ns / whole->a_ns : 0.0,
                               list.len ? ": " : "", list.ptr);
    gt_section_note(section, GT_FOR_ALL, text);
}

/* The work that both sides tell of: the sum of its categories. */
static void add_work(const struct gt_table *categories, struct whole *whole) {
    size_t told = 0;
    for (size_t row = 0; row < categories->row_count; row++) {
        double a_ns = gt_table_number(categories, row, "a_total_ns");
        double b_ns = gt_table_number(categories, row, "b_total_ns");
        if (isnan(a_ns) || isnan(b_ns))
            continue;
        whole->a_ns += a_ns;
        whole->b_ns += b_ns;
        told++;
    }
    whole->what = told == 0 ? NULL : told < categories->row_count ? " of GPU work that both tell" : " of GPU work";
}

/* GPUs of a capture: the parts are sums over GPUs, the whole is the mean over them. 0: captures have different numbers,
   so that the parts do not sum to the whole. */
static double device_count(const struct gt_compare_sides *sides) {
    double count = 0;
    for (size_t i = 0; i < sides->capture_count; i++) {
        const struct gt_table *accounting = gt_section_find(gt_compare_section(sides, i), "accounting");
        double rows = accounting ? (double)accounting->row_count : 0;
        if (i && rows != count)
            return 0;
        count = rows;
    }
    return count;
}

void gt_verdict_note_change(const struct gt_compare_sides *sides, struct gt_section *section) {
    const struct gt_table *measures = gt_section_find(section, "measures"),
                          *categories = gt_section_find(section, "categories"),
                          *causes = gt_section_find(section, "idle_causes"),
                          *work = gt_section_find(section, "idle_work");
    struct parts parts = {.count = 0};
    size_t row = find_measure(measures, GT_STR("span"));
    struct whole whole = {.what = ""};
    bool is_on_both = row != SIZE_MAX && !isnan(gt_table_number(measures, row, "delta_total_ns"));
    if (is_on_both) {
        double devices = device_count(sides);
        whole.a_ns = gt_table_number(measures, row, "a_total_ns");
        whole.b_ns = gt_table_number(measures, row, "b_total_ns");
        whole.is_noise = gt_str_eq(gt_table_text(measures, row, "status"), GT_STR("noise"));
        add_idle(&parts, sides, &section->report->arena, causes, work);
        add_categories(&parts, sides, categories, "delta_wall_ns");
        for (size_t i = 0; i < parts.count && devices > 1; i++)
            parts.items[i].delta_ns /= devices;
        parts.count = devices > 0 ? parts.count : 0;
    } else if (categories && categories->row_count) {
        add_work(categories, &whole);
        add_categories(&parts, sides, categories, "delta_total_ns");
    } else {
        return;
    }
    if (whole.what) /* else a side tells nothing */
        add_sentence(sides, section, &whole, &parts);
}
