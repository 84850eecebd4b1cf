/* The report decoder on reports that are whole: every kind of event, the facts around them, chunks and threads. */
#include "rep_text.h"

/* The report of one chunk with these events. */
#define REPORT(count, ...) ((struct report){.events = chunk(JOIN(__VA_ARGS__)), .event_count = (count)})

static void events_give(struct bytes entries, uint64_t count, const char *expected) {
    struct report report = {.events = chunk(entries), .event_count = count};
    report_gives(&report, expected);
}

static void kernels_have_names(void **state) {
    (void)state;
#define NAMED(...)                                                                                                     \
    EVENT(79, 107, num(1, 100), num(2, 150), num(3, 9), num(4, 2), num(6, 7), num(8, PID(5)),                          \
          sub(101, JOIN(__VA_ARGS__)))
    events_give(NAMED(num(1, 0), num(2, 1), num(3, 2)), 1, "kernel 100+50 'gemm<1>(int)' gpu 2/7 #9\n");
    events_give(NAMED(num(3, 2), num(2, 1)), 1, "kernel 100+50 'gemm' gpu 2/7 #9\n");
    events_give(NAMED(num(3, 2)), 1, "kernel 100+50 '_Z4gemm' gpu 2/7 #9\n");
    /* A name that is not there gives way to the next. */
    events_give(NAMED(num(1, 99), num(2, 1), num(3, 2)), 1, "kernel 100+50 'gemm' gpu 2/7 #9\n");
    events_give(NAMED(num(1, 99), num(2, 98), num(3, 2)), 1, "kernel 100+50 '_Z4gemm' gpu 2/7 #9\n");
    events_give(NAMED(num(1, 99)), 1, "kernel 100+50 '?' gpu 2/7 #9\nissue op_without_name 1\n");
    events_give(NAMED(num(1, UINT64_MAX)), 1, "kernel 100+50 '?' gpu 2/7 #9\nissue op_without_name 1\n");
    events_give(NAMED(num(27, UINT64_C(5) << 32), num(1, 0)), 1,
                "kernel 100+50 'gemm<1>(int)' gpu 2/7 #9 in graph\ngraph of 0 5\n");
    /* A field of another type than it should have is no field. */
    events_give(NAMED(str(1, "text"), num(2, 1)), 1, "kernel 100+50 'gemm' gpu 2/7 #9\n");
}

static void copies_sets_and_graphs_are_ops(void **state) {
    (void)state;
#define ACTIVITY(type, ...)                                                                                            \
    EVENT(type, 107, num(1, 100), num(2, 150), num(3, 9), num(4, 0), num(6, 7), num(8, PID(5)), __VA_ARGS__)
    events_give(ACTIVITY(80, sub(102, JOIN(num(1, 4096), num(2, 1), num(4, 1), num(5, 2)))), 1,
                "memcpy 100+50 '[CUDA memcpy Host-to-Device]' gpu 0/7 #9\ncopy 0 4096 2>3\n");
    events_give(ACTIVITY(80, sub(102, JOIN(num(1, 8), num(2, 99), num(11, 4)))), 1,
                "memcpy 100+50 '[CUDA memcpy Unknown]' gpu 0/7 #9 in graph\ncopy 0 8 0>0\ngraph of 0 0\n");
    events_give(ACTIVITY(80, sub(103, JOIN(num(1, 64), num(2, 0), num(4, 2), num(3, 1)))), 1,
                "memset 100+50 '[CUDA memset]' gpu 0/7 #9 in graph\ncopy 0 64 0>3\ngraph of 0 0\n");
    events_give(ACTIVITY(130, sub(107, JOIN(num(1, 12), num(2, 13)))), 1,
                "graph 100+50 '[CUDA graph 12]' gpu 0/7 #9\ngraph of 0 12\n");
    /* Syncs and event records are no work. */
    events_give(JOIN(ACTIVITY(106, sub(105, num(4, 2))), ACTIVITY(127, sub(106, num(1, 2)))), 2, "skipped 2\n");
}

static void times_may_be_negative_or_missing(void **state) {
    (void)state;
#define TIMED(...) EVENT(79, 107, num(4, 0), num(6, 7), num(8, PID(5)), sub(101, num(1, 1)), __VA_ARGS__)
    events_give(TIMED(num(1, (uint64_t)-50), num(2, 5)), 1, "kernel -50+55 'gemm' gpu 0/7\n");
    events_give(TIMED(num(1, 50)), 1, "issue op_without_time 1\n");
    events_give(TIMED(num(1, 0), num(2, 0)), 1, "issue op_without_time 1\n");
    events_give(TIMED(num(1, 50), num(2, 49)), 1, "issue op_negative_duration 1\n");
    events_give(TIMED(num(1, UINT64_C(1) << 63), num(2, INT64_MAX)), 1, "issue op_without_time 1\n");
    events_give(EVENT(79, 107, num(1, 3), num(2, 4), sub(101, num(1, 1))), 1,
                "kernel 3+1 'gemm' gpu 0/0\nissue op_without_device 1\n");
}

