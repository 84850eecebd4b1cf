/* Facts on demand in PyTorch traces: what is asked for is read, in every way of reading alike, and nothing else is.
   JSON is written with ' for quotes here. */
#include "torch_text.h"

#include <time.h>

#define COMPLETE(cat, name, track) "{'ph':'X','cat':'" cat "','name':'" name "'," track
#define ON_GPU                     "'pid':0,'tid':7,'ts':1,'dur':1"
#define ON_CPU                     "'pid':4,'tid':5,'ts':1,'dur':1"
#define KERNEL(args)               COMPLETE("kernel", "k", ON_GPU ",'args':{" args "}}")
#define CPU_OP(name, args)         COMPLETE("cpu_op", name, ON_CPU ",'args':{" args "}}")
#define SYNC(name, args)           COMPLETE("cuda_sync", name, "'pid':0,'tid':1000007,'ts':2,'dur':1,'args':{" args "}}")
#define FLOW(phase, cat, name, id)                                                                                     \
    "{'ph':'" phase "','cat':'" cat "','name':'" name "','id':" id ",'pid':4,'tid':5,'ts':3}"
#define COUNTER(name, pid, args) "{'ph':'C','name':'" name "','pid':" pid ",'tid':0,'ts':4,'args':{" args "}}"
#define MEMORY(args)             "{'ph':'i','s':'t','name':'[memory]','pid':4,'tid':5,'ts':5,'args':{" args "}}"
#define KERNEL_ROW               "kernel 1000+1000 'k' gpu 0/7\n"

static char *quote(char *text) {
    for (char *p = text; *p; p++)
        *p = *p == '\'' ? '"' : *p;
    return text;
}

static void document_gives(uint32_t facts, const char *document, const char *expected) {
    char *json = quote(strdup(document));
    facts_give(facts, json, expected);
    free(json);
}

/* A bare array of events, which NULL ends. */
static char *join(const char *const *events) {
    char *json = NULL;
    size_t size;
    FILE *out = open_memstream(&json, &size);
    assert_non_null(out);
    for (size_t i = 0; events[i]; i++)
        fprintf(out, "%c%s", i ? ',' : '[', events[i]);
    fputc(']', out);
    fclose(out);
    return quote(json);
}

static void events_give(uint32_t facts, const char *const *events, const char *expected) {
    char *json = join(events);
    facts_give(facts, json, expected);
    free(json);
}

/* ---- leaving out ---- */

/* One event of every kind, most of them odd. */
static const char *const odd_events[] = {
    KERNEL("'device':0,'stream':7,'correlation':3,'Group size':2"),
    COMPLETE("cuda_runtime", "call", "'pid':4,'tid':5,'ts':1,'dur':-1}"),
    COMPLETE("cpu_op", "op", "'pid':4,'tid':5,'dur':1}"),
    COMPLETE("user_annotation", "range", "'pid':4,'tid':5,'ts':1,'dur':-1}"),
    COMPLETE("gpu_user_annotation", "range", "'pid':0,'tid':7,'ts':1,'dur':inf}"),
    COMPLETE("Operator", "ProfilerStep#1", ON_CPU "}"),
    COMPLETE("overhead", "o", "'pid':4,'tid':5,'ts':1,'dur':-2}"),
    COMPLETE("python_function", "f", "'pid':4,'tid':5,'ts':1,'dur':-2}"),
    SYNC("Stream Sync", ""),
    FLOW("s", "fwdbwd", "fwdbwd", "oops"),
    COUNTER("c", "4", "'v':nan"),
    MEMORY("'Bytes':nan"),
    NULL,
};

