/* Cells of `nsys stats` tables as values. */
#include "decode/csv/nsys_csv_value.h"

#include <math.h>

#include "base/num.h"
#include "decode/nsys/nsys.h"

/* Digits that are kept of means and deviations after the nanosecond. */
enum { REAL_DIGITS = 3 };

bool gt_nsys_csv_value_is_absent(struct gt_str text) {
    return text.len == 0 || gt_str_eq(text, GT_STR("None"));
}

/* "1,234,567" without its separators and the space around it. false: it is no such number. */
static bool plain_number(struct gt_str text, char buf[GT_NUM_MAX], struct gt_str *plain) {
    size_t length = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == ',' || text.ptr[i] == ' ')
            continue;
        if (length == GT_NUM_MAX)
            return false;
        buf[length++] = text.ptr[i];
    }
    *plain = (struct gt_str){buf, length};
    return length < text.len;
}

static enum gt_nsys_csv_state read_scaled(struct gt_str text, int scale, int64_t *value) {
    char buf[GT_NUM_MAX];
    struct gt_str plain;
    if (gt_nsys_csv_value_is_absent(text))
        return GT_NSYS_CSV_ABSENT;
    if (gt_num_parse_decimal(text, scale, value))
        return GT_NSYS_CSV_READ;
    if (plain_number(text, buf, &plain) && gt_num_parse_decimal(plain, scale, value))
        return GT_NSYS_CSV_READ;
    return GT_NSYS_CSV_UNREADABLE;
}

static enum gt_nsys_csv_state read_real(struct gt_str text, double *value) {
    char buf[GT_NUM_MAX];
    struct gt_str plain;
    if (gt_nsys_csv_value_is_absent(text))
        return GT_NSYS_CSV_ABSENT;
    if (gt_num_parse_real(text, value))
        return GT_NSYS_CSV_READ;
    if (plain_number(text, buf, &plain) && gt_num_parse_real(plain, value))
        return GT_NSYS_CSV_READ;
    return GT_NSYS_CSV_UNREADABLE;
}

enum gt_nsys_csv_state gt_nsys_csv_value_ns(const struct gt_nsys_csv_cells *cells, enum gt_nsys_csv_column column,
                                            int64_t *ns) {
    return read_scaled(gt_nsys_csv_value_cell(cells, column).text, cells->header->unit[column].decimal, ns);
}

static double power_of_ten(int exponent) {
    double power = 1;
    for (int i = 0; i < exponent; i++)
        power *= 10;
    return power;
}

enum gt_nsys_csv_state gt_nsys_csv_value_real_ns(const struct gt_nsys_csv_cells *cells, enum gt_nsys_csv_column column,
                                                 double *ns) {
    struct gt_str text = gt_nsys_csv_value_cell(cells, column).text;
    int scale = cells->header->unit[column].decimal;
    int64_t scaled;
    /* By way of an integer: 92.4 ns is the same number whether it was written in ns or in ms. */
    enum gt_nsys_csv_state state = read_scaled(text, scale + REAL_DIGITS, &scaled);
    if (state == GT_NSYS_CSV_READ) {
        *ns = (double)scaled / power_of_ten(REAL_DIGITS);
        return state;
    }
    state = read_real(text, ns);
    if (state == GT_NSYS_CSV_READ)
        *ns *= power_of_ten(scale);
    return state == GT_NSYS_CSV_READ && !isfinite(*ns) ? GT_NSYS_CSV_UNREADABLE : state;
}

enum gt_nsys_csv_state gt_nsys_csv_value_count(const struct gt_nsys_csv_cells *cells, enum gt_nsys_csv_column column,
                                               uint64_t *count) {
    int64_t value = 0;
    enum gt_nsys_csv_state state = read_scaled(gt_nsys_csv_value_cell(cells, column).text, 0, &value);
    *count = (uint64_t)value;
    return state == GT_NSYS_CSV_READ && value < 0 ? GT_NSYS_CSV_UNREADABLE : state;
}

