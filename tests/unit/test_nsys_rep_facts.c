/* The report decoder on what is read only when it is asked for: launch configurations, waits, memory, collectives,
   ranks and GPU metrics; and that nothing else is read. */
#include "rep_text.h"

/* The report's store as text, the same for one thread and several. To free. */
static char *text_of_facts(const struct report *report, uint32_t facts) {
    struct bytes bytes = report_bytes(report);
    struct gt_decode_options options = {.threads = 1, .reader = GT_READER_NATIVE, .facts = facts};
    char *text = decode_bytes(bytes, &options);
    for (options.threads = 2; options.threads < 5; options.threads++) {
        char *other = decode_bytes(bytes, &options);
        assert_string_equal(other, text);
        free(other);
    }
    return text;
}

static void rep_facts_give(const struct report *report, uint32_t facts, const char *expected) {
    char *text = text_of_facts(report, facts);
    assert_string_equal(text, expected);
    free(text);
}

static void events_give(struct bytes entries, uint64_t count, uint32_t facts, const char *expected) {
    struct report report = {.events = chunk(entries), .event_count = count};
    rep_facts_give(&report, facts, expected);
}

#define ACTIVITY(type, ...)                                                                                            \
    EVENT(type, 107, num(1, 100), num(2, 150), num(3, 9), num(4, 2), num(8, PID(5)), __VA_ARGS__)
#define NVTX(type, ...) EVENT(type, 102, num(1, type), num(9, TID(5, 6)), __VA_ARGS__)

/* ---- launch configurations ---- */

static void kernels_have_configurations(void **state) {
    (void)state;
    struct bytes entries =
        ACTIVITY(79, num(6, 7),
                 sub(101, JOIN(num(1, 1), num(10, 1), num(11, 2), num(12, 3), num(13, 4), num(14, 5), num(15, 6),
                               num(16, 10), num(17, 11), num(18, 12), num(19, 99), num(21, 32), num(22, 13), num(31, 2),
                               num(32, 1), num(33, 1), num(36, 66))));
    events_give(entries, 1, GT_FACT_CONFIGS,
                "kernel 100+50 'gemm' gpu 2/7 #9\n"
                "config of 0 1x2x3 4x5x6 cluster=2 registers=32 static=10 dynamic=11 shared=13 local=12\n");
    events_give(entries, 1, GT_FACT_OPS, "kernel 100+50 'gemm' gpu 2/7 #9\n");
    /* Absurd numbers, and fields of another type, are not known. */
    entries = ACTIVITY(79, num(6, 7), sub(101, JOIN(num(1, 1), num(10, UINT64_MAX - 1), str(11, "2"), num(12, 0))));
    events_give(entries, 1, GT_FACT_CONFIGS,
                "kernel 100+50 'gemm' gpu 2/7 #9\n"
                "config of 0 4294967295x4294967295x0 4294967295x4294967295x4294967295\n");
    /* What is no op has none; copies neither. */
    entries = JOIN(EVENT(79, 107, num(1, 5), num(2, 4), num(4, 0), num(8, PID(5)), sub(101, num(10, 1))),
                   ACTIVITY(80, num(6, 7), sub(103, num(1, 64))));
    events_give(entries, 2, GT_FACT_CONFIGS,
                "memset 100+50 '[CUDA memset]' gpu 2/7 #9\nissue op_negative_duration 1\nissue op_without_name 1\n");
}

/* ---- waits ---- */

static void waits_are_of_both_numberings(void **state) {
    (void)state;
#define SYNC(...) ACTIVITY(106, num(6, 7), sub(105, JOIN(__VA_ARGS__)))
#define NONE      UINT32_MAX
    struct bytes entries =
        JOIN(SYNC(num(1, 3), num(3, 8), num(4, 1)), SYNC(num(1, 3), num(3, 8), num(4, 2)),
             SYNC(num(1, NONE), num(3, NONE), num(4, 2)), SYNC(num(1, NONE), num(4, 3)), SYNC(num(4, 4)),
             SYNC(num(4, 77)), SYNC(num(2, 0)), SYNC(num(2, 1)), SYNC(num(1, 4), num(2, 2)), SYNC(num(1, 4), num(2, 3)),
             SYNC(num(2, 3)), ACTIVITY(106, num(6, NONE), sub(105, num(4, 4))), ACTIVITY(106, sub(105, nothing)),
             ACTIVITY(127, num(6, 7), sub(106, JOIN(num(1, 3), num(2, 8)))));
    events_give(entries, 14, GT_FACT_SYNCS,
                "sync 100+50 event gpu 2 of 5 #=9 stream=7 event=3 record=8\n"
                "sync 100+50 stream wait gpu 2 of 5 #=9 stream=7 event=3 record=8\n"
                "sync 100+50 stream gpu 2 of 5 #=9 stream=7\n"
                "sync 100+50 stream gpu 2 of 5 #=9 stream=7\n"
                "sync 100+50 context gpu 2 of 5 #=9 stream=7\n"
                "sync 100+50 unknown gpu 2 of 5 #=9 stream=7\n"
                "sync 100+50 context gpu 2 of 5 #=9 stream=7\n"
                "sync 100+50 context gpu 2 of 5 #=9 stream=7\n"
                "sync 100+50 event gpu 2 of 5 #=9 stream=7 event=4\n"
                "sync 100+50 stream wait gpu 2 of 5 #=9 stream=7 event=4\n"
                "sync 100+50 stream gpu 2 of 5 #=9 stream=7\n"
                "sync 100+50 context gpu 2 of 5 #=9\n"
                "sync 100+50 unknown gpu 2 of 5 #=9\n"
                "record gpu 2 of 5 #=9 stream=7 event=3 record=8\n");
    events_give(entries, 14, GT_FACTS_USUAL, "skipped 14\n");
    events_give(JOIN(EVENT(106, 107, num(3, 1), sub(105, num(4, 1))),
                     ACTIVITY(106, sub(105, (struct bytes){(const unsigned char *)"\x08", 1}))),
                2, GT_FACT_SYNCS, "issue event_damaged 2 at 62\n");
}

