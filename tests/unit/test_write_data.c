/* Reports as CSV, JSON and Markdown: exact output of a small one, and of several inputs. */
#include <math.h>

#include "null_row.h"
#include "write/joined.h"
#include "write_world.h"

static void csv_of_the_main_table(void **state) {
    (void)state;
    make_small();
    report->main_table = "kernels";
    assert_string_equal(write_as("csv"), "input,name,count,total_ns,avg_ns,stddev_ns,share,launch_share,full_name\n"
                                         "a.json,gemm,1234,7500000,6077.795786,12.5,0.75,0.9,void gemm<4>(int)\n"
                                         "a.json,copy,10,2500000,250000,,0.25,,\n"
                                         "a.json,fill,1,1000,1000,,0.0001,,\n");
    options.table = "memory";
    assert_string_equal(write_as("csv"), "input,device,kind,bytes,start_ns\n"
                                         "a.json,0,\"HtoD, paged\",1500000,1234567890\n");
    options.table = "ranges";
    assert_string_equal(write_as("csv"), "input,device,kind,bytes,start_ns\n");
    options.table = "kernel";
    assert_refused("csv", "no table 'kernel'; available: kernels, memory, steps, ranges");
}

static void csv_without_a_main_table_is_the_first(void **state) {
    (void)state;
    make_small();
    report->main_table = "transitions"; /* the trace lacks its data */
    assert_int_equal(strncmp(write_as("csv"), "input,name,count", 16), 0);
    for (size_t b = 0; b < report->sections[0].block_count; b++)
        report->sections[0].blocks[b].audience = GT_FOR_SCREEN;
    assert_string_equal(write_as("csv"), "input\n");
}

static void csv_of_several_inputs_is_one_table(void **state) {
    (void)state;
    static const struct gt_report_column other[] = {{.key = "kind", .title = "Kind"}, {.key = "extra", .title = "X"}};
    report = gt_report_new("summary", 3);
    fill_section(&report->sections[0], "a.json", 4);
    fill_section(&report->sections[1], "b.json", -1);
    fill_section(&report->sections[2], "c.json", 0);
    add_memory(&report->sections[0], 0);
    add_memory(&report->sections[1], 1);
    struct gt_cell *row = null_row(gt_section_table(&report->sections[2], "memory", "Memory", other, 2));
    row[0] = TEXT("set");
    row[1] = gt_cell_real(INFINITY);
    assert_string_equal(write_as("csv"), "input,rank,device,kind,bytes,start_ns,extra\n"
                                         "a.json,4,0,\"HtoD, paged\",1500000,1234567890,\n"
                                         "b.json,,1,\"HtoD, paged\",1500000,1234567890,\n"
                                         "c.json,0,,set,,,\n");
}

static void add_many_rows(struct gt_section *section, size_t rows) {
    static const struct gt_report_column many[] = {
        {.key = "name", .title = "Name"}, {.key = "count", .title = "Count"}, {.key = "mean", .title = "Mean"}};
    static const char *const names[] = {"plain", "one, two", "a \"b\"", "=1", ""};
    struct gt_table *table = gt_section_table(section, "many", "Many", many, 3);
    for (size_t i = 0; i < rows; i++) {
        struct gt_cell *row = null_row(table);
        if (i % 7)
            row[0] = gt_cell_text(gt_str_of(names[i % 5]));
        row[1] = gt_cell_int((int64_t)(i * i));
        row[2] = gt_cell_real(i % 11 ? (double)i / 8 : NAN);
    }
}

static void csv_of_many_rows_is_the_same_on_many_threads(void **state) {
    (void)state;
    static const char begin[] = "input,name,count,mean\na.json,,0,\na.json,\"one, two\",1,0.125\n"
                                "a.json,\"a \"\"b\"\"\",4,0.25\na.json,'=1,9,0.375\na.json,,16,0.5\n"
                                "a.json,plain,25,0.625\n";
    report = gt_report_new("summary", 2);
    fill_section(&report->sections[0], "a.json", -1);
    fill_section(&report->sections[1], "b.json", -1);
    add_many_rows(&report->sections[0], 5000);
    add_many_rows(&report->sections[1], 1500);
    report->main_table = "many";
    options.threads = 1;
    char *alone = strdup(write_as("csv"));
    assert_int_equal(strncmp(alone, begin, strlen(begin)), 0);
    for (options.threads = 2; options.threads <= 16; options.threads = options.threads * 2 + 1)
        assert_string_equal(write_as("csv"), alone);
    free(alone);
}

