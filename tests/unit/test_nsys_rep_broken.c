/* The report decoder on broken and hostile reports: what can be read is read, what is lost is counted, memory stays
   bounded, and layouts that are not known are left to nsys. */
#include "rep_text.h"

#include <sys/resource.h>
#include <time.h>

#include "random.h"

#define ROW(start) "kernel " start "+10 'gemm' gpu 0/7 #" start "\n"

/* Three chunks of one kernel each. */
static struct report three_chunks(void) {
    return (struct report){.events = JOIN(chunk(kernel(10, 1)), chunk(kernel(20, 1)), chunk(kernel(30, 1))),
                           .event_count = 3};
}

static size_t count_of(const char *text, const char *part) {
    size_t count = 0, length = strlen(part);
    for (const char *p = text; *p; p++)
        count += *p == *part && strncmp(p, part, length) == 0;
    return count;
}

static void damaged_events_are_counted(void **state) {
    (void)state;
    struct bytes beyond = sub(1, JOIN(num(1, 79), varint(107 << 3 | 2), varint(50), num(1, 5)));
    struct bytes in_kernel =
        sub(1, JOIN(num(1, 79), sub(107, JOIN(num(1, 5), num(2, 6), sub(101, JOIN(num(1, 1), varint(10 << 3)))))));
    struct bytes in_call = sub(1, JOIN(num(1, 48), sub(108, JOIN(num(1, 5), varint(2)))));
    struct bytes in_range = sub(1, JOIN(num(1, 59), sub(102, varint(3 << 3 | 3))));
    struct bytes in_graph = EVENT(130, 107, num(1, 5), num(2, 6), sub(107, JOIN(num(1, 12), varint(2 << 3))));
    struct bytes events = JOIN(beyond, kernel(10, 1), in_kernel, in_call, in_range, in_graph, kernel(20, 1));
    struct report report = {.events = chunk(events), .event_count = 7};
    report_gives(&report, ROW("10") ROW("20") "issue event_damaged 5 at 62\n");
}

static void damaged_chunks_are_left_out(void **state) {
    (void)state;
    struct report report = three_chunks();
    struct bytes bad = chunk(kernel(20, 1));
    unsigned char *at = pool + (bad.ptr - pool);
    at[bad.size - 1] ^= 0x80;
    at[2] ^= 0xf0; /* the first token of the block */
    report.events = JOIN(chunk(kernel(10, 1)), bad, chunk(kernel(30, 1)));
    report_gives(&report, ROW("10") ROW("30") "issue packing_damaged 1 at 97\nissue records_missing 1\n");
    /* A message that is longer than its chunk, and one that breaks off between events. */
    struct bytes block = take_bytes("\x30\x7f\x0a\x00", 4);
    report.events = JOIN(chunk(kernel(10, 1)), varint(4), varint(3), block, chunk(kernel(30, 1)));
    report_gives(&report, ROW("10") ROW("30") "issue packing_damaged 1 at 97\nissue records_missing 1\n");
    report.events =
        JOIN(chunk(JOIN(kernel(10, 1), varint(1 << 3 | 2), varint(99))), chunk(kernel(20, 1)), chunk(kernel(30, 1)));
    report_gives(&report, ROW("10") ROW("20") ROW("30") "issue packing_damaged 1 at 62\n");
    /* Without any entry. */
    report.events = JOIN(chunk(kernel(10, 1)), chunk(num(9, 1)), chunk(kernel(20, 1)), chunk(kernel(30, 1)));
    report_gives(&report, ROW("10") ROW("20") ROW("30") "issue packing_damaged 1 at 97\n");
}

