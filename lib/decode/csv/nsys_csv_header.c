/* Which table of `nsys stats` a header begins. Titles, order and units of the columns changed over the years; a table
   is identified by the columns it has. */
#include "decode/csv/nsys_csv_header.h"

enum dimension { PLAIN, TIME, SIZE, RATE, PERCENT };

enum { TITLES_MAX = 3 };

/* A column and the titles it had, without units. */
struct column {
    enum gt_nsys_csv_column column;
    enum dimension dimension;
    bool is_required;
    const char *titles[TITLES_MAX];
};

static const struct column trace_columns[] = {
    {GT_NSYS_CSV_START, TIME, true, {"Start"}},
    {GT_NSYS_CSV_DURATION, TIME, true, {"Duration"}},
    {GT_NSYS_CSV_CORRELATION, PLAIN, false, {"CorrId"}},
    {GT_NSYS_CSV_BYTES, SIZE, false, {"Bytes"}},
    {GT_NSYS_CSV_THROUGHPUT, RATE, false, {"Throughput", "Thru"}},
    {GT_NSYS_CSV_SOURCE_KIND, PLAIN, false, {"SrcMemKd"}},
    {GT_NSYS_CSV_TARGET_KIND, PLAIN, false, {"DstMemKd"}},
    {GT_NSYS_CSV_GRID_X, PLAIN, false, {"GrdX"}},
    {GT_NSYS_CSV_GRID_Y, PLAIN, false, {"GrdY"}},
    {GT_NSYS_CSV_GRID_Z, PLAIN, false, {"GrdZ"}},
    {GT_NSYS_CSV_BLOCK_X, PLAIN, false, {"BlkX"}},
    {GT_NSYS_CSV_BLOCK_Y, PLAIN, false, {"BlkY"}},
    {GT_NSYS_CSV_BLOCK_Z, PLAIN, false, {"BlkZ"}},
    {GT_NSYS_CSV_REGISTERS, PLAIN, false, {"Reg/Trd"}},
    {GT_NSYS_CSV_STATIC_SHARED, SIZE, false, {"StcSMem"}},
    {GT_NSYS_CSV_DYNAMIC_SHARED, SIZE, false, {"DymSMem"}},
    {GT_NSYS_CSV_DEVICE, PLAIN, true, {"Device"}},
    {GT_NSYS_CSV_STREAM, PLAIN, true, {"Strm"}},
    {GT_NSYS_CSV_NAME, PLAIN, true, {"Name"}},
};

#define SUM_COLUMNS                                                                                                    \
    {GT_NSYS_CSV_TOTAL, TIME, true, {"Total Time"}}, {GT_NSYS_CSV_MEDIAN, TIME, false, {"Med", "Median"}},             \
        {GT_NSYS_CSV_MIN, TIME, true, {"Min", "Minimum"}}, {GT_NSYS_CSV_MAX, TIME, true, {"Max", "Maximum"}}, {        \
        GT_NSYS_CSV_STDDEV, TIME, false, {                                                                             \
            "StdDev"                                                                                                   \
        }                                                                                                              \
    }

static const struct column grid_columns[] = {
    SUM_COLUMNS,
    {GT_NSYS_CSV_INSTANCES, PLAIN, true, {"Instances"}},
    {GT_NSYS_CSV_GRID, PLAIN, true, {"GridXYZ"}},
    {GT_NSYS_CSV_NAME, PLAIN, true, {"Name"}},
};

static const struct column kernel_columns[] = {
    SUM_COLUMNS,
    {GT_NSYS_CSV_INSTANCES, PLAIN, true, {"Instances"}},
    {GT_NSYS_CSV_NAME, PLAIN, true, {"Name"}},
};

static const struct column gpu_columns[] = {
    SUM_COLUMNS,
    {GT_NSYS_CSV_INSTANCES, PLAIN, true, {"Instances"}},
    {GT_NSYS_CSV_CATEGORY, PLAIN, true, {"Category"}},
    {GT_NSYS_CSV_NAME, PLAIN, true, {"Operation"}},
};

static const struct column memory_columns[] = {
    SUM_COLUMNS,
    {GT_NSYS_CSV_INSTANCES, PLAIN, true, {"Count", "Operations"}},
    {GT_NSYS_CSV_NAME, PLAIN, true, {"Operation"}},
};

