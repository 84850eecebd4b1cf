/* The trace decoder on good input: every kind of event, key order, layout and packing; chunks and threads. */
#include "torch_text.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <zlib.h>

#include "decode/decoder.h"

#define KERNEL(ts) "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":" ts ",\"dur\":1}"

static void kineto_events_become_rows(void **state) {
    (void)state;
    json_gives(
        "\n{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [\n  {\n    \"id\": 0, \"name\": \"NVIDIA H200\", "
        "\"totalGlobalMem\": 150109880320,\n    \"numSms\": 132\n  , \"warpSize\": 32\n  }\n  ],\n"
        "  \"distributedInfo\": {\"backend\": \"nccl\", \"rank\": 3, \"world_size\": 8, \"pg_config\": "
        "[{\"rank\": 9}]},\n  \"with_stack\": 1,\n  \"displayTimeUnit\": \"ms\",\n"
        "  \"baseTimeNanoseconds\": 1790857026000000000,\n  \"traceEvents\": [\n"
        "  {\n    \"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::mm\", \"pid\": 25, \"tid\": 26,\n"
        "    \"ts\": 3849606161999.650, \"dur\": 21.385,\n    \"args\": {\n      \"External id\": 5,\"Input Dims\": "
        "[[1, 2], []], \"correlation\": 1\n    }\n  },\n"
        "  {\n    \"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"pid\": 25, \"tid\": 26,\n"
        "    \"ts\": 3849606162000.000, \"dur\": 4.001,\n    \"args\": {\n      \"cbid\": 211, \"correlation\": 77\n"
        "    }\n  },\n"
        "  {\n    \"ph\": \"X\", \"cat\": \"cuda_driver\", \"name\": \"cuLaunchKernel\", \"pid\": 25, \"tid\": 27,\n"
        "    \"ts\": 1, \"dur\": 2\n  },\n"
        "  {\n    \"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"void gemm<2>(float*)\", \"pid\": 0, \"tid\": 7,\n"
        "    \"ts\": 3849606163071.595, \"dur\": 2.049,\n    \"args\": {\n      \"queued\": 0, \"device\": 1, "
        "\"context\": 1,\n      \"stream\": 41, \"correlation\": 77,\n      \"grid\": [16, 1, 1],\n      "
        "\"graph node id\": 12\n    }\n  },\n"
        "  {\n    \"ph\": \"X\", \"cat\": \"gpu_memcpy\", \"name\": \"Memcpy DtoH (Device -> Pageable)\", \"pid\": 0, "
        "\"tid\": 7,\n    \"ts\": 5.5, \"dur\": 1,\n    \"args\": {\n      \"device\": 0, \"stream\": 7, "
        "\"correlation\": 78, \"bytes\": 32, \"memory bandwidth (GB/s)\": inf\n    }\n  },\n"
        "  {\n    \"ph\": \"X\", \"cat\": \"gpu_memset\", \"name\": \"Memset (Device)\", \"pid\": 0, \"tid\": 7,\n"
        "    \"ts\": 6, \"dur\": 1,\n    \"args\": {\"device\": 0, \"stream\": 7, \"bytes\": 4}\n  },\n"
        "  {\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"ProfilerStep#5\", \"pid\": 25, \"tid\": 26, "
        "\"ts\": 7, \"dur\": 2},\n"
        "  {\"ph\": \"X\", \"cat\": \"gpu_user_annotation\", \"name\": \"ProfilerStep#5\", \"pid\": 0, \"tid\": 7, "
        "\"ts\": 8, \"dur\": 2},\n"
        "  {\"ph\": \"X\", \"cat\": \"overhead\", \"name\": \"Buffer Request\", \"pid\": -1, \"tid\": 0, \"ts\": 9, "
        "\"dur\": 2},\n"
        "  {\"ph\": \"X\", \"cat\": \"python_function\", \"name\": \"f\", \"pid\": 25, \"tid\": 26, \"ts\": 9, "
        "\"dur\": 2},\n"
        "  {\"ph\": \"s\", \"id\": 77, \"pid\": 25, \"tid\": 26, \"ts\": 1, \"cat\": \"ac2g\", \"name\": \"ac2g\"},\n"
        "  {\"ph\": \"X\", \"cat\": \"Trace\", \"ts\": 1, \"dur\": 2, \"pid\": \"Spans\", \"tid\": \"P\", \"name\": "
        "\"p\"},\n"
        "  {\"name\": \"process_name\", \"ph\": \"M\", \"ts\": 1, \"pid\": 25, \"tid\": 0, \"args\": {\"name\": "
        "\"python3\"}},\n"
        "  {\"name\": \"process_name\", \"ph\": \"M\", \"ts\": 1, \"pid\": 0, \"tid\": 0, \"args\": {\"name\": "
        "\"python3\"}},\n"
        "  {\"name\": \"thread_name\", \"ph\": \"M\", \"ts\": 1, \"pid\": 25, \"tid\": 26, \"args\": {\"name\": "
        "\"main\"}},\n"
        "  {\"name\": \"thread_sort_index\", \"ph\": \"M\", \"pid\": 25, \"tid\": 26, \"args\": {\"sort_index\": 1}},\n"
        "  {\"name\": \"Record Window End\", \"ph\": \"i\", \"s\": \"g\", \"pid\": \"\", \"tid\": \"\", \"ts\": 1}\n"
        "  ],\n  \"traceName\": \"t.json\"\n}\n",
        "kernel 3849606163071595+2049 'void gemm<2>(float*)' gpu 1/41 #77 in graph\n"
        "memcpy 5500+1000 'Memcpy DtoH (Device -> Pageable)' gpu 0/7 #78\n"
        "memset 6000+1000 'Memset (Device)' gpu 0/7\n"
        "copy 1 32 3>1\n"
        "copy 2 4 0>3\n"
        "call 3849606162000000+4001 'cudaLaunchKernel' 25/26 #77\n"
        "call 1000+2000 'cuLaunchKernel' 25/27\n"
        "range 7000+2000 'ProfilerStep#5' 25/26\n"
        "gpu range 8000+2000 'ProfilerStep#5' gpu 0/7\n"
        "cpu op 3849606161999650+21385 'aten::mm' 25/26\n"
        "overhead 9000+2000 'Buffer Request' -\n"
        "process 25 is 'python3'\n"
        "thread 26 is 'main'\n"
        "device 0 is 'NVIDIA H200' 150109880320 132\n"
        "base 1790857026000000000\n"
        "rank 3 of 8\n"
        "skipped 5\n");
}

