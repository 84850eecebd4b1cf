/* What an export says about its capture apart from the events: strings, GPUs, names, times. Rows of the small tables
   come in, a struct gt_nsys_facts goes out. */
#include "base/mem.h"
#include "decode/nsys/nsys_sqlite.h"
#include "decode/nsys/nsys_sqlite_ranks.h"

enum { DENSE_SPARE = 65536, TEXT_SPARE = 1 << 20, DEVICE_ENVIRONMENT = 610 };

struct string_row {
    uint64_t id;
    struct gt_str text;
};

/* While reading: growing lists, in the end moved into the capture. */
struct gathering {
    struct gt_nsys_facts *facts;
    struct string_row *strings;
    struct gt_nsys_gpu *gpus;
    struct gt_nsys_name *processes, *threads;
    struct gt_nsys_sqlite_ranks ranks;
    size_t string_count, gpu_count, process_count, thread_count;
    struct gt_str version;
    uint64_t text_left; /* bytes of text that a file of this size can have */
    bool has_failed;
};

/* Room for one more in a list that doubles; elements are zeroed by the caller. */
static void *one_more(struct gathering *gathering, void *list, size_t count, size_t elem_bytes) {
    bool is_full = (count & (count - 1)) == 0; /* capacities are powers of two */
    void *grown = is_full ? gt_mem_realloc(list, (count ? 2 * count : 1) * elem_bytes) : list;
    gathering->has_failed |= grown == NULL;
    return grown;
}

static struct gt_str keep(struct gathering *gathering, struct gt_str text) {
    if (text.len > gathering->text_left)
        return GT_STR("");
    gathering->text_left -= text.len;
    return gt_arena_copy(&gathering->facts->capture.arena, text);
}

/* A name that is text, or the id of one. */
static struct gt_str name_in(const struct gathering *gathering, const struct gt_sqlite_row *row, size_t slot) {
    const struct gt_nsys_capture *capture = &gathering->facts->capture;
    if (row->types[slot] == GT_SQLITE_TEXT)
        return gt_sqlite_record_text(row, slot);
    uint64_t index = gt_nsys_sqlite_string_index(gathering->facts, row, slot);
    return index < capture->string_count && capture->strings[index].ptr ? capture->strings[index] : GT_STR("");
}

static void take_string(void *context, const struct gt_sqlite_row *row) {
    struct gathering *gathering = context;
    if (!gt_sqlite_record_is_int(row, 0) || row->types[1] != GT_SQLITE_TEXT)
        return;
    void *grown = one_more(gathering, gathering->strings, gathering->string_count, sizeof *gathering->strings);
    if (!grown)
        return;
    gathering->strings = grown;
    struct gt_str text = keep(gathering, gt_sqlite_record_text(row, 1));
    gathering->strings[gathering->string_count++] = (struct string_row){(uint64_t)row->cells[0].integer, text};
    gt_nsys_sqlite_ranks_take_text(&gathering->ranks, text);
}

static void take_meta(void *context, const struct gt_sqlite_row *row) {
    struct gathering *gathering = context;
    struct gt_str key = gt_sqlite_record_text(row, 0), value = gt_sqlite_record_text(row, 1);
    if (gt_str_eq(key, GT_STR("EXPORT_PRODUCT_VERSION")) && value.len)
        gathering->version = keep(gathering, value);
}

static void take_session(void *context, const struct gt_sqlite_row *row) {
    struct gathering *gathering = context;
    if (gt_sqlite_record_is_int(row, 0) && gathering->facts->capture.utc_ns == 0)
        gathering->facts->capture.utc_ns = row->cells[0].integer;
}

static void take_details(void *context, const struct gt_sqlite_row *row) {
    struct gathering *gathering = context;
    if (gt_sqlite_record_is_int(row, 0) && row->cells[0].integer > gathering->facts->capture.duration_ns)
        gathering->facts->capture.duration_ns = row->cells[0].integer;
}

static uint64_t amount_in(const struct gt_sqlite_row *row, size_t slot) {
    int64_t amount = gt_sqlite_record_int(row, slot, 0);
    return amount < 0 ? 0 : (uint64_t)amount;
}

static uint32_t count_in(const struct gt_sqlite_row *row, size_t slot) {
    uint64_t amount = amount_in(row, slot);
    return amount > UINT32_MAX ? 0 : (uint32_t)amount;
}

