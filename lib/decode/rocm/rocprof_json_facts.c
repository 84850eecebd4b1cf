/* What rocprofv3's JSON says of a process before its records: who it is, its agents and counters, names of kernels,
   calls and markers. */
#include "base/mem.h"
#include "base/num.h"
#include "decode/rocm/rocprof_json.h"

enum { KINDS_MAX = 4096, DEVICES_MAX = 1 << 20 };

void gt_rocprof_json_process_release(struct gt_rocprof_json_process *process) {
    for (size_t i = 0; i < process->kind_count; i++)
        gt_mem_free(process->kinds[i].operations);
    gt_mem_free(process->kinds);
    gt_mem_free(process->symbol_facts);
    gt_rocpd_names_release(&process->symbols);
    gt_rocpd_names_release(&process->messages);
    gt_map_release(&process->agent_of);
    gt_map_release(&process->counter_of);
}

/* With its escapes undone; lives until the next. */
static struct gt_str decoded(struct gt_rocprof_json_facts *facts, const struct gt_rocprof_json_value *value) {
    bool is_repaired;
    if (!(value->text.marks & GT_JSON_ESCAPES))
        return value->text.raw;
    if (value->text.raw.len > facts->room_bytes) {
        char *grown = gt_mem_realloc(facts->room, value->text.raw.len);
        facts->has_failed |= !grown;
        if (!grown)
            return GT_STR("");
        facts->room = grown;
        facts->room_bytes = value->text.raw.len;
    }
    return (struct gt_str){facts->room, gt_json_scan_decode(value->text, facts->room, &is_repaired)};
}

static struct gt_str keep(struct gt_rocprof_json_facts *facts, const struct gt_rocprof_json_value *value) {
    return gt_arena_copy(&facts->capture->arena, decoded(facts, value));
}

static bool is(const struct gt_rocprof_json_value *value, const char *key) {
    return gt_str_eq(value->key, gt_str_of(key));
}

/* "id": {"handle": 7}, or the number alone. */
static bool is_handle(const struct gt_rocprof_json_value *value, const char *key) {
    return is(value, key) || (is(value, "handle") && gt_str_eq(value->parent, gt_str_of(key)));
}

static uint64_t number_of(const struct gt_rocprof_json_value *value, uint64_t most, uint64_t absent) {
    uint64_t number;
    return gt_rocprof_json_number(value, &number) && number <= most ? number : absent;
}

/* ---- the process ---- */

struct about {
    struct gt_rocprof_json_facts *facts;
    uint64_t pid;
    struct gt_str host, program;
};

static void take_about(void *context, const struct gt_rocprof_json_value *value) {
    struct about *about = context;
    if (is(value, "pid") && value->parent.len == 0)
        about->pid = number_of(value, INT64_MAX, GT_ROCM_NONE);
    else if (is(value, "hostname") && value->is_text)
        about->host = keep(about->facts, value);
    else if (is(value, "command") && value->is_text && about->program.len == 0)
        about->program = keep(about->facts, value);
}

static struct gt_str first_word(struct gt_str text) {
    size_t len = 0;
    while (len < text.len && text.ptr[len] != ' ')
        len++;
    return (struct gt_str){text.ptr, len};
}

void gt_rocprof_json_take_metadata(struct gt_rocprof_json_facts *facts, struct gt_str value) {
    struct about about = {facts, GT_ROCM_NONE, {"", 0}, {"", 0}};
    gt_rocprof_json_values(value, "config", take_about, &about);
    if (facts->capture->host.len == 0)
        facts->capture->host = about.host;
    if (about.pid == GT_ROCM_NONE)
        return;
    facts->process->place = gt_rocm_capture_process(facts->capture, 0, (int64_t)about.pid);
    if (facts->process->place != GT_ROCM_NO_PROCESS)
        facts->capture->processes[facts->process->place].name = gt_str_path_tail(first_word(about.program), 1);
}

/* ---- agents and counters ---- */

struct agent {
    struct gt_rocprof_json_facts *facts;
    uint64_t handle, type_index;
    struct gt_str name, product, model;
    struct gt_rocm_agent row;
};