static void api_events_go_by_type_and_class(void **state) {
    (void)state;
#define API(type, class, name)                                                                                         \
    EVENT(type, 108, num(1, 10), num(2, 30), num(3, 9), num(6, class), num(7, name), num(13, TID(5, 6)))
    events_give(JOIN(API(48, 0, 3), API(48, 1, 3)), 2,
                "call 10+20 'cudaLaunchKernel_v7000' 5/6 #9\ncall 10+20 'cudaLaunchKernel_v7000' 5/6 #9\n");
    events_give(API(48, 3, 1), 1, "overhead 10+20 'gemm' 5/6\n");
    events_give(JOIN(API(48, 27, 3), API(47, 0, 3), API(113, 77, 3)), 3, "skipped 3\n");
    events_give(API(48, 103, 1), 1, "driver 10+20 'gemm' 5/6\n");
    events_give(API(48, 0, 77), 1, "call 10+20 '?' 5/6 #9\n");
}

static void ranges_have_domains(void **state) {
    (void)state;
#define NVTX(type, ...) EVENT(type, 102, num(1, type), num(9, TID(5, 6)), __VA_ARGS__)
    struct bytes entries =
        JOIN(NVTX(59, num(2, 10), num(10, 20), str(7, "push"), num(13, 0)),
             NVTX(60, num(2, 11), num(10, 21), num(12, 5), num(13, 3), num(11, TID(5, 8))),
             NVTX(34, num(2, 12), str(7, "mark"), num(13, 4)),
             NVTX(75, num(2, (uint64_t)-9), str(7, "MINE"), num(13, 3)), NVTX(39, num(2, 0), str(7, "worker")));
    events_give(entries, 5,
                "range 10+10 'push' 5/6\nrange 11+10 'registered' 5/6\nrange 12+0 'mark' 5/6\n"
                "thread 6 is 'worker'\n"
                "range 0 nested domain ''\nrange 1 start/end domain 'MINE' 5/8\nrange 2 mark domain ''\n");
}

static void ranges_never_closed_end_with_the_capture(void **state) {
    (void)state;
    struct report report =
        REPORT(2, NVTX(59, num(2, 10), num(10, 100), str(7, "open")), NVTX(59, num(2, 11), str(7, "endless")));
    report.head = JOIN(num(17, 1000), num(18, 1100));
    report_gives(&report, "range 10+90 'open' 5/6\nrange 11+89 'endless' 5/6\nissue range_open 2\n"
                          "range 0 nested domain ''\nrange 1 nested domain ''\nduration 100\n");
}

/* A schema of domain 3 whose second entry is the size of the message. */
static struct bytes schemas(const char *name, uint64_t type, uint64_t flags, uint64_t offset) {
    struct bytes entries = JOIN(sub(4, JOIN(num(1, 18), str(7, "comm"))),
                                sub(4, JOIN(num(1, type), num(2, flags), num(3, offset), str(7, name))));
    return sub(3, JOIN(num(1, PID(5)), sub(2, JOIN(num(1, 40), entries, num(9, 3)))));
}

#define WITH_PAYLOAD(schema, bytes)                                                                                    \
    NVTX(59, num(2, 10), num(10, 20), num(12, 5), num(13, 3), sub(8, sub(9, JOIN(num(1, schema), sub(2, bytes)))))

static void texts_are_kept(void **state) {
    (void)state;
    struct bytes payload = take_bytes("\5\0\0\0\0\0\0\0\4\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x63\0\0\0\0\0\0\0\7", 33);
    struct report report = REPORT(1, WITH_PAYLOAD(40, payload));
#define TEXT(offset, name) sub(4, JOIN(num(1, 80), num(3, offset), str(7, name)))
#define SCHEMA(...)        sub(3, JOIN(num(1, PID(5)), sub(2, JOIN(num(1, 40), __VA_ARGS__, num(9, 3)))))
#define RANGE              "range 10+10 'registered' 5/6\nrange 0 nested domain ''\n"
    /* The first is not to be trusted, the third is none, the fourth no string, the fifth past the end. */
    report.schemas =
        SCHEMA(TEXT(0, "First"), TEXT(8, "HLO"), TEXT(16, "Source"), TEXT(24, "Called"), TEXT(26, "Behind"));
    report_gives(&report, RANGE "text 0 'HLO' 'main'\n");
    report.schemas = SCHEMA(TEXT(8, ""), TEXT(8, "again"));
    report_gives(&report, RANGE "text 0 'again' 'main'\n");
    struct bytes many[40];
    for (size_t i = 0; i < 40; i++)
        many[i] = TEXT(8, "k");
    report.schemas = SCHEMA(join_count(many, 40));
    char *text = decode_bytes(report_bytes(&report), &(struct gt_decode_options){.threads = 1});
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, "text 0")); at++)
        count++;
    assert_int_equal(count, 16);
    free(text);
}