static void sizes_that_cannot_be_are_refused(void **state) {
    (void)state;
    const uint64_t plains[] = {0, 255 * 4 + 65, (64 << 20) + 1, UINT64_MAX, UINT64_C(1) << 63, 1};
    struct report report = three_chunks();
    for (size_t i = 0; i < sizeof plains / sizeof *plains; i++) {
        struct bytes block =
            take_bytes("\x10\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00", i == 5 ? 19 : 4);
        report.events = JOIN(chunk(kernel(10, 1)), varint(block.size), varint(plains[i]), block, chunk(kernel(30, 1)));
        report_gives(&report, ROW("10") ROW("30") "issue packing_damaged 1 at 97\nissue records_missing 1\n");
    }
    /* A packed size beyond the section: where the next chunk begins is not known any more. */
    report.events = JOIN(chunk(kernel(10, 1)), varint(UINT64_MAX), varint(40), chunk(kernel(30, 1)));
    report_gives(&report, ROW("10") "issue index_damaged 1\nissue records_missing 2\n");
    report.events = JOIN(chunk(kernel(10, 1)), varint(100000), varint(40), chunk(kernel(30, 1)));
    report_gives(&report, ROW("10") "issue index_damaged 1\nissue records_missing 2\n");
}

static void counts_of_the_index_are_compared(void **state) {
    (void)state;
    struct report report = three_chunks();
    report.event_count = 5;
    report_gives(&report, ROW("10") ROW("20") ROW("30") "issue records_missing 2\n");
    report.event_count = 2;
    report_gives(&report, ROW("10") ROW("20") "issue index_damaged 1\n");
    report.event_count = 0;
    report_gives(&report, "issue index_damaged 1\n");
    report.event_count = UINT64_MAX - 1;
    report_gives(&report, ROW("10") ROW("20") ROW("30") "issue records_missing 9223372036854775807\n");
    report = three_chunks();
    report.index = JOIN(num(3, 8), num(5, 4)); /* the last counts: two strings, four threads more than there are */
    report_gives(&report, ROW("10") ROW("20") ROW("30") "issue records_missing 6\n");
    report.index = num(3, UINT64_MAX - 1);
    report_gives(&report, ROW("10") ROW("20") ROW("30") "issue records_missing 9223372036854775807\n");
}

/* Events beyond the count are ignored: always the last of the file, whichever thread meets them. */
static void events_beyond_the_count_are_ignored(void **state) {
    (void)state;
    enum { CHUNKS = 400 };
    struct bytes chunks[CHUNKS], filler = take_bytes(pool, 20000);
    struct report report = {.event_count = 2 * CHUNKS - 101};
    for (uint32_t i = 0; i < CHUNKS; i++)
        chunks[i] = chunk(JOIN(kernel(1000 + 2 * i, 1), kernel(1001 + 2 * i, 1), sub(5, filler)));
    report.events = join_count(chunks, CHUNKS);
    struct bytes bytes = report_bytes(&report);
    for (size_t threads = 1; threads < 5; threads++) {
        char *text = decode_bytes(bytes, &(struct gt_decode_options){.threads = threads});
        assert_int_equal(count_of(text, "kernel "), report.event_count);
        assert_non_null(strstr(text, "kernel 1698+10 'gemm' gpu 0/7 #1698\n"
                                     "issue index_damaged 1\n"));
        free(text);
    }
}

/* A chunk whose block is the message itself, so that it is as large packed as it is plain. */
static struct bytes stored_chunk(struct bytes message) {
    struct bytes length = varint(message.size), run = {pool + pool_used, 0};
    size_t plain = length.size + message.size, left = plain - 15;
    run.size += take_bytes("\xf0", 1).size;
    for (; left >= 255; left -= 255)
        run.size += take_bytes("\xff", 1).size;
    run.size += take_bytes(&(unsigned char){(unsigned char)left}, 1).size;
    return JOIN(varint(run.size + plain), varint(plain), run, length, message);
}

/* count kernels and one entry of another kind. */
static struct bytes many_entries(size_t count) {
    struct bytes event = kernel(10, 1), other = sub(2, nothing), entries = {pool + pool_used, 0};
    for (size_t i = 0; i < count; i++)
        entries.size += take_bytes(event.ptr, event.size).size;
    entries.size += take_bytes(other.ptr, other.size).size;
    return entries;
}

/* A chunk of more entries than any has: the first ones are read. */
static void chunks_with_too_many_entries_are_read_in_part(void **state) {
    enum { LIMIT = 1 << 16 };
    for (size_t is_over = 0; is_over < 2; is_over++) {
        clear_pool(state);
        struct report report = {.event_count = LIMIT, .index = num(15, 1)};
        report.events = stored_chunk(many_entries(LIMIT - 1 + is_over));
        char *text = decode_bytes(report_bytes(&report), &(struct gt_decode_options){.threads = 1});
        assert_int_equal(count_of(text, "kernel 10+10"), LIMIT - 1 + is_over);
        assert_int_equal(count_of(text, "issue packing_damaged 1 at "), is_over);
        free(text);
    }
}

