/* The words of XLA's profiler: names of planes, lines, events and stats come in, what they mean goes out. */
#include "decode/xla/xla_names.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* The digits that a text begins with as a number. */
static bool leading_number(struct gt_str text, int64_t *number) {
    size_t digits = 0;
    while (digits < text.len && is_digit(text.ptr[digits]))
        digits++;
    return gt_num_parse_int((struct gt_str){text.ptr, digits}, number);
}

/* ---- planes and lines ---- */

enum gt_xla_plane gt_xla_names_plane(struct gt_str name, int64_t *device) {
    /* Threads; those of the recorders stand alone where nobody has joined them. */
    static const struct gt_str hosts[] = {
        GT_STR("/host:CPU"),        GT_STR("/host:CUPTI"),         GT_STR("/host:ROCTRACER"),
        GT_STR("/host:NVTX-CUPTI"), GT_STR("/host:python-tracer"),
    };
    *device = -1;
    if (gt_str_take_start(&name, GT_STR("/device:GPU:")))
        return leading_number(name, device) ? GT_XLA_PLANE_GPU : GT_XLA_PLANE_OTHER;
    for (size_t i = 0; i < GT_ARRAY_COUNT(hosts); i++)
        if (gt_str_eq(name, hosts[i]))
            return GT_XLA_PLANE_HOST;
    return GT_XLA_PLANE_OTHER;
}

bool gt_xla_names_is_tpu(struct gt_str plane) {
    int64_t number;
    return gt_str_take_start(&plane, GT_STR("/device:TPU:")) && leading_number(plane, &number);
}

static struct gt_xla_line device_line(int64_t device, struct gt_str name, int64_t id) {
    struct gt_xla_line line = {GT_XLA_LINE_OTHER, device, id, name};
    struct gt_str rest = name;
    if (name.len == 0 || (gt_str_take_start(&rest, GT_STR("Stream #")) && leading_number(rest, &line.number)))
        line.kind = GT_XLA_LINE_STREAM;
    else if (gt_str_eq(name, GT_STR("CUPTI overhead")))
        line.kind = GT_XLA_LINE_OVERHEAD;
    else if (gt_str_eq(name, GT_STR("_counters_")))
        line.kind = GT_XLA_LINE_COUNTERS;
    return line;
}

struct gt_xla_line gt_xla_names_line(enum gt_xla_plane plane, int64_t device, struct gt_str name, int64_t id) {
    if (plane == GT_XLA_PLANE_GPU)
        return device_line(device, name, id);
    return (struct gt_xla_line){plane == GT_XLA_PLANE_HOST ? GT_XLA_LINE_THREAD : GT_XLA_LINE_OTHER, -1,
                                (int64_t)(uint32_t)id, name};
}

/* ---- events of threads ---- */

/* "cuGraphLaunch (CudaGraph:50)", "hipMemcpyAsync": no word of English begins like this. */
static bool is_call(struct gt_str name) {
    if (!gt_str_take_start(&name, GT_STR("cuda")) && !gt_str_take_start(&name, GT_STR("cu")) &&
        !gt_str_take_start(&name, GT_STR("hip")))
        return false;
    return name.len && name.ptr[0] >= 'A' && name.ptr[0] <= 'Z';
}

static struct gt_str without_graph(struct gt_str name) {
    static const struct gt_str mark = GT_STR(" (CudaGraph:");
    const char *at = memmem(name.ptr, name.len, mark.ptr, mark.len);
    return at ? (struct gt_str){name.ptr, (size_t)(at - name.ptr)} : name;
}

struct gt_xla_host gt_xla_names_host(struct gt_str name) {
    /* CUPTI's kinds of overhead; code that is loaded is the program's own, no matter who measures it. */
    static const struct {
        struct gt_str name;
        enum gt_xla_host_kind kind;
    } known[] = {
        {GT_STR("<UNKNOWN>"), GT_XLA_HOST_OVERHEAD},
        {GT_STR("BUFFER_FLUSH"), GT_XLA_HOST_OVERHEAD},
        {GT_STR("INSTRUMENTATION"), GT_XLA_HOST_OVERHEAD},
        {GT_STR("RESOURCE"), GT_XLA_HOST_OVERHEAD},
        {GT_STR("COMMAND_BUFFER_FULL"), GT_XLA_HOST_OVERHEAD},
        {GT_STR("ACTIVITY_BUFFER_REQUEST"), GT_XLA_HOST_OVERHEAD},
        {GT_STR("UVM_ACTIVITY_INIT"), GT_XLA_HOST_OVERHEAD},
        {GT_STR("DRIVER_COMPILER"), GT_XLA_HOST_DRIVER_WORK},
        {GT_STR("RUNTIME_TRIGGERED_MODULE_LOADING"), GT_XLA_HOST_DRIVER_WORK},
        {GT_STR("LAZY_FUNCTION_LOADING"), GT_XLA_HOST_DRIVER_WORK},
        {GT_STR("MemoryAllocation"), GT_XLA_HOST_ALLOCATION},
        {GT_STR("MemoryDeallocation"), GT_XLA_HOST_DEALLOCATION},
    };
    if (name.len && name.ptr[0] == '$')
        return (struct gt_xla_host){GT_XLA_HOST_PYTHON, name};
    if (is_call(name))
        return (struct gt_xla_host){GT_XLA_HOST_CALL, without_graph(name)};
    for (size_t i = 0; i < GT_ARRAY_COUNT(known); i++)
        if (gt_str_eq(name, known[i].name))
            return (struct gt_xla_host){known[i].kind, name};
    return (struct gt_xla_host){GT_XLA_HOST_RANGE, name};
}