static void ranges_have_categories(void **state) {
    (void)state;
#define IN(category, domain) NVTX(59, num(2, 10), num(10, 20), num(12, 5), num(5, category), num(13, domain))
    struct bytes entries = JOIN(IN(3, 1), IN(3, 2), IN(0, 1), IN(UINT64_MAX - 1, 1),
                                NVTX(33, num(2, (uint64_t)-5), num(5, 3), str(7, "layers"), num(13, 1)),
                                NVTX(34, num(2, 12), num(12, 5), num(5, 3), num(13, 1)));
    struct report report = {.events = chunk(entries), .event_count = 6};
    char *text = decode_bytes(report_bytes(&report), &(struct gt_decode_options){.threads = 1});
    assert_non_null(strstr(text, "category 0 'layers'\ncategory 1 '3'\ncategory 4 'layers'\n"));
    free(text);
}

static void clones_of_graphs_are_followed(void **state) {
    (void)state;
#define NODE(graph, place) (UINT64_C(graph) << 32 | (place))
#define RUN(node)                                                                                                      \
    EVENT(79, 107, num(1, 100), num(2, 150), num(4, 2), num(6, 7), num(8, PID(5)),                                     \
          sub(101, JOIN(num(1, 1), num(27, node))))
#define CLONE(field, copy, original)                                                                                   \
    EVENT(113, 108, num(1, 1), num(2, 2), num(6, 77), num(13, TID(5, 6)),                                              \
          sub(field, JOIN(num(1, copy), num(2, original))))
    events_give(JOIN(RUN(NODE(5, 3)), CLONE(33, NODE(2, 9), NODE(1, 0)), CLONE(33, NODE(5, 3), NODE(2, 9)),
                     EVENT(113, 108, num(13, TID(5, 6)), sub(33, num(1, NODE(5, 3)))), RUN(NODE(6, 3))),
                5,
                "kernel 100+50 'gemm' gpu 2/7 in graph\nkernel 100+50 'gemm' gpu 2/7 in graph\nskipped 1\n"
                "graph of 0 1\ngraph of 1 6\n");
    events_give(JOIN(ACTIVITY(130, sub(107, JOIN(num(1, 12), num(2, 13)))), CLONE(39, 12, 11)), 2,
                "graph 100+50 '[CUDA graph 12]' gpu 0/7 #9\ngraph of 0 11\n");
}

static void processes_threads_and_gpus_have_names(void **state) {
    (void)state;
    struct report report =
        REPORT(5, EVENT(79, 107, num(1, 1), num(2, 2), num(4, 0), num(6, 7), num(8, PID(5)), sub(101, num(1, 1))),
               EVENT(79, 107, num(1, 3), num(2, 4), num(4, 0), num(6, 7), num(8, PID(9)), sub(101, num(1, 1))),
               API(48, 0, 3), EVENT(27, 113, num(2, PID(5)), str(5, "/bin/app"), str(6, "app")),
               EVENT(27, 113, num(2, PID(9)), str(5, "/bin/other")));
    report.threads = sub(1, JOIN(num(2, 4), num(4, TID(5, 6))));
    report.target =
        sub(1, sub(2, JOIN(sub(7, JOIN(num(1, 3), str(2, "H200"), num(11, 1000), num(14, 132))),
                           sub(7, JOIN(num(1, 4), str(2, "H100"))), sub(9, JOIN(num(1, 3), num(2, 0), num(3, 5))),
                           sub(9, JOIN(num(1, 4), num(2, 0), num(3, 9))),
                           sub(9, JOIN(num(1, 4), num(2, 0), num(3, 5)))))); /* the first counts */
    report_gives(&report, "kernel 1+1 'gemm' gpu 3/7\nkernel 3+1 'gemm' gpu 4/7\n"
                          "call 10+20 'cudaLaunchKernel_v7000' 5/6 #9\n"
                          "process 5 is 'app'\nprocess 9 is '/bin/other'\nthread 6 is 'main'\n"
                          "device 3 is 'H200' 1000 132\ndevice 4 is 'H100' 0 0\n");
}