/* ---- sizes ---- */

/* What a printed number can represent. */
struct span {
    double low, high;
};

static int decimals_of(struct gt_str text) {
    const char *point = text.len ? memchr(text.ptr, '.', text.len) : NULL;
    return point ? (int)(text.ptr + text.len - point - 1) : 0;
}

static enum gt_nsys_csv_state read_span(const struct gt_nsys_csv_cells *cells, enum gt_nsys_csv_column column,
                                        struct span *span) {
    struct gt_str text = gt_nsys_csv_value_cell(cells, column).text;
    const struct gt_nsys_csv_unit *unit = &cells->header->unit[column];
    double value, factor = ldexp(power_of_ten(unit->decimal), unit->binary);
    enum gt_nsys_csv_state state = read_real(text, &value);
    if (state != GT_NSYS_CSV_READ)
        return state;
    if (!(value >= 0 && value * factor < 0x1p62))
        return GT_NSYS_CSV_UNREADABLE;
    double half = text.len < GT_NUM_MAX ? factor / 2 / power_of_ten(decimals_of(text)) : 0;
    *span = (struct span){value * factor - half, value * factor + half};
    return GT_NSYS_CSV_READ;
}

/* Narrows the sizes that fit by the throughput; durations that were rounded do not say how it was worked out. */
static void apply_throughput(const struct gt_nsys_csv_cells *cells, int64_t duration_ns, struct span *bytes) {
    struct span rate;
    int duration_decimals = decimals_of(gt_nsys_csv_value_cell(cells, GT_NSYS_CSV_DURATION).text);
    if (duration_ns <= 0 || duration_ns > 1000000000 ||
        duration_decimals < cells->header->unit[GT_NSYS_CSV_DURATION].decimal ||
        read_span(cells, GT_NSYS_CSV_THROUGHPUT, &rate) != GT_NSYS_CSV_READ)
        return;
    int64_t times = 1000000000 / duration_ns; /* nsys divides integers, too */
    struct span narrow = {fmax(bytes->low, rate.low / (double)times), fmin(bytes->high, rate.high / (double)times)};
    if (ceil(narrow.low) <= floor(narrow.high))
        *bytes = narrow;
}

/* The number in [low, high] that the highest power of two divides. */
static uint64_t roundest(uint64_t low, uint64_t high) {
    int shift = 62;
    while (high >> shift << shift < low)
        shift--;
    return high >> shift << shift;
}

static bool is_exact(const struct gt_nsys_csv_cells *cells, enum gt_nsys_csv_column column) {
    return cells->header->unit[column].decimal == 0 && cells->header->unit[column].binary == 0;
}

static uint64_t roundest_in(const struct span *span) {
    double low = fmax(ceil(span->low), 0), high = floor(span->high);
    return low <= high ? roundest((uint64_t)low, (uint64_t)high) : (uint64_t)high;
}

enum gt_nsys_csv_state gt_nsys_csv_value_bytes(const struct gt_nsys_csv_cells *cells, int64_t duration_ns,
                                               uint64_t *bytes) {
    struct span span;
    if (is_exact(cells, GT_NSYS_CSV_BYTES))
        return gt_nsys_csv_value_count(cells, GT_NSYS_CSV_BYTES, bytes);
    enum gt_nsys_csv_state state = read_span(cells, GT_NSYS_CSV_BYTES, &span);
    if (state != GT_NSYS_CSV_READ)
        return state;
    apply_throughput(cells, duration_ns, &span);
    *bytes = roundest_in(&span);
    return GT_NSYS_CSV_READ;
}

enum gt_nsys_csv_state gt_nsys_csv_value_size(const struct gt_nsys_csv_cells *cells, enum gt_nsys_csv_column column,
                                              uint64_t *bytes) {
    struct span span;
    if (is_exact(cells, column))
        return gt_nsys_csv_value_count(cells, column, bytes);
    enum gt_nsys_csv_state state = read_span(cells, column, &span);
    if (state == GT_NSYS_CSV_READ)
        *bytes = roundest_in(&span);
    return state;
}

