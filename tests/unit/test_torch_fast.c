/* The fast reader of traces against the portable one: whatever the bytes, both must come to the same store. With files
   as arguments it compares how those are read. */
#include "torch_text.h"

#include <sys/mman.h>

#include "decode/torch/torch_fast.h"
#include "events/builder.h"
#include "random.h"

/* ---- comparing ---- */

static struct gt_store *decode(const char *path, size_t threads, const struct gt_torch_sizes *sizes, uint32_t facts) {
    struct gt_decode_options options = {.threads = threads, .facts = facts};
    struct gt_source *source;
    struct gt_store *store = NULL;
    assert_int_equal(gt_source_open(path, &source, NULL), GT_OK);
    gt_torch_json_decode_sized(source, &options, sizes, &store, NULL);
    gt_source_close(source);
    return store;
}

static void assert_equal_columns(struct gt_store *a, struct gt_store *b) {
    for (size_t i = 0; i < gt_column_count; i++) {
        const struct gt_column_info *info = &gt_column_infos[i];
        size_t rows = *gt_store_row_count(a, info->table);
        assert_int_equal(rows, *gt_store_row_count(b, info->table));
        const void *left = *gt_store_column(a, info), *right = *gt_store_column(b, info);
        if (rows && memcmp(left, right, rows * info->elem_bytes) != 0)
            fail_msg("column %s of table %s differs", info->name, info->table_name);
    }
}

static void assert_equal_stores(struct gt_store *a, struct gt_store *b) {
    assert_int_equal(a != NULL, b != NULL);
    if (!a)
        return;
    assert_equal_columns(a, b);
    assert_int_equal(a->strings.count, b->strings.count);
    for (gt_strid i = 0; i < a->strings.count; i++)
        assert_true(gt_str_eq(gt_store_string(a, i), gt_store_string(b, i)));
    assert_memory_equal(a->issues, b->issues, sizeof a->issues);
    assert_int_equal(a->skipped_events, b->skipped_events);
    assert_int_equal(a->origin_ns, b->origin_ns);
    assert_int_equal(a->facts, b->facts);
}

static char *to_text(struct gt_store *store) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    if (store)
        print_store(out, store);
    fclose(out);
    return text;
}

static void assert_equal_rows(struct gt_store *a, struct gt_store *b) {
    char *left = to_text(a), *right = to_text(b);
    assert_string_equal(left, right);
    free(left);
    free(right);
}

/* Reads the file with so many threads as usual and learning at once. Threads that met damage may leave strings and
   tracks that nothing uses: then only what has rows is compared. */
static void file_reads_alike(const char *path, size_t threads, size_t chunk_bytes, size_t window_bytes, bool is_damaged,
                             uint32_t facts) {
    struct gt_torch_sizes sizes = {chunk_bytes, window_bytes, 64 << 20, GT_TORCH_PORTABLE, 0};
    struct gt_store *expected = decode(path, 1, &sizes, facts);
    for (enum gt_torch_mode mode = GT_TORCH_USUAL; mode <= GT_TORCH_EAGER; mode++) {
        sizes.mode = mode;
        struct gt_store *found = decode(path, threads, &sizes, facts);
        if (is_damaged && threads > 1)
            assert_equal_rows(found, expected);
        else
            assert_equal_stores(found, expected);
        gt_store_free(found);
    }
    gt_store_free(expected);
}

/* What may be asked for: as usual, all, little, and what changes how operators and kernels are read. */
static const uint32_t asked[] = {
    0,
    GT_FACTS_ALL,
    GT_FACT_OPS,
    GT_FACT_COMMS | GT_FACT_STACKS,
    GT_FACT_RANGES | GT_FACT_COUNTERS | GT_FACT_MEMORY,
    GT_FACT_METRICS | GT_FACT_CONFIGS,
    GT_FACT_CALLS | GT_FACT_SYNCS | GT_FACT_FLOWS,
    GT_FACT_ARGUMENTS | GT_FACT_CONFIGS,
};
enum { ASKED = sizeof asked / sizeof *asked };

/* ---- traces as several writers write them ---- */

/* One way to write. */
struct style {
    const char *begin, *end, *between; /* events */
    const char *member;                /* between members of an event, before "ts" and "args" */
    const char *args, *args_end;
    const char *arg;    /* between args */
    const char *thread; /* how threads are written: numbers, or words */
    bool is_sorted;     /* keys in the order of the alphabet */
    unsigned decimals;  /* of times */
};