static void old_exports_read_alike(void **state) {
    (void)state;
    json_gives(
        "{\"traceEvents\": ["
        "{\"ph\":\"X\",\"cat\":\"Kernel\",\"name\":\"k\",\"pid\":3,\"tid\":\"stream 7\",\"ts\":1,\"dur\":2,\"args\":{"
        "\"correlation\":5}},"
        "{\"ph\":\"X\",\"cat\":\"Memcpy\",\"name\":\"Memcpy HtoD (Pinned -> Device)\",\"pid\":0,\"tid\":\"stream 12 "
        "\",\"ts\":2,\"dur\":2},"
        "{\"ph\":\"X\",\"cat\":\"Runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":9,\"tid\":\"25738\",\"ts\":1,"
        "\"dur\":1,\"args\":{\"correlation\":5}},"
        "{\"ph\":\"X\",\"cat\":\"Operator\",\"name\":\"ProfilerStep#2\",\"pid\":9,\"tid\":1,\"ts\":1,\"dur\":9},"
        "{\"ph\":\"X\",\"cat\":\"Operator\",\"name\":\"aten::add\",\"pid\":9,\"tid\":1,\"ts\":1,\"dur\":1},"
        "{\"ph\":\"X\",\"cat\":\"gpu_op\",\"name\":\"Memset (Device)\",\"pid\":0,\"tid\":0,\"ts\":4,\"dur\":1},"
        "{\"ph\":\"X\",\"cat\":\"gpu_op\",\"name\":\"mykernel\",\"pid\":0,\"tid\":0,\"ts\":5,\"dur\":1},"
        "{\"ph\":\"f\",\"cat\":\"async\",\"name\":\"x\",\"id\":5,\"pid\":9,\"tid\":1,\"ts\":1}]}",
        "kernel 1000+2000 'k' gpu 3/7 #5\n"
        "memcpy 2000+2000 'Memcpy HtoD (Pinned -> Device)' gpu 0/12\n"
        "memset 4000+1000 'Memset (Device)' gpu 0/0\n"
        "kernel 5000+1000 'mykernel' gpu 0/0\n"
        "call 1000+1000 'cudaLaunchKernel' 9/25738 #5\n"
        "range 1000+9000 'ProfilerStep#2' 9/1\n"
        "cpu op 1000+1000 'aten::add' 9/1\n"
        "skipped 1\n");
}