static const struct gt_report_column numbered[] = {{.key = "number", .title = "Number"}};

static struct gt_table *add_numbered(size_t rows) {
    struct gt_table *table = gt_section_table(&report->sections[0], "numbered", "Numbered", numbered, 1);
    for (size_t i = 0; i < rows; i++)
        null_row(table)[0] = gt_cell_int((int64_t)i);
    return table;
}

/* Rows of one section, if at most so many are taken. */
static size_t take_limited(size_t limit, int64_t *numbers) {
    struct gt_joined joined;
    struct gt_error err;
    size_t count = 0;
    assert_int_equal(gt_joined_init(&joined, report, "numbered", &err), GT_OK);
    gt_joined_limit(&joined, limit);
    for (const struct gt_cell *row; (row = gt_joined_next(&joined));)
        numbers[count++] = row[1].integer;
    gt_joined_release(&joined);
    return count;
}

static void sampled_rows_are_from_everywhere(void **state) {
    (void)state;
    int64_t numbers[100];
    size_t odd = 0;
    report = gt_report_new("summary", 1);
    fill_section(&report->sections[0], "a.json", -1);
    struct gt_table *table = add_numbered(1000);
    assert_int_equal(take_limited(100, numbers), 100);
    for (int64_t i = 0; i < 100; i++)
        assert_int_equal(numbers[i], i);
    table->page_samples = true;
    assert_int_equal(take_limited(100, numbers), 100);
    for (int64_t i = 0; i < 100; i++) {
        assert_int_equal(numbers[i] / 10, i); /* one of each ten */
        odd += numbers[i] % 2 != 0;
    }
    assert_true(odd > 40 && odd < 60);
}