static const struct style styles[] = {
    {"{\n    ", "\n  }", ",\n  ", ",\n    ", "{\n      ", "\n    }", ",\n      ", "%u", false, 3}, /* Kineto */
    {"{\n    ", "\n  }", ",\n  ", ",\n    ", "{\n      ", "\n    }", ",      ", "%u", false, 3},   /* newest Kineto */
    {"{", "}", ", ", ", ", "{", "}", ", ", "%u", false, 2},                                        /* json.dump */
    {"{", "}", ",", ",", "{", "}", ",", "%u", true, 0},
    {"{\n    ", "\n  }", ",\n  ", ",\n    ", "{\n      ", "\n    }", ",\n      ", "\"stream %u\"", false,
     0}, /* oldest */
};

/* Shapes of an operator, a few of them over and over; of every eighth one in an order that no release has. */
static void write_shapes(FILE *out, const struct style *style, unsigned n) {
    unsigned shape = n % 5;
    if (n % 8 == 3) {
        fprintf(out, "%s\"Input type\": [\"x]\"]%s\"Sequence number\": 3%s\"Input Dims\": [[%u]]", style->arg,
                style->arg, style->arg, shape);
        return;
    }
    fprintf(out, "%s\"Concrete Inputs\": [\"\", \"[1, %u]\"]%s\"Input type\": [\"float\", \"%s\"]", style->arg, shape,
            style->arg, n % 16 == 5 ? "a\\\"b{" : "Scalar");
    fprintf(out, "%s\"Input Dims\": [[%u, 2], [], [%u]]", style->arg, shape, n % 7 == 6 ? n : 3);
}

static void write_operator(FILE *out, const struct style *style, unsigned n) {
    fprintf(out, "\"External id\": %u", n);
    if (n % 4 == 1)
        fprintf(out, "%s\"Sequence number\": %u%s\"Fwd thread id\": %u", style->arg, n / 2, style->arg, n % 3);
    if (n % 5 != 4)
        write_shapes(out, style, n);
    if (n % 6 == 5)
        fprintf(out, "%s\"Call stack\": \"a.py(%u): f; {}\"", style->arg, n);
    fprintf(out, "%s\"Ev Idx\": %u", style->arg, n + 1);
}

static void write_config(FILE *out, const struct style *style, unsigned n) {
    unsigned config = n % 4;
    if (n % 10 == 7)
        return;
    fprintf(out, "%s\"registers per thread\": %u%s\"shared memory\": %u%s\"warps per SM\": 3.%u", style->arg,
            32 + config, style->arg, config * 128, style->arg, config);
    if (n % 10 == 3)
        fprintf(out, "%s\"priority\": 5", style->arg);
    fprintf(out, "%s\"grid\": [%u, 1, %u]%s\"block\": [128, 1, 1]", style->arg, n % 12 == 11 ? n : config, config,
            style->arg);
    if (n % 10 != 9)
        fprintf(out, "%s\"est. achieved occupancy %%\": %u", style->arg, n % 101);
    if (n % 10 == 5)
        fprintf(out, "%s\"occupancy\": {\"limit\": [1], \"by\": {\"warps\": %u}}", style->arg, n);
    if (n % 10 == 1)
        fprintf(out, "%s\"priority\": %u", style->arg, n % 2);
}

static void write_args(FILE *out, const struct style *style, const char *kind, unsigned n) {
    if (kind[0] == 'c' && kind[1] == 'p')
        write_operator(out, style, n);
    else if (kind[0] == 'p')
        fprintf(out, "\"Python id\": %u%s\"Python parent id\": %u", n, style->arg, n / 2);
    else if (kind[0] == 'k')
        fprintf(out, "%s%u%s\"queued\": 0%s\"device\": %u%s\"context\": 1%s\"stream\": %u%s\"correlation\": %u",
                n % 2 ? "\"External id\": " : "\"external id\": ", n, style->arg, style->arg, n % 2, style->arg,
                style->arg, 7 + n % 3, style->arg, n);
    else if (kind[0] == 'g')
        fprintf(out, "\"device\": 0%s\"stream\": 7%s\"bytes\": %u%s\"memory bandwidth (GB/s)\": %u.5", style->arg,
                style->arg, n * 64, style->arg, n);
    else
        fprintf(out, "\"cbid\": 211%s\"correlation\": %u", style->arg, n);
    if (kind[0] == 'k')
        write_config(out, style, n);
    if (kind[0] == 'k' && n % 4 == 3)
        fprintf(out,
                "%s\"Collective name\": \"allreduce\"%s\"In msg nelems\": %u%s\"dtype\": \"Half\"%s"
                "\"Process Group Ranks\": \"[0, %u]\"",
                style->arg, style->arg, n, style->arg, style->arg, n % 7);
}