static void take_agent(void *context, const struct gt_rocprof_json_value *value) {
    enum { GPU = 2 };
    struct agent *agent = context;
    if (is_handle(value, "id"))
        agent->handle = number_of(value, UINT64_MAX - 1, agent->handle);
    else if (is(value, "type"))
        agent->row.is_gpu =
            value->is_text ? gt_str_eq_nocase(value->text.raw, GT_STR("GPU")) : number_of(value, UINT32_MAX, 0) == GPU;
    else if (is(value, "logical_node_type_id"))
        agent->type_index = number_of(value, DEVICES_MAX, GT_ROCM_NONE);
    else if (is(value, "name") && value->is_text)
        agent->name = keep(agent->facts, value);
    else if (is(value, "product_name"))
        agent->product = keep(agent->facts, value);
    else if (is(value, "model_name"))
        agent->model = keep(agent->facts, value);
    else if (is(value, "cu_count"))
        agent->row.compute_units = (uint32_t)number_of(value, UINT32_MAX, 0);
    else if (is(value, "lds_size_in_kb"))
        agent->row.lds_bytes = 1024 * (uint32_t)number_of(value, UINT32_MAX / 1024, 0);
    else if (is(value, "max_engine_clk_fcompute"))
        agent->row.clock_hz = 1000000 * number_of(value, UINT32_MAX, 0);
}

void gt_rocprof_json_take_agent(struct gt_rocprof_json_facts *facts, struct gt_str value) {
    struct agent agent = {facts, GT_ROCM_NONE, GT_ROCM_NONE, {"", 0}, {"", 0}, {"", 0}, {0}};
    gt_rocprof_json_values(value, "caches", take_agent, &agent);
    if (agent.handle == GT_ROCM_NONE)
        return;
    if (agent.type_index == GT_ROCM_NONE)
        agent.type_index = facts->process->gpus;
    facts->process->gpus += agent.row.is_gpu;
    agent.row.device = agent.row.is_gpu ? (int64_t)agent.type_index : -1;
    agent.row.name = agent.product.len ? agent.product : agent.model.len ? agent.model : agent.name;
    uint32_t place = gt_rocm_capture_agent(facts->capture, &agent.row);
    if (place != UINT32_MAX)
        gt_map_put_if_new(&facts->process->agent_of, 0, agent.handle, place);
    facts->has_failed |= facts->process->agent_of.failed;
}

struct counter {
    struct gt_rocprof_json_facts *facts;
    uint64_t handle;
    struct gt_str name;
};

static void take_counter(void *context, const struct gt_rocprof_json_value *value) {
    struct counter *counter = context;
    if (is_handle(value, "id") && counter->handle == GT_ROCM_NONE)
        counter->handle = number_of(value, UINT64_MAX - 1, GT_ROCM_NONE);
    else if (is(value, "name") && value->parent.len == 0 && value->is_text)
        counter->name = keep(counter->facts, value);
}

void gt_rocprof_json_take_counter(struct gt_rocprof_json_facts *facts, struct gt_str value) {
    struct counter counter = {facts, GT_ROCM_NONE, {"", 0}};
    gt_rocprof_json_values(value, "dimensions", take_counter, &counter);
    if (counter.handle != GT_ROCM_NONE && counter.name.len)
        gt_map_put_if_new(&facts->process->counter_of, 0, counter.handle,
                          gt_rocm_capture_counter(facts->capture, counter.name));
    facts->has_failed |= facts->process->counter_of.failed;
}

/* ---- names ---- */

struct kind {
    struct gt_rocprof_json_facts *facts;
    struct gt_rocprof_json_kind *into;
};

static void take_kind(void *context, const struct gt_rocprof_json_value *value) {
    struct kind *kind = context;
    if (is(value, "kind") && value->is_text) {
        kind->into->name = keep(kind->facts, value);
    } else if (is(value, "operations") && value->is_text) {
        struct gt_str *grown =
            gt_mem_room(kind->into->operations, kind->into->count, &kind->into->capacity, sizeof *grown);
        kind->facts->has_failed |= !grown;
        if (!grown)
            return;
        kind->into->operations = grown;
        grown[kind->into->count++] = keep(kind->facts, value);
    }
}