static void take_gpu(void *context, const struct gt_sqlite_row *row) {
    struct gathering *gathering = context;
    if (!gt_sqlite_record_is_int(row, 0))
        return;
    void *grown = one_more(gathering, gathering->gpus, gathering->gpu_count, sizeof *gathering->gpus);
    if (!grown)
        return;
    gathering->gpus = grown;
    gathering->gpus[gathering->gpu_count++] = (struct gt_nsys_gpu){
        .id = row->cells[GT_NSYS_GPU_ID].integer,
        .name = keep(gathering, name_in(gathering, row, GT_NSYS_GPU_NAME)),
        .uuid = keep(gathering, name_in(gathering, row, GT_NSYS_GPU_UUID)),
        .memory_bytes = amount_in(row, GT_NSYS_GPU_MEMORY),
        .bandwidth = amount_in(row, GT_NSYS_GPU_BANDWIDTH),
        .clock_hz = amount_in(row, GT_NSYS_GPU_CLOCK),
        .l2_bytes = amount_in(row, GT_NSYS_GPU_L2),
        .multiprocessors = count_in(row, GT_NSYS_GPU_MULTIPROCESSORS),
        .compute_major = count_in(row, GT_NSYS_GPU_MAJOR),
        .compute_minor = count_in(row, GT_NSYS_GPU_MINOR),
        .max_warps = count_in(row, GT_NSYS_GPU_WARPS),
        .max_blocks = count_in(row, GT_NSYS_GPU_BLOCKS),
        .max_registers = count_in(row, GT_NSYS_GPU_REGISTERS),
        .max_shared_bytes = count_in(row, GT_NSYS_GPU_SHARED),
    };
}

static void take_cuda_device(void *context, const struct gt_sqlite_row *row) {
    struct gathering *gathering = context;
    if (!gt_sqlite_record_is_int(row, 0) || !gt_sqlite_record_is_int(row, 1) || !gt_sqlite_record_is_int(row, 2) ||
        (uint64_t)row->cells[0].integer >= GT_MAP_NONE)
        return;
    gt_map_put_if_new(&gathering->facts->capture.gpu_of, (uint64_t)row->cells[2].integer,
                      (uint64_t)row->cells[1].integer, (uint32_t)row->cells[0].integer);
}

static void take_name(struct gathering *gathering, struct gt_nsys_name **list, size_t *count,
                      const struct gt_sqlite_row *row) {
    struct gt_str name = name_in(gathering, row, 1);
    if (!gt_sqlite_record_is_int(row, 0) || name.len == 0)
        return;
    void *grown = one_more(gathering, *list, *count, sizeof **list);
    if (!grown)
        return;
    *list = grown;
    (*list)[(*count)++] = (struct gt_nsys_name){(uint64_t)row->cells[0].integer, keep(gathering, name)};
}

static void take_process(void *context, const struct gt_sqlite_row *row) {
    struct gathering *gathering = context;
    take_name(gathering, &gathering->processes, &gathering->process_count, row);
}

static void take_thread(void *context, const struct gt_sqlite_row *row) {
    struct gathering *gathering = context;
    take_name(gathering, &gathering->threads, &gathering->thread_count, row);
}

/* What the machine says about itself: its name, and the environment that the profiler was started in. */
static void take_system(void *context, const struct gt_sqlite_row *row) {
    struct gathering *gathering = context;
    struct gt_nsys_capture *capture = &gathering->facts->capture;
    struct gt_str name = gt_sqlite_record_text(row, 0), value = gt_sqlite_record_text(row, 1);
    if (gt_str_eq(name, GT_STR("Hostname")) && value.len && capture->host.len == 0)
        capture->host = keep(gathering, value);
    else if (gt_str_eq(name, GT_STR("DeviceEnvironment")) || gt_sqlite_record_int(row, 2, 0) == DEVICE_ENVIRONMENT)
        gt_nsys_sqlite_ranks_take_profiler(&gathering->ranks, value);
}

static void take_mpi_rank(void *context, const struct gt_sqlite_row *row) {
    struct gathering *gathering = context;
    gt_nsys_sqlite_ranks_take_mpi(&gathering->ranks, row);
}

static void take_option(void *context, const struct gt_sqlite_row *row) {
    struct gathering *gathering = context;
    gt_nsys_sqlite_metrics_take_option(&gathering->facts->metrics, row);
}

static void take_metric_name(void *context, const struct gt_sqlite_row *row) {
    struct gathering *gathering = context;
    gt_nsys_sqlite_metrics_take_name(&gathering->facts->metrics, row);
}

static void take_metric_field(void *context, const struct gt_sqlite_row *row) {
    struct gathering *gathering = context;
    gt_nsys_sqlite_metrics_take_field(&gathering->facts->metrics, row);
}

static void take_network_name(void *context, const struct gt_sqlite_row *row) {
    struct gathering *gathering = context;
    gt_nsys_sqlite_network_take_name(&gathering->facts->network, row);
}

static void take_card(void *context, const struct gt_sqlite_row *row) {
    struct gathering *gathering = context;
    gt_nsys_sqlite_network_take_card(&gathering->facts->network, row);
}

