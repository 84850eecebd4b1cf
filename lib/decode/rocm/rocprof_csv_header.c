/* Which table of ROCm's profilers a header begins. Titles differ in case and signs between versions; a table is
   identified by the columns it has. */
#include "decode/rocm/rocprof_csv.h"

enum { TITLE_MAX = 32 };

static const struct {
    enum gt_rocprof_csv_column column;
    const char *title; /* in small letters, without signs */
} titles[] = {
    {GT_ROCPROF_CSV_START, "starttimestamp"},
    {GT_ROCPROF_CSV_START, "beginns"},
    {GT_ROCPROF_CSV_END, "endtimestamp"},
    {GT_ROCPROF_CSV_END, "endns"},
    {GT_ROCPROF_CSV_NAME, "kernelname"},
    {GT_ROCPROF_CSV_FUNCTION, "function"},
    {GT_ROCPROF_CSV_DOMAIN, "domain"},
    {GT_ROCPROF_CSV_DIRECTION, "direction"},
    {GT_ROCPROF_CSV_OPERATION, "operation"},
    {GT_ROCPROF_CSV_AGENT, "agentid"},
    {GT_ROCPROF_CSV_GPU, "gpuid"},
    {GT_ROCPROF_CSV_SOURCE, "sourceagentid"},
    {GT_ROCPROF_CSV_TARGET, "destinationagentid"},
    {GT_ROCPROF_CSV_QUEUE, "queueid"},
    {GT_ROCPROF_CSV_STREAM, "streamid"},
    {GT_ROCPROF_CSV_THREAD, "threadid"},
    {GT_ROCPROF_CSV_THREAD, "tid"},
    {GT_ROCPROF_CSV_PROCESS, "processid"},
    {GT_ROCPROF_CSV_PROCESS, "pid"},
    {GT_ROCPROF_CSV_GUID, "guid"},
    {GT_ROCPROF_CSV_CORRELATION, "correlationid"},
    {GT_ROCPROF_CSV_DISPATCH, "dispatchid"},
    {GT_ROCPROF_CSV_DISPATCH, "index"},
    {GT_ROCPROF_CSV_BYTES, "allocationsize"},
    {GT_ROCPROF_CSV_BYTES, "bytes"},
    {GT_ROCPROF_CSV_BYTES, "size"},
    {GT_ROCPROF_CSV_ADDRESS, "address"},
    {GT_ROCPROF_CSV_GRAPH, "graphexecid"},
    {GT_ROCPROF_CSV_LDS, "ldsblocksize"},
    {GT_ROCPROF_CSV_LDS, "groupsegmentsize"},
    {GT_ROCPROF_CSV_LDS, "lds"},
    {GT_ROCPROF_CSV_SCRATCH, "scratchsize"},
    {GT_ROCPROF_CSV_SCRATCH, "privatesegmentsize"},
    {GT_ROCPROF_CSV_SCRATCH, "scr"},
    {GT_ROCPROF_CSV_VGPRS, "vgprcount"},
    {GT_ROCPROF_CSV_VGPRS, "archvgprcount"},
    {GT_ROCPROF_CSV_VGPRS, "archvgpr"},
    {GT_ROCPROF_CSV_VGPRS, "vgpr"},
    {GT_ROCPROF_CSV_GRID_X, "gridsizex"},
    {GT_ROCPROF_CSV_GRID_Y, "gridsizey"},
    {GT_ROCPROF_CSV_GRID_Z, "gridsizez"},
    {GT_ROCPROF_CSV_GROUP_X, "workgroupsizex"},
    {GT_ROCPROF_CSV_GROUP_Y, "workgroupsizey"},
    {GT_ROCPROF_CSV_GROUP_Z, "workgroupsizez"},
    {GT_ROCPROF_CSV_GRID, "gridsize"},
    {GT_ROCPROF_CSV_GRID, "grd"},
    {GT_ROCPROF_CSV_GROUP, "workgroupsize"},
    {GT_ROCPROF_CSV_GROUP, "wgr"},
    {GT_ROCPROF_CSV_COUNTER, "countername"},
    {GT_ROCPROF_CSV_VALUE, "countervalue"},
    {GT_ROCPROF_CSV_NODE, "nodeid"},
    {GT_ROCPROF_CSV_LOGICAL, "logicalnodeid"},
    {GT_ROCPROF_CSV_TYPE, "agenttype"},
    {GT_ROCPROF_CSV_AGENT_NAME, "name"},
    {GT_ROCPROF_CSV_PRODUCT, "productname"},
    {GT_ROCPROF_CSV_MODEL, "modelname"},
    {GT_ROCPROF_CSV_UNITS, "cucount"},
    {GT_ROCPROF_CSV_LDS_SIZE, "ldssizeinkb"},
    {GT_ROCPROF_CSV_CLOCK, "maxengineclkfcompute"},
    {GT_ROCPROF_CSV_CALLS, "calls"},
    {GT_ROCPROF_CSV_TOTAL, "totaldurationns"},
    {GT_ROCPROF_CSV_MIN, "minns"},
    {GT_ROCPROF_CSV_MAX, "maxns"},
    {GT_ROCPROF_CSV_STDDEV, "stddev"},
};