static void json_of_a_small_report(void **state) {
    (void)state;
    make_small();
    assert_string_equal(
        write_as("json"),
        "{\n"
        "  \"tool\": {\"name\": \"gputime\", \"version\": \"" GPUTIME_VERSION "\"},\n"
        "  \"command\": \"summary\",\n"
        "  \"inputs\": [\n"
        "    {\"input\": \"a.json\", \"path\": \"/traces/a.json\", \"format\": \"torch-json\", \"producer\": \"PyTorch "
        "2.4\", \"selection\": null,\n"
        "     \"ops\": 1245, \"kernels\": 1245, \"calls\": 0, \"ranges\": 0, \"cpu_ops\": 0,\n"
        "     \"origin_ns\": \"1722222222123456789\", \"base_ns\": null, \"rank\": null, \"world_size\": null, "
        "\"rank_source\": null, \"host\": null,\n"
        "     \"facts\": {\"span_ns\": 12345678, \"gpu\": \"NVIDIA H200\", \"busy_share\": 0.8125},\n"
        "     \"notes\": [\"A note with *stars*.\"]}\n"
        "  ],\n"
        "  \"tables\": {\n"
        "    \"kernels\": {\n"
        "      \"title\": \"Kernels\",\n"
        "      \"total_rows\": 9,\n"
        "      \"columns\": [\n"
        "        {\"key\": \"input\", \"title\": \"Input\", \"unit\": \"\"},\n"
        "        {\"key\": \"name\", \"title\": \"Kernel\", \"unit\": \"\"},\n"
        "        {\"key\": \"count\", \"title\": \"Count\", \"unit\": \"count\"},\n"
        "        {\"key\": \"total_ns\", \"title\": \"Total\", \"unit\": \"ns\"},\n"
        "        {\"key\": \"avg_ns\", \"title\": \"Mean\", \"unit\": \"ns\"},\n"
        "        {\"key\": \"stddev_ns\", \"title\": \"Std dev\", \"unit\": \"ns\"},\n"
        "        {\"key\": \"share\", \"title\": \"Share\", \"unit\": \"share\", \"of\": \"kernel time\"},\n"
        "        {\"key\": \"launch_share\", \"title\": \"Launches\", \"unit\": \"share\", \"of\": \"launches\"},\n"
        "        {\"key\": \"full_name\", \"title\": \"Full name\", \"unit\": \"\"}\n"
        "      ],\n"
        "      \"rows\": [\n"
        "        {\"input\": \"a.json\", \"name\": \"gemm\", \"count\": 1234, \"total_ns\": 7500000, \"avg_ns\": "
        "6077.795786, "
        "\"stddev_ns\": 12.5, \"share\": 0.75, \"launch_share\": 0.9, \"full_name\": \"void gemm<4>(int)\"},\n"
        "        {\"input\": \"a.json\", \"name\": \"copy\", \"count\": 10, \"total_ns\": 2500000, \"avg_ns\": 250000, "
        "\"stddev_ns\": null, \"share\": 0.25, \"launch_share\": null, \"full_name\": null},\n"
        "        {\"input\": \"a.json\", \"name\": \"fill\", \"count\": 1, \"total_ns\": 1000, \"avg_ns\": 1000, "
        "\"stddev_ns\": null, \"share\": 0.0001, \"launch_share\": null, \"full_name\": null}\n"
        "      ]\n"
        "    },\n"
        "    \"memory\": {\n"
        "      \"title\": \"Memory\",\n"
        "      \"columns\": [\n"
        "        {\"key\": \"input\", \"title\": \"Input\", \"unit\": \"\"},\n"
        "        {\"key\": \"device\", \"title\": \"GPU\", \"unit\": \"\"},\n"
        "        {\"key\": \"kind\", \"title\": \"Kind\", \"unit\": \"\"},\n"
        "        {\"key\": \"bytes\", \"title\": \"Bytes\", \"unit\": \"bytes\"},\n"
        "        {\"key\": \"start_ns\", \"title\": \"Start\", \"unit\": \"ns\"}\n"
        "      ],\n"
        "      \"rows\": [\n"
        "        {\"input\": \"a.json\", \"device\": 0, \"kind\": \"HtoD, paged\", \"bytes\": 1500000, \"start_ns\": "
        "1234567890}\n"
        "      ]\n"
        "    },\n"
        "    \"steps\": {\n"
        "      \"title\": \"Steps\",\n"
        "      \"columns\": [\n"
        "        {\"key\": \"input\", \"title\": \"Input\", \"unit\": \"\"},\n"
        "        {\"key\": \"device\", \"title\": \"GPU\", \"unit\": \"\"},\n"
        "        {\"key\": \"kind\", \"title\": \"Kind\", \"unit\": \"\"},\n"
        "        {\"key\": \"bytes\", \"title\": \"Bytes\", \"unit\": \"bytes\"},\n"
        "        {\"key\": \"start_ns\", \"title\": \"Start\", \"unit\": \"ns\"}\n"
        "      ],\n"
        "      \"rows\": []\n"
        "    },\n"
        "    \"ranges\": {\n"
        "      \"title\": \"Ranges\",\n"
        "      \"columns\": [\n"
        "        {\"key\": \"input\", \"title\": \"Input\", \"unit\": \"\"},\n"
        "        {\"key\": \"device\", \"title\": \"GPU\", \"unit\": \"\"},\n"
        "        {\"key\": \"kind\", \"title\": \"Kind\", \"unit\": \"\"},\n"
        "        {\"key\": \"bytes\", \"title\": \"Bytes\", \"unit\": \"bytes\"},\n"
        "        {\"key\": \"start_ns\", \"title\": \"Start\", \"unit\": \"ns\"}\n"
        "      ],\n"
        "      \"rows\": []\n"
        "    }\n"
        "  },\n"
        "  \"facts\": {\"span_ns\": 12345678, \"gpu\": \"NVIDIA H200\", \"busy_share\": 0.8125},\n"
        "  \"findings\": [],\n"
        "  \"issues\": [\n"
        "    {\"input\": \"a.json\", \"id\": \"input_cut\", \"count\": 1, \"help\": \"the file ends early\", \"loss\": "
        "true, "
        "\"first_offset\": 77},\n"
        "    {\"input\": \"a.json\", \"id\": \"op_overlap\", \"count\": 1234, \"help\": \"ops overlap\", \"loss\": "
        "false, "
        "\"first_offset\": null}\n"
        "  ]\n"
        "}\n");
}