/* Kinds of records and their operations are numbered by their places. */
void gt_rocprof_json_take_kind(struct gt_rocprof_json_facts *facts, struct gt_str value) {
    struct gt_rocprof_json_process *process = facts->process;
    if (process->kind_count == KINDS_MAX)
        return;
    struct gt_rocprof_json_kind *grown =
        gt_mem_room(process->kinds, process->kind_count, &process->kind_capacity, sizeof *grown);
    facts->has_failed |= !grown;
    if (!grown)
        return;
    process->kinds = grown;
    struct kind kind = {facts, &grown[process->kind_count++]};
    *kind.into = (struct gt_rocprof_json_kind){.name = {"", 0}};
    gt_rocprof_json_values(value, "", take_kind, &kind);
    kind.into->domain = gt_rocm_domain_of(kind.into->name);
}

struct message {
    struct gt_rocprof_json_facts *facts;
    uint64_t key;
    bool has_text;
};

/* {"key": 7, "value": "text"} */
static void take_message(void *context, const struct gt_rocprof_json_value *value) {
    struct message *message = context;
    if (is(value, "key"))
        message->key = number_of(value, UINT64_MAX - 1, GT_ROCM_NONE);
    else if (is(value, "value") && value->is_text && message->key != GT_ROCM_NONE)
        message->facts->has_failed |=
            !gt_rocpd_names_add(&message->facts->process->messages, message->key, decoded(message->facts, value),
                                &message->facts->capture->arena);
}

void gt_rocprof_json_take_message(struct gt_rocprof_json_facts *facts, struct gt_str value) {
    struct message message = {facts, GT_ROCM_NONE, false};
    gt_rocprof_json_values(value, "", take_message, &message);
}

struct symbol {
    struct gt_rocprof_json_facts *facts;
    uint64_t id;
    struct gt_str formatted, demangled, name;
    struct gt_rocpd_symbol row;
};

static void take_symbol(void *context, const struct gt_rocprof_json_value *value) {
    struct symbol *symbol = context;
    if (is(value, "kernel_id"))
        symbol->id = number_of(value, UINT64_MAX - 1, GT_ROCM_NONE);
    else if (is(value, "formatted_kernel_name") && value->is_text)
        symbol->formatted = keep(symbol->facts, value);
    else if (is(value, "demangled_kernel_name") && value->is_text)
        symbol->demangled = keep(symbol->facts, value);
    else if (is(value, "kernel_name") && value->is_text)
        symbol->name = keep(symbol->facts, value);
    else if (is(value, "group_segment_size"))
        symbol->row.lds_bytes = number_of(value, UINT64_MAX - 1, GT_ROCM_NONE);
    else if (is(value, "private_segment_size"))
        symbol->row.scratch_bytes = number_of(value, UINT64_MAX - 1, GT_ROCM_NONE);
    else if (is(value, "arch_vgpr_count"))
        symbol->row.vgprs = number_of(value, UINT64_MAX - 1, GT_ROCM_NONE);
}

void gt_rocprof_json_take_symbol(struct gt_rocprof_json_facts *facts, struct gt_str value) {
    struct gt_rocprof_json_process *process = facts->process;
    struct symbol symbol = {facts, GT_ROCM_NONE, {"", 0}, {"", 0}, {"", 0}, {GT_ROCM_NONE, GT_ROCM_NONE, GT_ROCM_NONE}};
    gt_rocprof_json_values(value, "arguments", take_symbol, &symbol);
    struct gt_str name = gt_rocm_kernel_name(symbol.formatted.len   ? symbol.formatted
                                             : symbol.demangled.len ? symbol.demangled
                                                                    : symbol.name);
    if (symbol.id == GT_ROCM_NONE || name.len == 0)
        return;
    struct gt_rocpd_symbol *grown =
        gt_mem_room(process->symbol_facts, process->symbols.count, &process->symbol_capacity, sizeof *grown);
    facts->has_failed |= !grown;
    if (!grown)
        return;
    process->symbol_facts = grown;
    grown[process->symbols.count] = symbol.row;
    facts->has_failed |= !gt_rocpd_names_add(&process->symbols, symbol.id, name, &facts->capture->arena);
}

static void seal(struct gt_rocprof_json_facts *facts, struct gt_rocpd_names *names) {
    if (!names->dense)
        facts->has_failed |= !gt_rocpd_names_seal(names);
}

void gt_rocprof_json_seal_names(struct gt_rocprof_json_facts *facts) {
    seal(facts, &facts->process->symbols);
    seal(facts, &facts->process->messages);
}