/* Names of all lengths, some with escapes, some of steps; one in eight is empty. */
static void write_name(FILE *out, unsigned n) {
    static const char *const odd[] = {"ProfilerStep#7", "say \\\"hi\\\"", "ProfilerStep", "a\\u00e9b"};
    if (n % 19 == 18)
        fprintf(out, "\"name\": \"record_param_comms%s\"", n % 2 ? "" : "_");
    else if (n % 8 == 7)
        fprintf(out, "\"name\": \"%s\"", n % 16 == 7 ? odd[n / 16 % 4] : "");
    else
        fprintf(out, "\"name\": \"%.*s %u\"", (int)(n % 97),
                "void gemm<float, {lambda()#1}, at::native::Array<char*, 2> >"
                "(int, float*, at::native::Array<char*, 2>)::operator()",
                n % 5);
}

static void write_time(FILE *out, const struct style *style, const char *key, unsigned n) {
    static const unsigned scales[] = {1, 10, 100, 1000};
    fprintf(out, "\"%s\": %u", key, n);
    if (style->decimals)
        fprintf(out, ".%0*u", (int)style->decimals, n * 7 % scales[style->decimals]);
}

static void write_track(FILE *out, const struct style *style, unsigned n) {
    fprintf(out, "\"pid\": %u, \"tid\": ", 10 + n % 2);
    fprintf(out, style->thread[0] == '%' ? "%u" : "\"stream %u\"", n % 3);
}

static void write_event(FILE *out, const struct style *style, const char *kind, unsigned n) {
    enum { ARGS, CATEGORY, DURATION, NAME, PHASE, TRACK, TIME, MEMBERS };
    static const int sorted[MEMBERS] = {ARGS, CATEGORY, DURATION, NAME, PHASE, TRACK, TIME};
    static const int usual[MEMBERS] = {PHASE, CATEGORY, NAME, TRACK, TIME, DURATION, ARGS};
    fputs(style->begin, out);
    for (int i = 0; i < MEMBERS; i++) {
        int member = style->is_sorted ? sorted[i] : usual[i];
        fputs(i == 0 ? "" : member == TIME || member == ARGS ? style->member : ", ", out);
        switch (member) {
        case ARGS:
            fprintf(out, "\"args\": %s", style->args);
            write_args(out, style, kind, n);
            fputs(style->args_end, out);
            break;
        case CATEGORY:
            fprintf(out, "\"cat\": \"%s\"", kind);
            break;
        case DURATION:
            write_time(out, style, "dur", n);
            break;
        case NAME:
            write_name(out, n);
            break;
        case PHASE:
            fputs("\"ph\": \"X\"", out);
            break;
        case TRACK:
            write_track(out, style, n);
            break;
        default:
            write_time(out, style, "ts", 1000 + n);
            break;
        }
    }
    fputs(style->end, out);
}

/* A flow, a counter or an instant of an allocator. */
static void write_instant(FILE *out, const struct style *style, unsigned n) {
    static const struct {
        const char *phase, *category, *name, *args;
    } kinds[] = {
        {"s", "ac2g", "ac2g", "{}"},
        {"s", "fwdbwd", "fwdbwd", "{}"},
        {"f", "other", "fwdbwd", "{}"},
        {"C", "hardware_counters", "dram", "{\"value\": 12.5}"},
        {"i", "cpu_instant_event", "[memory]", "{\"Bytes\": -8, \"Device Id\": 0, \"Total Allocated\": 99}"},
        {"i", "x", "Record Window End", "{}"},
    };
    size_t kind = n % (sizeof kinds / sizeof *kinds);
    fprintf(out,
            "%s\"ph\": \"%s\", \"id\": %u, \"pid\": 1, \"tid\": %u, \"ts\": %u.5%s\"cat\": \"%s\", \"name\": "
            "\"%s\"%s\"args\": %s%s",
            style->begin, kinds[kind].phase, n, n % 2, n, style->member, kinds[kind].category, kinds[kind].name,
            style->member, kinds[kind].args, style->end);
}

