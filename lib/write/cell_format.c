/* Numbers as people read them: unit and decimals chosen by looking at a column, digits grouped. */
#include "write/cell_format.h"

#include <math.h>
#include <string.h>

struct scale {
    const char *name;
    int digits;
};

static const struct scale time_scales[] = {{"ns", 0}, {"us", 3}, {"ms", 6}, {"s", 9}};
static const struct scale byte_scales[] = {{"B", 0}, {"kB", 3}, {"MB", 6}, {"GB", 9}, {"TB", 12}};
static const struct scale count_scales[] = {{NULL, 0}, {"k", 3}, {"M", 6}, {"G", 9}, {"T", 12}};
static const double powers[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12};

#define VARIED_DECADES    6  /* a column that spans more shows 0.00 or seven digits in most units */
#define LONGEST_DIGITS    6  /* before the point, for a unit in which all values of such a column are seen */
#define FINEST_DIGITS     3  /* after it */
#define WIDE_DECADES      4  /* of the largest value above its unit: time for the next unit */
#define UNCOUNTED_DECADES 10 /* nobody counts so many one by one: FLOPs, which are read like bytes */
#define DIGITS            5  /* that a number needs; more decimals only widen the column */

double gt_cell_format_number(const struct gt_cell *cell) {
    if (cell->type == GPUTIME_CELL_INT)
        return (double)cell->integer;
    return cell->type == GPUTIME_CELL_REAL && isfinite(cell->real) ? cell->real : 0;
}

/* ---- one number ---- */

/* 1234567.89 -> 1,234,567.89, in place. */
static size_t group_digits(char *text, size_t length) {
    size_t first = text[0] == '-' ? 1 : 0, end = first;
    while (end < length && text[end] >= '0' && text[end] <= '9')
        end++;
    if (end == first)
        return length;
    size_t commas = (end - first - 1) / 3;
    memmove(text + end + commas, text + end, length - end + 1);
    size_t from = end, to = end + commas;
    for (size_t digits = 1; to > from; digits++) {
        text[--to] = text[--from];
        if (digits % 3 == 0)
            text[--to] = ',';
    }
    return length + commas;
}

static bool is_zero_text(const char *text) {
    return strspn(text, "-0.") == strlen(text);
}

/* What rounds to nothing but is not nothing, on either side of it: "<0.01". */
static size_t format_tiny(char *buf, int decimals) {
    size_t length = 0;
    buf[length++] = '<';
    buf[length++] = decimals ? '0' : '1';
    if (decimals) {
        buf[length++] = '.';
        for (int i = 1; i < decimals; i++)
            buf[length++] = '0';
        buf[length++] = '1';
    }
    buf[length] = '\0';
    return length;
}

static size_t format_scaled(char *buf, const struct gt_cell *cell, int digits, int decimals) {
    size_t length;
    if (cell->type == GPUTIME_CELL_INT) {
        length = gt_num_format_scaled(buf, cell->integer, digits, decimals);
    } else {
        double value = cell->real / powers[digits];
        if (fabs(value) >= 1e18) /* digits beyond the precision say nothing */
            return gt_num_format_real(buf, value);
        length = gt_num_format_fixed(buf, value, decimals);
    }
    if (is_zero_text(buf)) {
        if (fabs(gt_cell_format_number(cell)) > 0)
            return format_tiny(buf, decimals);
        return buf[0] == '-' ? gt_num_format_fixed(buf, 0, decimals) : length;
    }
    return group_digits(buf, length);
}

static size_t append(char *buf, size_t length, const char *text) {
    size_t more = strlen(text);
    memcpy(buf + length, text, more + 1);
    return length + more;
}

static size_t format_varied(char *buf, enum gt_unit unit, const struct gt_cell *cell) {
    double value = gt_cell_format_number(cell);
    return unit == GT_UNIT_BYTES ? gt_num_format_bytes(buf, value) : gt_num_format_duration(buf, value);
}

static size_t format_share(char *buf, const struct gt_cell *cell) {
    struct gt_cell percent = gt_cell_real(gt_cell_format_number(cell) * 100);
    return append(buf, format_scaled(buf, &percent, 0, 1), "%");
}

