/* Makes traces as the PyTorch profiler writes them, for measuring: the same options give the same bytes. Steps of
   launches with nested operators, Python functions, flows, copies and collectives; CPU events first, then calls and GPU
   work, as Kineto orders them. Prints what it wrote. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace_names.h"
#include "trace_text.h"

static const char usage[] = "usage: tracegen [-s SIZE] [-y multi|flat|min] [-t frac|int] [-u KERNELS] [-p PERCENT] "
                            "[-k STREAMS] [-d SHAPES] [-r SEED] FILE\n"
                            "  -s  about so many bytes: 100M, 1G (100M)\n"
                            "  -y  layout: args on lines of their own, args on one line (newest Kineto),\n"
                            "      or all on one line as json.dump writes it (multi)\n"
                            "  -t  times in microseconds with decimals, or whole ones as old releases have (frac)\n"
                            "  -u  unique kernel names (600)   -p  launches with Python functions, percent (30)\n"
                            "  -k  streams (4)                 -r  seed (1)\n"
                            "  -d  different arguments of operators, and launch configurations (all are)\n";

enum { LAUNCHES = 400, MAX_STREAMS = 200, PROCESS = 3037, BACKWARD_THREAD = PROCESS + 412 };
enum { NS_PER_STEP = 12000000, NS_PER_LAUNCH = 28000 };

struct kernel {
    char *name;
    enum kernel_kind kind;
    uint64_t weight_end; /* of all kernels up to this one */
};

static struct {
    uint64_t size, seed;
    uint32_t kernels, python_percent, streams, shapes;
} options = {100000000, 1, 600, 30, 4, 0};

static struct {
    uint64_t correlation, external_id, event_index, python_id;
    struct kernel *kernels;
    uint32_t *external_ids; /* of the innermost operator of each launch */
    uint64_t stream_free_ns[MAX_STREAMS + 1];
    uint64_t collectives_free_ns;
} state;

/* ---- events ---- */

/* A complete event up to its args, which are begun. */
static void begin_complete(const char *category, const char *name, uint64_t pid, uint64_t tid, uint64_t start_ns,
                           uint64_t duration_ns) {
    begin_event();
    put("\"ph\": \"X\", \"cat\": \"");
    put(category);
    put("\", \"name\": \"");
    put(name);
    put_member("\", \"pid\": ", pid);
    put_member(", \"tid\": ", tid);
    next_line();
    put("\"ts\": ");
    put_micros(start_ns);
    put(", \"dur\": ");
    put_micros(duration_ns);
    begin_args();
}

static void put_flow(const char *phase, uint64_t id, uint64_t pid, uint64_t tid, uint64_t ns) {
    begin_event();
    put("\"ph\": \"");
    put(phase);
    put_member("\", \"id\": ", id);
    put_member(", \"pid\": ", pid);
    put_member(", \"tid\": ", tid);
    put(", \"ts\": ");
    put_micros(ns);
    next_line();
    put("\"cat\": \"ac2g\", \"name\": \"ac2g\"");
    if (*phase == 'f')
        put(", \"bp\": \"e\"");
    end_event();
}

/* ---- kernels ---- */

/* A few kernels are launched most of the time, and collectives now and then. */
static void make_kernels(void) {
    uint64_t weight = 0;
    char name[NAME_BYTES];
    state.kernels = calloc(options.kernels, sizeof *state.kernels);
    random_state = options.seed * 31 + 5;
    for (uint32_t i = 0; state.kernels && i < options.kernels; i++) {
        state.kernels[i].kind = name_kernel(i, name);
        state.kernels[i].name = strdup(name);
        weight += state.kernels[i].kind == KIND_COLLECTIVE ? 20000 : 1000000 / (i + 2) + 50;
        state.kernels[i].weight_end = weight;
    }
}