static void take_card_id(void *context, const struct gt_sqlite_row *row) {
    struct gathering *gathering = context;
    gt_nsys_sqlite_network_take_card_id(&gathering->facts->network, row);
}

/* Of payloads, numbers that are 0 are NULL. */
static void take_payload_entry(void *context, const struct gt_sqlite_row *row) {
    struct gathering *gathering = context;
    uint64_t domain = (uint64_t)gt_sqlite_record_int(row, 0, 0), schema = (uint64_t)gt_sqlite_record_int(row, 1, 0);
    struct gt_nsys_comm_entry entry = {
        .name = gt_sqlite_record_text(row, 2),
        .type = (uint64_t)gt_sqlite_record_int(row, 3, 0),
        .offset = (uint64_t)gt_sqlite_record_int(row, 4, 0),
        .flags = (uint64_t)gt_sqlite_record_int(row, 5, 0),
    };
    gt_nsys_comm_add_entry(&gathering->facts->payloads, domain, schema, &entry);
    gt_nsys_python_add_entry(&gathering->facts->python, domain, schema, &entry);
}

static void take_payload_enum(void *context, const struct gt_sqlite_row *row) {
    struct gathering *gathering = context;
    gt_nsys_comm_add_enum(&gathering->facts->payloads, (uint64_t)gt_sqlite_record_int(row, 0, 0),
                          (uint64_t)gt_sqlite_record_int(row, 1, 0), (uint64_t)gt_sqlite_record_int(row, 2, 0));
}

static void take_payload_value(void *context, const struct gt_sqlite_row *row) {
    struct gathering *gathering = context;
    struct gt_str name = gt_sqlite_record_text(row, 2);
    if (!name.ptr || name.len > gathering->text_left)
        return;
    gathering->text_left -= name.len;
    gt_nsys_comm_add_value(&gathering->facts->payloads, (uint64_t)gt_sqlite_record_int(row, 0, 0),
                           (uint64_t)gt_sqlite_record_int(row, 1, 0), gt_sqlite_record_int(row, 3, 0), name);
}

/* Small ids index the array; the few that lie far out get places after, found through a map. */
static bool place_strings(struct gathering *gathering) {
    struct gt_nsys_facts *facts = gathering->facts;
    uint64_t limit = 4 * (uint64_t)gathering->string_count + DENSE_SPARE, dense = 0;
    size_t sparse = 0;
    for (size_t i = 0; i < gathering->string_count; i++) {
        uint64_t id = gathering->strings[i].id;
        if (id >= limit)
            sparse++;
        else if (id >= dense)
            dense = id + 1;
    }
    struct gt_str *strings = gt_arena_array(&facts->capture.arena, (size_t)dense + sparse, sizeof *strings);
    if (!strings && dense + sparse)
        return false;
    facts->dense_count = facts->capture.string_count = (size_t)dense;
    facts->capture.strings = strings;
    for (size_t i = 0; i < gathering->string_count; i++) {
        uint64_t id = gathering->strings[i].id;
        size_t index = (size_t)id;
        if (id >= limit) {
            index = facts->capture.string_count;
            if (gt_map_put_if_new(&facts->sparse, 0, id, (uint32_t)index) != index)
                continue;
            facts->capture.string_count++;
        }
        if (!strings[index].ptr)
            strings[index] = gathering->strings[i].text;
    }
    return !facts->sparse.failed;
}

static enum gt_status read_table(struct gathering *gathering, const struct gt_sqlite_db *db,
                                 const struct gt_nsys_table *from, struct gt_sqlite_reader *reader,
                                 gt_sqlite_pages_row_fn *take, struct gt_error *err) {
    enum gt_status status =
        gt_sqlite_db_read_table(db, from->table, from->columns, from->column_count, reader, take, gathering, err);
    bool has_failed = gathering->has_failed || gathering->ranks.has_failed || gathering->facts->metrics.has_failed ||
                      gathering->facts->network.has_failed || gathering->facts->payloads.has_failed ||
                      gathering->facts->python.has_failed;
    return status == GT_OK && has_failed ? gt_fail_memory(err) : status;
}

/* All tables of a role. */
static enum gt_status read_role(struct gathering *gathering, const struct gt_sqlite_db *db,
                                const struct gt_nsys_schema *schema, enum gt_nsys_role role,
                                struct gt_sqlite_reader *reader, gt_sqlite_pages_row_fn *take, struct gt_error *err) {
    enum gt_status status = GT_OK;
    uint64_t damaged_before = reader->damaged, missing_before = reader->missing;
    for (size_t i = 0; i < schema->count && status == GT_OK; i++)
        if (schema->tables[i].role == role && schema->tables[i].is_read)
            status = read_table(gathering, db, &schema->tables[i], reader, take, err);
    gathering->facts->damaged[role] = reader->damaged - damaged_before;
    gathering->facts->missing[role] = reader->missing - missing_before;
    return status;
}

