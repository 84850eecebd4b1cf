/* `nsys stats` CSVs that are damaged, odd or cut anywhere: what can be read is, the rest is counted. */
#include "csv_world.h"

#define SHORT_TRACE "Start (ns),Duration (ns),CorrId,Device,Strm,Name\n"

static void test_damaged_rows(void **state) {
    (void)state;
    check(SHORT_TRACE "10,5,1,GPU (0),7,a\n"
                      "20,5,1,GPU (0)\n"
                      "30,5,1,GPU (0),7,b,c\n"
                      "40,x,1,GPU (0),7,d\n"
                      "50,5,1,GPU (0),7,\"e\"f\n"
                      "60,5,1,GPU (0),7,g\n",
          "kernel 10+5 'a' gpu 0 'GPU' stream 7 #1\n"
          "kernel 60+5 'g' gpu 0 'GPU' stream 7 #1\n"
          "issue event_damaged 4 at 68\n");
    /* A quote that was never closed takes one row, not all. */
    check(SHORT_TRACE "10,5,1,GPU (0),7,\"a\n"
                      "20,5,1,GPU (0),7,\"b\"\n"
                      "30,5,1,GPU (0),7,\"c \"\"d\"\"\ne\"\n",
          "kernel 20+5 'b' gpu 0 'GPU' stream 7 #1\n"
          "kernel 30+5 'c \"d\"\ne' gpu 0 'GPU' stream 7 #1\n"
          "issue event_damaged 1 at 49\n");
}

static void test_odd_values(void **state) {
    (void)state;
    check(SHORT_TRACE "10,5,one,GPU (0),x,a\n"
                      "20,,1,GPU (0),7,b\n"
                      "30,-5,1,GPU (0),7,c\n"
                      "9223372036854775807,5,1,GPU (0),7,d\n"
                      "40,5,1,GPU,7,e\n"
                      "50,5,1,2,7,\n",
          "kernel 10+5 'a' gpu 0 'GPU' stream -1\n"
          "kernel 40+5 'e' gpu 0 'GPU' stream 7 #1\n"
          "kernel 50+5 '' gpu 2 '' stream 7 #1\n"
          "issue event_damaged 1 at 108\n"
          "issue op_without_time 1\n"
          "issue op_negative_duration 1\n"
          "issue op_without_device 1\n"
          "issue number_unreadable 2 at 49\n");
    check("Total Time (ns),Instances,Min (ns),Max (ns),Name\n-5,1,1,1,a\n5,None,1,1,b\n5,1,1,1,c\n",
          "group kernel 'c' 1x 5 [1, 1] median -1 stddev -1\nissue event_damaged 2 at 49\n");
}

static void test_cut(void **state) {
    (void)state;
    check(SHORT_TRACE "10,5,1,GPU (0),7,a\n20,5,1,GPU (0),7,b", "kernel 10+5 'a' gpu 0 'GPU' stream 7 #1\n"
                                                                "kernel 20+5 'b' gpu 0 'GPU' stream 7 #1\n"
                                                                "issue input_cut 1 at 68\n");
    check(SHORT_TRACE "10,5,1,GPU (0),7,\"a\"", "kernel 10+5 'a' gpu 0 'GPU' stream 7 #1\nissue input_cut 1 at 49\n");
    check(SHORT_TRACE "10,5,1,GPU (0),7,a\n20,5,1,GP",
          "kernel 10+5 'a' gpu 0 'GPU' stream 7 #1\nissue input_cut 1 at 68\n");
}

/* Whatever is cut off, the rows before the cut are read, and nothing is made up. */
static void test_every_cut(void **state) {
    (void)state;
    static const char bytes[] =
        "NOTICE: x\n\n" SHORT_TRACE "10,5,1,GPU (0),7,\"f(int, \"\"x\"\")\"\r\n"
        "20,5,2,GPU (0),7,[CUDA memset]\n\n" KERNELS MEMORY RANGES ":step,100,50,90,30,PushPop,24,25,2,0,1,5,,:5\n";
    const size_t ends[] = {(size_t)(strstr(bytes, "20,5,2") - bytes), (size_t)(strstr(bytes, "\nTime") - bytes),
                           sizeof bytes - 1};
    for (size_t length = 0; length < sizeof bytes; length++) {
        struct gt_str file = {bytes, length};
        struct gt_store *store = decode(&file, 1, &gt_csv_default_sizes, NULL);
        size_t count = store ? store->ops.count + store->projections.count : 0, whole = 0;
        while (whole < 3 && ends[whole] <= length)
            whole++;
        assert_true(count >= whole && count <= whole + 1);
        assert_true(count == whole || gt_store_issue(store, GT_ISSUE_INPUT_CUT, GT_FACTS_ALL).count == 1);
        gt_store_free(store);
    }
}

/* More tables than any input has: not read, but reported. */
static void test_many_tables(void **state) {
    (void)state;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    for (int i = 0; i < 1030; i++)
        fprintf(out, "Start (ns),Duration (ns),Device,Strm,Name\n%d,6,GPU (0),7,f\n", i);
    fclose(out);
    struct gt_store *store = decode(&(struct gt_str){text, size}, 1, &gt_csv_default_sizes, NULL);
    assert_int_equal(store->ops.count, 1024);
    assert_int_equal(gt_store_issue(store, GT_ISSUE_EVENT_DAMAGED, GT_FACTS_ALL).count, 6);
    assert_int_equal(gt_store_issue(store, GT_ISSUE_DOCUMENTS_JOINED, GT_FACTS_ALL).count, 1023);
    gt_store_free(store);
    free(text);
}

static void test_facts(void **state) {
    (void)state;
    struct gt_str files[] = {GT_STR(RANGES ":step,100,50,90,30,PushPop,24,25,2,0,1,5,,:5\n"), GT_STR(KERNELS)};
    struct gt_store *store = decode(files, 2, &gt_csv_default_sizes, NULL);
    assert_int_equal(store->facts, GT_FACT_PROJECTIONS | GT_FACT_GROUPS);
    assert_string_equal(store->meta.format, GT_NSYS_CSV_KEY);
    assert_string_equal(text_of(store, store->meta.producer), "Nsight Systems");
    gt_store_free(store);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_damaged_rows), cmocka_unit_test(test_odd_values),  cmocka_unit_test(test_cut),
        cmocka_unit_test(test_every_cut),    cmocka_unit_test(test_many_tables), cmocka_unit_test(test_facts),
    };
    return cmocka_run_group_tests_name("nsys_csv", tests, NULL, NULL);
}