/* ---- memory ---- */

static struct bytes memory(uint64_t time, uint64_t correlation, uint64_t bytes, uint64_t kind, uint64_t operation) {
    return EVENT(117, 123, num(1, time), num(3, 0), num(5, PID(5)), num(6, 4096), num(8, bytes), num(9, kind),
                 num(10, operation), num(12, correlation));
}

static void memory_is_allocated_and_freed(void **state) {
    (void)state;
    struct bytes entries = JOIN(
        EVENT(117, 123, num(1, 70), num(3, 0), num(5, PID(5)), num(6, 4096), num(8, 512), num(9, 2), num(10, 0),
              num(12, 3), num(15, 7), sub(13, JOIN(num(1, 77), num(2, 0), num(3, 2048), num(4, 512)))),
        memory(80, 4, 512, 2, 1), EVENT(117, 123, num(1, 0), num(5, PID(5)), num(8, 9), num(9, 5), str(11, "table")),
        EVENT(117, 123, num(1, 0), num(5, PID(5)), num(8, 9), num(9, 6)),
        EVENT(129, 129, num(1, 60), num(2, 1), num(4, 2), num(5, PID(5)), num(6, 0), num(7, 77),
              sub(9, JOIN(num(9, 0), num(10, 5), num(11, 0)))),
        EVENT(129, 129, num(1, 90), num(2, 3), num(5, PID(5)), num(6, 0), num(7, 77), num(8, 100)),
        EVENT(129, 129, num(1, 95), num(2, 2), num(5, PID(5)), num(6, 0), num(7, 77)));
    events_give(entries, 7, GT_FACT_MEMORY,
                "allocate 512 gpu 0 kind 3 of 5 at=70 #=3 address=4096 stream=7 pool=77 size=2048 used=512 kept=0\n"
                "free -512 gpu 0 kind 3 of 5 at=80 #=4 address=4096\n"
                "allocate 9 gpu -1 kind 6 of 5 table\nallocate 9 gpu -1 kind 6 of 5 ?\n"
                "create pool 0 gpu 0 kind 3 of 5 at=60 #=2 pool=77 size=0 used=0 kept=5\n"
                "trim pool 100 gpu 0 kind 3 of 5 at=90 pool=77\ndestroy pool 0 gpu 0 kind 3 of 5 at=95 pool=77\n");
    events_give(entries, 7, GT_FACTS_USUAL, "skipped 7\n");
    /* Without a time, without a size. */
    events_give(JOIN(EVENT(117, 123, num(5, PID(5)), num(8, 9)), EVENT(117, 123, num(1, 5), num(5, PID(5)))), 2,
                GT_FACT_MEMORY, "issue event_damaged 2\n");
}

/* The lines of a text that begin with a word, to free. */
static char *lines_of(const char *text, const char *word) {
    char *lines = calloc(strlen(text) + 1, 1);
    assert_non_null(lines);
    for (const char *at = text; *at;) {
        size_t length = strcspn(at, "\n") + 1;
        if (strncmp(at, word, strlen(word)) == 0)
            strncat(lines, at, length);
        at += length;
    }
    return lines;
}

static void counters_give(const struct report *report, const char *expected) {
    char *text = text_of_facts(report, GT_FACT_COUNTERS), *lines = lines_of(text, "counter");
    assert_string_equal(lines, expected);
    /* The events that they are made of are not kept. */
    assert_null(strstr(text, "allocate"));
    assert_null(strstr(text, "free"));
    free(lines);
    free(text);
}

static void memory_in_use_is_a_counter(void **state) {
    (void)state;
    /* Before the capture 300 in all, in no order; pinned memory and static variables do not count. */
    struct bytes entries = JOIN(memory(50, 9, 40, 2, 1), memory(0, 2, 300, 2, 0), memory(0, 1, 100, 4, 0),
                                memory(0, 3, 100, 2, 1), memory(0, 3, 5000, 1, 0), memory(0, 3, 700, 5, 0),
                                memory(20, 5, 10, 3, 0), memory(20, 6, 10, 3, 0), memory(30, 7, 20, 4, 0));
    struct report report = {.events = chunk(entries), .event_count = 9};
    counters_give(&report, "counter 'CUDA memory in use' [bytes] gpu 0 of 5 states 0:300 20:320 30:340 50:300\n");
    /* Several chunks, in another order of the file. */
    report.events = JOIN(chunk(JOIN(memory(30, 7, 20, 4, 0), memory(0, 3, 100, 2, 1))),
                         chunk(JOIN(memory(20, 6, 10, 3, 0), memory(50, 9, 40, 2, 1))),
                         chunk(JOIN(memory(20, 5, 10, 3, 0), memory(0, 1, 100, 4, 0), memory(0, 2, 300, 2, 0))));
    report.event_count = 7;
    counters_give(&report, "counter 'CUDA memory in use' [bytes] gpu 0 of 5 states 0:300 20:320 30:340 50:300\n");
    /* What happened before the capture comes before times below zero; absurd sizes stop at the largest number. */
    report.events = chunk(JOIN(memory((uint64_t)-5, 1, 7, 2, 0), memory(0, 2, 100, 2, 0),
                               memory(10, 3, UINT64_MAX - 1, 2, 0), memory(11, 4, UINT64_MAX - 1, 2, 0)));
    report.event_count = 4;
    counters_give(&report, "counter 'CUDA memory in use' [bytes] gpu 0 of 5 states -5:107 10:9.2233720368547758e+18 "
                           "11:9.2233720368547758e+18\n");
}