static size_t written(int length, size_t capacity) {
    return length < 0 ? 0 : (size_t)length < capacity ? (size_t)length : capacity - 1;
}

size_t gt_xla_names_python(struct gt_str name, char *buf, size_t capacity) {
    gt_str_take_start(&name, GT_STR("$"));
    if (name.len > 4096)
        name.len = 4096;
    const char *space = memchr(name.ptr, ' ', name.len);
    struct gt_str place = {name.ptr, space ? (size_t)(space - name.ptr) : name.len};
    struct gt_str function = {space ? space + 1 : "", space ? name.len - place.len - 1 : 0};
    size_t digits = 0;
    while (digits < place.len && is_digit(place.ptr[place.len - digits - 1]))
        digits++;
    size_t file = place.len - digits;
    if (digits && file > 1 && place.ptr[file - 1] == ':')
        return written(snprintf(buf, capacity, "%.*s(%.*s): %.*s", (int)(file - 1), place.ptr, (int)digits,
                                place.ptr + file, (int)function.len, function.ptr),
                       capacity);
    bool is_own = gt_str_eq(place, GT_STR("builtins")) || gt_str_eq(place, GT_STR("<unknown>"));
    return written(snprintf(buf, capacity, "<built-in function %.*s%s%.*s>", is_own ? 0 : (int)place.len, place.ptr,
                            is_own ? "" : ".", (int)function.len, function.ptr),
                   capacity);
}

/* ---- details ---- */

struct gt_str gt_xla_names_detail(struct gt_str details, struct gt_str key) {
    while (details.len) {
        const char *space = memchr(details.ptr, ' ', details.len);
        size_t len = space ? (size_t)(space - details.ptr) : details.len;
        struct gt_str item = {details.ptr, len};
        if (gt_str_take_start(&item, key) && gt_str_take_start(&item, GT_STR(":")))
            return item;
        size_t passed = len + (space != NULL);
        details = (struct gt_str){details.ptr + passed, details.len - passed};
    }
    return (struct gt_str){"", 0};
}

uint64_t gt_xla_names_number(struct gt_str details, struct gt_str key) {
    uint64_t number;
    return gt_num_parse_uint(gt_xla_names_detail(details, key), &number) ? number : UINT64_MAX;
}

enum gt_memory_kind gt_xla_names_memory(struct gt_str word) {
    static const struct {
        struct gt_str word;
        enum gt_memory_kind kind;
    } kinds[] = {
        {GT_STR("pageable"), GT_MEMORY_PAGEABLE},      {GT_STR("pinned"), GT_MEMORY_PINNED},
        {GT_STR("device"), GT_MEMORY_DEVICE},          {GT_STR("array"), GT_MEMORY_ARRAY},
        {GT_STR("managed"), GT_MEMORY_MANAGED},        {GT_STR("device_static"), GT_MEMORY_DEVICE},
        {GT_STR("managed_static"), GT_MEMORY_MANAGED},
    };
    for (size_t i = 0; i < GT_ARRAY_COUNT(kinds); i++)
        if (gt_str_eq_nocase(word, kinds[i].word))
            return kinds[i].kind;
    return GT_MEMORY_UNKNOWN;
}

int64_t gt_xla_names_allocator(struct gt_str name) {
    int64_t device;
    return gt_str_take_start(&name, GT_STR("GPU_")) && leading_number(name, &device) ? device : -1;
}

/* ---- stats ---- */

enum gt_xla_stat gt_xla_names_stat(struct gt_str name) {
    static const struct {
        struct gt_str name;
        enum gt_xla_stat stat;
    } stats[] = {
        {GT_STR("correlation_id"), GT_XLA_STAT_CORRELATION},
        {GT_STR("kernel_details"), GT_XLA_STAT_KERNEL},
        {GT_STR("cuda_graph_id"), GT_XLA_STAT_GRAPH},
        {GT_STR("cuda_graph_node_id"), GT_XLA_STAT_GRAPH_NODE},
        {GT_STR("cuda_graph_exec_id"), GT_XLA_STAT_GRAPH_WHOLE},
        {GT_STR("theoretical_occupancy_pct"), GT_XLA_STAT_OCCUPANCY},
        {GT_STR("device_id"), GT_XLA_STAT_DEVICE},
        {GT_STR("memcpy_details"), GT_XLA_STAT_MEMCPY},
        {GT_STR("Memset_details"), GT_XLA_STAT_MEMSET},
        {GT_STR("memset_details"), GT_XLA_STAT_MEMSET},
        {GT_STR("memalloc_details"), GT_XLA_STAT_MEMORY},
        {GT_STR("MemFree_details"), GT_XLA_STAT_MEMORY},
        {GT_STR("MemoryResidency_details"), GT_XLA_STAT_MEMORY},
        {GT_STR("name"), GT_XLA_STAT_OPERATION},
        {GT_STR("step_num"), GT_XLA_STAT_STEP},
        {GT_STR("allocator_name"), GT_XLA_STAT_ALLOCATOR},
        {GT_STR("addr"), GT_XLA_STAT_ADDRESS},
        {GT_STR("allocation_bytes"), GT_XLA_STAT_BYTES},
        {GT_STR("bytes_allocated"), GT_XLA_STAT_ALLOCATED},
    };
    for (size_t i = 0; i < GT_ARRAY_COUNT(stats); i++)
        if (gt_str_eq(name, stats[i].name))
            return stats[i].stat;
    return GT_XLA_STAT_NONE;
}