/* Equal events pack so well that a small file could fill any memory: no more are read than there are packed bytes. */
static void entries_are_bounded_by_packed_bytes(void **state) {
    (void)state;
    enum { COUNT = 20000, HEADER = 5 };
    struct report report = {.event_count = COUNT, .events = chunk(many_entries(COUNT))};
    size_t packed = report.events.size - HEADER;
    assert_in_range(packed, 1000, COUNT / 2);
    char *text = decode_bytes(report_bytes(&report), &(struct gt_decode_options){.threads = 1});
    assert_in_range(count_of(text, "kernel 10+10"), packed - 1, packed);
    assert_int_equal(count_of(text, "issue packing_damaged 1 at "), 1);
    assert_non_null(strstr(text, "issue records_missing "));
    free(text);
}

/* Clocks and conversions by the hundred thousand take no longer than their bytes; more are not looked at. */
static void many_clocks_take_little_time(void **state) {
    (void)state;
    enum { CLOCKS = 250000, CONVERSIONS = 100000, SECTION_MAX = 1 << 20 };
    struct bytes clocks = {pool + pool_used, 0}, conversions;
    for (size_t i = 0; i < CLOCKS; i++)
        clocks.size += take_bytes("\x0a\x00", 2).size;
    conversions = (struct bytes){pool + pool_used, 0};
    for (size_t i = 0; i < CONVERSIONS; i++)
        conversions.size += take_bytes("\x0a\x03\x0a\x01\x61", 5).size;
    struct report report = three_chunks();
    report.head = JOIN(num(17, 500), num(18, 600));
    report.clocks = JOIN(sub(1, clocks), sub(2, conversions));
    assert_true(report.clocks.size < SECTION_MAX);
    clock_t before = clock();
    report_gives(&report, ROW("10") ROW("20") ROW("30") "duration 100\n");
    assert_true(clock() - before < 5 * CLOCKS_PER_SEC);

    struct bytes point = sub(1, JOIN(num(1, 1000), num(2, 480)));
    struct bytes known =
        JOIN(sub(1, JOIN(sub(1, JOIN(str(1, "aa"), num(2, 11))), sub(1, JOIN(str(1, "bb"), num(2, 7))))),
             sub(2, sub(1, JOIN(str(1, "aa"), str(2, "bb"), sub(3, point)))));
    report.clocks = JOIN(known, sub(9, take_bytes(pool, SECTION_MAX - known.size - 5)));
    report_gives(&report, ROW("10") ROW("20") ROW("30") "base 1020\nduration 100\n");
    report.clocks = JOIN(report.clocks, num(9, 1));
    report_gives(&report, ROW("10") ROW("20") ROW("30") "duration 100\n");
}

static void offsets_that_lie_are_noticed(void **state) {
    (void)state;
    struct report report = three_chunks();
    report.strings_shift = UINT64_C(1) << 63;
    report_gives(&report, ROW("10") ROW("20") ROW("30"));
    report.strings_shift = (uint64_t)-100000;
    report_gives(&report, ROW("10") ROW("20") ROW("30"));
    /* Into the last chunk: it is lost, and so are the names. */
    report.strings_shift = (uint64_t)-5;
    char *text = decode_bytes(report_bytes(&report), &(struct gt_decode_options){.threads = 1});
    assert_non_null(strstr(text, "kernel 10+10 '?' gpu 0/7 #10\nkernel 20+10 '?' gpu 0/7 #20\n"));
    assert_null(strstr(text, "kernel 30"));
    assert_non_null(strstr(text, "issue index_damaged 1\nissue records_missing "));
    free(text);
    report.strings_shift = 0;
    report.has_no_offsets = true;
    report_gives(&report, ROW("10") ROW("20") ROW("30"));
}