static void pools_have_counters(void **state) {
    (void)state;
#define POOLED(time, change, operation, size, used)                                                                    \
    EVENT(117, 123, num(1, time), num(3, 0), num(5, PID(5)), num(8, change), num(9, 2), num(10, operation),            \
          num(12, time), sub(13, JOIN(num(1, 0xab), num(3, size), num(4, used))))
    struct bytes entries =
        JOIN(POOLED(70, 30, 1, 2048, 20), POOLED(60, 50, 0, 2048, 50),
             EVENT(129, 129, num(1, 55), num(2, 1), num(5, PID(5)), num(6, 0), num(7, 0xab), sub(9, num(9, 0))));
    struct report report = {.events = chunk(entries), .event_count = 3};
    counters_give(&report, "counter 'CUDA memory in use' [bytes] gpu 0 of 5 states 60:50 70:20\n"
                           "counter 'memory pool 0xab size' [bytes] gpu 0 of 5 states 55:0 60:2048 70:2048\n"
                           "counter 'memory pool 0xab used' [bytes] gpu 0 of 5 states 60:50 70:20\n");
}

/* ---- collectives ---- */

#define ENTRY(type, offset, name)        sub(4, JOIN(num(1, type), num(3, offset), str(7, name)))
#define SCHEMA(number, domain, ...)      sub(2, JOIN(num(1, number), __VA_ARGS__, num(9, domain)))
#define VALUE(number, name)              sub(4, JOIN(str(1, name), num(2, number)))
#define ENUM(number, domain, width, ...) sub(4, JOIN(num(1, domain), num(2, number), __VA_ARGS__, num(5, width)))
#define OF_PROCESS(...)                  sub(3, JOIN(num(1, PID(5)), __VA_ARGS__))
#define PAYLOAD(start, schema, bytes, size)                                                                            \
    NVTX(59, num(2, start), num(10, start + 5), num(12, 5), num(13, 3),                                                \
         sub(8, sub(9, JOIN(num(1, schema), sub(2, take_bytes(bytes, size))))))

static struct bytes nccl_schemas(void) {
    return OF_PROCESS(
        SCHEMA(40, 3, ENTRY(18, 0, "NCCL communicator ID"), ENTRY(22, 8, "Message size [bytes]"),
               ENTRY(60, 16, "Reduction operation")),
        SCHEMA(41, 3, ENTRY(18, 0, "NCCL communicator ID"), ENTRY(22, 8, "Message size [bytes]"), ENTRY(5, 16, "Root")),
        SCHEMA(42, 3, ENTRY(18, 0, "NCCL communicator ID"), ENTRY(22, 8, "Message size [bytes]"),
               ENTRY(5, 16, "Peer rank")),
        SCHEMA(43, 3, ENTRY(18, 0, "NCCL communicator ID"), ENTRY(5, 8, "No. of ranks"), ENTRY(5, 12, "Rank"),
               ENTRY(5, 16, "CUDA device")),
        SCHEMA(44, 3, ENTRY(5, 0, "Rank")), ENUM(60, 3, 4, VALUE(0, "Sum"), VALUE(2, "Max")));
}

/* ---- samples of Python ---- */

#define FRAMES(type, offset) sub(4, JOIN(num(1, type), num(2, 48), num(3, offset), str(7, "Frames")))
#define STACK(start, bytes)                                                                                            \
    NVTX(34, num(2, start), num(13, 3), sub(8, sub(9, JOIN(num(1, 50), sub(2, take_bytes(bytes, sizeof bytes - 1))))))
#define HEAD(count)                                                                                                    \
    "\1\0\0\0\0\0\0\0"                                                                                                 \
    "\3\0\0\0" count "\0\0\0"
#define FRAME(function, file)                                                                                          \
    function "\0\0\0\0\0\0\0" file "\0\0\0\0\0\0\0"                                                                    \
             "\x2a\0\0\0\0\0\0\0"

static struct report sampled_report(struct bytes entries, uint64_t count) {
    return (struct report){
        .events = chunk(entries),
        .event_count = count,
        .strings = JOIN(usual_strings(), str(1, "&lt;module&gt;"), str(1, "train.py"), str(1, "step")),
        .schemas =
            OF_PROCESS(SCHEMA(50, 3, ENTRY(18, 0, "Thread state ID"), ENTRY(16, 12, "Frames count"), FRAMES(51, 16)),
                       SCHEMA(51, 3, ENTRY(80, 0, "Function"), ENTRY(80, 8, "File"), ENTRY(15, 16, "Line")))};
}

static void samples_of_python_become_calls(void **state) {
    (void)state;
    struct bytes domain = NVTX(75, num(2, 1), str(7, "Python Periodic Sampling"), num(13, 3));
    struct bytes entries =
        JOIN(domain, STACK(110, HEAD("\2") FRAME("\x08", "\x07") FRAME("\x06", "\x07")),
             STACK(100, HEAD("\1") FRAME("\x06", "\x07")),
             STACK(120, HEAD("\2") FRAME("\x08", "\x07") FRAME("\x06", "\x07")),
             STACK(130, HEAD("\1") FRAME("\x06", "\x07")), STACK(990, HEAD("\1") FRAME("\x06", "\x63")));
    struct report report = sampled_report(entries, 6);
    rep_facts_give(&report, GT_FACT_STACKS,
                   "python 110+20 'train.py: step' of 6\npython 100+40 'train.py: <module>' of 6\n"
                   "python 990+10 '?: <module>' of 6\n");
    /* They are no marks, whoever asks. */
    rep_facts_give(&report, GT_FACTS_USUAL, "skipped 5\n");
    /* Stacks that are cut, of another domain, and none at all. */
    entries = JOIN(domain, STACK(100, HEAD("\3") FRAME("\x06", "\x07")), STACK(110, "\1\0"),
                   NVTX(34, num(2, 120), num(13, 3)));
    report = sampled_report(entries, 4);
    rep_facts_give(&report, GT_FACT_STACKS,
                   "issue payload_unreadable 2\nissue samples_not_read 1\npython 100+0 'train.py: <module>' of 6\n");
    report = sampled_report(STACK(100, HEAD("\1") FRAME("\x06", "\x07")), 1);
    rep_facts_give(&report, GT_FACT_STACKS, "skipped 1\n");
    rep_facts_give(&report, GT_FACTS_USUAL, "skipped 1\n");
}