static void keys_may_come_in_any_order(void **state) {
    (void)state;
    json_gives(
        "[{\"args\":{\"stream\":7,\"correlation\":4,\"device\":2},\"dur\":1.25,\"tid\":1,\"ts\":10,\"name\":\"k\","
        "\"cat\":\"kernel\",\"pid\":5,\"ph\":\"X\"},\n"
        "{\"name\" : \"aten::add\" , \"ts\" : 1 , \"cat\" : \"cpu_op\" , \"args\" : { } , \"ph\" : \"X\" }]",
        "kernel 10000+1250 'k' gpu 2/7 #4\n"
        "cpu op 1000+0 'aten::add' -1/-1\n");
}

static void the_first_of_equal_keys_counts(void **state) {
    (void)state;
    json_gives(
        "[{\"ph\":\"X\",\"ph\":\"M\",\"cat\":\"kernel\",\"cat\":\"cpu_op\",\"name\":\"a\",\"name\":\"b\",\"ts\":1,"
        "\"ts\":2,\"pid\":0,\"tid\":7,\"args\":{\"stream\":3,\"stream\":4},\"args\":{\"stream\":5,\"device\":6}}]",
        "kernel 1000+0 'a' gpu 0/3\n");
}

static void times_are_exact(void **state) {
    (void)state;
    json_gives(
        "[" KERNEL("3847745009978.503") "," KERNEL("\"12.5\"") "," KERNEL("1.5e3") "," KERNEL("-0.25") "," KERNEL(
            "0.0004999") "," KERNEL("0.0005") "," KERNEL("1713738903123456.789") "," KERNEL("7.1") "]",
        "kernel 3847745009978503+1000 'k' gpu 0/7\n"
        "kernel 12500+1000 'k' gpu 0/7\n"
        "kernel 1500000+1000 'k' gpu 0/7\n"
        "kernel -250+1000 'k' gpu 0/7\n"
        "kernel 0+1000 'k' gpu 0/7\n"
        "kernel 1+1000 'k' gpu 0/7\n"
        "kernel 1713738903123456789+1000 'k' gpu 0/7\n"
        "kernel 7100+1000 'k' gpu 0/7\n");
}

static void header_members_count_wherever_they_are(void **state) {
    (void)state;
    json_gives(
        "{\"traceEvents\":[" KERNEL(
            "1") "],\"deviceProperties\":[{\"id\":0,\"name\":\"A\\u0020B\"}],\"x\":[{\"rank\":1}],"
                 "\"distributedInfo\":{\"rank\":1,\"world_size\":2},\"baseTimeNanoseconds\":99,\"stackFrames\":{\"1\":"
                 "{\"name\":\"f\"}}}",
        "kernel 1000+1000 'k' gpu 0/7\n"
        "device 0 is 'A B' 0 0\n"
        "base 99\n"
        "rank 1 of 2\n");
}

static void a_bare_array_needs_no_bracket_at_its_end(void **state) {
    (void)state;
    json_gives("[" KERNEL("1") "," KERNEL("2") "]", "kernel 1000+1000 'k' gpu 0/7\nkernel 2000+1000 'k' gpu 0/7\n");
    json_gives("[" KERNEL("1") "," KERNEL("2") ",\n", "kernel 1000+1000 'k' gpu 0/7\nkernel 2000+1000 'k' gpu 0/7\n");
    json_gives(KERNEL("1") "\n" KERNEL("2") "\n", "kernel 1000+1000 'k' gpu 0/7\nkernel 2000+1000 'k' gpu 0/7\n");
}

