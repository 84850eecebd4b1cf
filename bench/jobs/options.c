/* The command line of jobgen. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job.h"

static const char usage[] =
    "usage: jobgen [OPTION...] FOLDER\n"
    "Writes FOLDER/rank0000.json ... and FOLDER/truth.json: a simulated training job, the same for the same options.\n"
    "Ranks and steps:\n"
    "  --ranks N            ranks, up to 1024 (8)\n"
    "  --tp N --pp N --ep N sizes of tensor, pipeline and expert parallel groups (1)\n"
    "  --dp N               data parallel size; usually ranks / (tp * pp)\n"
    "  --steps N            profiled steps, ProfilerStep#1 to #N (6)\n"
    "  --micro-batches N    for each step (pipelines: twice the stages, else 1)\n"
    "  --layers N           for each stage (2)\n"
    "  --kernels N          between two collectives (4)\n"
    "  --kernel-us N        mean duration of a kernel (30)\n"
    "  --size BYTES         about so large each trace, by more kernels: 300K, 5M\n"
    "  --gpus-per-host N    ranks of a host, which share its clock (8)\n"
    "  --overlap            gradients move on a stream of their own during the backward pass\n"
    "  --sharding           reduce_scatter and all_gather in place of all_reduce for gradients\n"
    "  --gpipe              all forward passes before the backward ones; else one forward, one backward\n"
    "  --broadcast          the first rank of a tensor parallel group hands out the data\n"
    "Faults, which combine and may be repeated:\n"
    "  --straggler RANK:more|slower|host|launch:FACTOR\n"
    "                       in every step: extra kernels, slower kernels, a host that is late by FACTOR - 1 of the\n"
    "                       compute time, or launches that cost FACTOR times as much\n"
    "  --hot-expert RANK:SHARE         the expert that gets this share of the tokens of its group\n"
    "  --episode STEP:RANK:host|compute:MS   once\n"
    "  --slow-link GROUP:FACTOR        a group by its kind and number (tp0, dp3) or its name: nobody is guilty\n"
    "What traces show of it:\n"
    "  --noise SHARE        jitter of every duration, up to 0.3 (0)\n"
    "  --chunk US           members leave a collective up to this much apart (0)\n"
    "  --skew               clocks are set apart: milliseconds between hosts\n"
    "  --drift PPM          clocks of hosts run up to this much too fast or too slow (0)\n"
    "  --windows-apart      profilers begin and end apart\n"
    "  --desync RANK:STEP[:add]        the rank leaves out one all_reduce, or runs one alone\n"
    "  --shared-gpu         all ranks on one GPU, which slow each other down at random\n"
    "  --graph              layers are replayed as CUDA graphs: collectives without metadata\n"
    "  --seq --comms-id     fields of newer releases that name a collective\n"
    "  --local-peers        peers of messages are positions in the group\n"
    "  --gzip               rank0000.json.gz ...\n"
    "All of it:\n"
    "  --random SEED        draws a whole job, with or without a culprit; options after it override\n"
    "  --seed N             for everything drawn (1)\n"
    "  --threads N          for writing; the result is the same (2)\n"
    "  --help               shows this\n";

static const struct {
    const char *name;
    size_t offset;
    uint32_t least, most;
} numbers[] = {
    {"ranks", offsetof(struct options, ranks), 2, MAX_RANKS},
    {"tp", offsetof(struct options, tp), 1, MAX_RANKS},
    {"pp", offsetof(struct options, pp), 1, MAX_STAGES},
    {"dp", offsetof(struct options, dp), 1, MAX_RANKS},
    {"ep", offsetof(struct options, ep), 1, MAX_RANKS},
    {"steps", offsetof(struct options, steps), 1, MAX_STEPS},
    {"micro-batches", offsetof(struct options, micro_batches), 1, 1000},
    {"layers", offsetof(struct options, layers), 1, 1000},
    {"kernels", offsetof(struct options, kernels), 1, 1000000},
    {"gpus-per-host", offsetof(struct options, gpus_per_host), 1, MAX_RANKS},
    {"threads", offsetof(struct options, threads), 1, 256},
};

static const struct {
    const char *name;
    size_t offset;
} flags[] = {
    {"skew", offsetof(struct options, has_skew)},
    {"windows-apart", offsetof(struct options, has_windows_apart)},
    {"shared-gpu", offsetof(struct options, has_shared_gpu)},
    {"graph", offsetof(struct options, has_graph)},
    {"overlap", offsetof(struct options, has_overlap)},
    {"sharding", offsetof(struct options, has_sharding)},
    {"gpipe", offsetof(struct options, has_gpipe)},
    {"broadcast", offsetof(struct options, has_broadcast)},
    {"gzip", offsetof(struct options, has_gzip)},
    {"seq", offsetof(struct options, has_seq)},
    {"comms-id", offsetof(struct options, has_comms_id)},
    {"local-peers", offsetof(struct options, has_local_peers)},
};

enum { NUMBERS = sizeof numbers / sizeof *numbers, FLAGS = sizeof flags / sizeof *flags };

enum option_id {
    ID_HELP = 256,
    ID_RANDOM,
    ID_SIZE,
    ID_KERNEL_US,
    ID_NOISE,
    ID_CHUNK,
    ID_DRIFT,
    ID_SEED,
    ID_STRAGGLER,
    ID_HOT_EXPERT,
    ID_EPISODE,
    ID_SLOW_LINK,
    ID_DESYNC,
    ID_NUMBERS, /* then the plain numbers, then the flags */
    ID_FLAGS = ID_NUMBERS + NUMBERS,
};