static void payloads_describe_collectives(void **state) {
    (void)state;
    struct bytes entries = JOIN(PAYLOAD(10, 40, "\x07\0\0\0\0\0\0\0\0\x10\0\0\0\0\0\0\2\0\0\0\xfd\x7f\0\0", 24),
                                PAYLOAD(20, 41, "\x07\0\0\0\0\0\0\0\0\x10\0\0\0\0\0\0\3\0\0\0", 20),
                                PAYLOAD(30, 42, "\x08\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\xff\xff\xff\xff", 20),
                                PAYLOAD(40, 44, "\x01\0\0\0", 4));
    struct report report = {.events = chunk(entries), .event_count = 4, .schemas = nccl_schemas()};
#define FOUR(last)                                                                                                     \
    "range 10+5 'registered' 5/6\nrange 20+5 'registered' 5/6\nrange 30+5 'registered' 5/6\n"                          \
    "range 40+5 'registered' 5/6\n" last                                                                               \
    "range 0 nested domain ''\nrange 1 nested domain ''\nrange 2 nested domain ''\nrange 3 nested domain ''\n"
    rep_facts_give(&report, GT_FACT_COMMS,
                   FOUR("") "payload 0 4096\npayload 1 4096\npayload 2 1\n"
                            "comm 0 registered communicator=7 Max\n"
                            "comm 1 registered communicator=7 root=3\n"
                            "comm 2 registered communicator=8 peer=-1\n");
    /* The usual facts have nothing of it. */
    rep_facts_give(&report, GT_FACTS_USUAL, FOUR(""));
    /* Payloads that end early, and enumerations that are no enumerations: what can be read is. */
    report.schemas = OF_PROCESS(SCHEMA(40, 3, ENTRY(18, 0, "NCCL communicator ID"),
                                       ENTRY(22, 17, "Message size [bytes]"), ENTRY(40, 16, "Reduction operation")),
                                SCHEMA(41, 3, ENTRY(18, UINT64_MAX, "NCCL communicator ID")),
                                SCHEMA(42, 3, ENTRY(60, 0, "Reduction operation"), ENTRY(5, 0, "No. of ranks")),
                                ENUM(60, 3, 4, VALUE(0, "Sum")), ENUM(60, 3, 9, VALUE(0, "Sum")));
    char *text = text_of_facts(&report, GT_FACT_COMMS), *comms = lines_of(text, "comm"),
         *issues = lines_of(text, "issue");
    assert_string_equal(comms, "comm 0 registered communicator=7\ncomm 2 registered\n");
    assert_string_equal(issues, "issue payload_unreadable 2\n");
    free(comms);
    free(issues);
    free(text);
}

/* ---- ranks ---- */

static void communicators_give_ranks(void **state) {
    (void)state;
    struct bytes small = PAYLOAD(10, 43, "\x07\0\0\0\0\0\0\0\2\0\0\0\1\0\0\0\0\0\0\0", 20);
    struct bytes large = PAYLOAD(20, 43, "\x08\0\0\0\0\0\0\0\x10\0\0\0\5\0\0\0\0\0\0\0", 20);
    struct bytes absurd = PAYLOAD(30, 43, "\x09\0\0\0\0\0\0\0\x20\0\0\0\x21\0\0\0\0\0\0\0", 20);
    struct report report = {
        .events = JOIN(chunk(small), chunk(large), chunk(absurd)), .event_count = 3, .schemas = nccl_schemas()};
    char *text = text_of_facts(&report, GT_FACT_COMMS), *ranks = lines_of(text, "process 5 is rank");
    assert_string_equal(ranks, "process 5 is rank 5 of -1 by 7\n");
    free(ranks);
    free(text);
}

static void mpi_gives_ranks(void **state) {
    (void)state;
#define TEAM(bytes) sub(3, JOIN(num(1, 9), num(2, 3), num(3, 50), sub(4, take_bytes(bytes, 12))))
    struct report report = {.events = chunk(kernel(100, 1)), .event_count = 1};
    struct bytes layout =
        sub(2, JOIN(num(1, 50), ENTRY(5, 4, "LocalRank"), ENTRY(5, 8, "Size"), str(5, "NsysMpiTeam"), num(9, 3)));
    report.schemas = OF_PROCESS(layout, TEAM("\0\0\0\0\1\0\0\0\2\0\0\0"), TEAM("\0\0\0\0\3\0\0\0\4\0\0\0"));
    rep_facts_give(&report, GT_FACT_OPS, "kernel 100+10 'gemm' gpu 0/7 #100\nprocess 5 is rank 3 of -1 by 2\n");
    /* A rank beyond the size, and a payload that is too short. */
    report.schemas = OF_PROCESS(layout, TEAM("\0\0\0\0\4\0\0\0\4\0\0\0"),
                                sub(3, JOIN(num(2, 3), num(3, 50), sub(4, take_bytes("\0\0\0\0\1\0\0\0", 8)))));
    rep_facts_give(&report, GT_FACT_OPS, "kernel 100+10 'gemm' gpu 0/7 #100\n");
}