static char *write_trace(const struct style *style, unsigned events, size_t *size) {
    static const char *const kinds[] = {"cpu_op",     "python_function", "cuda_runtime",        "kernel",
                                        "gpu_memcpy", "user_annotation", "gpu_user_annotation", "overhead",
                                        "cuda_sync"};
    char *text = NULL;
    FILE *out = open_memstream(&text, size);
    assert_non_null(out);
    fprintf(out, "{\"schemaVersion\": 1, \"traceEvents\": [");
    for (unsigned n = 0; n < events; n++) {
        unsigned kind = n % 3 ? n % 7 : n % 9;
        if (n)
            fputs(style->between, out);
        if (n % 9 == 8)
            write_instant(out, style, n / 9);
        else
            write_event(out, style, kinds[kind], n);
    }
    fprintf(out, "], \"traceName\": \"t\"}");
    fclose(out);
    return text;
}

/* ---- tests ---- */

static void layouts_read_alike(void **state) {
    (void)state;
    for (size_t s = 0; s < sizeof styles / sizeof *styles; s++) {
        size_t size;
        char *text = write_trace(&styles[s], 3000, &size), path[32];
        write_file(path, text, size);
        for (size_t threads = 1; threads <= 5; threads += 2)
            for (size_t a = 0; a < ASKED; a++)
                file_reads_alike(path, threads, 64 << 10, 16 << 10, false, asked[a]);
        unlink(path);
        free(text);
    }
}

/* How many of the events of a trace the fast reader leaves to the portable one. */
static uint64_t count_slow(const struct style *style, unsigned events, uint32_t facts) {
    size_t size;
    char *text = write_trace(style, events, &size);
    text = realloc(text, size + GT_JSON_PADDING);
    assert_non_null(text);
    memset(text + size, 0, GT_JSON_PADDING);
    struct gt_builder builder;
    struct gt_torch_sink sink;
    struct gt_torch_region region;
    assert_int_equal(gt_builder_init(&builder, GT_TORCH_JSON_KEY, NULL), GT_OK);
    gt_builder_begin(&builder, 0);
    gt_torch_sink_init(&sink, &builder, GT_TORCH_USUAL, facts);
    gt_torch_region_init(&region, &sink);
    const char *first = strchr(text, '[') + 1;
    struct gt_json_bytes bytes = {first, text + size, 0, true, size, NULL};
    uint64_t slow = 0;
    for (;;) {
        gt_torch_fast_run(sink.fast, &sink, &bytes, UINT64_MAX);
        if (gt_torch_region_run(&region, &bytes, bytes.offset + 1) != GT_TORCH_STOP_LIMIT)
            break;
        slow++;
    }
    assert_int_equal(sink.event_count, events);
    gt_torch_sink_release(&sink);
    gt_builder_release(&builder);
    free(text);
    return slow;
}

/* That the comparisons above and below compare anything. */
static void the_fast_reader_reads(void **state) {
    (void)state;
    enum { EVENTS = 6000 };
    struct gt_torch_fast *probe = gt_torch_fast_new(false, GT_FACTS_USUAL);
    if (!probe)
        skip();
    gt_torch_fast_free(probe);
    for (size_t s = 0; s < sizeof styles / sizeof *styles; s++) { /* many are odd on purpose */
        assert_in_range(count_slow(&styles[s], EVENTS, GT_FACTS_USUAL), 0, EVENTS / 2);
        assert_in_range(count_slow(&styles[s], EVENTS, GT_FACTS_USUAL | GT_FACT_ARGUMENTS | GT_FACT_CONFIGS), 0,
                        EVENTS / 2);
    }
}

/* Overwrites, inserts, drops or repeats a few bytes, mostly such as JSON is made of. Room for twice the size. */
static size_t mutate(uint64_t *random, char *text, size_t size) {
    static const char special[] = "\"\\{}[]:,.-0123456789eE \n\t\0X";
    size_t at = random_below(random, size), count = 1 + random_below(random, 3);
    char byte =
        random_below(random, 8) ? special[random_below(random, sizeof special)] : (char)random_below(random, 256);
    count = count < size - at ? count : size - at;
    switch (random_below(random, 4)) {
    case 0:
        text[at] = byte;
        return size;
    case 1:
        memmove(text + at + 1, text + at, size - at);
        text[at] = byte;
        return size + 1;
    case 2:
        memmove(text + at, text + at + count, size - at - count);
        return size - count;
    default:
        count = random_below(random, size - at < 200 ? size - at : 200);
        memmove(text + at + count, text + at, size - at);
        return size + count;
    }
}

/* ThreadSanitizer learns nothing from what one thread reads. */
#ifdef __SANITIZE_THREAD__
#define THREADS_ONLY 1
#else
#define THREADS_ONLY 0
#endif

