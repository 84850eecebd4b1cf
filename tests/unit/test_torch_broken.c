/* The trace decoder on broken input: what can be read is read, what is lost is counted, and chunks change nothing. */
#include "torch_text.h"

#include <sys/stat.h>
#include <zlib.h>

#define NAMED(name, ts)                                                                                                \
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"" name "\",\"pid\":0,\"tid\":7,\"ts\":" ts ",\"dur\":1}"
#define KERNEL(ts)          NAMED("k", ts)
#define TRACE(events)       "{\"traceEvents\":[" events "]}"
#define ROW(ts)             "kernel " ts "000+1000 'k' gpu 0/7\n"
#define NAMED_ROW(name, ts) "kernel " ts "000+1000 '" name "' gpu 0/7\n"

static void names_are_mended(void **state) {
    (void)state;
    json_gives(TRACE(NAMED("a\\\"b\\u00e9\\n", "1")), NAMED_ROW("a\"b\xc3\xa9\n", "1"));
    json_gives(TRACE(NAMED("a\nb\tc", "1")), NAMED_ROW("a\nb\tc", "1") "issue text_repaired 1 at 16\n");
    json_gives(TRACE(NAMED("C:\\Program", "1")), NAMED_ROW("C:\\Program", "1") "issue text_repaired 1 at 16\n");
    json_gives(TRACE(NAMED("\\ud83d", "1")), NAMED_ROW("\xef\xbf\xbd", "1") "issue text_repaired 1 at 16\n");
    json_gives(TRACE(NAMED("\xff\xfe", "1")), NAMED_ROW("\xff\xfe", "1"));
    json_gives(TRACE(NAMED("say \"hi\" now", "1")), NAMED_ROW("say \"hi\" now", "1") "issue text_repaired 1 at 16\n");
    json_gives(TRACE(NAMED("f(\"a\", \"b\")", "1") "," KERNEL("2")),
               NAMED_ROW("f(\"a\", \"b\")", "1") ROW("2") "issue text_repaired 1 at 16\n");
    json_gives(TRACE(NAMED("{\"a\"}", "1") "," KERNEL("2")),
               NAMED_ROW("{\"a\"}", "1") ROW("2") "issue text_repaired 1 at 16\n");
}

static void values_that_are_no_numbers_are_absent(void **state) {
    (void)state;
#define TIMED(ts, dur, args)                                                                                           \
    "{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"name\":\"c\",\"pid\":0,\"tid\":7,\"ts\":" ts ",\"dur\":" dur               \
    ",\"args\":{" args "}}"
    json_gives(TRACE(TIMED("1", "inf", "") "," TIMED("2", "NaN", "") "," TIMED("3", "N/A", "") "," TIMED(
                   "4", "-Infinity", "") "," TIMED("5", "", "") "," TIMED("6", "null", "")),
               "memcpy 1000+0 'c' gpu 0/7\nmemcpy 2000+0 'c' gpu 0/7\nmemcpy 3000+0 'c' gpu 0/7\n"
               "memcpy 4000+0 'c' gpu 0/7\nmemcpy 5000+0 'c' gpu 0/7\nmemcpy 6000+0 'c' gpu 0/7\n"
               "issue number_unreadable 5 at 16\n");
    json_gives(TRACE(TIMED("nan", "1", "") "," TIMED("null", "1", "")),
               "issue op_without_time 2 at 16\nissue number_unreadable 1 at 16\n");
    json_gives(TRACE(TIMED("1", "-2", "") "," TIMED("2", "1", "\"correlation\":-1,\"bytes\":nan,\"stream\":\"x\"")),
               "memcpy 2000+1000 'c' gpu 0/7\nissue op_negative_duration 1\nissue number_unreadable 2 at 99\n");
    json_gives(TRACE(TIMED("9223372036854775", "9e15", "\"correlation\":0")),
               "memcpy 9223372036854775000+0 'c' gpu 0/7 #0\nissue number_unreadable 1 at 16\n");
    json_gives(TRACE(TIMED("1e400", "1", "") "," TIMED("99999999999999999999", "1", "")),
               "issue op_without_time 2 at 16\nissue number_unreadable 2 at 16\n");
}

static void events_without_the_needful_are_counted(void **state) {
    (void)state;
    json_gives(TRACE("{\"ph\":\"X\",\"cat\":\"kernel\",\"ts\":1,\"dur\":1}"),
               "kernel 1000+1000 '' gpu 0/0\nissue op_without_name 1 at 16\nissue op_without_device 1 at 16\n");
    json_gives(TRACE("{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\"},{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":"
                     "\"b\",\"pid\":\"p\",\"tid\":\"t\",\"ts\":3,\"dur\":-1},{},{\"ph\":\"B\",\"ts\":1},{\"ph\":7}"),
               "call 3000+0 'b' -1p/-1t\nskipped 3\nissue event_damaged 1 at 16\nissue call_negative_duration 1\n");
}