/* Ranges of Nsight's own domain for MPI are its calls; those of other domains and processes are not. */
static void ranges_of_mpi_are_host_calls(void **state) {
    (void)state;
    struct bytes team = sub(2, JOIN(num(1, 50), str(5, "NsysMpiTeam"), num(9, 3)));
    struct bytes bcast = SCHEMA(51, 3, ENTRY(18, 0, "Communicator"), ENTRY(15, 8, "Root"));
    struct bytes entries = JOIN(
        NVTX(75, num(2, 1), str(7, "MPI"), num(13, 3)), PAYLOAD(10, 51, "\x07\0\0\0\0\0\0\0\2\0\0\0", 12),
        NVTX(60, num(2, 20), num(10, 90), str(7, "MPI_Wait"), num(13, 3)), NVTX(59, num(2, 30), num(12, 5), num(13, 3)),
        NVTX(59, num(2, 40), num(10, 45), num(12, 4), num(13, 4)), NVTX(59, num(2, 50), num(10, 55), num(12, 4)),
        EVENT(59, 102, num(1, 59), num(9, TID(7, 8)), num(2, 60), num(10, 65), num(12, 4), num(13, 3)),
        NVTX(34, num(2, 70), str(7, "mark"), num(13, 3)), NVTX(59, num(10, 80), num(12, 5), num(13, 3)));
    struct report report = {.events = chunk(entries), .event_count = 9, .schemas = OF_PROCESS(team, bcast)};
#define CALLS  "mpi call 10+5 'registered' of 6\nmpi call 20+70 'MPI_Wait' of 6\nmpi call 30+0 'registered' of 6\n"
#define RANGES "range 40+5 'main' 5/6\nrange 50+5 'main' 5/6\nrange 60+5 'main' 7/8\nrange 70+0 'mark' 5/6\n"
#define DOMAINS                                                                                                        \
    "range 0 nested domain ''\nrange 1 nested domain ''\nrange 2 nested domain ''\nrange 3 mark domain 'MPI'\n"
    rep_facts_give(&report, GT_FACT_HOST_CALLS, "skipped 5\nissue event_damaged 1\n" CALLS);
    rep_facts_give(&report, GT_FACT_COMMS, RANGES "skipped 4\n" DOMAINS);
    rep_facts_give(&report, GT_FACT_COMMS | GT_FACT_HOST_CALLS, RANGES "issue event_damaged 1\n" DOMAINS CALLS);
}

static struct bytes environment(const void *text, size_t size) {
    return sub(1, take_bytes(text, size));
}

static void environments_give_ranks(void **state) {
    (void)state;
    static const char first[] = "HOME=/root\0XRANK=9\0SLURM_PROCID=2\0RANK=3\0WORLD_SIZE=8";
    static const char second[] = "RANK=-1\0SLURM_PROCID=many\0PMI_RANK=6\0";
    struct report report = {.event_count = 3};
    report.strings = JOIN(usual_strings(), environment(first, sizeof first), environment(second, sizeof second));
    report.events = chunk(JOIN(kernel(100, 1), EVENT(27, 113, num(2, PID(5)), str(6, "app"), num(13, 6)),
                               EVENT(27, 113, num(2, PID(4)), num(13, 7))));
    rep_facts_give(&report, GT_FACT_OPS,
                   "kernel 100+10 'gemm' gpu 0/7 #100\nprocess 5 is 'app'\nprocess 5 is rank 3 of 8 by 3\n");
    report.events = chunk(
        JOIN(kernel(100, 1), EVENT(27, 113, num(2, PID(5)), num(13, 7)), EVENT(27, 113, num(2, PID(4)), num(13, 6))));
    rep_facts_give(&report, GT_FACT_OPS, "kernel 100+10 'gemm' gpu 0/7 #100\nprocess 5 is rank 6 of -1 by 6\n");
    /* An id without a string; two processes that use a GPU. */
    report.events = chunk(JOIN(kernel(100, 1), EVENT(27, 113, num(2, PID(5)), num(13, 99))));
    report.event_count = 2;
    rep_facts_give(&report, GT_FACT_OPS, "kernel 100+10 'gemm' gpu 0/7 #100\n");
    report.events =
        chunk(JOIN(kernel(100, 1), EVENT(27, 113, num(2, PID(5)), num(13, 6)),
                   EVENT(79, 107, num(1, 1), num(2, 2), num(4, 0), num(6, 7), num(8, PID(9)), sub(101, num(1, 1)))));
    report.event_count = 3;
    rep_facts_give(&report, GT_FACT_OPS,
                   "kernel 100+10 'gemm' gpu 0/7 #100\nkernel 1+1 'gemm' gpu 0/7\n"
                   "issue device_shared 1\n");
}

/* A megabyte that a hundred thousand processes share is read once. */
static void large_environments_take_little_time(void **state) {
    (void)state;
    enum { BYTES = 1 << 20, PROCESSES = 50000 };
    char *text = malloc(BYTES);
    assert_non_null(text);
    memset(text, 'x', BYTES);
    memcpy(text + BYTES - 7, "\0RANK=3", 7);
    struct report report = {.strings = JOIN(usual_strings(), environment(text, BYTES)), .event_count = 1 + PROCESSES};
    free(text);
    static struct bytes events[PROCESSES + 1];
    events[0] = kernel(100, 1);
    for (uint64_t i = 0; i < PROCESSES; i++)
        events[1 + i] = EVENT(27, 113, num(2, PID(i % 100)), num(13, 6));
    report.events = chunk(join_count(events, PROCESSES + 1));
    char *given = decode_bytes(report_bytes(&report), &(struct gt_decode_options){.threads = 1});
    assert_non_null(strstr(given, "process 5 is rank 3 of -1 by 3\n"));
    free(given);
}