/* A chunk that cannot be read counts as a full one where the events end by count alone. */
static void damage_does_not_hide_the_end_of_the_events(void **state) {
    (void)state;
    struct report report = three_chunks();
    struct bytes bad = chunk(kernel(30, 1));
    pool[bad.ptr - pool + 2] ^= 0xf0;
    report.events = JOIN(chunk(kernel(10, 1)), chunk(kernel(20, 1)), bad);
    report.has_no_offsets = true;
    report_gives(&report, ROW("10") ROW("20") "issue packing_damaged 1 at 132\nissue records_missing 1\n");
}

static void tables_that_lie_are_done_without(void **state) {
    (void)state;
    struct report report = three_chunks();
    struct bytes bytes = report_bytes(&report);
    unsigned char *at = pool + (bytes.ptr - pool) + bytes.size - 16;
    const uint64_t offsets[] = {UINT64_MAX, UINT64_C(1) << 63, bytes.size - 16, bytes.size - 15, 0, 100};
    for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
        memcpy(at, &offsets[i], 8);
        report_bytes_give(bytes, ROW("10") ROW("20") ROW("30") "issue index_damaged 1\n");
    }
}

static void unknown_layouts_are_said_to_be(void **state) {
    (void)state;
#define CUT_ADVICE "; copy it again if it is truncated, or "
#define ADVICE     "; " NSYS_ADVICE
#define NSYS_ADVICE                                                                                                    \
    "install nsys so that it can be exported, or export it on another machine with 'nsys export --type sqlite'"
    struct report report = three_chunks();
    report.codec = "zstd";
    report_gives(&report, "error: unsupported compression 'zstd'" ADVICE);
    report.codec = "z\n\033[31m";
    report_gives(&report, "error: unsupported compression of its events" ADVICE);
    report.codec = "";
    report_gives(&report, "error: unsupported compression of its events" ADVICE);
    report = three_chunks();
    report.magic = "QDTEXT01";
    report_gives(&report, "error: its raw data does not start with QDTEXT00" ADVICE);
    report = three_chunks();
    report.raw_name = "Other Data";
    report_gives(&report, "error: section 'Raw Sampling Data' missing" ADVICE);
    report_bytes_give(raw("NVIDIA Tegra Profiler Report 1."),
                      "error: it ends before its events" CUT_ADVICE NSYS_ADVICE);
    report_bytes_give(raw("\1\2\3\4NVIDIA Tegra Profiler Report 1."),
                      "error: unknown report header" CUT_ADVICE NSYS_ADVICE);
}

/* Every prefix of a report gives an error or says that it is cut; the longer, the more kernels. */
static void cut_reports_give_what_is_there(void **state) {
    (void)state;
    struct report report = three_chunks();
    report.head = JOIN(num(17, 5), num(18, 500));
    struct bytes bytes = report_bytes(&report);
    size_t last = 0, named = 0, errors = 0;
    for (size_t size = 32; size < bytes.size; size++) {
        struct bytes part = {bytes.ptr, size};
        char *text = decode_bytes(part, &(struct gt_decode_options){.threads = 2, .reader = GT_READER_NATIVE});
        size_t kernels = count_of(text, "kernel ");
        bool is_error = strncmp(text, "error: ", 7) == 0;
        assert_true(is_error ? strstr(text, "it ends before its events") != NULL
                             : strstr(text, "issue input_cut 1") != NULL);
        assert_true(kernels >= last);
        last = kernels;
        errors += is_error;
        named += count_of(text, "'gemm'") == 3;
        free(text);
    }
    assert_int_equal(last, 3);
    assert_int_equal(errors, 46 - 32); /* up to the last byte of "QDTEXT00" */
    assert_true(named > 100 && named < bytes.size);
}