static bool is_missing(const struct gt_cell *cell) {
    return cell->type == GPUTIME_CELL_NULL || (cell->type == GPUTIME_CELL_REAL && !isfinite(cell->real));
}

static size_t format_number(char *buf, const struct gt_column_style *style, const struct gt_cell *cell) {
    buf[0] = '\0';
    if (gt_cell_is_text(cell))
        return 0;
    if (is_missing(cell))
        return append(buf, 0, "-");
    if (style->unit == GT_UNIT_SHARE)
        return format_share(buf, cell);
    if (style->is_varied)
        return format_varied(buf, style->unit, cell);
    if (style->unit == GT_UNIT_NONE && cell->type == GPUTIME_CELL_INT)
        return gt_num_format_int(buf, cell->integer);
    if (style->unit == GT_UNIT_COUNT && cell->type == GPUTIME_CELL_INT && !style->digits)
        return gt_num_format_grouped(buf, cell->integer);
    return format_scaled(buf, cell, style->digits, style->decimals);
}

size_t gt_cell_format(char buf[GT_CELL_MAX], const struct gt_column_style *style, const struct gt_cell *cell) {
    bool has_plus = style->is_signed && gt_cell_format_number(cell) > 0;
    buf[0] = '+';
    size_t length = format_number(buf + has_plus, style, cell);
    if (has_plus && buf[1] == '<') /* what rounds to nothing has no sign */
        return format_number(buf, style, cell);
    return length ? length + has_plus : 0;
}

/* ---- the style of a column ---- */

/* How the sizes of a column's values are spread: decades of the smallest, the median and the largest. */
struct spread {
    int smallest, median, largest;
    bool has_text, has_numbers, has_fractions;
};

#define DECADES 20

static int decade_of(double value) {
    int decade = 0;
    while (decade < DECADES - 1 && value >= 10) {
        value /= 10;
        decade++;
    }
    return decade;
}

/* Counts the values of one column by their decades. */
static void count_decades(const struct gt_table *table, size_t column, size_t rows, struct spread *spread,
                          size_t counts[DECADES]) {
    for (size_t row = 0; row < rows; row++) {
        const struct gt_cell *cell = &table->cells[row * table->column_count + column];
        spread->has_text |= gt_cell_is_text(cell);
        if (gt_cell_is_text(cell) || is_missing(cell))
            continue;
        spread->has_numbers = true;
        double value = fabs(gt_cell_format_number(cell));
        spread->has_fractions |= value != floor(value);
        if (value > 0)
            counts[decade_of(value)]++;
    }
}

/* Durations that people compare share a unit: sums with sums, statistics of single events with each other; so does
   anything of the two sides of a comparison. */
static bool share_unit(const struct gt_report_column *a, const struct gt_report_column *b) {
    const uint32_t kinds = GT_COLUMN_SINGLE | GT_COLUMN_MOMENT | GT_COLUMN_EDGE;
    if (a->flags & b->flags & GT_COLUMN_SIDE)
        return a->unit == b->unit;
    return a->unit == GT_UNIT_NS && b->unit == GT_UNIT_NS && (a->flags & kinds) == (b->flags & kinds);
}

static struct spread measure_spread(const struct gt_table *table, size_t column, size_t rows) {
    size_t counts[DECADES] = {0}, total = 0;
    struct spread spread = {.smallest = DECADES};
    struct gt_shown shown;
    gt_cell_format_shown(&shown, table);
    count_decades(table, column, rows, &spread, counts);
    for (size_t i = 0; i < shown.column_count; i++)
        if (shown.columns[i] != column && share_unit(&table->columns[column], &table->columns[shown.columns[i]]))
            count_decades(table, shown.columns[i], rows, &spread, counts);
    for (int decade = 0; decade < DECADES; decade++) {
        total += counts[decade];
        if (counts[decade]) {
            spread.smallest = decade < spread.smallest ? decade : spread.smallest;
            spread.largest = decade;
        }
    }
    if (!total)
        spread.smallest = 0;
    for (size_t below = 0; spread.median < DECADES - 1; spread.median++) {
        below += counts[spread.median];
        if (2 * below >= total)
            break;
    }
    return spread;
}

