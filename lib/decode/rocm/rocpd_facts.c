/* What a rocpd database says about its capture apart from the rows: strings, machines, processes, agents, kernels. Rows
   of the small tables come in, filled sets and a capture go out. */
#include <stdio.h>

#include "base/mem.h"
#include "base/num.h"
#include "decode/json/json_scan.h"
#include "decode/nsys/nsys.h"
#include "decode/rocm/rocpd.h"

enum { TEXT_SPARE = 1 << 20, DEVICES_MAX = 1 << 20 };

struct machine {
    struct gt_str host;
    int64_t devices; /* numbers that its GPUs have */
    int64_t offset;  /* of its first GPU among those of all machines */
    bool shares_host;
};

struct gathering {
    struct gt_rocm_capture *capture;
    struct gt_rocpd_set *set;  /* the current one */
    struct gt_strtab machines; /* number - 1: place in the list */
    struct machine *list;
    size_t count, capacity;
    uint32_t *node_of_agent; /* in the order of the capture's agents */
    size_t node_capacity;
    uint32_t gpus;      /* of the set so far */
    uint64_t text_left; /* bytes of text that a file of this size can have */
    bool has_failed;
};

static struct gt_str limited(struct gathering *gathering, struct gt_str text) {
    if (!text.ptr || text.len > gathering->text_left)
        return GT_STR("");
    gathering->text_left -= text.len;
    return text;
}

static struct gt_str keep(struct gathering *gathering, struct gt_str text) {
    return gt_arena_copy(&gathering->capture->arena, limited(gathering, text));
}

static uint64_t number_in(struct gt_str object, struct gt_str key, uint64_t most) {
    struct gt_json_value_text value;
    uint64_t number;
    return gt_rocpd_member(object, key, &value) && gt_num_parse_uint(value.raw, &number) && number <= most ? number : 0;
}

/* ---- rows ---- */

static void take_string(void *context, const struct gt_sqlite_row *row) {
    struct gathering *gathering = context;
    struct gt_str text = gt_sqlite_record_text(row, GT_ROCPD_STRING_TEXT);
    if (gt_sqlite_record_is_int(row, GT_ROCPD_STRING_ID) && text.ptr)
        gathering->has_failed |= !gt_rocpd_names_add(&gathering->set->strings, gt_rocpd_id(row, GT_ROCPD_STRING_ID),
                                                     limited(gathering, text), &gathering->capture->arena);
}

static void take_category(void *context, const struct gt_sqlite_row *row) {
    struct gathering *gathering = context;
    struct gt_str text = gt_sqlite_record_text(row, GT_ROCPD_STRING_TEXT);
    if (gt_sqlite_record_is_int(row, GT_ROCPD_STRING_ID) && text.ptr)
        gathering->has_failed |= !gt_rocpd_names_add(&gathering->set->categories, gt_rocpd_id(row, GT_ROCPD_STRING_ID),
                                                     limited(gathering, text), &gathering->capture->arena);
}

/* The place of a machine, which several processes may be of. */
static uint32_t machine_of(struct gathering *gathering, struct gt_str id, struct gt_str host) {
    gt_strid number = gt_strtab_intern(&gathering->machines, id.len ? id : host);
    gathering->has_failed |= gathering->machines.failed;
    while (gathering->count <= number && !gathering->has_failed) {
        struct machine *grown = gt_mem_room(gathering->list, gathering->count, &gathering->capacity, sizeof *grown);
        gathering->has_failed |= !grown;
        if (!grown)
            break;
        gathering->list = grown;
        grown[gathering->count++] = (struct machine){.host = {"", 0}};
        grown[gathering->count - 1].host = keep(gathering, host);
    }
    return number;
}

static void take_node(void *context, const struct gt_sqlite_row *row) {
    struct gathering *gathering = context;
    struct gt_str host = limited(gathering, gt_sqlite_record_text(row, GT_ROCPD_NODE_HOST));
    struct gt_str id = limited(gathering, gt_sqlite_record_text(row, GT_ROCPD_NODE_MACHINE));
    if (!gt_sqlite_record_is_int(row, GT_ROCPD_NODE_ID))
        return;
    uint32_t machine = machine_of(gathering, id, host);
    gt_map_put_if_new(&gathering->set->node_of, 0, gt_rocpd_id(row, GT_ROCPD_NODE_ID), machine);
    if (gathering->capture->host.len == 0)
        gathering->capture->host = keep(gathering, host);
}