/* The lists move into the capture's arena, so that nothing is left to free. */
static void *settle(struct gathering *gathering, const void *list, size_t count, size_t elem_bytes) {
    void *copy = gt_arena_array(&gathering->facts->capture.arena, count, elem_bytes);
    if (copy && count)
        memcpy(copy, list, count * elem_bytes);
    return copy;
}

static enum gt_status settle_all(struct gathering *gathering, struct gt_error *err) {
    struct gt_nsys_capture *capture = &gathering->facts->capture;
    capture->gpus = settle(gathering, gathering->gpus, gathering->gpu_count, sizeof *capture->gpus);
    capture->processes = settle(gathering, gathering->processes, gathering->process_count, sizeof *capture->processes);
    capture->threads = settle(gathering, gathering->threads, gathering->thread_count, sizeof *capture->threads);
    capture->ranks = settle(gathering, gathering->ranks.list, gathering->ranks.count, sizeof *capture->ranks);
    capture->gpu_count = gathering->gpu_count;
    capture->rank_count = gathering->ranks.count;
    capture->process_count = gathering->process_count;
    capture->thread_count = gathering->thread_count;
    capture->producer = gathering->version.len
                            ? gt_arena_printf(&capture->arena, "Nsight Systems %s", gathering->version.ptr)
                            : GT_STR("Nsight Systems");
    return gt_arena_failed(&capture->arena) || capture->gpu_of.failed || gathering->ranks.has_failed
               ? gt_fail_memory(err)
               : GT_OK;
}

enum gt_status gt_nsys_sqlite_facts_read(struct gt_nsys_facts *facts, const struct gt_sqlite_db *db,
                                         const struct gt_nsys_schema *schema, struct gt_sqlite_reader *reader,
                                         struct gt_error *err) {
    static const struct {
        enum gt_nsys_role role;
        gt_sqlite_pages_row_fn *take;
    } tables[] = {
        {GT_NSYS_META, take_meta},
        {GT_NSYS_SESSION, take_session},
        {GT_NSYS_DETAILS, take_details},
        {GT_NSYS_GPUS, take_gpu},
        {GT_NSYS_CUDA_DEVICES, take_cuda_device},
        {GT_NSYS_PROCESSES, take_process},
        {GT_NSYS_THREADS, take_thread},
        {GT_NSYS_SYSTEM, take_system},
        {GT_NSYS_MPI_RANKS, take_mpi_rank},
        {GT_NSYS_OPTIONS, take_option},
        {GT_NSYS_METRIC_NAMES, take_metric_name},
        {GT_NSYS_METRIC_FIELDS, take_metric_field},
        {GT_NSYS_NETWORK_NAMES, take_network_name},
        {GT_NSYS_CARDS, take_card},
        {GT_NSYS_CARD_IDS, take_card_id},
        {GT_NSYS_PAYLOAD_ENTRIES, take_payload_entry},
        {GT_NSYS_PAYLOAD_ENUMS, take_payload_enum},
        {GT_NSYS_PAYLOAD_VALUES, take_payload_value},
    };
    struct gathering gathering = {
        .facts = facts,
        .text_left = 4 * db->size_bytes + TEXT_SPARE,
    };
    memset(facts, 0, sizeof *facts);
    facts->capture.duration_ns = -1;
    facts->metrics.text_left = facts->network.text_left = gathering.text_left;
    facts->has_string_table = gt_nsys_schema_first(schema, GT_NSYS_STRINGS)->table != NULL;
    enum gt_status status = read_role(&gathering, db, schema, GT_NSYS_STRINGS, reader, take_string, err);
    if (status == GT_OK && !place_strings(&gathering))
        status = gt_fail_memory(err);
    for (size_t i = 0; i < sizeof tables / sizeof *tables && status == GT_OK; i++)
        status = read_role(&gathering, db, schema, tables[i].role, reader, tables[i].take, err);
    gt_nsys_sqlite_ranks_settle(&gathering.ranks);
    gt_nsys_sqlite_metrics_settle(&facts->metrics);
    if (status == GT_OK)
        status = settle_all(&gathering, err);
    gt_nsys_sqlite_ranks_release(&gathering.ranks);
    gt_mem_free(gathering.strings);
    gt_mem_free(gathering.gpus);
    gt_mem_free(gathering.processes);
    gt_mem_free(gathering.threads);
    return status;
}

void gt_nsys_sqlite_facts_release(struct gt_nsys_facts *facts) {
    gt_nsys_sqlite_metrics_release(&facts->metrics);
    gt_nsys_sqlite_network_release(&facts->network);
    gt_nsys_comm_release(&facts->payloads);
    gt_nsys_python_release(&facts->python);
    gt_map_release(&facts->sparse);
    gt_nsys_capture_release(&facts->capture);
}