static void clocks_of_both_kinds_give_the_base(void **state) {
    (void)state;
    struct report report = REPORT(0, sub(2, num(1, 1)));
    report.index = num(15, 1);
    struct bytes offsets = JOIN(sub(1, JOIN(num(1, 1), num(2, 3), str(5, "18446744073709551606"))), /* -10 */
                                sub(1, JOIN(num(1, 3), num(2, 9), str(5, "-1700000000000000000"))));
    report.head = JOIN(num(17, 500), num(18, 600), sub(16, offsets));
    report_gives(&report, "base 1700000000000000510\nskipped 1\nduration 100\n");
    report.head = JOIN(num(17, 500), num(18, 600));
    struct bytes points = sub(1, JOIN(num(1, UINT64_C(1700000000000000000)), num(2, 480)));
    report.clocks = JOIN(sub(1, JOIN(sub(1, JOIN(str(1, "aa"), num(2, 11))), sub(1, JOIN(str(1, "bb"), num(2, 7))))),
                         sub(2, sub(1, JOIN(str(1, "aa"), str(2, "bb"), sub(3, points)))));
    report_gives(&report, "base 1700000000000000020\nskipped 1\nduration 100\n");
}

static void diagnostics_report_lost_events(void **state) {
    (void)state;
    events_give(JOIN(EVENT(49, 110, num(2, 1), str(4, "Not all CUDA events might have been collected.")),
                     EVENT(49, 110, num(2, 1), str(4, "Process was launched"))),
                2, "issue events_dropped 1\n");
}

/* Of a compiler or a data loader, which the profiler follows too, nothing is missing. */
static void losses_count_for_processes_with_gpu_work(void **state) {
    (void)state;
#define SAYS(pid, text) EVENT(49, 110, num(2, 1), str(4, text), num(5, PID(pid)))
#define KERNEL_OF(pid)  EVENT(79, 107, num(1, 1), num(2, 2), num(4, 0), num(6, 7), num(8, PID(pid)), sub(101, num(1, 1)))
#define UNSURE          "Not all CUDA events might have been collected."
#define NONE            "No CUDA events collected. Does the process use CUDA?"
    const char *kernel = "kernel 1+1 'gemm' gpu 0/7\n";
    char expected[128];
    events_give(JOIN(SAYS(9, UNSURE), SAYS(9, NONE), KERNEL_OF(5), SAYS(8, UNSURE)), 4, kernel);
    snprintf(expected, sizeof expected, "%sissue events_dropped 1\n", kernel);
    events_give(JOIN(SAYS(5, UNSURE), SAYS(9, NONE), KERNEL_OF(5)), 3, expected);
    /* A process that is not known may be any; what was counted is lost whoever it belongs to. */
    snprintf(expected, sizeof expected, "%sissue events_dropped 8\n", kernel);
    events_give(
        JOIN(KERNEL_OF(5), EVENT(49, 110, str(4, UNSURE)), SAYS(9, "Number of incomplete CUPTI events dropped: 7")), 3,
        expected);
    /* No process has any: something is missing. */
    events_give(JOIN(SAYS(9, NONE), SAYS(8, NONE)), 2, "issue events_dropped 2\n");
}

static void the_launcher_is_no_program(void **state) {
    (void)state;
#define NAMED_PROCESS(pid, name) EVENT(27, 113, num(2, PID(pid)), str(6, name))
    struct report report = REPORT(5, KERNEL_OF(5), KERNEL_OF(9), NAMED_PROCESS(5, "/opt/nsys-launcher"),
                                  NAMED_PROCESS(5, "python3"), NAMED_PROCESS(9, "nsys-launcher"));
    report_gives(&report, "kernel 1+1 'gemm' gpu 0/7\nkernel 1+1 'gemm' gpu 0/7\n"
                          "process 5 is 'python3'\nprocess 9 is 'nsys-launcher'\nissue device_shared 1\n");
    /* The main thread has the name of the program; that of another thread does not count. */
    report.threads = JOIN(sub(1, JOIN(num(2, 4), num(4, TID(9, 9)))), sub(1, JOIN(num(2, 1), num(4, TID(5, 6)))));
    report_gives(&report, "kernel 1+1 'gemm' gpu 0/7\nkernel 1+1 'gemm' gpu 0/7\n"
                          "process 5 is 'python3'\nprocess 9 is 'main'\nissue device_shared 1\n");
}