static void machines_have_names(void **state) {
    (void)state;
    struct report report = {.events = chunk(kernel(100, 1)), .event_count = 1};
#define KEYED(key, value) sub(1, JOIN(num(1, key), str(2, value)))
    report.head = sub(1, sub(2, JOIN(KEYED(610, "SECRET=1"), KEYED(619, "node7"))));
    rep_facts_give(&report, GT_FACT_OPS, "kernel 100+10 'gemm' gpu 0/7 #100\nhost 'node7'\n");
}

/* ---- GPU metrics ---- */

#define SOURCE                          (UINT64_C(1) << 48 | UINT64_C(9) << 32)
#define METRIC(name, offset, size)      sub(3, JOIN(num(1, name), num(2, offset), num(3, size), num(8, 1)))
#define SAMPLE(type, time, bytes, size) sub(2, JOIN(num(1, type), num(2, time), sub(3, take_bytes(bytes, size))))

static struct bytes metric_strings(void) {
    return JOIN(usual_strings(), str(1, "GpuMetrics"), str(1, "SMs Active [Throughput %]"), str(1, "Clock [MHz]"),
                str(1, "Plain"));
}

/* Of GPU 0 and 1, and a layout, which is no sample; of another source; the same type again. */
static struct bytes metric_index(uint64_t count) {
    return JOIN(sub(13, JOIN(num(1, SOURCE), num(2, 3), num(3, 6))), sub(13, JOIN(num(1, SOURCE + 1), num(3, 3))),
                sub(14, JOIN(num(1, SOURCE), METRIC(7, 0, 1), METRIC(8, 1, 4), METRIC(9, 5, 8))),
                sub(14, JOIN(num(1, SOURCE | 1), METRIC(7, 0, 1))),
                sub(14, JOIN(num(1, SOURCE | 3 << 8), METRIC(7, 0, 1))),
                sub(14, JOIN(num(1, UINT64_C(7) << 32), METRIC(7, 0, 1))),
                sub(14, JOIN(num(1, SOURCE), METRIC(9, 0, 1))), num(15, count));
}

static void samples_are_counters(void **state) {
    (void)state;
    struct bytes entries =
        JOIN(SAMPLE(SOURCE, (uint64_t)-100, "\x80\0\x94\x35\x77\xff\xff\xff\xff\xff\xff\xff\xff", 13),
             SAMPLE(SOURCE | 1, 1, "\x05", 1), SAMPLE(SOURCE, 9900, "\x64\1\0\0\0\1\0\0\0\0\0\0\0", 13), kernel(100, 1),
             SAMPLE(SOURCE | 1, 10001, "\x06", 1), SAMPLE(SOURCE | 3 << 8, 0, "\x07", 1), SAMPLE(77, 0, "\x08", 1));
    struct report report = {.events = chunk(entries), .event_count = 1, .strings = metric_strings()};
    report.index = metric_index(6);
    report.head = sub(2, sub(70, num(1, 100000)));
    rep_facts_give(&report, GT_FACT_COUNTERS,
                   "skipped 3\n"
                   "counter 'SMs Active' [%] gpu 0 period=10000 -100:128 9900:100\n"
                   "counter 'Clock' [Hz] gpu 0 period=10000 -100:2000000000 9900:1\n"
                   "counter 'Plain' [] gpu 0 period=10000 -100:1.8446744073709552e+19 9900:1\n"
                   "counter 'SMs Active' [%] gpu 1 period=10000 1:5 10001:6\n");
    rep_facts_give(&report, GT_FACTS_USUAL, "kernel 100+10 'gemm' gpu 0/7 #100\nskipped 6\n");
    report.head = nothing;
    char *text = text_of_facts(&report, GT_FACT_COUNTERS);
    assert_non_null(strstr(text, "counter 'SMs Active' [%] gpu 1 1:5 10001:6\n"));
    free(text);
}

static void generic_events_are_counted(void **state) {
    (void)state;
    struct bytes one = SAMPLE(SOURCE | 1, 1, "\x05", 1);
    struct report report = {.events = JOIN(chunk(JOIN(one, kernel(100, 1))), chunk(JOIN(one, one))), .event_count = 1};
    report.strings = metric_strings();
#define SAMPLES(values) "counter 'SMs Active' [%] gpu 1 " values "\n"
    const uint32_t facts = GT_FACT_COUNTERS | GT_FACT_OPS;
#define KERNEL "kernel 100+10 'gemm' gpu 0/7 #100\n"
    report.index = metric_index(3);
    rep_facts_give(&report, facts, KERNEL SAMPLES("1:5 1:5 1:5"));
    rep_facts_give(&report, GT_FACT_OPS, KERNEL "skipped 3\n");
    report.index = metric_index(5);
    rep_facts_give(&report, facts, KERNEL "issue records_missing 2\n" SAMPLES("1:5 1:5 1:5"));
    rep_facts_give(&report, GT_FACT_OPS, KERNEL "skipped 3\nissue records_missing 2\n");
    report.index = metric_index(2);
    rep_facts_give(&report, facts, KERNEL "issue index_damaged 1\n" SAMPLES("1:5 1:5"));
    rep_facts_give(&report, GT_FACT_OPS, KERNEL "skipped 2\nissue index_damaged 1\n");
}

static void damaged_samples_are_left_out(void **state) {
    (void)state;
    /* Too short for the last metric, empty, without a time, without bytes. */
    struct bytes entries = JOIN(SAMPLE(SOURCE, 5, "\x01\2\0\0\0", 5), SAMPLE(SOURCE, 6, "", 0),
                                sub(2, JOIN(num(1, SOURCE), sub(3, raw("x")))), sub(2, JOIN(num(1, SOURCE), num(2, 4))),
                                SAMPLE(SOURCE, 7, "\x03\4\0\0\0\1\0\0\0\0\0\0\0", 13),
                                sub(2, (struct bytes){(const unsigned char *)"\x08", 1}));
    struct report report = {.events = chunk(entries), .strings = metric_strings(), .index = metric_index(6)};
    rep_facts_give(&report, GT_FACT_COUNTERS,
                   "issue event_damaged 3 at 209\nissue payload_unreadable 4\n"
                   "counter 'SMs Active' [%] gpu 0 5:1 7:3\ncounter 'Clock' [Hz] gpu 0 5:2 7:4\n"
                   "counter 'Plain' [] gpu 0 7:1\n");
}