static uint32_t node_in(const struct gathering *gathering, const struct gt_sqlite_row *row, size_t slot) {
    uint32_t node = gt_map_get(&gathering->set->node_of, 0, gt_rocpd_id(row, slot));
    return node == GT_MAP_NONE ? 0 : node;
}

/* The program of a command, without its folder and arguments. */
static struct gt_str program_of(struct gt_str command) {
    size_t len = 0;
    while (len < command.len && command.ptr[len] != ' ')
        len++;
    return gt_str_path_tail((struct gt_str){command.ptr, len}, 1);
}

/* Of the environment, which is private, nothing but the rank and the number of ranks is kept. */
static void take_environment(struct gt_rocm_process *process, struct gt_str environment) {
    static const char *const keys[] = {"RANK",       "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK",
                                       "WORLD_SIZE", "SLURM_NTASKS", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE"};
    char text[512];
    size_t used = 0;
    for (size_t i = 0; i < GT_ARRAY_COUNT(keys); i++) {
        struct gt_json_value_text value;
        if (gt_rocpd_member(environment, gt_str_of(keys[i]), &value) && value.raw.len < GT_NUM_MAX / 2)
            used += 1 + (size_t)snprintf(text + used, sizeof text - used, "%s=%.*s", keys[i], (int)value.raw.len,
                                         value.raw.ptr);
    }
    struct gt_nsys_rank rank = {.rank = -1, .world_size = -1};
    gt_nsys_environment_rank((struct gt_str){text, used}, &rank);
    process->rank = rank.rank;
    process->world_size = rank.world_size;
    process->rank_source = rank.source;
}

static void take_process(void *context, const struct gt_sqlite_row *row) {
    struct gathering *gathering = context;
    struct gt_rocpd_set *set = gathering->set;
    if (!gt_sqlite_record_is_int(row, GT_ROCPD_PROCESS_ID))
        return;
    int64_t id = row->cells[GT_ROCPD_PROCESS_ID].integer;
    int64_t pid = gt_sqlite_record_int(row, GT_ROCPD_PROCESS_PID, id);
    uint32_t place =
        gt_rocm_capture_process(gathering->capture, node_in(gathering, row, GT_ROCPD_PROCESS_NODE), pid < 0 ? id : pid);
    if (place == GT_ROCM_NO_PROCESS)
        return;
    bool is_first = set->process_of.count == 0;
    gt_map_put_if_new(&set->process_of, 0, (uint64_t)id, place);
    set->only_process = is_first || set->only_process == place ? place : GT_ROCM_NO_PROCESS;
    struct gt_rocm_process *process = &gathering->capture->processes[place];
    if (process->name.len == 0)
        process->name = keep(gathering, program_of(gt_sqlite_record_text(row, GT_ROCPD_PROCESS_COMMAND)));
    struct gt_str environment = gt_sqlite_record_text(row, GT_ROCPD_PROCESS_ENVIRONMENT);
    if (environment.len)
        take_environment(process, environment);
}

static uint32_t process_in(const struct gathering *gathering, const struct gt_sqlite_row *row, size_t slot) {
    uint32_t place = gt_map_get(&gathering->set->process_of, 0, gt_rocpd_id(row, slot));
    return place == GT_MAP_NONE ? gathering->set->only_process : place;
}

static void take_thread(void *context, const struct gt_sqlite_row *row) {
    struct gathering *gathering = context;
    struct gt_rocpd_set *set = gathering->set;
    struct gt_str name = limited(gathering, gt_sqlite_record_text(row, GT_ROCPD_THREAD_NAME));
    if (!gt_sqlite_record_is_int(row, GT_ROCPD_THREAD_ID))
        return;
    struct gt_rocpd_thread *grown = gt_mem_room(set->threads, set->thread_count, &set->thread_capacity, sizeof *grown);
    gathering->has_failed |= !grown;
    if (!grown)
        return;
    set->threads = grown;
    int64_t id = row->cells[GT_ROCPD_THREAD_ID].integer;
    struct gt_rocpd_thread thread = {process_in(gathering, row, GT_ROCPD_THREAD_PROCESS),
                                     gt_sqlite_record_int(row, GT_ROCPD_THREAD_TID, id)};
    gt_map_put_if_new(&set->thread_of, 0, (uint64_t)id, (uint32_t)set->thread_count);
    grown[set->thread_count++] = thread;
    if (name.len)
        gt_rocm_capture_thread(gathering->capture, thread.process, thread.tid, name);
}

static struct gt_str agent_name(const struct gt_sqlite_row *row) {
    static const size_t slots[] = {GT_ROCPD_AGENT_PRODUCT, GT_ROCPD_AGENT_MODEL, GT_ROCPD_AGENT_NAME};
    for (size_t i = 0; i < GT_ARRAY_COUNT(slots); i++) {
        struct gt_str name = gt_sqlite_record_text(row, slots[i]);
        if (name.len)
            return name;
    }
    return GT_STR("");
}

/* GPUs have a number among those of their machine; where it is not recorded, they count up. */
static void take_agent(void *context, const struct gt_sqlite_row *row) {
    struct gathering *gathering = context;
    struct gt_str type = gt_sqlite_record_text(row, GT_ROCPD_AGENT_TYPE);
    struct gt_str data = gt_sqlite_record_text(row, GT_ROCPD_AGENT_DATA);
    int64_t number = gt_sqlite_record_int(row, GT_ROCPD_AGENT_TYPE_INDEX, -1);
    bool is_gpu = type.ptr ? gt_str_eq_nocase(type, GT_STR("GPU")) : true;
    if (!gt_sqlite_record_is_int(row, GT_ROCPD_AGENT_ID))
        return;
    if (number < 0 || number >= DEVICES_MAX)
        number = gathering->gpus;
    gathering->gpus += is_gpu;
    uint32_t node = node_in(gathering, row, GT_ROCPD_AGENT_NODE);
    uint32_t place = gt_rocm_capture_agent(
        gathering->capture,
        &(struct gt_rocm_agent){
            .is_gpu = is_gpu,
            .device = is_gpu ? number : -1,
            .name = keep(gathering, agent_name(row)),
            .compute_units = (uint32_t)number_in(data, GT_STR("cu_count"), UINT32_MAX),
            .lds_bytes = 1024 * (uint32_t)number_in(data, GT_STR("lds_size_in_kb"), UINT32_MAX / 1024),
            .clock_hz = 1000000 * number_in(data, GT_STR("max_engine_clk_fcompute"), UINT32_MAX),
        });
    uint32_t *nodes = gt_mem_room(gathering->node_of_agent, gathering->capture->agent_count - (place != UINT32_MAX),
                                  &gathering->node_capacity, sizeof *nodes);
    gathering->node_of_agent = nodes ? nodes : gathering->node_of_agent;
    gathering->has_failed |= !nodes || place == UINT32_MAX;
    if (gathering->has_failed)
        return;
    nodes[place] = node;
    if (is_gpu && node < gathering->count && gathering->list[node].devices <= number)
        gathering->list[node].devices = number + 1;
    gt_map_put_if_new(&gathering->set->agent_of, 0, gt_rocpd_id(row, GT_ROCPD_AGENT_ID), place);
}

static void take_symbol(void *context, const struct gt_sqlite_row *row) {
    struct gathering *gathering = context;
    struct gt_rocpd_set *set = gathering->set;
    struct gt_str name = gt_sqlite_record_text(row, GT_ROCPD_SYMBOL_DISPLAY);
    if (name.len == 0)
        name = gt_sqlite_record_text(row, GT_ROCPD_SYMBOL_NAME);
    if (!gt_sqlite_record_is_int(row, GT_ROCPD_SYMBOL_ID) || name.len == 0)
        return;
    struct gt_rocpd_symbol *grown =
        gt_mem_room(set->symbol_facts, set->symbols.count, &set->symbol_capacity, sizeof *grown);
    gathering->has_failed |= !grown;
    if (!grown)
        return;
    set->symbol_facts = grown;
    grown[set->symbols.count] = (struct gt_rocpd_symbol){.lds_bytes = gt_rocpd_id(row, GT_ROCPD_SYMBOL_LDS),
                                                         .vgprs = gt_rocpd_id(row, GT_ROCPD_SYMBOL_VGPRS),
                                                         .scratch_bytes = gt_rocpd_id(row, GT_ROCPD_SYMBOL_SCRATCH)};
    gathering->has_failed |=
        !gt_rocpd_names_add(&set->symbols, gt_rocpd_id(row, GT_ROCPD_SYMBOL_ID),
                            limited(gathering, gt_rocm_kernel_name(name)), &gathering->capture->arena);
}

static void take_track(void *context, const struct gt_sqlite_row *row) {
    struct gathering *gathering = context;
    struct gt_rocpd_set *set = gathering->set;
    if (!gt_sqlite_record_is_int(row, GT_ROCPD_TRACK_ID))
        return;
    struct gt_rocpd_track *grown = gt_mem_room(set->tracks, set->track_count, &set->track_capacity, sizeof *grown);
    gathering->has_failed |= !grown;
    if (!grown)
        return;
    set->tracks = grown;
    gt_map_put_if_new(&set->track_of, 0, gt_rocpd_id(row, GT_ROCPD_TRACK_ID), (uint32_t)set->track_count);
    grown[set->track_count++] = (struct gt_rocpd_track){
        .process = gt_rocpd_id(row, GT_ROCPD_TRACK_PROCESS),
        .thread = gt_rocpd_id(row, GT_ROCPD_TRACK_THREAD),
        .agent = gt_rocpd_id(row, GT_ROCPD_TRACK_AGENT),
        .queue = gt_rocpd_id(row, GT_ROCPD_TRACK_QUEUE),
        .stream = gt_rocpd_id(row, GT_ROCPD_TRACK_STREAM),
        .name = gt_rocpd_id(row, GT_ROCPD_TRACK_NAME),
    };
}

static void take_counter(void *context, const struct gt_sqlite_row *row) {
    struct gathering *gathering = context;
    struct gt_str name = gt_sqlite_record_text(row, GT_ROCPD_COUNTER_NAME);
    if (gt_sqlite_record_is_int(row, GT_ROCPD_COUNTER_ID) && name.len)
        gt_map_put_if_new(&gathering->set->counter_of, 0, gt_rocpd_id(row, GT_ROCPD_COUNTER_ID),
                          gt_rocm_capture_counter(gathering->capture, limited(gathering, name)));
}

/* ---- all together ---- */

static enum gt_status read_table(struct gathering *gathering, const struct gt_sqlite_db *db,
                                 const struct gt_rocpd_table *from, struct gt_sqlite_reader *reader,
                                 gt_sqlite_pages_row_fn *take, struct gt_error *err) {
    enum gt_status status =
        gt_sqlite_db_read_table(db, from->table, from->columns, from->column_count, reader, take, gathering, err);
    return status == GT_OK && gathering->has_failed ? gt_fail_memory(err) : status;
}

/* What each category means, once. */
static bool seal_set(struct gt_rocpd_set *set) {
    bool has_categories = set->tables[GT_ROCPD_CATEGORIES].table != NULL;
    if (!gt_rocpd_names_seal(&set->strings) || !gt_rocpd_names_seal(&set->categories) ||
        !gt_rocpd_names_seal(&set->symbols))
        return false;
    const struct gt_rocpd_names *names = has_categories ? &set->categories : &set->strings;
    set->domains = gt_mem_array(names->count, 1);
    for (size_t i = 0; i < names->count && set->domains; i++)
        set->domains[i] = (uint8_t)gt_rocm_domain_of(names->texts[i]);
    const struct gt_map *const maps[] = {&set->node_of,  &set->process_of, &set->thread_of,
                                         &set->agent_of, &set->track_of,   &set->counter_of};
    for (size_t i = 0; i < GT_ARRAY_COUNT(maps); i++)
        if (maps[i]->failed)
            return false;
    return set->domains != NULL;
}

static enum gt_status read_set(struct gathering *gathering, const struct gt_sqlite_db *db,
                               struct gt_sqlite_reader *reader, struct gt_rocpd_losses *losses, struct gt_error *err) {
    static gt_sqlite_pages_row_fn *const functions[] = {
        [GT_ROCPD_STRINGS] = take_string,    [GT_ROCPD_CATEGORIES] = take_category, [GT_ROCPD_NODES] = take_node,
        [GT_ROCPD_PROCESSES] = take_process, [GT_ROCPD_THREADS] = take_thread,      [GT_ROCPD_AGENTS] = take_agent,
        [GT_ROCPD_SYMBOLS] = take_symbol,    [GT_ROCPD_TRACKS] = take_track,        [GT_ROCPD_COUNTERS] = take_counter,
    };
    enum gt_status status = GT_OK;
    gathering->gpus = 0;
    for (size_t role = 0; role < GT_ARRAY_COUNT(functions) && status == GT_OK; role++) {
        const struct gt_rocpd_table *table = &gathering->set->tables[role];
        uint64_t damaged = reader->damaged, missing = reader->missing;
        if (table->table)
            status = read_table(gathering, db, table, reader, functions[role], err);
        losses->damaged[role] += reader->damaged - damaged;
        losses->missing[role] += reader->missing - missing;
    }
    return status == GT_OK && !seal_set(gathering->set) ? gt_fail_memory(err) : status;
}

/* Machines have numbers of their own for their GPUs; here they count through. Names of machines keep processes apart.
 */
static void settle_machines(struct gathering *gathering) {
    struct gt_rocm_capture *capture = gathering->capture;
    struct gt_map hosts = {0};
    size_t used = 0;
    int64_t offset = 0;
    for (size_t i = 0; i < gathering->count; i++) {
        struct machine *machine = &gathering->list[i];
        gt_strid host = gt_strtab_intern(&gathering->machines, machine->host);
        uint32_t first = gt_map_put_if_new(&hosts, 0, host, (uint32_t)i);
        machine->shares_host = first != i;
        machine->offset = offset;
        offset += machine->devices;
        used += i > 0 || machine->devices > 0;
    }
    capture->has_several_machines = used > 1;
    for (size_t i = 0; i < capture->agent_count; i++)
        if (capture->agents[i].device >= 0 && gathering->node_of_agent[i] < gathering->count)
            capture->agents[i].device += gathering->list[gathering->node_of_agent[i]].offset;
    for (size_t i = 0; i < capture->process_count; i++) {
        struct gt_rocm_process *process = &capture->processes[i];
        if (process->node >= gathering->count)
            continue;
        bool shares = gathering->list[process->node].shares_host;
        process->machine = shares ? keep(gathering, gt_strtab_get(&gathering->machines, process->node))
                                  : gathering->list[process->node].host;
    }
    gathering->has_failed |= hosts.failed || gathering->machines.failed;
    gt_map_release(&hosts);
}

enum gt_status gt_rocpd_facts_read(struct gt_rocpd_schema *schema, struct gt_rocm_capture *capture,
                                   const struct gt_sqlite_db *db, struct gt_sqlite_reader *reader,
                                   struct gt_rocpd_losses *losses, struct gt_error *err) {
    struct gathering gathering = {.capture = capture, .text_left = 4 * db->size_bytes + TEXT_SPARE};
    size_t strings = 0, symbols = 0;
    if (!gt_strtab_init(&gathering.machines))
        return gt_fail_memory(err);
    machine_of(&gathering, GT_STR(""), GT_STR("")); /* of processes that no machine is recorded for */
    enum gt_status status = GT_OK;
    for (size_t i = 0; i < schema->count && status == GT_OK; i++) {
        gathering.set = &schema->sets[i];
        status = read_set(&gathering, db, reader, losses, err);
        gathering.set->strings.base = strings;
        gathering.set->symbols.base = symbols;
        strings += gathering.set->strings.count;
        symbols += gathering.set->symbols.count;
    }
    if (status == GT_OK && !gathering.has_failed)
        settle_machines(&gathering);
    bool is_old = false;
    for (size_t i = 0; i < schema->count; i++)
        is_old |= schema->sets[i].tables[GT_ROCPD_OPS].table || schema->sets[i].tables[GT_ROCPD_CALLS].table;
    capture->producer = is_old ? GT_STR("rocmProfileData") : GT_STR("rocprofv3");
    if (status == GT_OK && (gathering.has_failed || gt_arena_failed(&capture->arena)))
        status = gt_fail_memory(err);
    gt_strtab_release(&gathering.machines);
    gt_mem_free(gathering.list);
    gt_mem_free(gathering.node_of_agent);
    return status;
}