static const struct column range_columns[] = {
    {GT_NSYS_CSV_START, TIME, true, {"Projected Start"}},
    {GT_NSYS_CSV_DURATION, TIME, true, {"Projected Duration"}},
    {GT_NSYS_CSV_RANGE_START, TIME, false, {"Orig Start"}},
    {GT_NSYS_CSV_RANGE_DURATION, TIME, false, {"Orig Duration"}},
    {GT_NSYS_CSV_STYLE, PLAIN, false, {"Style"}},
    {GT_NSYS_CSV_PID, PLAIN, false, {"PID"}},
    {GT_NSYS_CSV_TID, PLAIN, false, {"TID"}},
    {GT_NSYS_CSV_OPS, PLAIN, false, {"NumGPUOps"}},
    {GT_NSYS_CSV_LEVEL, PLAIN, false, {"Lvl"}},
    {GT_NSYS_CSV_NAME, PLAIN, true, {"Name"}},
};

static const struct column range_sum_columns[] = {
    {GT_NSYS_CSV_TOTAL, TIME, true, {"Total Proj Time"}},
    {GT_NSYS_CSV_INSTANCES, PLAIN, true, {"Range Instances"}},
    {GT_NSYS_CSV_RANGE_TOTAL, TIME, false, {"Total Range Time"}},
    {GT_NSYS_CSV_MEDIAN, TIME, false, {"Proj Med"}},
    {GT_NSYS_CSV_MIN, TIME, false, {"Proj Min"}},
    {GT_NSYS_CSV_MAX, TIME, false, {"Proj Max"}},
    {GT_NSYS_CSV_STDDEV, TIME, false, {"Proj StdDev"}},
    {GT_NSYS_CSV_STYLE, PLAIN, false, {"Style"}},
    {GT_NSYS_CSV_OPS, PLAIN, false, {"Total GPU Ops"}},
    {GT_NSYS_CSV_NAME, PLAIN, true, {"Range"}},
};

#define TABLE(table, columns)                                                                                          \
    { table, columns, sizeof(columns) / sizeof *(columns) }

/* The first that fits counts. */
static const struct {
    enum gt_nsys_csv_table table;
    const struct column *columns;
    size_t column_count;
} tables[] = {
    TABLE(GT_NSYS_CSV_TRACE, trace_columns),         TABLE(GT_NSYS_CSV_KERNELS_BY_GRID, grid_columns),
    TABLE(GT_NSYS_CSV_KERNELS, kernel_columns),      TABLE(GT_NSYS_CSV_GPU, gpu_columns),
    TABLE(GT_NSYS_CSV_MEMORY, memory_columns),       TABLE(GT_NSYS_CSV_RANGES, range_columns),
    TABLE(GT_NSYS_CSV_RANGE_SUM, range_sum_columns),
};

static const struct {
    struct gt_str name;
    enum dimension dimension;
    struct gt_nsys_csv_unit unit;
} units[] = {
    {GT_STR("ns"), TIME, {0, 0}},     {GT_STR("nsec"), TIME, {0, 0}},   {GT_STR("us"), TIME, {3, 0}},
    {GT_STR("usec"), TIME, {3, 0}},   {GT_STR("ms"), TIME, {6, 0}},     {GT_STR("msec"), TIME, {6, 0}},
    {GT_STR("s"), TIME, {9, 0}},      {GT_STR("sec"), TIME, {9, 0}},    {GT_STR("byte"), SIZE, {0, 0}},
    {GT_STR("bytes"), SIZE, {0, 0}},  {GT_STR("B"), SIZE, {0, 0}},      {GT_STR("KB"), SIZE, {3, 0}},
    {GT_STR("MB"), SIZE, {6, 0}},     {GT_STR("GB"), SIZE, {9, 0}},     {GT_STR("KiB"), SIZE, {0, 10}},
    {GT_STR("MiB"), SIZE, {0, 20}},   {GT_STR("GiB"), SIZE, {0, 30}},   {GT_STR("B/s"), RATE, {0, 0}},
    {GT_STR("KB/s"), RATE, {3, 0}},   {GT_STR("MB/s"), RATE, {6, 0}},   {GT_STR("GB/s"), RATE, {9, 0}},
    {GT_STR("KiB/s"), RATE, {0, 10}}, {GT_STR("MiB/s"), RATE, {0, 20}}, {GT_STR("GiB/s"), RATE, {0, 30}},
    {GT_STR("MBps"), RATE, {6, 0}},   {GT_STR("GBps"), RATE, {9, 0}},   {GT_STR("%"), PERCENT, {0, 0}},
};