static void an_empty_trace_is_a_trace(void **state) {
    (void)state;
    json_gives("{\"traceEvents\": []}", "");
    json_gives("{\"traceEvents\": null}", "");
    json_gives("[]", "");
}

static void a_document_may_begin_like_an_event(void **state) {
    (void)state;
    json_gives("{\"name\": \"x\", \"id\": 1, \"traceEvents\": [" KERNEL("1") "," KERNEL("2") "]}",
               "kernel 1000+1000 'k' gpu 0/7\nkernel 2000+1000 'k' gpu 0/7\n");
    json_gives("{\"name\": \"x\", \"traceEvents\": []}", "");
    json_gives("{\"name\": \"x\", \"traceEvents\": [" KERNEL("1") "]",
               "kernel 1000+1000 'k' gpu 0/7\nissue input_cut 1 at 98\n");
}

static void other_json_is_no_trace(void **state) {
    (void)state;
    const char *message = "error: '': JSON, but not a trace: no \"traceEvents\"; see 'gputime list inputs'\n";
    json_gives("{}", message);
    json_gives("{\"name\": \"package\", \"version\": \"1.0\", \"list\": [{\"a\": 1}]}", message);
    json_gives("[1, 2, 3]", message);
    json_gives("[{\"a\": 1}]", message);
}

/* A trace of many events of all kinds, some with args that hold what looks like events. */
static char *make_trace(size_t count, size_t *size) {
    char *text = NULL;
    FILE *out = open_memstream(&text, size);
    fprintf(out, "{\"schemaVersion\": 1, \"traceEvents\": [\n");
    for (size_t i = 0; i < count; i++) {
        fprintf(
            out,
            "%s{\"ph\": \"X\", \"cat\": \"%s\", \"name\": \"n%zu\", \"pid\": %zu, \"tid\": %zu, \"ts\": %zu.%03zu, ",
            i ? ",\n" : "", (const char *const[]){"kernel", "cpu_op", "cuda_runtime", "user_annotation"}[i % 4], i % 17,
            i % 3, i % 5, i, i % 1000);
        if (i % 7 == 0)
            fprintf(out,
                    "\"args\": {\"list\": [{\"name\": \"x\"}, {\"ph\": \"X\", \"cat\": \"kernel\", \"ts\": 5}]}, ");
        fprintf(out, "\"dur\": 1.5}");
        if (i % 11 == 0)
            fprintf(out,
                    ",{\"name\": \"thread_name\", \"ph\": \"M\", \"pid\": %zu, \"tid\": %zu, \"args\": {\"name\": "
                    "\"t%zu\"}}",
                    i % 3, i % 5, i);
    }
    fprintf(out, "]}\n");
    fclose(out);
    return text;
}

static void chunks_and_threads_change_nothing(void **state) {
    (void)state;
    size_t size;
    char *text = make_trace(500, &size);
    char *found = decode_all_ways(text, size, 0);
    assert_non_null(strstr(found, "kernel 496496+1500 'n3' gpu 1/1"));
    assert_non_null(strstr(found, "thread 0 is 't0'"));
    assert_null(strstr(found, "issue"));
    free(found);
    free(text);
}

static void packed_and_piped_input_reads_alike(void **state) {
    (void)state;
    size_t size;
    char *text = make_trace(100, &size), path[32];
    write_file(path, text, size);
    char *plain = decode_file(path, 4, &usual_sizes);
    gzFile packed = gzopen(path, "wb");
    assert_int_equal(gzwrite(packed, text, (unsigned)size), size);
    gzclose(packed);
    const struct gt_torch_sizes tiny = {64, 16, 1 << 20, GT_TORCH_EAGER, 4096};
    char *unpacked = decode_file(path, 4, &tiny);
    assert_string_equal(unpacked, plain);
    unlink(path);

    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_true(size < 60000);
    assert_int_equal(write(ends[1], text, size), size);
    close(ends[1]);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    char *piped = decode_file(path, 4, &tiny);
    assert_string_equal(piped, plain);
    close(ends[0]);
    free(piped);
    free(unpacked);
    free(plain);
    free(text);
}