static void only_what_is_asked_for_is_read(void **state) {
    (void)state;
    const char *ops = "kernel 1000+1000 'k' gpu 0/7 #3\nskipped 11\n";
    events_give(GT_FACT_OPS, odd_events, ops);
    events_give(GT_FACT_OPS | GT_FACT_GROUPS | GT_FACT_BYTES, odd_events, ops);
    events_give(GT_FACT_CALLS, odd_events, "call 1000+0 'call' 4/5\nskipped 11\nissue call_negative_duration 1\n");
    events_give(GT_FACT_RANGES, odd_events,
                "range 1000+0 'range' 4/5\ngpu range 1000+0 'range' gpu 0/7\nrange 1000+1000 'ProfilerStep#1' 4/5\n"
                "skipped 9\nissue call_negative_duration 1\nissue number_unreadable 1\n");
    events_give(GT_FACT_CPU_OPS, odd_events, "skipped 11\nissue event_damaged 1\n");
    events_give(GT_FACT_OVERHEADS, odd_events, "overhead 1000+0 'o' 4/5\nskipped 11\nissue call_negative_duration 1\n");
    events_give(GT_FACT_STACKS, odd_events,
                "python_calls start_ns=1000 end_ns=1000 name='f' thread= 4/5\nskipped 11\n"
                "issue call_negative_duration 1\n");
    events_give(GT_FACT_GROUPS, odd_events, "skipped 12\n");
    events_give(GT_FACT_COUNTERS, odd_events, "skipped 12\nissue number_unreadable 1\n");
    /* With what labels memory: calls, ranges and operators. */
    events_give(GT_FACT_MEMORY, odd_events,
                "call 1000+0 'call' 4/5\nrange 1000+0 'range' 4/5\ngpu range 1000+0 'range' gpu 0/7\n"
                "range 1000+1000 'ProfilerStep#1' 4/5\nskipped 7\nissue event_damaged 1\n"
                "issue call_negative_duration 2\nissue number_unreadable 2\n");
}

/* A step is a range, whatever its category: it is no operator where nobody asks for ranges. */
static void steps_are_ranges(void **state) {
    (void)state;
    static const char *const events[] = {CPU_OP("ProfilerStep#1", ""), CPU_OP("ProfilerStep#2", ""), CPU_OP("a", ""),
                                         NULL};
    events_give(GT_FACT_CPU_OPS, events, "cpu op 1000+1000 'a' 4/5\nskipped 2\n");
    events_give(GT_FACT_RANGES, events,
                "range 1000+1000 'ProfilerStep#1' 4/5\nrange 1000+1000 'ProfilerStep#2' 4/5\nskipped 1\n");
}

static void no_facts_mean_the_usual_ones(void **state) {
    (void)state;
    char *json = join(odd_events);
    char *usual = decode_all_ways(json, strlen(json), GT_FACTS_USUAL), *none = decode_all_ways(json, strlen(json), 0);
    assert_string_equal(usual, none);
    free(usual);
    free(none);
    free(json);
}

/* ---- what is read on demand ---- */

static void collectives(void **state) {
    (void)state;
    static const char *const events[] = {
        KERNEL("'Collective name':'allreduce','In msg nelems':10,'Out msg nelems':'20','dtype':'Half','Group size':4,"
               "'Process Group Name':'7','Process Group Description':'dp','Process Group Ranks':'[0, 1, ...]','Seq':5,"
               "'Comms Id':18446744073709551613,'External id':9"),
        KERNEL("'External id':9"),
        CPU_OP("record_param_comms", "'Rank':1,'Global rank start':0,'Global rank stride':-1,'In split size':'[1, 2]',"
                                     "'Src Rank':3,'Dst Rank':-1"),
        CPU_OP("record_param_comms", "'External id':3"),
        CPU_OP("other", "'Rank':1"),
        NULL,
    };
    events_give(GT_FACT_COMMS, events,
                KERNEL_ROW KERNEL_ROW
                "cpu op 1000+1000 'record_param_comms' 4/5\ncpu op 1000+1000 'record_param_comms' 4/5\n"
                "cpu op 1000+1000 'other' 4/5\n"
                "comms in_bytes=20 out_bytes=40 comms_id=18446744073709551613 external=9 sequence=5 name='allreduce' "
                "dtype='Half' group=(7|dp|[0, 1, ...]|4) op=0\n"
                "comms src_rank=3 dst_rank=-1 rank=1 in_splits='[1, 2]' group=(||||0+-1) cpu_op=0\n");
}