static void mutations_read_alike(void **state) {
    (void)state;
    enum { MUTATIONS = 500, EVENTS = 40 };
    uint64_t random = 42;
    int fd = memfd_create("mutation", 0);
    assert_true(fd >= 0);
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    for (size_t s = 0; s < sizeof styles / sizeof *styles; s++) {
        size_t size;
        char *text = write_trace(&styles[s], EVENTS, &size), *changed = malloc(size + 1024);
        assert_non_null(changed);
        for (int i = 0; i < MUTATIONS; i++) {
            size_t length = size;
            memcpy(changed, text, size);
            for (uint64_t n = 1 + random_below(&random, 4); n > 0; n--)
                length = mutate(&random, changed, length);
            assert_int_equal(ftruncate(fd, 0), 0);
            assert_int_equal(pwrite(fd, changed, length, 0), length);
            size_t threads = i % 10 ? 1 : i % 20 ? 2 : 5;
            size_t chunk_bytes = 1000 + random_below(&random, 3000), window_bytes = 64 + random_below(&random, 4000);
            if (threads > 1 || !THREADS_ONLY)
                file_reads_alike(path, threads, chunk_bytes, window_bytes, true, asked[i % ASKED]);
        }
        free(changed);
        free(text);
    }
    close(fd);
}

/* Events of each kind with one of their members written in one way, then in another. What was learned from the first
   ones must not be taken for what the others say. */
static size_t write_two_ways(char *text, size_t room, const char *member, const char *const ways[2]) {
    static const char *const kinds[] = {"cpu_op", "python_function", "cuda_runtime", "kernel", "gpu_memcpy", "other"};
    enum { KINDS = sizeof kinds / sizeof *kinds, EACH = 2 };
    FILE *out = fmemopen(text, room, "w");
    assert_non_null(out);
    fputs("{\"traceEvents\": [", out);
    for (unsigned n = 0; n < 2 * EACH * KINDS; n++) {
        fprintf(out, "{\"ph\": \"X\", \"cat\": \"%s\", \"name\": \"n\", \"pid\": 1, \"tid\": 2, \"ts\": %u, ",
                kinds[n / 2 % KINDS], n);
        fprintf(out, member, ways[n / (EACH * KINDS)]);
        fputs(", \"dur\": 1},\n ", out);
    }
    fputs("{}]}", out);
    long size = ftell(out);
    fclose(out);
    assert_in_range(size, 1, room - 1);
    return (size_t)size;
}

static void members_of_another_form_read_alike(void **state) {
    (void)state;
    static const char *const members[] = {
        "\"args\": %s",
        "\"other\": %s",
        "\"traceEvents\": %s",
        "\"args\": {\"stream\": 7, \"device\": 0, \"occupancy\": %s, \"correlation\": 5}",
        "\"args\": {\"External id\": 3, \"Input Dims\": %s, \"grid\": [1, 1, 1]}",
    };
    static const char *const ways[] = {
        "[\"\", \"[1, 2]\"]",
        "{\"correlation\": 2, \"limiters\": \"x\", \"External id\": 4}",
        "{\"correlation\": 2, \"grid\": [{\"ph\": \"X\"}]}",
        "[{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\", \"ts\": 9, \"pid\": 0, \"tid\": 7}]",
        "[1, 2]",
        "{\n\"correlation\": 2,\n\"stream\": 7\n}",
        "{}",
        "[]",
        "7",
        "\"text\"",
        "null",
    };
    enum { WAYS = sizeof ways / sizeof *ways };
    int fd = memfd_create("ways", 0);
    assert_true(fd >= 0);
    char path[64], text[16 << 10];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    for (size_t i = 0; i < sizeof members / sizeof *members * WAYS * WAYS; i++) {
        const char *const two[] = {ways[i % WAYS], ways[i / WAYS % WAYS]};
        size_t size = write_two_ways(text, sizeof text, members[i / (WAYS * WAYS)], two);
        assert_int_equal(ftruncate(fd, 0), 0);
        assert_int_equal(pwrite(fd, text, size, 0), size);
        file_reads_alike(path, 1, 64 << 10, 16 << 10, true, 0);
        file_reads_alike(path, 1, 64 << 10, 16 << 10, true, asked[1 + i % (ASKED - 1)]);
    }
    close(fd);
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        for (size_t threads = 1; threads <= 5; threads += 2)
            for (size_t a = 0; a < ASKED; a++)
                file_reads_alike(argv[i], threads, 1 << 20, 256 << 10, false, asked[a]);
        printf("%s reads alike\n", argv[i]);
    }
    if (argc > 1)
        return 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layouts_read_alike),
        cmocka_unit_test(the_fast_reader_reads),
        cmocka_unit_test(mutations_read_alike),
        cmocka_unit_test(members_of_another_form_read_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