/* 64 MiB out of a quarter of one, again and again: time and memory stay in bounds. */
static void bombs_do_not_fill_the_memory(void **state) {
    (void)state;
    size_t plain_size = 64 << 20;
    char *plain = calloc(1, plain_size), *packed = malloc(plain_size / 128);
    assert_non_null(plain);
    assert_non_null(packed);
    plain[0] = (char)0xfb; /* a message of 2^26 - 5 bytes that are empty strings, or events */
    plain[1] = plain[2] = (char)0xff;
    plain[3] = 0x1f;
    for (size_t i = 4; i + 1 < plain_size; i += 2)
        plain[i] = 0x0a;
    int size = LZ4_compress_default(plain, packed, (int)plain_size, (int)(plain_size / 128));
    assert_true(size > 0);
    struct bytes bomb = JOIN(varint((uint64_t)size), varint(plain_size), take_bytes(packed, (size_t)size));
    free(plain);
    free(packed);
    struct report report = three_chunks();
    struct bytes index = JOIN(num(1, 3), num(3, UINT32_MAX), str(9, "lz4"));
    struct bytes start = JOIN(varint(0), varint(index.size), index);
    struct bytes all =
        JOIN(raw("NVIDIA Tegra Profiler Report 1.QDTEXT00"), start, report.events, bomb, bomb, bomb, bomb);
    char *text = decode_bytes(all, &(struct gt_decode_options){.threads = 1});
    assert_non_null(strstr(text, "kernel 30+10 '' gpu 0/7 #30\n"));
    free(text);
    index = JOIN(num(1, UINT32_MAX), num(3, 0), str(9, "lz4"));
    start = JOIN(varint(0), varint(index.size), index);
    all = JOIN(raw("NVIDIA Tegra Profiler Report 1.QDTEXT00"), start, bomb);
    text = decode_bytes(all, &(struct gt_decode_options){.threads = 1});
    assert_non_null(strstr(text, "skipped 65536\n"));
    free(text);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    assert_true(usage.ru_maxrss < 1 << 20); /* 1 GiB; without sanitizers it is 200 MiB */
}

/* Random damage everywhere: never a crash, and never more kernels than there were. */
static void random_damage_is_survived(void **state) {
    (void)state;
    struct report report = three_chunks();
    report.head = JOIN(num(17, 5), num(18, 500));
    report.target = sub(1, sub(2, JOIN(sub(7, JOIN(num(1, 0), str(2, "H200"))), sub(9, JOIN(num(1, 0), num(2, 0))))));
    report.threads = sub(1, JOIN(num(2, 4), num(4, TID(5, 6))));
    struct bytes bytes = report_bytes(&report);
    uint64_t seed = 11;
    size_t untouched = pool_used, whole = 0;
    for (int round = 0; round < 3000; round++) {
        struct bytes damaged = take_bytes(bytes.ptr, bytes.size);
        unsigned char *at = pool + (damaged.ptr - pool);
        for (uint64_t i = 0; i <= random_below(&seed, 3); i++)
            at[31 + random_below(&seed, bytes.size - 31)] = (unsigned char)random_u64(&seed);
        char *text = decode_bytes(damaged, &(struct gt_decode_options){.threads = 1, .reader = GT_READER_NATIVE});
        whole += count_of(text, "kernel ") == 3;
        free(text);
        pool_used = untouched;
    }
    assert_true(whole > 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(damaged_events_are_counted, clear_pool),
        cmocka_unit_test_setup(damaged_chunks_are_left_out, clear_pool),
        cmocka_unit_test_setup(sizes_that_cannot_be_are_refused, clear_pool),
        cmocka_unit_test_setup(counts_of_the_index_are_compared, clear_pool),
        cmocka_unit_test_setup(events_beyond_the_count_are_ignored, clear_pool),
        cmocka_unit_test_setup(chunks_with_too_many_entries_are_read_in_part, clear_pool),
        cmocka_unit_test_setup(entries_are_bounded_by_packed_bytes, clear_pool),
        cmocka_unit_test_setup(many_clocks_take_little_time, clear_pool),
        cmocka_unit_test_setup(offsets_that_lie_are_noticed, clear_pool),
        cmocka_unit_test_setup(damage_does_not_hide_the_end_of_the_events, clear_pool),
        cmocka_unit_test_setup(tables_that_lie_are_done_without, clear_pool),
        cmocka_unit_test_setup(unknown_layouts_are_said_to_be, clear_pool),
        cmocka_unit_test_setup(cut_reports_give_what_is_there, clear_pool),
        cmocka_unit_test_setup(bombs_do_not_fill_the_memory, clear_pool),
        cmocka_unit_test_setup(random_damage_is_survived, clear_pool),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