static void commas_do_not_matter(void **state) {
    (void)state;
    json_gives(TRACE(",," KERNEL("1") KERNEL("2") "\n,," KERNEL("3") ","), ROW("1") ROW("2") ROW("3"));
    json_gives(
        "{\"a\":1,,\"traceEvents\":[{,\"ph\":\"X\",,\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":1,"
        "\"dur\":1,\"args\":{,\"x\":1,,},},],}",
        ROW("1"));
}

static void what_is_no_event_is_counted(void **state) {
    (void)state;
    json_gives(TRACE("1,null,\"text\",[1,[2]],true," KERNEL("1") ",N/A"), ROW("1") "issue event_damaged 6 at 16\n");
}

static void reading_continues_after_damage(void **state) {
    (void)state;
    /* a lost closing brace */
    json_gives(TRACE("{\"ph\":\"X\",\"args\":{\"a\":1," KERNEL("2") "," KERNEL("3")),
               ROW("2") ROW("3") "issue event_damaged 1 at 16\n");
    json_gives(TRACE("{\"ph\":\"X\",\"args\":{\"a\":1}," KERNEL("2") "," KERNEL("3")),
               ROW("2") ROW("3") "issue event_damaged 1 at 16\n");
    /* a lost quote, at either end of a string */
    json_gives(TRACE("{\"ph\":\"X\",\"name\":\"foo,\"pid\":1}," KERNEL("2") "," KERNEL("3")),
               ROW("2") ROW("3") "issue event_damaged 1 at 16\n");
    json_gives(TRACE("{\"ph\":\"X\",\"name\":foo\",\"pid\":1}," KERNEL("2") "," KERNEL("3")),
               ROW("2") ROW("3") "issue event_damaged 1 at 16\n");
    /* a lost bracket: everything that follows could be part of the list */
    json_gives(TRACE(KERNEL("1") ",{\"ph\":\"X\",\"args\":{\"a\":[1,[2], " KERNEL("2") "," KERNEL("3")),
               ROW("1") ROW("2") ROW("3") "issue event_damaged 1 at 84\n");
    /* a brace too many, a lost colon, rubbish */
    json_gives(TRACE(KERNEL("1") "}," KERNEL("2")), ROW("1") ROW("2") "issue event_damaged 1 at 83\n");
    json_gives(TRACE("{\"ph\" \"X\",\"name\":\"a\"}," KERNEL("2")), ROW("2") "issue event_damaged 1 at 16\n");
    json_gives(TRACE("{\"ph\":\"X\",#$%&},:::," KERNEL("2")), ROW("2") "issue event_damaged 1 at 16\n");
    /* in the last event, what follows the array still counts */
    json_gives("{\"traceEvents\":[" KERNEL("1") ",{\"ph\" 1}],\"baseTimeNanoseconds\":5}",
               ROW("1") "base 5\nissue event_damaged 1 at 84\n");
}

static void bytes_from_nowhere_are_passed_over(void **state) {
    (void)state;
    json_gives("\xef\xbb\xbf" TRACE(KERNEL("1")), ROW("1"));
    bytes_give("{\"traceEvents\":[" KERNEL("1") "\0\0\0\0]}\0\0\0", sizeof("{\"traceEvents\":[" KERNEL("1")) - 1 + 9,
               ROW("1"));
}

static void documents_in_a_row_are_read_as_one(void **state) {
    (void)state;
    json_gives(TRACE(KERNEL("1")) "\n" TRACE(KERNEL("2")) TRACE(KERNEL("3")),
               ROW("1") ROW("2") ROW("3") "issue documents_joined 2 at 87\n");
    json_gives("[" KERNEL("1") "][" KERNEL("2") "]", ROW("1") ROW("2") "issue documents_joined 1 at 69\n");
    json_gives("[" KERNEL("1") ",\n{\"schemaVersion\":1,\"traceEvents\":[" KERNEL("2") "]}",
               ROW("1") ROW("2") "issue documents_joined 1 at 70\n");
}

/* Two writers into one file, taking turns in the middle of whatever they write. */
static void interleaved_documents_lose_only_what_was_torn(void **state) {
    (void)state;
    json_gives(
        "{\"traceEvents\":[" KERNEL("1") ",{\"traceEvents\":[" KERNEL("10") "," KERNEL(
            "2") ",{\"ph\":\"X\",\"ca" KERNEL("11") "," KERNEL("12") "]}\nt\":\"kernel\",\"ts\":3}," KERNEL("4") "]}",
        ROW("1") ROW("10") ROW("2") ROW("11") ROW("12")
            ROW("4") "issue event_damaged 1 at 237\nissue documents_joined 1 at 84\n");
}

static size_t count_rows(const char *text) {
    size_t count = 0;
    for (const char *p = text; (p = strstr(p, "kernel ")); p++)
        count++;
    return count;
}

/* Cut at every byte: all events that end before the cut are there, and the cut is reported, or the input is not a trace
   yet. Neighbouring cuts are read with different numbers of threads. */