static const struct option valued[] = {
    {"help", no_argument, NULL, ID_HELP},
    {"random", required_argument, NULL, ID_RANDOM},
    {"size", required_argument, NULL, ID_SIZE},
    {"kernel-us", required_argument, NULL, ID_KERNEL_US},
    {"noise", required_argument, NULL, ID_NOISE},
    {"chunk", required_argument, NULL, ID_CHUNK},
    {"drift", required_argument, NULL, ID_DRIFT},
    {"seed", required_argument, NULL, ID_SEED},
    {"straggler", required_argument, NULL, ID_STRAGGLER},
    {"hot-expert", required_argument, NULL, ID_HOT_EXPERT},
    {"episode", required_argument, NULL, ID_EPISODE},
    {"slow-link", required_argument, NULL, ID_SLOW_LINK},
    {"desync", required_argument, NULL, ID_DESYNC},
};

enum { VALUED = sizeof valued / sizeof *valued };

/* ---- values ---- */

static double parse_real(const char *name, const char *text, double least, double most) {
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !(value >= least && value <= most))
        fail("--%s: '%s' is not between %g and %g", name, text, least, most);
    return value;
}

static uint64_t parse_size(const char *text) {
    char *end;
    double size = strtod(text, &end);
    double unit = *end == 'K' ? 1e3 : *end == 'M' ? 1e6 : *end == 'G' ? 1e9 : 1;
    if (end == text || (*end && unit == 1) || size < 0 || size * unit > 1e12)
        fail("--size: '%s' is no size such as 300K or 5M", text);
    return (uint64_t)(size * unit);
}

static struct fault *new_fault(struct options *options, enum fault_kind kind) {
    if (options->fault_count == MAX_FAULTS)
        fail("more than %d faults", MAX_FAULTS);
    struct fault *fault = &options->faults[options->fault_count++];
    *fault = (struct fault){.kind = kind, .rank = UINT32_MAX, .factor = 1};
    return fault;
}

static void parse_straggler(struct options *options, const char *text) {
    static const char *const kinds[] = {"more", "slower", "host", "launch"};
    unsigned rank;
    char kind[16], factor[32];
    if (sscanf(text, "%u:%15[a-z]:%31s", &rank, kind, factor) != 3)
        fail("--straggler: '%s' is not RANK:more|slower|host|launch:FACTOR", text);
    for (uint32_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kind, kinds[i]) == 0) {
            struct fault *fault = new_fault(options, (enum fault_kind)i);
            fault->rank = rank;
            fault->factor = parse_real("straggler", factor, 1, 1000);
            return;
        }
    fail("--straggler: '%s' is not more, slower, host or launch", kind);
}

static void parse_hot_expert(struct options *options, const char *text) {
    unsigned rank;
    char share[32];
    if (sscanf(text, "%u:%31s", &rank, share) != 2)
        fail("--hot-expert: '%s' is not RANK:SHARE", text);
    struct fault *fault = new_fault(options, FAULT_HOT_EXPERT);
    fault->rank = rank;
    fault->factor = parse_real("hot-expert", share, 0.01, 0.99);
}

static void parse_episode(struct options *options, const char *text) {
    unsigned step, rank;
    char kind[16], ms[32];
    if (sscanf(text, "%u:%u:%15[a-z]:%31s", &step, &rank, kind, ms) != 4 ||
        (strcmp(kind, "host") != 0 && strcmp(kind, "compute") != 0))
        fail("--episode: '%s' is not STEP:RANK:host|compute:MS", text);
    struct fault *fault = new_fault(options, *kind == 'h' ? FAULT_EPISODE_HOST : FAULT_EPISODE_COMPUTE);
    fault->rank = rank;
    fault->step = step - 1;
    fault->ns = (int64_t)(parse_real("episode", ms, 0.001, 1e6) * 1e6);
}

static void parse_slow_link(struct options *options, const char *text) {
    struct fault *fault = new_fault(options, FAULT_SLOW_LINK);
    char factor[32];
    if (sscanf(text, "%15[^:]:%31s", fault->group, factor) != 2)
        fail("--slow-link: '%s' is not GROUP:FACTOR", text);
    fault->factor = parse_real("slow-link", factor, 1, 1000);
}