static void metrics_that_make_no_sense_are_left_out(void **state) {
    (void)state;
    struct report report = {.events = chunk(SAMPLE(SOURCE, 5, "\1\2\3\4", 4)), .strings = metric_strings()};
    report.index = JOIN(sub(13, JOIN(num(1, SOURCE), num(3, 6))),
                        sub(14, JOIN(num(1, SOURCE), METRIC(7, 0, 0), METRIC(7, 0, 9), METRIC(7, UINT64_MAX, 1),
                                     METRIC(7, 1, UINT64_MAX), METRIC(999, 2, 2), METRIC(8, 4, 1),
                                     sub(3, JOIN(num(1, 9), num(3, 4), num(8, 2))))),
                        num(15, 1));
    rep_facts_give(&report, GT_FACT_COUNTERS, "issue payload_unreadable 6\ncounter '?' [] gpu 0 5:1027\n");
    /* No source of metrics: none is read. */
    report.index = JOIN(sub(14, JOIN(num(1, SOURCE), METRIC(7, 0, 1))), num(15, 1));
    rep_facts_give(&report, GT_FACT_COUNTERS, "skipped 1\n");
}

/* Types without end, metrics without end, and short samples of many metrics: memory is bounded by the file. */
static void absurd_metrics_are_bounded(void **state) {
    (void)state;
    enum { TYPES = 100000, METRICS = 70000, SAMPLES_COUNT = 3000 };
    static struct bytes parts[TYPES];
    struct report report = {.strings = metric_strings()};
    struct bytes source = sub(13, JOIN(num(1, SOURCE), num(3, 6)));
    for (uint64_t i = 0; i < TYPES; i++)
        parts[i] = sub(14, JOIN(num(1, SOURCE + (i << 48)), METRIC(7, 0, 1)));
    report.index = JOIN(source, join_count(parts, TYPES), num(15, 1));
    report.events = chunk(SAMPLE(SOURCE, 5, "\x07", 1));
    rep_facts_give(&report, GT_FACT_COUNTERS, "counter 'SMs Active' [%] gpu 0 5:7\n");
    pool_used = 0;
    report.strings = metric_strings();
    source = sub(13, JOIN(num(1, SOURCE), num(3, 6)));
    for (size_t i = 0; i < METRICS; i++)
        parts[i] = METRIC(7, 0, 1);
    struct bytes metrics = join_count(parts, METRICS);
    for (size_t i = 0; i < SAMPLES_COUNT; i++)
        parts[i] = SAMPLE(SOURCE, i, "\x07", 1);
    report.index = JOIN(source, sub(14, JOIN(num(1, SOURCE), metrics)), num(15, SAMPLES_COUNT));
    report.events = chunk(join_count(parts, SAMPLES_COUNT));
    size_t packed = report.events.size;
    struct bytes bytes = report_bytes(&report);
    char *text = decode_bytes(bytes, &(struct gt_decode_options){.threads = 1, .facts = GT_FACT_COUNTERS});
    assert_non_null(strstr(text, "issue event_damaged 2"));
    size_t values = 0;
    for (const char *at = text; (at = strchr(at, ':')); at++)
        values++;
    assert_true(values > 0 && values <= 40 * packed);
    free(text);
}

/* Tens of thousands of metrics may have one name of megabytes. */
static void long_names_of_metrics_are_cut(void **state) {
    (void)state;
    enum { BYTES = 1 << 20, METRICS = 1000 };
    char *name = malloc(BYTES), expected[1100] = "counter '";
    struct bytes *parts = calloc(METRICS, sizeof *parts);
    assert_non_null(name);
    assert_non_null(parts);
    memset(name, 'x', BYTES);
    for (size_t i = 0; i < METRICS; i++)
        parts[i] = METRIC(7, 0, 1);
    struct report report = {.events = chunk(JOIN(SAMPLE(SOURCE, 5, "\x07", 1), sub(5, take_bytes(pool, 20000))))};
    report.strings = JOIN(usual_strings(), str(1, "GpuMetrics"), sub(1, take_bytes(name, BYTES)));
    report.index = JOIN(sub(13, JOIN(num(1, SOURCE), num(3, 6))),
                        sub(14, JOIN(num(1, SOURCE), join_count(parts, METRICS))), num(15, 1));
    memcpy(expected + strlen(expected), name, 1024);
    strcat(expected, "' [] gpu 0 ");
    char *text = text_of_facts(&report, GT_FACT_COUNTERS), *lines = lines_of(text, "counter");
    assert_int_equal(strncmp(lines, expected, strlen(expected)), 0);
    free(lines);
    free(text);
    free(name);
    free(parts);
}

/* ---- what nobody asks for ---- */