static void unknown_events_are_skipped(void **state) {
    (void)state;
    events_give(JOIN(EVENT(41, 106, num(1, 5)), sub(1, num(1, 200)), sub(1, nothing), sub(7, num(1, 1)), num(9, 4)), 3,
                "skipped 3\n");
}

/* Hundreds of chunks: small ones share a batch, and however threads take them, the rows come in the order of the file.
 */
static struct report many_chunks(void) {
    enum { CHUNKS = 600 };
    struct report report = {.schemas = schemas("Message size [bytes]", 16, 0, 0), .event_count = 3 * CHUNKS};
    struct bytes chunks[CHUNKS];
    for (uint32_t i = 0; i < CHUNKS; i++) {
        /* Some chunks are larger than a batch. */
        struct bytes filler = i % 100 == 50 ? take_bytes(pool, 300000) : nothing;
        struct bytes range = WITH_PAYLOAD(40, take_bytes(&(uint32_t){htole32(i * i)}, 4));
        struct bytes process = EVENT(27, 113, num(2, PID(i % 7)), str(6, "p"));
        chunks[i] = chunk(JOIN(kernel(100 + i, i % 3), sub(5, filler), range, process));
    }
    report.events = join_count(chunks, CHUNKS);
    return report;
}

static void chunks_are_read_in_order_by_any_number_of_threads(void **state) {
    (void)state;
    struct report report = many_chunks();
    struct bytes bytes = report_bytes(&report);
    const uint32_t facts = GT_FACTS_USUAL | GT_FACT_COMMS;
    char *expected = decode_bytes(bytes, &(struct gt_decode_options){.threads = 1, .facts = facts});
    assert_non_null(strstr(expected, "kernel 100+10 'gemm<1>(int)' gpu 0/7 #100\nkernel 101+10 'gemm' gpu 0/7 #101\n"));
    assert_non_null(strstr(expected, "kernel 699+10 '_Z4gemm' gpu 0/7 #699\nrange 10+10 "));
    assert_non_null(strstr(expected, "process 5 is 'p'\n"));
    assert_non_null(strstr(expected, "payload 400 160000\npayload 401 160801\n"));
    for (size_t threads = 2; threads < 6; threads++) {
        char *text = decode_bytes(bytes, &(struct gt_decode_options){.threads = threads, .facts = facts});
        assert_string_equal(text, expected);
        free(text);
    }
    report.has_no_offsets = true;
    char *text = decode_bytes(report_bytes(&report), &(struct gt_decode_options){.threads = 2, .facts = facts});
    assert_string_equal(text, expected);
    free(text);
    free(expected);
}

static void reports_are_known_by_their_first_bytes(void **state) {
    (void)state;
    assert_int_equal(gt_nsys_rep_sniff(GT_STR("NVIDIA Tegra Profiler Report 1."), "x"), 100);
    assert_int_equal(gt_nsys_rep_sniff(GT_STR("\1\2\3\4NVIDIA Tegra Profiler Report 1."), "x"), 90);
    assert_int_equal(gt_nsys_rep_sniff(GT_STR("NVIDIA Tegra Profiler"), "x.nsys-rep"), 0);
    assert_int_equal(gt_nsys_rep_sniff(GT_STR(""), "x.nsys-rep"), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(kernels_have_names, clear_pool),
        cmocka_unit_test_setup(copies_sets_and_graphs_are_ops, clear_pool),
        cmocka_unit_test_setup(times_may_be_negative_or_missing, clear_pool),
        cmocka_unit_test_setup(api_events_go_by_type_and_class, clear_pool),
        cmocka_unit_test_setup(ranges_have_domains, clear_pool),
        cmocka_unit_test_setup(ranges_never_closed_end_with_the_capture, clear_pool),
        cmocka_unit_test_setup(texts_are_kept, clear_pool),
        cmocka_unit_test_setup(ranges_have_categories, clear_pool),
        cmocka_unit_test_setup(clones_of_graphs_are_followed, clear_pool),
        cmocka_unit_test_setup(processes_threads_and_gpus_have_names, clear_pool),
        cmocka_unit_test_setup(clocks_of_both_kinds_give_the_base, clear_pool),
        cmocka_unit_test_setup(diagnostics_report_lost_events, clear_pool),
        cmocka_unit_test_setup(losses_count_for_processes_with_gpu_work, clear_pool),
        cmocka_unit_test_setup(the_launcher_is_no_program, clear_pool),
        cmocka_unit_test_setup(unknown_events_are_skipped, clear_pool),
        cmocka_unit_test_setup(chunks_are_read_in_order_by_any_number_of_threads, clear_pool),
        cmocka_unit_test_setup(reports_are_known_by_their_first_bytes, clear_pool),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