/* Sizes by type; what is absurd is not known. */
static void sizes_of_collectives(void **state) {
    (void)state;
    static const struct {
        const char *dtype, *elements, *bytes;
    } cases[] = {
        {"Byte", "3", "3"},    {"Char", "3", "3"},
        {"Bool", "3", "3"},    {"Float8_e4m3fn", "3", "3"},
        {"Short", "3", "6"},   {"Float4_e2m1fn_x2", "3", "3"},
        {"Half", "3", "6"},    {"BFloat16", "3", "6"},
        {"UInt16", "3", "6"},  {"Int", "3", "12"},
        {"Float", "3", "12"},  {"UInt32", "3", "12"},
        {"Long", "3", "24"},   {"ComplexHalf", "3", "12"},
        {"Double", "3", "24"}, {"UInt64", "3", "24"},
        {"Float", "0", "0"},   {"ComplexFloat", "3", "24"},
        {"Nibble", "3", NULL}, {"ComplexDouble", "3", "48"},
        {"float", "3", NULL},  {"Long", "9223372036854775807", NULL},
        {"Float", "-3", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char kernel[512], expected[512], bytes[64] = "";
        snprintf(kernel, sizeof kernel, KERNEL("'dtype':'%s','In msg nelems':%s"), cases[i].dtype, cases[i].elements);
        if (cases[i].bytes)
            snprintf(bytes, sizeof bytes, " in_bytes=%s", cases[i].bytes);
        snprintf(expected, sizeof expected, KERNEL_ROW "comms%s dtype='%s' op=0\n", bytes, cases[i].dtype);
        events_give(GT_FACT_COMMS, (const char *const[]){kernel, NULL}, expected);
    }
}

static void groups_of_the_header(void **state) {
    (void)state;
    document_gives(GT_FACT_COMMS,
                   "{'traceEvents':[],'distributedInfo':{'rank':0,'world_size':2,'pg_config':["
                   "{'pg_name':'0','pg_desc':'default_pg','backend_config':'cuda:nccl','pg_size':2,'ranks':[0, 1]},"
                   "{'pg_name':'1','pg_desc':'t \\'p\\'','pg_size':1,'ranks':'[1]'}]}}",
                   "group (0|default_pg|[0, 1]|2)\ngroup (1|t \"p\"|[1]|1)\nrank 0 of 2\n");
    document_gives(GT_FACT_COMMS,
                   "{'distributedInfo':{'rank':0,'world_size':2,'pg_config':"
                   "'[{\\'pg_name\\':\\'0\\',\\'pg_size\\':2,\\'ranks\\':[0, 1]}]'},'traceEvents':[]}",
                   "group (0||[0, 1]|2)\nrank 0 of 2\n");
    document_gives(GT_FACT_COMMS,
                   "{'distributedInfo':{'rank':0,'world_size':2,'pg_config':[7,'x',[{}],{'pg_size':'many'}, "
                   "{'pg_size':-4,'ranks':null}]},'traceEvents':[]}",
                   "group (|||)\nrank 0 of 2\n");
    document_gives(GT_FACT_OPS, "{'distributedInfo':{'pg_config':[{'pg_name':'0'}]},'traceEvents':[]}", "");
}

static void the_host(void **state) {
    (void)state;
    document_gives(GT_FACT_OPS, "{'traceEvents':[],'host_name':'n\\u00f6 7','host_name':'other'}",
                   "host 'n\xc3\xb6 7'\n");
}

static void arguments_of_operators(void **state) {
    (void)state;
    static const char *const events[] = {
        CPU_OP("a", "'External id':5,'Sequence number':6,'Fwd thread id':0,'Input Dims':[[2, 3],\n[]],'Input type':"
                    "['float', ''],'Input Strides':[[3,1], []],'Concrete Inputs':['', '[1, \\'x\\']']"),
        CPU_OP("b", "'Ev Idx':1"),
        CPU_OP("c", "'Input dims':'[[1]]','External id':inf"),
        NULL,
    };
    events_give(GT_FACT_ARGUMENTS, events,
                "cpu op 1000+1000 'a' 4/5\ncpu op 1000+1000 'b' 4/5\ncpu op 1000+1000 'c' 4/5\n"
                "operator_args external=5 sequence=6 forward_thread=0 dims='[[2, 3],\n[]]' types='[\"float\", \"\"]' "
                "strides='[[3,1], []]' inputs='[\"\", \"[1, \\\"x\\\"]\"]' cpu_op=0\n"
                "operator_args dims='[[1]]' cpu_op=2\n"
                "issue number_unreadable 1\n");
}

static void launch_configurations(void **state) {
    (void)state;
    static const char *const events[] = {
        KERNEL("'External id':5,'grid':[4096, 2, 1],'block':[ 128,1 ],'registers per thread':255,'shared memory':1024,"
               "'blocks per SM':0.5,'warps per SM':4,'est. achieved occupancy %':50,'priority':-5,"
               "'occupancy':{'grid':[7,7,7],'blockLimitRegs':1}"),
        KERNEL(""),
        KERNEL("'external id':6,'blocks per SM':'inf','grid':[4294967295, x, 18446744073709551616, 1],'block':7,"
               "'registers per thread':-1"),
        NULL,
    };
    events_give(GT_FACT_CONFIGS, events,
                KERNEL_ROW KERNEL_ROW KERNEL_ROW
                "kernel_configs external=5 shared_bytes=1024 priority=-5 blocks_per_multiprocessor=0.5 "
                "warps_per_multiprocessor=4 occupancy_percent=50 grid_x=4096 grid_y=2 grid_z=1 block_x=128 block_y=1 "
                "registers=255 op=0\n"
                "kernel_configs external=6 op=2\n"
                "issue number_unreadable 5\n");
}

static void waits(void **state) {
    (void)state;
    static const char *const events[] = {
        SYNC("Stream Wait Event", "'stream':7,'correlation':5,'device':1,'wait_on_stream':20,"
                                  "'wait_on_cuda_event_record_corr_id':4,'wait_on_cuda_event_id':99"),
        SYNC("Event Sync", "'stream':'N/A','wait_on_stream':-1,'wait_on_cuda_event_record_corr_id':INVALID,"
                           "'event_id':3"),
        SYNC("Stream Sync", "'correlation':6"),
        SYNC("x", "'cuda_sync_kind':'Context Sync','stream':-1"),
        SYNC("y", ""),
        COMPLETE("cuda_event", "cudaEvent", ON_GPU ",'args':{'event_id':99,'stream':20,'correlation':4,'device':1}}"),
        COMPLETE("cuda_sync", "Stream Sync", "'pid':0,'tid':7}"),
        NULL,
    };
    events_give(GT_FACT_SYNCS, events,
                "syncs start_ns=2000 end_ns=3000 correlation=5 event=99 wait_correlation=4 device=1 stream=7 "
                "wait_stream=20 kind=2\n"
                "syncs start_ns=2000 end_ns=3000 event=3 device=0 kind=1\n"
                "syncs start_ns=2000 end_ns=3000 correlation=6 device=0 stream=7 kind=3\n"
                "syncs start_ns=2000 end_ns=3000 device=0 kind=4\n"
                "syncs start_ns=2000 end_ns=3000 device=0 stream=7 kind=0\n"
                "event_records correlation=4 event=99 device=1 stream=20\n"
                "issue event_damaged 1\n");
}

static void flows(void **state) {
    (void)state;
    static const char *const events[] = {
        FLOW("s", "fwdbwd", "fwdbwd", "3"),
        FLOW("f", "other", "fwdbwd", "'3'"),
        FLOW("s", "ac2g", "ac2g", "4"),
        FLOW("s", "ac2g", "fwdbwd", "4"),
        FLOW("f", "async", "launch", "4"),
        FLOW("s", "fwdbwd", "x", "'0x1'"),
        NULL,
    };
    events_give(GT_FACT_FLOWS, events,
                "flows time_ns=3000 id=3 thread= 4/5 phase=0\nflows time_ns=3000 id=3 thread= 4/5 phase=1\nskipped 4\n"
                "issue number_unreadable 1\n");
}

static void counters(void **state) {
    (void)state;
    static const char *const events[] = {
        COUNTER("dram", "'GPU 3 Counters'", "'value':1.5"),
        COUNTER("dram", "'GPU 3 Counters'", "'dram':-2,'Device Id':'1'"),
        COUNTER("queue", "4", "'a':1,'\\u0062':'2','c':null,'d':[3]"),
        COUNTER("none", "4", "'device':1"),
        MEMORY("'Total Allocated':64,'Total Reserved':128,'Device Type':1,'Device Id':2,'Bytes':5"),
        MEMORY("'Total Allocated':8,'Device Type':0,'Device Id':-1,'Bytes':5"),
        NULL,
    };
    events_give(GT_FACT_COUNTERS, events,
                "counter 'dram' gpu 3 1.5@4000\n"
                "counter 'dram' gpu 1 -2@4000\n"
                "counter 'queue' series 'a' of 4 1@4000\n"
                "counter 'queue' series 'b' of 4 2@4000\n"
                "counter 'Total Allocated' of 4 gpu 2 64@5000\n"
                "counter 'Total Reserved' of 4 gpu 2 128@5000\n"
                "counter 'Total Allocated' of 4 8@5000\n"
                "skipped 1\n"
                "issue number_unreadable 1\n");
    /* Memory in use is left out where only hardware counters are asked for. */
    events_give(GT_FACT_METRICS, events,
                "counter 'dram' gpu 3 1.5@4000\n"
                "counter 'dram' gpu 1 -2@4000\n"
                "counter 'queue' series 'a' of 4 1@4000\n"
                "counter 'queue' series 'b' of 4 2@4000\n"
                "skipped 3\n"
                "issue number_unreadable 1\n");
}

static void memory(void **state) {
    (void)state;
    static const char *const events[] = {
        MEMORY("'Addr':18446744073709551614,'Bytes':512,'Device Type':1,'Device Id':0,'Total Allocated':1024,"
               "'Total Reserved':4096"),
        MEMORY("'Addr':-7,'Bytes':-16,'Device Type':0,'Device Id':-1,'Total Allocated':-8"),
        MEMORY("'Device Type':6,'Device Id':3,'Bytes':4"),
        "{'ph':'i','name':'Record Window End','pid':4,'tid':5,'ts':5}",
        MEMORY("'Addr':1"),
        "{'ph':'i','name':'[memory]','args':{'Bytes':4}}",
        NULL,
    };
    events_give(GT_FACT_MEMORY, events,
                "memory_events time_ns=5000 bytes=512 address=18446744073709551614 allocated_bytes=1024 "
                "reserved_bytes=4096 device=0 process=4 thread= 4/5 kind=3 operation=0 source=1\n"
                "memory_events time_ns=5000 bytes=-16 process=4 thread= 4/5 kind=0 operation=1 source=1\n"
                "memory_events time_ns=5000 bytes=4 device=3 process=4 thread= 4/5 kind=3 operation=0 source=1\n"
                "skipped 2\n"
                "issue event_damaged 1\n");
}

static void stacks(void **state) {
    (void)state;
    static const char *const events[] = {
        COMPLETE("python_function", "f.py(1): g", ON_CPU ",'args':{'Python id':1}}"),
        COMPLETE("PythonFunction", "h", ON_CPU "}"),
        NULL,
    };
    events_give(GT_FACT_STACKS, events,
                "python_calls start_ns=1000 end_ns=2000 name='f.py(1): g' thread= 4/5\n"
                "python_calls start_ns=1000 end_ns=2000 name='h' thread= 4/5\n");
    events_give(GT_FACTS_USUAL, events, "skipped 2\n");
}

/* Args that nobody else takes apart may be damaged: what is before the damage counts. */
static void damaged_args(void **state) {
    (void)state;
    static const char *const events[] = {
        CPU_OP("a", "\n'External id':5, oops, 'Sequence number':6\n"),
        COMPLETE("cpu_op", "b", ON_CPU ",'args':[5]}"),
        NULL,
    };
    events_give(GT_FACT_ARGUMENTS, events,
                "cpu op 1000+1000 'a' 4/5\ncpu op 1000+1000 'b' 4/5\noperator_args external=5 cpu_op=0\n"
                "issue number_unreadable 1\n");
}

/* ---- hostile input ---- */

static double seconds_to_decode(const char *text, size_t size, uint32_t facts) {
    struct timespec begin, end;
    char path[32];
    write_file(path, text, size);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    free(decode_facts(path, 1, &usual_sizes, facts));
    clock_gettime(CLOCK_MONOTONIC, &end);
    unlink(path);
    return (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) * 1e-9;
}

/* The store of a text that a stream wrote, with ' for quotes; the text is freed. */
static struct gt_store *store_of(char *text, size_t threads, const struct gt_torch_sizes *sizes, uint32_t facts) {
    char path[32];
    struct gt_decode_options options = {.threads = threads, .facts = facts};
    struct gt_source *source;
    struct gt_store *store = NULL;
    write_file(path, quote(text), strlen(text));
    assert_int_equal(gt_source_open(path, &source, NULL), GT_OK);
    assert_int_equal(gt_torch_json_decode_sized(source, &options, sizes, &store, NULL), GT_OK);
    gt_source_close(source);
    unlink(path);
    free(text);
    return store;
}

/* As many groups as records: far more than any job has. */
static void many_groups(void **state) {
    (void)state;
    enum { GROUPS = 20000 };
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    fputc('[', out);
    for (int i = 0; i < GROUPS; i++)
        fprintf(out, "%s" KERNEL("'Process Group Name':'%d','Group size':%d,'In msg nelems':1e30"), i ? "," : "", i,
                -i);
    fputs("]", out);
    fclose(out);
    struct gt_torch_sizes chunks = {64 << 10, 16 << 10, 64 << 20, GT_TORCH_USUAL, 32 << 10};
    struct gt_store *store = store_of(text, 4, &chunks, GT_FACT_COMMS);
    assert_int_equal(store->comms.count, GROUPS);
    assert_int_equal(store->comm_groups.count, GROUPS);
    assert_int_equal(gt_store_issue(store, GT_ISSUE_NUMBER_UNREADABLE, GT_FACTS_ALL).count, GROUPS);
    for (uint32_t i = 0; i < GROUPS; i++)
        assert_int_equal(store->comms.group[i], i);
    gt_store_free(store);
}

/* A list of ranks of megabytes that every record repeats is stored once. */
static void long_lists_are_stored_once(void **state) {
    (void)state;
    enum { RANKS_BYTES = 1 << 20, RECORDS = 8 };
    char *ranks = malloc(RANKS_BYTES + 1), *text = NULL;
    size_t size;
    assert_non_null(ranks);
    for (size_t i = 0; i < RANKS_BYTES; i++)
        ranks[i] = "1, "[i % 3];
    ranks[RANKS_BYTES] = '\0';
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    for (int i = 0; i < RECORDS; i++)
        fprintf(out, "%s" KERNEL("'Process Group Ranks':'[%s]'"), i ? "," : "[", ranks);
    fputs("]", out);
    fclose(out);
    struct gt_store *store = store_of(text, 1, &usual_sizes, GT_FACT_COMMS);
    assert_int_equal(store->comms.count, RECORDS);
    assert_int_equal(store->comm_groups.count, 1);
    assert_int_equal(gt_store_string(store, store->comm_groups.ranks[0]).len, RANKS_BYTES + 2);
    gt_store_free(store);
    free(ranks);
}

/* A long name and many series: none of them is kept more than once. */
static void a_counter_with_many_series_takes_no_more_than_its_text(void **state) {
    (void)state;
    enum { SERIES = 10000, NAME_BYTES = 100000 };
    char *name = malloc(NAME_BYTES + 1), *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(name);
    assert_non_null(out);
    memset(name, 'n', NAME_BYTES);
    name[NAME_BYTES] = '\0';
    fprintf(out, "[{'ph':'C','name':'%s','pid':4,'tid':0,'ts':4,'args':{", name);
    for (int i = 0; i < SERIES; i++)
        fprintf(out, "%s'series %d':%d", i ? "," : "", i, i);
    fputs("}}]", out);
    fclose(out);
    struct gt_store *store = store_of(text, 2, &usual_sizes, GT_FACT_COUNTERS);
    assert_int_equal(store->counter_tracks.count, SERIES);
    assert_int_equal(store->counters.count, SERIES);
    assert_true(store->strings.text.total_bytes <= 4 * size);
    gt_store_free(store);
    free(name);
}

/* Headers whose items are all beginnings. */
static void headers_take_linear_time(void **state) {
    (void)state;
    enum { REPEATS = 1 << 20 };
    static const char *const headers[] = {"{\"deviceProperties\":[\"", "{\"distributedInfo\":{\"pg_config\":[\""};
    char *text = malloc(REPEATS * 2 + 256);
    assert_non_null(text);
    for (size_t h = 0; h < sizeof headers / sizeof *headers; h++) {
        char *p = stpcpy(text, headers[h]);
        for (int i = 0; i < REPEATS; i++)
            p = stpcpy(p, "{:");
        p = stpcpy(p, h ? "\"]},\"traceEvents\":[]}" : "\"],\"traceEvents\":[]}");
        assert_true(seconds_to_decode(text, (size_t)(p - text), GT_FACT_COMMS) < 5);
    }
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_is_asked_for_is_read),
        cmocka_unit_test(steps_are_ranges),
        cmocka_unit_test(no_facts_mean_the_usual_ones),
        cmocka_unit_test(collectives),
        cmocka_unit_test(sizes_of_collectives),
        cmocka_unit_test(groups_of_the_header),
        cmocka_unit_test(the_host),
        cmocka_unit_test(arguments_of_operators),
        cmocka_unit_test(launch_configurations),
        cmocka_unit_test(waits),
        cmocka_unit_test(flows),
        cmocka_unit_test(counters),
        cmocka_unit_test(memory),
        cmocka_unit_test(stacks),
        cmocka_unit_test(damaged_args),
        cmocka_unit_test(many_groups),
        cmocka_unit_test(long_lists_are_stored_once),
        cmocka_unit_test(a_counter_with_many_series_takes_no_more_than_its_text),
        cmocka_unit_test(headers_take_linear_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