/* Small letters, without signs; "" where it is longer than any title. */
static const char *plain(struct gt_str cell, char text[static TITLE_MAX]) {
    size_t length = 0;
    for (size_t i = 0; i < cell.len; i++) {
        char c = cell.ptr[i];
        if (c == '_' || c == '-' || c == ' ' || c == '\r')
            continue;
        if (length == TITLE_MAX - 1)
            return "";
        text[length++] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    }
    text[length] = '\0';
    return text;
}

static bool has(const struct gt_rocprof_csv_header *header, enum gt_rocprof_csv_column column) {
    return header->place[column] != 0;
}

static enum gt_rocprof_csv_table table_of(const struct gt_rocprof_csv_header *header, bool *is_known) {
    bool has_times = has(header, GT_ROCPROF_CSV_START) && has(header, GT_ROCPROF_CSV_END);
    *is_known = true;
    if (has(header, GT_ROCPROF_CSV_NODE) && has(header, GT_ROCPROF_CSV_TYPE))
        return GT_ROCPROF_CSV_AGENTS;
    if (has(header, GT_ROCPROF_CSV_COUNTER) && has(header, GT_ROCPROF_CSV_VALUE) && has_times)
        return GT_ROCPROF_CSV_COUNTERS;
    if (has(header, GT_ROCPROF_CSV_NAME) && has_times)
        return GT_ROCPROF_CSV_KERNELS;
    if (has(header, GT_ROCPROF_CSV_DIRECTION) && has_times)
        return GT_ROCPROF_CSV_COPIES;
    if (has(header, GT_ROCPROF_CSV_FUNCTION) && has_times)
        return GT_ROCPROF_CSV_REGIONS;
    if (has(header, GT_ROCPROF_CSV_OPERATION) && has(header, GT_ROCPROF_CSV_ADDRESS) && has_times)
        return GT_ROCPROF_CSV_ALLOCATIONS;
    bool is_sum = has(header, GT_ROCPROF_CSV_AGENT_NAME) && has(header, GT_ROCPROF_CSV_CALLS) &&
                  has(header, GT_ROCPROF_CSV_TOTAL);
    if (is_sum && has(header, GT_ROCPROF_CSV_MIN) && has(header, GT_ROCPROF_CSV_MAX))
        return GT_ROCPROF_CSV_SUMS;
    *is_known = has_times || is_sum; /* summaries are tables of the profiler, too */
    return GT_ROCPROF_CSV_OTHER;
}

bool gt_rocprof_csv_header_read(struct gt_rocprof_csv_header *header, const struct gt_csv_row *row) {
    bool is_known;
    *header = (struct gt_rocprof_csv_header){.column_count = row->count};
    if (row->is_broken || row->count < 2 || row->count > GT_CSV_CELLS_MAX)
        return false;
    for (size_t i = 0; i < row->count; i++) {
        char text[TITLE_MAX];
        const char *title = plain(row->cells[i].text, text);
        header->is_old |= strcmp(title, "beginns") == 0;
        for (size_t k = 0; k < sizeof titles / sizeof *titles; k++)
            if (strcmp(title, titles[k].title) == 0 && !header->place[titles[k].column])
                header->place[titles[k].column] = (uint8_t)(i + 1);
    }
    header->table = table_of(header, &is_known);
    return is_known;
}