/* The unit in which the median reads well and the largest value is not too wide. */
static void choose_scale(struct gt_column_style *style, const struct spread *spread, const struct scale *scales,
                         size_t count) {
    size_t i = 0;
    while (i + 1 < count && scales[i + 1].digits <= spread->median)
        i++;
    for (; i + 1 < count && spread->largest - scales[i].digits >= WIDE_DECADES; i++) {
        bool is_median_lost = spread->median - scales[i + 1].digits < -2; /* one digit of it at most */
        if (is_median_lost && spread->largest - scales[i].digits < VARIED_DECADES)
            break;
    }
    style->scale = scales[i].name;
    style->digits = scales[i].digits;
    if (i == 0) {
        style->decimals = spread->has_fractions ? 1 : 0;
        return;
    }
    int median = spread->median - scales[i].digits, most = DIGITS - 1 - (spread->largest - scales[i].digits);
    style->decimals = median >= 2 ? 1 : median >= 0 ? 2 : 3;
    if (style->decimals > most)
        style->decimals = most > 1 ? most : 1;
}

/* Values far apart still add up before the reader's eyes if there is a unit in which no value vanishes or gets too
   long. false: there is no such unit. */
static bool choose_wide_scale(struct gt_column_style *style, const struct spread *spread, const struct scale *scales,
                              size_t count) {
    for (size_t i = count; i-- > 1;) {
        if (spread->largest - scales[i].digits < LONGEST_DIGITS &&
            spread->smallest - scales[i].digits >= -FINEST_DIGITS) {
            style->scale = scales[i].name;
            style->digits = scales[i].digits;
            style->decimals = FINEST_DIGITS;
            return true;
        }
    }
    return false;
}

static void choose_time_style(struct gt_column_style *style, const struct spread *spread, uint32_t flags,
                              enum gputime_unit unit) {
    static const int decimals[] = {0, 2, 3, 6};
    if (unit != GPUTIME_UNIT_AUTO) {
        size_t i = (size_t)unit - 1;
        style->scale = time_scales[i].name;
        style->digits = time_scales[i].digits;
        style->decimals = i == 0 && spread->has_fractions ? 1 : decimals[i];
    } else if (flags & GT_COLUMN_MOMENT) {
        style->scale = "ms";
        style->digits = 6;
        style->decimals = 3;
    } else if (flags & GT_COLUMN_EDGE) {
        style->is_varied = true;
    } else if (spread->largest - spread->smallest >= VARIED_DECADES) {
        style->is_varied = !choose_wide_scale(style, spread, time_scales, sizeof time_scales / sizeof *time_scales);
    } else {
        choose_scale(style, spread, time_scales, sizeof time_scales / sizeof *time_scales);
    }
}

struct gt_column_style gt_cell_format_style(const struct gt_table *table, size_t column, size_t rows,
                                            enum gputime_unit unit) {
    const struct gt_report_column *about = &table->columns[column];
    struct gt_column_style style = {.unit = about->unit, .is_signed = about->flags & GT_COLUMN_SIGNED};
    struct spread spread = measure_spread(table, column, rows);
    style.is_text = about->unit == GT_UNIT_NONE && (spread.has_text || !spread.has_numbers);
    switch (about->unit) {
    case GT_UNIT_NS:
        choose_time_style(&style, &spread, about->flags, unit);
        break;
    case GT_UNIT_BYTES:
        style.is_varied = spread.largest - spread.smallest >= VARIED_DECADES;
        if (!style.is_varied)
            choose_scale(&style, &spread, byte_scales, sizeof byte_scales / sizeof *byte_scales);
        break;
    case GT_UNIT_COUNT:
        style.decimals = 1;
        if (spread.largest >= UNCOUNTED_DECADES)
            choose_scale(&style, &spread, count_scales, sizeof count_scales / sizeof *count_scales);
        break;
    case GT_UNIT_NONE: /* rates and ratios: the decimals of large ones only widen the column */
        style.decimals = spread.largest < 2 ? 3 : spread.largest == 2 ? 1 : 0;
        break;
    case GT_UNIT_SHARE:
        break;
    }
    return style;
}