static void json_of_several_inputs_keys_facts_by_input(void **state) {
    (void)state;
    report = gt_report_new("summary", 2);
    fill_section(&report->sections[0], "a.json", -1);
    fill_section(&report->sections[1], "b.json", -1);
    struct gt_block *again = gt_section_facts(&report->sections[1], NULL);
    gt_section_add_fact(&report->sections[1], again, "span_ns", "Span", GT_UNIT_NS, gt_cell_int(1)); /* said already */
    report->sections[1].input.base_ns = 5;
    report->sections[1].input.world_size = 2;
    report->sections[1].input.rank = 1;
    report->sections[1].input.rank_source = "mpi";
    report->sections[1].input.host = GT_STR("node\"17");
    const char *text = write_as("json");
    assert_non_null(
        strstr(text, "  \"tables\": {},\n"
                     "  \"facts\": {\n"
                     "    \"a.json\": {\"span_ns\": 12345678, \"gpu\": \"NVIDIA H200\", \"busy_share\": 0.8125},\n"
                     "    \"b.json\": {\"span_ns\": 12345678, \"gpu\": \"NVIDIA H200\", \"busy_share\": 0.8125}\n"
                     "  },\n"
                     "  \"findings\": [],\n"
                     "  \"issues\": []\n"
                     "}\n"));
    assert_non_null(strstr(text, "\"base_ns\": \"5\", \"rank\": 1, \"world_size\": 2, \"rank_source\": \"mpi\", "
                                 "\"host\": \"node\\\"17\",\n"));
}

static void markdown_of_a_small_report(void **state) {
    (void)state;
    make_small();
    assert_string_equal(write_as("md"), "## a.json\n"
                                        "\n"
                                        "PyTorch 2.4, torch-json, 1245 GPU ops\n"
                                        "\n"
                                        "- Span: 12.35 ms\n"
                                        "- GPU model: NVIDIA H200\n"
                                        "- Busy: 81.2%\n"
                                        "\n"
                                        "### Kernels\n"
                                        "\n"
                                        "Share: % of kernel time\n"
                                        "\n"
                                        "| Kernel | Count | Total (ms) | Mean (us) | Share |\n"
                                        "| --- | ---: | ---: | ---: | ---: |\n"
                                        "| gemm | 1,234 | 7.50 | 6.08 | 75.0% |\n"
                                        "| copy | 10 | 2.50 | 250.00 | 25.0% |\n"
                                        "\n"
                                        "… and 7 more rows (`--table kernels --top 0` shows all)\n"
                                        "\n"
                                        "### Memory\n"
                                        "\n"
                                        "| GPU | Kind | Bytes (MB) | Start (ms) |\n"
                                        "| ---: | --- | ---: | ---: |\n"
                                        "| 0 | HtoD, paged | 1.50 | 1,234.568 |\n"
                                        "\n"
                                        "### Ranges\n"
                                        "\n"
                                        "No range.\n"
                                        "\n"
                                        "A note with \\*stars\\*.\n"
                                        "\n"
                                        "### Trace health\n"
                                        "\n"
                                        "- 1 × `input_cut`: lost data: the file ends early (first at byte 77)\n"
                                        "- 1234 × `op_overlap`: ops overlap\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(csv_of_the_main_table),
        TEST(csv_without_a_main_table_is_the_first),
        TEST(csv_of_several_inputs_is_one_table),
        TEST(csv_of_many_rows_is_the_same_on_many_threads),
        TEST(sampled_rows_are_from_everywhere),
        TEST(json_of_a_small_report),
        TEST(json_of_several_inputs_keys_facts_by_input),
        TEST(markdown_of_a_small_report),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