/* A header's cell: "Total Time (ns)" or "Start(sec)"; is_known is false when the unit in it is not. */
struct title {
    struct gt_str name;
    bool has_unit, is_known;
    enum dimension dimension;
    struct gt_nsys_csv_unit unit;
};

static struct gt_str trim(struct gt_str text) {
    while (text.len && *text.ptr == ' ')
        text = (struct gt_str){text.ptr + 1, text.len - 1};
    while (text.len && text.ptr[text.len - 1] == ' ')
        text.len--;
    return text;
}

static struct title split_title(struct gt_str cell) {
    struct title title = {.name = trim(cell)};
    const char *open = title.name.len ? memrchr(title.name.ptr, '(', title.name.len) : NULL;
    if (!open || title.name.ptr[title.name.len - 1] != ')')
        return title;
    struct gt_str unit = {open + 1, (size_t)(title.name.ptr + title.name.len - 1 - (open + 1))};
    title.name = trim((struct gt_str){title.name.ptr, (size_t)(open - title.name.ptr)});
    title.has_unit = true;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (gt_str_eq(units[i].name, unit)) {
            title.is_known = true;
            title.dimension = units[i].dimension;
            title.unit = units[i].unit;
        }
    return title;
}

static bool is_same_word(struct gt_str a, struct gt_str b) {
    return a.len == b.len && gt_str_find_nocase(a, b);
}

static bool is_title_of(const struct title *title, const struct column *column) {
    for (size_t i = 0; i < TITLES_MAX && column->titles[i]; i++)
        if (is_same_word(title->name, gt_str_of(column->titles[i])))
            return !title->has_unit || (title->is_known && title->dimension == column->dimension);
    return false;
}

/* Versions without units in the header wrote ns, bytes and MB/s. */
static struct gt_nsys_csv_unit unit_of(const struct title *title, const struct column *column) {
    static const struct gt_nsys_csv_unit megabytes = {6, 0};
    return !title->has_unit && column->dimension == RATE ? megabytes : title->unit;
}

static bool find_columns(struct gt_nsys_csv_header *header, const struct column *columns, size_t column_count,
                         const struct title *titles) {
    for (size_t i = 0; i < GT_NSYS_CSV_COLUMN_COUNT; i++)
        header->place[i] = GT_NSYS_CSV_NOWHERE;
    for (size_t i = 0; i < column_count; i++) {
        const struct column *column = &columns[i];
        size_t place = 0;
        while (place < header->column_count && !is_title_of(&titles[place], column))
            place++;
        if (place < header->column_count) {
            header->place[column->column] = place;
            header->unit[column->column] = unit_of(&titles[place], column);
        } else if (column->is_required) {
            return false;
        }
    }
    return true;
}

bool gt_nsys_csv_header_read(struct gt_nsys_csv_header *header, const struct gt_csv_row *row) {
    struct title titles[GT_CSV_CELLS_MAX];
    size_t measured = 0;
    bool has_source = false;
    if (row->is_broken || row->count < 2 || row->count > GT_CSV_CELLS_MAX)
        return false;
    memset(header, 0, sizeof *header);
    header->column_count = row->count;
    for (size_t i = 0; i < row->count; i++) {
        titles[i] = split_title(row->cells[i].text);
        measured += titles[i].is_known;
        has_source |= is_same_word(titles[i].name, GT_STR("Source"));
    }
    /* Every header has a unit, which says rows from it at once. That of mpi_event_sum is the header of kernels except
       for a column more. */
    for (size_t i = 0; i < sizeof tables / sizeof *tables && measured && !has_source; i++) {
        header->table = tables[i].table;
        if (find_columns(header, tables[i].columns, tables[i].column_count, titles))
            return true;
    }
    /* No row of values has two cells that end in a unit. */
    header->table = GT_NSYS_CSV_OTHER;
    return measured >= 2;
}