static uint32_t pick_kernel(void) {
    uint64_t at = next_random() % state.kernels[options.kernels - 1].weight_end;
    uint32_t low = 0, high = options.kernels - 1;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (state.kernels[middle].weight_end > at)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* ---- CPU events ---- */

static void put_dims(uint32_t count) {
    put("[");
    for (uint32_t i = 0; i < count; i++) {
        put(i ? ", [" : "[");
        for (uint32_t n = below(5), k = 0; k < n; k++) {
            put(k ? ", " : "");
            put_number(1u << below(13));
        }
        put("]");
    }
    put("]");
}

static void put_inputs(uint32_t count) {
    static const char *const scalars[] = {"ScalarList", "Scalar"};
    uint32_t kind = below(3);
    put(", \"Concrete Inputs\": [");
    for (uint32_t i = 0; i < count; i++) {
        put(i ? ", " : "");
        if (kind == 0 && i) {
            put_member("\"[", 1u << below(12));
            put_member(", ", 1u << below(12));
            put("]\"");
        } else {
            put(kind == 1 && i ? "\"False\"" : "\"\"");
        }
    }
    put("], \"Input type\": [");
    for (uint32_t i = 0; i < count; i++) {
        put(i ? ", \"" : "\"");
        put(kind < 2 && i ? scalars[kind] : below(2) ? "c10::BFloat16" : "float");
        put("\"");
    }
    put("], \"Input Strides\": ");
    put_dims(count);
    put(", \"Input Dims\": ");
    put_dims(count);
}

/* Programs run the same operators with the same arguments over and over: begins one of so many sequences of random
   numbers. Gives the state to go on with after it. */
static uint64_t begin_repeated(void) {
    uint64_t which = options.shapes ? below(options.shapes) : 0, state_after = random_state;
    if (options.shapes)
        random_state = mix(options.seed + which);
    return state_after;
}

static void end_repeated(uint64_t state_after) {
    if (options.shapes)
        random_state = state_after;
}

static void put_operator(uint64_t start_ns, uint64_t duration_ns, uint64_t thread) {
    begin_complete("cpu_op", PICK(operator_names), PROCESS, thread, start_ns, duration_ns);
    put_member("\"External id\": ", ++state.external_id);
    put_member(",\"Record function id\": ", below(4) ? 0 : state.external_id);
    uint64_t state_after = begin_repeated();
    put_inputs(1 + below(5));
    end_repeated(state_after);
    if (below(3) == 0) {
        put_member(", \"Fwd thread id\": ", below(2));
        put_member(", \"Sequence number\": ", state.external_id / 3);
    }
    put_member(", \"Ev Idx\": ", state.event_index++);
    end_args();
}

static void put_python(uint64_t start_ns, uint64_t duration_ns, uint64_t thread) {
    char name[128];
    const char *picked = PICK(python_names);
    bool is_numbered = picked[strlen(picked) - 1] == '_';
    snprintf(name, sizeof name, is_numbered ? "%s%u" : "%s", picked, below(400));
    begin_complete("python_function", name, PROCESS, thread, start_ns, duration_ns);
    put_member("\"External id\": ", ++state.external_id);
    put_member(",\"Python parent id\": ", state.python_id / 2);
    put_member(", \"Python id\": ", ++state.python_id);
    put_member(", \"Ev Idx\": ", state.event_index++);
    end_args();
}

static void put_annotation(const char *category, const char *name, uint64_t pid, uint64_t tid, uint64_t start_ns,
                           uint64_t duration_ns) {
    begin_complete(category, name, pid, tid, start_ns, duration_ns);
    put_member("\"External id\": ", ++state.external_id);
    end_args();
}

/* ---- launches ---- */

/* What both passes of a step must know alike. */
struct launch {
    uint64_t thread, start_ns, nesting, external_id;
};

static struct launch find_launch(uint32_t step, uint32_t index) {
    uint64_t base_ns = trace.has_decimals ? 3849606161999000 : 1713744188632743000;
    uint64_t hash = mix(options.seed + step * UINT64_C(0x9e3779b97f4a7c15) + index * UINT64_C(0xd1b54a32d192ed03));
    return (struct launch){
        .thread = index < LAUNCHES * 2 / 5 ? PROCESS : BACKWARD_THREAD,
        .start_ns = base_ns + (uint64_t)step * NS_PER_STEP + 5000 + (uint64_t)index * NS_PER_LAUNCH + (hash & 4095),
        .nesting = 1 + (hash >> 20 & 3),
        .external_id = state.external_ids[(size_t)step * LAUNCHES + index],
    };
}

static void put_call(const char *category, const char *name, const struct launch *launch, uint64_t start_ns, int code) {
    begin_complete(category, name, PROCESS, launch->thread, start_ns, 3000 + below(3500));
    put_member("\"External id\": ", launch->external_id);
    put_member(",\"cbid\": ", (uint64_t)code);
    put_member(", \"correlation\": ", state.correlation);
    end_args();
    put_flow("s", state.correlation, PROCESS, launch->thread, start_ns);
}

static void put_op_head(const char *category, const char *name, const struct launch *launch, uint32_t stream,
                        uint64_t start_ns, uint64_t duration_ns) {
    begin_complete(category, name, 0, stream, start_ns, duration_ns);
    put_member("\"External id\": ", launch->external_id);
    next_arg();
    put(category[0] == 'k' ? "\"queued\": 0, \"device\": 0, \"context\": 1" : "\"device\": 0, \"context\": 1");
    next_arg();
    put_member("\"stream\": ", stream);
    put_member(", \"correlation\": ", state.correlation);
    next_arg();
}

static void put_kernel_args(void) {
    uint32_t blocks = 1 + below(below(4) ? 2000 : 64000), threads = 32u << below(6);
    put_member("\"registers per thread\": ", 16 + below(240));
    next_arg();
    put_member("\"shared memory\": ", below(2) ? 0 : 1024 * below(200));
    next_arg();
    put("\"blocks per SM\": ");
    put_ratio(blocks, 132);
    next_arg();
    put("\"warps per SM\": ");
    put_ratio(blocks * (threads / 32), 132);
    next_arg();
    put_member("\"grid\": [", blocks);
    put_member(", ", 1 + below(4));
    put(", 1]");
    next_arg();
    put_member("\"block\": [", threads);
    put(", 1, 1]");
    next_arg();
    put_member("\"est. achieved occupancy %\": ", below(101));
}

static void put_collective_args(void) {
    put_member(", \"Collective name\": \"allreduce\", \"In msg nelems\": ", 1u << (10 + below(18)));
    put(", \"Group size\": 8, \"dtype\": \"BFloat16\", \"Process Group Name\": \"0\", \"Process Group Description\": "
        "\"default_pg\", \"Process Group Ranks\": \"[0, 1, 2, 3, 4, 5, 6, 7]\"");
}

static uint64_t *stream_end(const struct kernel *kernel, uint32_t stream) {
    return kernel && kernel->kind == KIND_COLLECTIVE ? &state.collectives_free_ns : &state.stream_free_ns[stream];
}

static uint64_t pick_duration(void) {
    uint32_t kind = below(100);
    return kind < 60 ? 1500 + below(6000) : kind < 95 ? 8000 + below(40000) : 60000 + below(240000);
}

static void put_kernel(const struct launch *launch, uint64_t call_ns, uint32_t stream) {
    const struct kernel *kernel = &state.kernels[pick_kernel()];
    bool is_collective = kernel->kind == KIND_COLLECTIVE, is_driver = kernel->kind == KIND_TRITON;
    uint64_t *free_ns = stream_end(kernel, stream), start_ns = call_ns + 4000 + below(3000);
    uint64_t duration_ns = pick_duration() + (is_collective ? 50000 : 0);
    uint32_t id = is_collective ? 20 : stream ? 20 + 4 * stream : 7;
    if (start_ns < *free_ns)
        start_ns = *free_ns + 200 + below(900);
    *free_ns = start_ns + duration_ns;
    if (is_driver)
        put_call("cuda_driver", "cuLaunchKernel", launch, call_ns, 307);
    else
        put_call("cuda_runtime", below(4) ? "cudaLaunchKernel" : "cudaLaunchKernelExC", launch, call_ns, 211);
    put_op_head("kernel", kernel->name, launch, id, start_ns, duration_ns);
    uint64_t state_after = begin_repeated();
    put_kernel_args();
    end_repeated(state_after);
    if (is_collective)
        put_collective_args();
    end_args();
    put_flow("f", state.correlation, 0, id, start_ns);
}

static void put_copy(const struct launch *launch, uint64_t call_ns, uint32_t stream, bool is_set) {
    static const char *const names[] = {"Memcpy DtoD (Device -> Device)", "Memcpy HtoD (Pinned -> Device)",
                                        "Memcpy DtoH (Device -> Pageable)", "Memcpy HtoD (Pageable -> Device)"};
    uint64_t start_ns = call_ns + 4000 + below(3000), duration_ns = is_set ? 1200 : pick_duration();
    uint64_t bytes = 1u << (4 + below(20)), *free_ns = stream_end(NULL, stream);
    uint32_t id = stream ? 20 + 4 * stream : 7;
    if (start_ns < *free_ns)
        start_ns = *free_ns + 200 + below(900);
    *free_ns = start_ns + duration_ns;
    put_call("cuda_runtime", is_set ? "cudaMemsetAsync" : "cudaMemcpyAsync", launch, call_ns, is_set ? 51 : 41);
    put_op_head(is_set ? "gpu_memset" : "gpu_memcpy", is_set ? "Memset (Device)" : PICK(names), launch, id, start_ns,
                duration_ns);
    put_member("\"bytes\": ", bytes);
    put(", \"memory bandwidth (GB/s)\": ");
    put_ratio(bytes, duration_ns);
    end_args();
    put_flow("f", state.correlation, 0, id, start_ns);
}

/* ---- steps ---- */

static void put_cpu_part(uint32_t step) {
    uint64_t step_ns = find_launch(step, 0).start_ns - 9000;
    char name[32];
    snprintf(name, sizeof name, "ProfilerStep#%u", step);
    put_annotation("user_annotation", name, PROCESS, PROCESS, step_ns, NS_PER_STEP - 100000);
    for (uint32_t i = 0; i < LAUNCHES; i++) {
        struct launch launch = find_launch(step, i);
        uint32_t functions_here = below(100) < options.python_percent ? 1 + below(3) : 0;
        for (uint32_t k = 0; k < functions_here; k++)
            put_python(launch.start_ns + k * 200, 19000 - k * 700 + below(400), launch.thread);
        for (uint64_t k = 0; k < launch.nesting; k++)
            put_operator(launch.start_ns + 1000 + k * 900, 15000 - k * 2500 + below(500), launch.thread);
        state.external_ids[(size_t)step * LAUNCHES + i] = (uint32_t)state.external_id;
    }
}

static void put_gpu_part(uint32_t step) {
    uint64_t begin_ns = find_launch(step, 0).start_ns;
    char name[32];
    for (uint32_t i = 0; i < LAUNCHES; i++) {
        struct launch launch = find_launch(step, i);
        uint64_t call_ns = launch.start_ns + 400 + launch.nesting * 900;
        uint32_t what = below(100),
                 stream = below(100) < 85 || options.streams < 2 ? 0 : 1 + below(options.streams - 1);
        state.correlation++;
        if (what < 94)
            put_kernel(&launch, call_ns, stream);
        else if (what < 99)
            put_copy(&launch, call_ns, stream, what >= 97);
        else
            put_call("cuda_runtime", "cudaStreamSynchronize", &launch, call_ns, 131);
    }
    snprintf(name, sizeof name, "ProfilerStep#%u", step);
    put_annotation("gpu_user_annotation", name, 0, 7, begin_ns, state.stream_free_ns[0] - begin_ns);
}

static void begin_pass(uint32_t step, uint64_t pass) {
    random_state = options.seed * 0x100000001b3 + step * 7919 + pass * 1234567;
}

static void put_steps(uint32_t steps) {
    for (uint32_t step = 0; step < steps; step++) {
        begin_pass(step, 0);
        put_cpu_part(step);
    }
    for (uint32_t step = 0; step < steps; step++) {
        begin_pass(step, 1);
        put_gpu_part(step);
    }
}

static void put_header(void) {
    put("{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [\n    {\n      \"id\": 0, \"name\": \"NVIDIA H100 80GB "
        "HBM3\", \"totalGlobalMem\": 84929347584,\n      \"computeMajor\": 9, \"computeMinor\": 0, \"numSms\": 132\n"
        "    }\n  ],\n  \"distributedInfo\": {\"backend\": \"nccl\", \"rank\": 0, \"world_size\": 8},\n"
        "  \"displayTimeUnit\": \"ms\",\n  \"baseTimeNanoseconds\": 1713736410000000000,\n  \"traceEvents\": [");
}

static void put_footer(void) {
    begin_event();
    put_member("\"name\": \"process_name\", \"ph\": \"M\", \"ts\": 1, \"pid\": ", PROCESS);
    put(", \"tid\": 0, \"args\": {\"name\": \"python\"}");
    end_event();
    put("\n  ],\n  \"traceName\": \"trace.json\"\n}\n");
    flush();
}

/* A few steps written to nowhere tell how many are needed. */
static uint32_t count_steps(void) {
    enum { REHEARSED = 4 };
    state.external_ids = calloc(REHEARSED * LAUNCHES, sizeof *state.external_ids);
    if (!state.external_ids)
        return 0;
    trace.is_rehearsal = true;
    put_steps(REHEARSED);
    flush();
    uint64_t steps = options.size * REHEARSED / trace.bytes;
    free(state.external_ids);
    return steps < 1 ? 1 : steps > UINT32_MAX / LAUNCHES ? UINT32_MAX / LAUNCHES : (uint32_t)steps;
}

static void reset(void) {
    struct kernel *kernels = state.kernels;
    memset(&state, 0, sizeof state);
    state.kernels = kernels;
    trace.is_rehearsal = false;
    trace.bytes = trace.events = 0;
}

static uint64_t parse_size(const char *text) {
    char *end;
    double size = strtod(text, &end);
    return (uint64_t)(size * (*end == 'K' ? 1e3 : *end == 'M' ? 1e6 : *end == 'G' ? 1e9 : 1));
}

static bool parse_options(int argc, char **argv) {
    for (int c; (c = getopt(argc, argv, "s:y:t:u:p:k:d:r:")) != -1;) {
        uint32_t number = optarg ? (uint32_t)strtoul(optarg, NULL, 10) : 0;
        switch (c) {
        case 's':
            options.size = parse_size(optarg);
            break;
        case 'y':
            trace.layout = strcmp(optarg, "min") == 0    ? LAYOUT_MIN
                           : strcmp(optarg, "flat") == 0 ? LAYOUT_FLAT
                                                         : LAYOUT_MULTI;
            break;
        case 't':
            trace.has_decimals = strcmp(optarg, "int") != 0;
            break;
        case 'u':
            options.kernels = number < 8 ? 8 : number;
            break;
        case 'p':
            options.python_percent = number;
            break;
        case 'd':
            options.shapes = number;
            break;
        case 'k':
            options.streams = number < 1 ? 1 : number > MAX_STREAMS ? MAX_STREAMS : number;
            break;
        case 'r':
            options.seed = strtoull(optarg, NULL, 10);
            break;
        default:
            return false;
        }
    }
    return optind + 1 == argc;
}

int main(int argc, char **argv) {
    if (!parse_options(argc, argv)) {
        fputs(usage, stderr);
        return 2;
    }
    make_kernels();
    uint32_t steps = count_steps();
    reset();
    state.external_ids = calloc((size_t)steps * LAUNCHES, sizeof *state.external_ids);
    trace.file = fopen(argv[optind], "wb");
    if (!state.kernels || !state.external_ids || !trace.file) {
        perror(argv[optind]);
        return 1;
    }
    put_header();
    put_steps(steps);
    put_footer();
    if (fclose(trace.file) != 0) {
        perror(argv[optind]);
        return 1;
    }
    printf("bytes %" PRIu64 " events %" PRIu64 " steps %u\n", trace.bytes, trace.events, steps);
    return 0;
}