struct progress {
    uint64_t calls, done_bytes, total_bytes;
};

static void count_progress(void *context, uint64_t done_bytes, uint64_t total_bytes) {
    struct progress *progress = context;
    assert_true(done_bytes >= progress->done_bytes);
    *progress = (struct progress){progress->calls + 1, done_bytes, total_bytes};
}

static void progress_is_reported(void **state) {
    (void)state;
    char path[32];
    size_t size;
    char *text = make_trace(120000, &size);
    write_file(path, text, size);
    struct progress progress = {0};
    struct gt_decode_options options = {.threads = 1, .progress = count_progress, .progress_context = &progress};
    struct gt_error error = {0};
    struct gt_source *source;
    struct gt_store *store;
    assert_int_equal(gt_source_open(path, &source, &error), GT_OK);
    assert_int_equal(gt_torch_json_decode(&source, 1, &options, &store, &error), GT_OK);
    assert_true(progress.calls >= size >> 23);
    assert_int_equal(progress.total_bytes, size);
    gt_store_free(store);
    gt_source_close(source);
    unlink(path);
    free(text);
}

static void only_json_is_claimed(void **state) {
    (void)state;
    static const struct {
        const char *head;
        int least, most;
    } cases[] = {
        {"{\"schemaVersion\": 1, \"traceEvents\": [", 90, 100},
        {"\xef\xbb\xbf \n{\"traceEvents\": [", 90, 100},
        {"[{\"ph\": \"X\"", 80, 100},
        {"[\n {\"name\" : 1", 80, 100},
        {"{\"deviceProperties\": [", 50, 100},
        {"{\"version\": 1}", 1, 20},
        {"[1, 2]", 1, 20},
        {"SQLite format 3", 0, 0},
        {"Time,Name\n", 0, 0},
        {"", 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int score = gt_torch_json_sniff(gt_str_of(cases[i].head), "x");
        assert_in_range(score, cases[i].least, cases[i].most);
    }
}

static void choose(const char *bytes, size_t size, const char *key, const char *message) {
    char path[32];
    struct gt_error error = {0};
    struct gt_source *source;
    const struct gt_decoder *decoder;
    write_file(path, bytes, size);
    enum gt_status status = gt_source_open(path, &source, &error);
    decoder = NULL;
    if (status == GT_OK)
        status = gt_decoder_choose(source, &decoder, &error);
    if (key) {
        assert_int_equal(status, GT_OK);
        assert_string_equal(decoder->key, key);
    } else {
        assert_int_equal(status, GT_ERR);
        assert_null(decoder);
        assert_non_null(strstr(error.message, message));
    }
    gt_source_close(source);
    unlink(path);
}

static void files_that_are_no_traces_are_named(void **state) {
    (void)state;
    choose("{\"traceEvents\": []}", 19, "torch-json", NULL);
    choose("", 0, NULL, "is empty");
    choose("hello world\n", 12, NULL, "looks like text");
    choose("\x89PNG\r\n\x1a\n\0\0", 10, NULL, "PNG image");
    choose("\x7f"
           "ELF\x02\x01",
           6, NULL, "program or library");
    choose("PK\x03\x04....", 8, NULL, "zip archive");
    choose("\x01\x02\x03\x00", 4, NULL, "binary data");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kineto_events_become_rows),
        cmocka_unit_test(old_exports_read_alike),
        cmocka_unit_test(keys_may_come_in_any_order),
        cmocka_unit_test(the_first_of_equal_keys_counts),
        cmocka_unit_test(times_are_exact),
        cmocka_unit_test(header_members_count_wherever_they_are),
        cmocka_unit_test(a_bare_array_needs_no_bracket_at_its_end),
        cmocka_unit_test(an_empty_trace_is_a_trace),
        cmocka_unit_test(a_document_may_begin_like_an_event),
        cmocka_unit_test(other_json_is_no_trace),
        cmocka_unit_test(chunks_and_threads_change_nothing),
        cmocka_unit_test(packed_and_piped_input_reads_alike),
        cmocka_unit_test(progress_is_reported),
        cmocka_unit_test(only_json_is_claimed),
        cmocka_unit_test(files_that_are_no_traces_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