static void a_cut_loses_only_the_last_event(void **state) {
    (void)state;
    static const char text[] = "{\"schemaVersion\":1,\"deviceProperties\":[{\"id\":0}],\n\"traceEvents\": [\n" KERNEL(
        "1") ",\n" NAMED("a \\\"b\\\" {", "2") ",{\"ph\":\"X\",\"cat\":\"cpu_op\",\"args\":{\"l\":[[1],{\"a\":\"b\"}]},"
                                               "\"name\":\"o\",\"ts\":1}," KERNEL("3") "\n],\n\"traceName\":\"x\"}";
    size_t begin = (size_t)(strstr(text, "[\n") - text) + 1;
    for (size_t len = 0; len < sizeof text - 1; len++) {
        char *found = decode_with_threads(text, len, 0, &thread_counts[len % THREAD_COUNTS], 1);
        size_t expected = 0;
        for (const char *p = text; (p = strstr(p, "\"dur\":1}")) && (size_t)(p - text) + 8 <= len; p++)
            expected++;
        assert_int_equal(count_rows(found), expected);
        if (len < begin)
            assert_non_null(strstr(found, "error: "));
        else
            assert_non_null(strstr(found, "issue input_cut 1 at "));
        assert_null(strstr(found, "event_damaged"));
        free(found);
    }
}

static void a_cut_packed_file_says_so(void **state) {
    (void)state;
    char path[32], events[8000] = "{\"traceEvents\":[" KERNEL("1");
    for (int i = 0; i < 80; i++)
        sprintf(events + strlen(events), "," NAMED("%x", "2"), 1234567u * (unsigned)i);
    write_file(path, "", 0);
    gzFile packed = gzopen(path, "wb");
    assert_true(gzwrite(packed, events, (unsigned)strlen(events)) > 0);
    gzclose(packed);
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(truncate(path, info.st_size / 2), 0);
    char *found = decode_file(path, 2, &usual_sizes);
    assert_non_null(strstr(found, "issue packing_damaged 1 at "));
    assert_null(strstr(found, "input_cut"));
    assert_true(count_rows(found) >= 1);
    free(found);
    assert_int_equal(truncate(path, 20), 0);
    found = decode_file(path, 2, &usual_sizes);
    assert_non_null(strstr(found, ": no readable events: "));
    free(found);
    unlink(path);
}

static void an_event_that_fits_no_memory_is_skipped(void **state) {
    (void)state;
    enum { LARGE = 5000 };
    char text[LARGE + 400], path[32];
    int len = snprintf(text, sizeof text, "{\"traceEvents\":[%s,{\"ph\":\"X\",\"name\":\"", KERNEL("1"));
    memset(text + len, 'x', LARGE);
    snprintf(text + len + LARGE, sizeof text - (size_t)len - LARGE, "\"},%s]}", KERNEL("2"));
    write_file(path, text, strlen(text));
    for (size_t threads = 1; threads <= 3; threads++) {
        const struct gt_torch_sizes sizes = {512, 64, 4096, GT_TORCH_USUAL, 0},
                                    roomy = {512, 64, 8192, GT_TORCH_USUAL, 0};
        char *found = decode_file(path, threads, &sizes);
        assert_string_equal(found, ROW("1") ROW("2") "issue event_damaged 1 at 84\n");
        free(found);
        found = decode_file(path, threads, &roomy);
        assert_string_equal(found, ROW("1") ROW("2") "skipped 1\n");
        free(found);
    }
    unlink(path);
}

/* Nested a million deep, closed or not; and input made to be read again and again. */
static void hostile_input_takes_linear_time(void **state) {
    (void)state;
    enum { DEPTH = 1000000 };
    static const char *const units[] = {"[",  "{\"ph\":[",  "[{\"ph\":", "{\"ph\":1},{\"ph\":[",
                                        "\"", "{\"ph\":\"", "}",         "]"};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        size_t unit = strlen(units[i]), size = 0;
        char *text = malloc(100 + unit * DEPTH), path[32];
        assert_non_null(text);
        size += (size_t)sprintf(text, "{\"traceEvents\":[%s,", KERNEL("1"));
        for (size_t n = 0; n < DEPTH; n++, size += unit)
            memcpy(text + size, units[i], unit);
        write_file(path, text, size);
        char *found = decode_file(path, 2, &usual_sizes);
        assert_int_equal(strncmp(found, ROW("1"), strlen(ROW("1"))), 0);
        free(found);
        unlink(path);
        free(text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_mended),
        cmocka_unit_test(values_that_are_no_numbers_are_absent),
        cmocka_unit_test(events_without_the_needful_are_counted),
        cmocka_unit_test(commas_do_not_matter),
        cmocka_unit_test(what_is_no_event_is_counted),
        cmocka_unit_test(reading_continues_after_damage),
        cmocka_unit_test(bytes_from_nowhere_are_passed_over),
        cmocka_unit_test(documents_in_a_row_are_read_as_one),
        cmocka_unit_test(interleaved_documents_lose_only_what_was_torn),
        cmocka_unit_test(a_cut_loses_only_the_last_event),
        cmocka_unit_test(a_cut_packed_file_says_so),
        cmocka_unit_test(an_event_that_fits_no_memory_is_skipped),
        cmocka_unit_test(hostile_input_takes_linear_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