size_t gt_cell_format_fact(char buf[GT_CELL_MAX], const struct gt_report_fact *fact, enum gputime_unit unit) {
    struct gt_column_style style = {.unit = fact->unit, .decimals = fact->unit == GT_UNIT_COUNT ? 1 : 3};
    style.is_varied = fact->unit == GT_UNIT_BYTES || (fact->unit == GT_UNIT_NS && unit == GPUTIME_UNIT_AUTO);
    if (fact->unit == GT_UNIT_NS && !style.is_varied)
        choose_time_style(&style, &(struct spread){.has_fractions = fact->value.type == GPUTIME_CELL_REAL}, 0, unit);
    size_t length = gt_cell_format(buf, &style, &fact->value);
    if (length && style.scale && !is_missing(&fact->value)) {
        length = append(buf, length, " ");
        length = append(buf, length, style.scale);
    }
    return length;
}

/* ---- what people see of a table ---- */

static bool is_nothing(const struct gt_cell *cell) {
    return gt_cell_is_text(cell) ? !cell->text_bytes : is_missing(cell) || gt_cell_as_number(cell) == 0;
}

static bool is_same(const struct gt_cell *a, const struct gt_cell *b) {
    if (gt_cell_is_text(a) || gt_cell_is_text(b))
        return gt_cell_is_text(a) && gt_cell_is_text(b) && gt_str_eq(gt_cell_str(a), gt_cell_str(b));
    return is_missing(a) || is_missing(b) ? is_missing(a) && is_missing(b)
                                          : gt_cell_as_number(a) == gt_cell_as_number(b);
}

/* Whether its flags leave a column out of these rows. */
static bool says_nothing(const struct gt_table *table, size_t column, size_t rows) {
    bool is_empty = table->columns[column].flags & GT_COLUMN_SPARSE;
    bool is_one = table->columns[column].flags & GT_COLUMN_VARIES;
    for (size_t row = 0; row < rows && (is_empty || is_one); row++) { /* without rows there may be no cells at all */
        const struct gt_cell *first = &table->cells[column], *cell = first + row * table->column_count;
        is_empty = is_empty && is_nothing(cell);
        is_one = is_one && is_same(first, cell);
    }
    return is_empty || is_one;
}

/* Once it is known which rows are shown. Columns that were asked for stay. */
static void drop_idle(struct gt_shown *shown, const struct gt_table *table) {
    size_t kept = 0;
    for (size_t i = 0; i < shown->column_count; i++)
        if (table->screen_columns || !says_nothing(table, shown->columns[i], shown->rows))
            shown->columns[kept++] = shown->columns[i];
    shown->column_count = kept;
}

void gt_cell_format_shown(struct gt_shown *shown, const struct gt_table *table) {
    shown->column_count = 0;
    struct gt_str rest = gt_str_of(table->screen_columns), key;
    while (shown->column_count < GT_TABLE_COLUMNS_MAX && gt_str_next_item(&rest, &key)) {
        for (size_t c = 0; c < table->column_count; c++) {
            if (gt_str_eq(gt_str_of(table->columns[c].key), key)) {
                shown->columns[shown->column_count++] = c;
                break;
            }
        }
    }
    for (size_t c = 0; !table->screen_columns && c < table->column_count; c++) {
        if (!(table->columns[c].flags & GT_COLUMN_DETAIL))
            shown->columns[shown->column_count++] = c;
    }
    size_t sorted = table->shows_sort ? gt_table_column(table, table->sort) : SIZE_MAX;
    for (size_t i = 0; i < shown->column_count; i++)
        sorted = shown->columns[i] == sorted ? SIZE_MAX : sorted;
    if (sorted != SIZE_MAX && shown->column_count < GT_TABLE_COLUMNS_MAX)
        shown->columns[shown->column_count++] = sorted;
    size_t limit = table->screen_limit ? table->screen_limit : SIZE_MAX;
    size_t total = table->total_rows > table->row_count ? table->total_rows : table->row_count;
    total -= table->screen_columns ? 0 : table->blank_rows; /* in columns that were asked for they may say something */
    limit = total < limit ? total : limit;
    shown->rows = table->row_count < limit ? table->row_count : limit;
    shown->rows_hidden = total - shown->rows;
    drop_idle(shown, table);
    if (shown->column_count == 0) /* a table of rows without any column would say nothing of what it is */
        shown->columns[shown->column_count++] = 0;
}

bool gt_cell_format_needs_base(const struct gt_report_column *column) {
    return column->unit == GT_UNIT_SHARE && column->of && column->title[0] != '%';
}