static void parse_desync(struct options *options, const char *text) {
    unsigned rank, step;
    int used = 0;
    if (sscanf(text, "%u:%u%n", &rank, &step, &used) != 2 || (text[used] && strcmp(text + used, ":add") != 0))
        fail("--desync: '%s' is not RANK:STEP or RANK:STEP:add", text);
    options->has_desync = true;
    options->desync_rank = rank;
    options->desync_step = step - 1;
    options->desync_adds = text[used] != '\0';
}

/* ---- what the options have to be to each other ---- */

static void check_faults(const struct options *options) {
    for (uint32_t i = 0; i < options->fault_count; i++) {
        const struct fault *fault = &options->faults[i];
        if (fault->kind != FAULT_SLOW_LINK && fault->rank >= options->ranks)
            fail("the job has no rank %u", fault->rank);
        if (fault->step >= options->steps)
            fail("--episode: steps are 1 to %u", options->steps);
        if (fault->kind == FAULT_HOT_EXPERT && options->ep < 2)
            fail("--hot-expert: needs --ep of 2 or more");
    }
    if (options->has_desync && (options->desync_rank >= options->ranks || options->desync_step >= options->steps))
        fail("--desync: ranks are 0 to %u, steps 1 to %u", options->ranks - 1, options->steps);
}

static void complete(struct options *options) {
    if (!options->dp)
        options->dp = options->ranks / (options->tp * options->pp);
    if ((uint64_t)options->tp * options->pp * options->dp != options->ranks)
        fail("tp * pp * dp is %u * %u * %u, not %u ranks", options->tp, options->pp, options->dp, options->ranks);
    if (options->dp % options->ep != 0 || options->ep > 512)
        fail("--ep: expert groups are parts of the %u data parallel ranks, 512 at most", options->dp);
    if (!options->micro_batches)
        options->micro_batches = options->pp > 1 ? 2 * options->pp : 1;
    check_faults(options);
}

/* ---- the command line ---- */

static void make_table(struct option *table) {
    for (uint32_t i = 0; i < VALUED; i++)
        *table++ = valued[i];
    for (int i = 0; i < NUMBERS; i++)
        *table++ = (struct option){numbers[i].name, required_argument, NULL, ID_NUMBERS + i};
    for (int i = 0; i < FLAGS; i++)
        *table++ = (struct option){flags[i].name, no_argument, NULL, ID_FLAGS + i};
    *table = (struct option){0};
}

static bool take_option(struct options *options, int id, const char *value) {
    if (id >= ID_FLAGS) {
        *(bool *)((char *)options + flags[id - ID_FLAGS].offset) = true;
        return true;
    }
    if (id >= ID_NUMBERS) {
        int row = id - ID_NUMBERS;
        double number = parse_real(numbers[row].name, value, numbers[row].least, numbers[row].most);
        *(uint32_t *)((char *)options + numbers[row].offset) = (uint32_t)number;
        return true;
    }
    switch (id) {
    case ID_RANDOM:
        options_draw(options, strtoull(value, NULL, 10));
        break;
    case ID_SIZE:
        options->size = parse_size(value);
        break;
    case ID_KERNEL_US:
        options->kernel_ns = (uint64_t)(parse_real("kernel-us", value, 1, 1e6) * 1000);
        break;
    case ID_NOISE:
        options->noise = parse_real("noise", value, 0, 0.3);
        break;
    case ID_CHUNK:
        options->chunk_ns = (int64_t)(parse_real("chunk", value, 0, 1e6) * 1000);
        break;
    case ID_DRIFT:
        options->drift_ppm = parse_real("drift", value, 0, 1000);
        break;
    case ID_SEED:
        options->seed = strtoull(value, NULL, 10);
        break;
    case ID_STRAGGLER:
        parse_straggler(options, value);
        break;
    case ID_HOT_EXPERT:
        parse_hot_expert(options, value);
        break;
    case ID_EPISODE:
        parse_episode(options, value);
        break;
    case ID_SLOW_LINK:
        parse_slow_link(options, value);
        break;
    case ID_DESYNC:
        parse_desync(options, value);
        break;
    default:
        return false;
    }
    return true;
}

bool options_parse(struct options *options, int argc, char **argv) {
    struct option table[VALUED + NUMBERS + FLAGS + 1];
    make_table(table);
    *options = (struct options){.ranks = 8,
                                .tp = 1,
                                .pp = 1,
                                .ep = 1,
                                .steps = 6,
                                .layers = 2,
                                .kernels = 4,
                                .gpus_per_host = 8,
                                .threads = 2,
                                .seed = 1,
                                .kernel_ns = 30000};
    for (int id; (id = getopt_long(argc, argv, "", table, NULL)) != -1;) {
        if (id == ID_HELP) {
            fputs(usage, stdout);
            exit(0);
        }
        if (!take_option(options, id, optarg)) {
            fputs("try jobgen --help\n", stderr);
            return false;
        }
    }
    if (optind + 1 != argc) {
        fputs(usage, stderr);
        return false;
    }
    options->folder = argv[optind];
    complete(options);
    return true;
}