/* ---- labels ---- */

/* How older versions wrote the kinds of copies, by number. Those of unified memory are the last three. */
static const struct gt_str short_copies[] = {
    GT_STR("Unknown"), GT_STR("HtoD"), GT_STR("DtoH"), GT_STR("HtoA"), GT_STR("AtoH"), GT_STR("AtoA"), GT_STR("AtoD"),
    GT_STR("DtoA"),    GT_STR("DtoD"), GT_STR("HtoH"), GT_STR("PtoP"), GT_STR("HtoD"), GT_STR("DtoH"), GT_STR("DtoD"),
};
enum { COPY_COUNT = sizeof short_copies / sizeof *short_copies, UNIFIED_FIRST = COPY_COUNT - 3 };

/* What is between prefix and the closing bracket. */
static bool take_label(struct gt_str name, struct gt_str prefix, struct gt_str *label) {
    if (!gt_str_starts(name, prefix) || name.ptr[name.len - 1] != ']')
        return false;
    *label = (struct gt_str){name.ptr + prefix.len, name.len - prefix.len - 1};
    return true;
}

static uint64_t copy_kind_of(struct gt_str name) {
    struct gt_str label;
    for (uint64_t kind = 0; kind < COPY_COUNT; kind++)
        if (gt_str_eq(name, gt_str_of(gt_nsys_copy_name(kind))))
            return kind;
    bool is_unified = take_label(name, GT_STR("[CUDA Unified Memory memcpy "), &label);
    if (!is_unified && !take_label(name, GT_STR("[CUDA memcpy "), &label))
        return 0;
    for (uint64_t kind = is_unified ? UNIFIED_FIRST : 0; kind < COPY_COUNT; kind++)
        if (gt_str_eq(label, short_copies[kind]))
            return kind;
    return 0;
}

enum gt_nsys_csv_value_op gt_nsys_csv_value_op(struct gt_str name, uint64_t *copy_kind) {
    if (name.len == 0 || name.ptr[0] != '[')
        return GT_NSYS_CSV_KERNEL;
    if (gt_str_starts(name, GT_STR("[CUDA memset")))
        return GT_NSYS_CSV_FILL;
    if (!gt_str_starts(name, GT_STR("[CUDA memcpy ")) && !gt_str_starts(name, GT_STR("[CUDA Unified Memory memcpy ")))
        return GT_NSYS_CSV_KERNEL;
    *copy_kind = copy_kind_of(name);
    return GT_NSYS_CSV_COPY;
}

uint64_t gt_nsys_csv_value_memory_kind(struct gt_str label) {
    static const struct gt_str kinds[] = {
        GT_STR("Pageable"), GT_STR("Pinned"),        GT_STR("Device"),         GT_STR("Array"),
        GT_STR("Managed"),  GT_STR("Device Static"), GT_STR("Managed Static"),
    };
    for (uint64_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++)
        if (gt_str_eq(label, kinds[kind]))
            return kind;
    return GT_NSYS_NO_ID;
}

int64_t gt_nsys_csv_value_device(struct gt_str text, struct gt_str *name) {
    const char *open = text.len ? memrchr(text.ptr, '(', text.len) : NULL;
    int64_t number;
    *name = text;
    if (gt_num_parse_int(text, &number) && number >= 0) {
        name->len = 0;
        return number;
    }
    if (!open || text.ptr[text.len - 1] != ')' ||
        !gt_num_parse_int((struct gt_str){open + 1, (size_t)(text.ptr + text.len - 1 - (open + 1))}, &number) ||
        number < 0)
        return -1;
    name->len = (size_t)(open - text.ptr);
    while (name->len && name->ptr[name->len - 1] == ' ')
        name->len--;
    return number;
}