static void nothing_else_is_read(void **state) {
    (void)state;
#define API(class) EVENT(48, 108, num(1, 10), num(2, 30), num(3, 9), num(6, class), num(7, 3), num(13, TID(5, 6)))
    struct bytes entries =
        JOIN(kernel(100, 1), ACTIVITY(80, num(6, 7), sub(102, JOIN(num(1, 64), num(2, 1)))), API(0), API(3), API(103),
             NVTX(59, num(2, 10), num(10, 20), str(7, "push"), num(5, 3)), NVTX(39, num(2, 0), str(7, "worker")),
             EVENT(113, 108, num(6, 77), num(13, TID(5, 6)), sub(33, JOIN(num(1, 5), num(2, 4)))),
             memory(80, 4, 512, 2, 1), ACTIVITY(106, sub(105, num(4, 4))));
#define COPY "memcpy 100+50 '[CUDA memcpy Host-to-Device]' gpu 2/7 #9\n"
    events_give(entries, 10, GT_FACT_OPS, KERNEL COPY "skipped 8\n");
    events_give(entries, 10, GT_FACT_OPS | GT_FACT_BYTES, KERNEL COPY "copy 1 64 0>0\nskipped 8\n");
    events_give(entries, 10, GT_FACT_CALLS,
                "call 10+20 'cudaLaunchKernel_v7000' 5/6 #9\nthread 6 is 'worker'\nskipped 8\n");
    events_give(entries, 10, GT_FACT_OVERHEADS,
                "overhead 10+20 'cudaLaunchKernel_v7000' 5/6\ndriver 10+20 'cudaLaunchKernel_v7000' 5/6\nskipped 8\n");
    events_give(entries, 10, GT_FACT_RANGES,
                "range 10+10 'push' 5/6\nthread 6 is 'worker'\nskipped 8\nrange 0 nested domain ''\n");
    events_give(entries, 10, GT_FACT_RANGE_TEXTS,
                "range 10+10 'push' 5/6\nthread 6 is 'worker'\nskipped 8\nrange 0 nested domain ''\ncategory 0 '3'\n");
    events_give(entries, 10, GT_FACT_GRAPHS, KERNEL COPY "skipped 7\n");
    /* With what labels memory. */
    events_give(entries, 10, GT_FACT_MEMORY,
                "call 10+20 'cudaLaunchKernel_v7000' 5/6 #9\nrange 10+10 'push' 5/6\nthread 6 is 'worker'\nskipped 6\n"
                "range 0 nested domain ''\nfree -512 gpu 0 kind 3 of 5 at=80 #=4 address=4096\n");
}

/* Chunks of everything: however threads take them, the store is the same. */
static void any_number_of_threads_gives_the_same(void **state) {
    (void)state;
    enum { CHUNKS = 300 };
    struct bytes chunks[CHUNKS];
    for (uint64_t i = 0; i < CHUNKS; i++) {
        /* Some chunks are larger than a batch. */
        struct bytes filler = i % 60 == 30 ? take_bytes(pool, 300000) : nothing;
        uint8_t value = (uint8_t)i;
        chunks[i] = chunk(JOIN(kernel(100 + i, i % 3), memory(i % 9 * 10, 1000 - i, i, 2 + i % 4, i % 2),
                               SAMPLE(SOURCE | (i & 1), i * 10, &value, 1), sub(5, filler), SYNC(num(1, i), num(4, 1)),
                               PAYLOAD(10 + i, 40 + i % 4, "\x07\0\0\0\0\0\0\0\x10\0\0\0\1\0\0\0\2\0\0\0", 20)));
    }
    struct report report = {.events = join_count(chunks, CHUNKS), .event_count = 4 * CHUNKS};
    report.strings = metric_strings();
    report.schemas = nccl_schemas();
    report.index = JOIN(sub(13, JOIN(num(1, SOURCE), num(2, 3), num(3, 6))),
                        sub(14, JOIN(num(1, SOURCE), METRIC(7, 0, 1), METRIC(9, 0, 1))),
                        sub(14, JOIN(num(1, SOURCE | 1), METRIC(7, 0, 1))), num(15, CHUNKS));
    char *text = text_of_facts(&report, GT_FACTS_ALL), *counters = lines_of(text, "counter");
    assert_non_null(strstr(counters, "counter 'SMs Active' [%] gpu 0 0:0 20:2 40:4 "));
    assert_non_null(strstr(counters, "counter 'SMs Active' [%] gpu 1 10:1 30:3 "));
    assert_non_null(strstr(counters, "counter 'CUDA memory in use' [bytes] gpu 0 of 5 states 0:"));
    free(counters);
    free(text);
    report.has_no_offsets = true;
    free(text_of_facts(&report, GT_FACTS_ALL));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(kernels_have_configurations, clear_pool),
        cmocka_unit_test_setup(waits_are_of_both_numberings, clear_pool),
        cmocka_unit_test_setup(memory_is_allocated_and_freed, clear_pool),
        cmocka_unit_test_setup(memory_in_use_is_a_counter, clear_pool),
        cmocka_unit_test_setup(pools_have_counters, clear_pool),
        cmocka_unit_test_setup(payloads_describe_collectives, clear_pool),
        cmocka_unit_test_setup(samples_of_python_become_calls, clear_pool),
        cmocka_unit_test_setup(communicators_give_ranks, clear_pool),
        cmocka_unit_test_setup(mpi_gives_ranks, clear_pool),
        cmocka_unit_test_setup(ranges_of_mpi_are_host_calls, clear_pool),
        cmocka_unit_test_setup(environments_give_ranks, clear_pool),
        cmocka_unit_test_setup(large_environments_take_little_time, clear_pool),
        cmocka_unit_test_setup(machines_have_names, clear_pool),
        cmocka_unit_test_setup(samples_are_counters, clear_pool),
        cmocka_unit_test_setup(generic_events_are_counted, clear_pool),
        cmocka_unit_test_setup(damaged_samples_are_left_out, clear_pool),
        cmocka_unit_test_setup(metrics_that_make_no_sense_are_left_out, clear_pool),
        cmocka_unit_test_setup(absurd_metrics_are_bounded, clear_pool),
        cmocka_unit_test_setup(long_names_of_metrics_are_cut, clear_pool),
        cmocka_unit_test_setup(nothing_else_is_read, clear_pool),
        cmocka_unit_test_setup(any_number_of_threads_gives_the_same, clear_pool),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
