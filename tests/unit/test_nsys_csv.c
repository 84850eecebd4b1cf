/* `nsys stats` CSVs: every generation of headers and every unit gives the same rows, and nothing counts twice. */
#include "csv_world.h"

/* ---- traces ---- */

#define TRACE_2024                                                                                                     \
    "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem (MB),DymSMem (MB),Bytes (MB),"      \
    "Throughput (MB/s),SrcMemKd,DstMemKd,Device,Ctx,GreenCtx,Strm,Name\n"

#define TRACE_ROWS                                                                                                     \
    "kernel 1000000+16512 'f(int, float)' gpu 0 'NVIDIA H200' stream 7 #5\n"                                           \
    "memcpy 2000000+1193172 '[CUDA memcpy Host-to-Device]' gpu 0 'NVIDIA H200' stream 7 #6 4194304 bytes 1>3\n"        \
    "memset 4000000+768 '[CUDA memset]' gpu 1 'NVIDIA A100-SXM4-80GB' stream 20 4 bytes 0>3\n"

static void test_trace(void **state) {
    (void)state;
    check(TRACE_2024 "1000000,16512,5,2048,1,1,512,1,1,32,0.000,0.008,,,,,NVIDIA H200 (0),1,,7,\"f(int, float)\"\n"
                     "2000000,1193172,6,,,,,,,,,,4.194,3514.827,Pageable,Device,NVIDIA H200 (0),1,,7,"
                     "[CUDA memcpy Host-to-Device]\n"
                     "4000000,768,,,,,,,,,,,0.000,5.208,Device,,NVIDIA A100-SXM4-80GB (1),1,,20,[CUDA memset]\n",
          TRACE_ROWS);
}

static void test_trace_generations(void **state) {
    (void)state;
    /* 2022 and 2023: no green contexts, short names of copies. */
    check("Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem (MB),DymSMem (MB),Bytes (MB),"
          "Throughput (MBps),SrcMemKd,DstMemKd,Device,Ctx,Strm,Name\n"
          "1000000,16512,5,2048,1,1,512,1,1,32,0.000,0.008,,,,,NVIDIA H200 (0),1,7,\"f(int, float)\"\n"
          "2000000,1193172,6,,,,,,,,,,4.194,3514.827,Pageable,Device,NVIDIA H200 (0),1,7,[CUDA memcpy HtoD]\n"
          "4000000,768,,,,,,,,,,,0.000,5.208,Device,,NVIDIA A100-SXM4-80GB (1),1,20,[CUDA memset]\n",
          TRACE_ROWS);
    /* 2021: seconds next to nanoseconds, and bytes without a unit. */
    check("\"Start(sec)\",\"Duration(nsec)\",CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem,DymSMem,Bytes,Thru,"
          "SrcMemKd,DstMemKd,Device,Ctx,Strm,Name\n"
          "0.001000,16512,5,2048,1,1,512,1,1,32,0,8192,,,,,NVIDIA H200 (0),1,7,\"f(int, float)\"\n"
          "0.002000,1193172,6,,,,,,,,,,4194304,3514.827,Pageable,Device,NVIDIA H200 (0),1,7,[CUDA memcpy HtoD]\n"
          "0.004000,768,,,,,,,,,,,4,5.208,Device,,NVIDIA A100-SXM4-80GB (1),1,20,[CUDA memset]\n",
          TRACE_ROWS);
}

static void test_trace_units(void **state) {
    (void)state;
    check("Start (us),Duration (us),CorrId,Bytes (KiB),Throughput (MB/s),SrcMemKd,DstMemKd,Device,Strm,Name\n"
          "1000.000,16.512,5,None,None,,,NVIDIA H200 (0),7,\"f(int, float)\"\n"
          "2000,1193.172,6,4096,3514.827,Pageable,Device,NVIDIA H200 (0),7,[CUDA memcpy HtoD]\n"
          "\"4,000.000\",.768,None,0.004,5.208,Device,,NVIDIA A100-SXM4-80GB (1),20,[CUDA memset]\n",
          TRACE_ROWS);
    check("Start (s),Duration (ms),CorrId,Bytes (B),Throughput (GB/s),SrcMemKd,DstMemKd,Device,Strm,Name\r\n"
          "0.001,0.016512,5,,,,,NVIDIA H200 (0),7,\"f(int, float)\"\r\n"
          "0.002000000,1.193172,6,\"4,194,304\",3.515,Pageable,Device,NVIDIA H200 (0),7,[CUDA memcpy HtoD]\r\n"
          "0.004,0.000768,,4,0.005,Device,,NVIDIA A100-SXM4-80GB (1),20,[CUDA memset]\r\n",
          TRACE_ROWS);
}

/* Megabytes alone leave a thousand sizes; with the throughput few or one are left, of which the roundest is taken. */
static void test_sizes(void **state) {
    (void)state;
    static const struct {
        const char *cells; /* duration, bytes, throughput */
        uint64_t bytes;
    } cases[] = {
        {"1000,0.012,12345.000", 12345},  {"1000,0.012,", 12288}, {"20555600,131.072,6291.456", 131072000},
        {"1000000000,0.001,0.001", 1024}, {"0,0.003,", 3072},     {"1000,0.000,0.000", 0},
        {"1000,0.012,99.000", 12288}, /* of another copy: not believed */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[300], expected[40];
        snprintf(text, sizeof text,
                 "Start (ns),Duration (ns),Bytes (MB),Throughput (MB/s),Device,Strm,Name\n"
                 "5,%s,GPU (0),7,[CUDA memcpy DtoD]\n",
                 cases[i].cells);
        struct gt_str file = gt_str_of(text);
        char *found = describe(&file, 1, &gt_csv_default_sizes);
        snprintf(expected, sizeof expected, " %" PRIu64 " bytes", cases[i].bytes);
        if (!strstr(found, expected))
            fail_msg("%s gives %s", cases[i].cells, found);
        free(found);
    }
}

static void test_copies(void **state) {
    (void)state;
    static const char *const names[][2] = {
        {"[CUDA memcpy DtoH]", "[CUDA memcpy Device-to-Host]"},
        {"[CUDA memcpy PtoP]", "[CUDA memcpy Peer-to-Peer]"},
        {"[CUDA memcpy Array-to-Host]", "[CUDA memcpy Array-to-Host]"},
        {"[CUDA Unified Memory memcpy HtoD]", "[CUDA memcpy Unified Host-to-Device]"},
        {"[CUDA memcpy Unified Device-to-Host]", "[CUDA memcpy Unified Device-to-Host]"},
        {"[CUDA memcpy Moon-to-Device]", "[CUDA memcpy Unknown]"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char text[300], expected[200];
        snprintf(text, sizeof text, "Start (ns),Duration (ns),Device,Strm,Name\n5,6,GPU (3),7,%s\n", names[i][0]);
        snprintf(expected, sizeof expected, "memcpy 5+6 '%s' gpu 3 'GPU' stream 7\n", names[i][1]);
        check(text, expected);
    }
}

/* ---- sums ---- */

static void test_sums(void **state) {
    (void)state;
    check(KERNELS, KERNEL_GROUPS);
    check(MEMORY, MEMORY_GROUPS);
    check("Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Category,Operation\n"
          "57.1,2000,2,1000.0,1000.5,900,1100,141.4,CUDA_KERNEL,\"f(int, float)\"\n"
          "28.6,1000,1,1000.0,1000.0,1000,1000,0.0,CUDA_KERNEL,g\n"
          "9.9,900,9,100.0,100.0,100,100,0.0,CUDA_API,cudaLaunchKernel\n"
          "14.3,500,5,100.0,100.0,100,100,0.0,MEMORY_OPER,[CUDA memcpy DtoD]\n",
          KERNEL_GROUPS MEMORY_GROUPS "skipped 1\n");
}

static void test_sum_generations(void **state) {
    (void)state;
    /* 2021: no median, no units. */
    check("Time(%),Total Time (ns),Instances,Average,Minimum,Maximum,StdDev,Name\n"
          "66.7,2000,2,1000.0,900,1100,141.4,\"f(int, float)\"\n",
          "group kernel 'f(int, float)' 2x 2000 [900, 1100] median -1 stddev 141.4\n");
    check("Time(%),Total Time (ns),Operations,Average,Minimum,Maximum,Operation\n"
          "100.0,500,5,100.0,100,100,[CUDA memcpy DtoD]\n",
          "group memcpy '[CUDA memcpy Device-to-Device]' 5x 500 [100, 100] median -1 stddev -1\n");
    /* 2022.4: a row for each launch shape. */
    check("Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),GridXYZ,BlockXYZ,Name\n"
          "40.0,900,1,900.0,900.0,900,900,0.0,   1    1    1, 128    1    1,f\n"
          "60.0,1100,1,1100.0,1100.0,1100,1100,0.0,   2    1    1, 128    1    1,f\n",
          "group kernel 'f' 1x 900 [900, 900] median 900 stddev 0\n"
          "group kernel 'f' 1x 1100 [1100, 1100] median 1100 stddev 0\n");
    /* Another time unit. */
    check("Time (%),Total Time (ms),Instances,Avg (ms),Med (ms),Min (ms),Max (ms),StdDev (ms),Name\n"
          "66.7,0.002,2,0.001,0.0010005,0.0009,0.0011,0.0001414,\"f(int, float)\"\n",
          "group kernel 'f(int, float)' 2x 2000 [900, 1100] median 1000.5 stddev 141.4\n");
}

/* ---- ranges ---- */

static void test_ranges(void **state) {
    (void)state;
    check(RANGES ":step,100,50,90,30,PushPop,24,25,2,0,1,5,,:5\n"
                 "engine:layer: 1,110,20,95,5,StartEnd,24,25,1,1,0,6,5,:5:6\n",
          "range '':'step' 100+50 of 90+30 thread 24/25 2 ops level 0\n"
          "range 'engine':'layer: 1' 110+20 of 95+5 thread 24/25 1 ops level 1 start/end\n");
    /* Before 2024: a text alone is of the default domain, and one row is of no range. */
    check(RANGES "None,1,999,None,None,None,1,1,3,None,0,None,None,None\n"
                 "step: 1,100,50,90,30,PushPop,24,25,2,0,1,5,None,:5\n"
                 "step,200,50,None,None,PushPop,None,None,2,0,1,5,None,:5\n",
          "range '':'step: 1' 100+50 of 90+30 thread 24/25 2 ops level 0\n"
          "range '':'step' 200+50 thread ? 2 ops level 0\n"
          "skipped 1\n");
    check("Range,Style,Total Proj Time (ns),Total Range Time (ns),Range Instances,Proj Avg (ns),Proj Med (ns),"
          "Proj Min (ns),Proj Max (ns),Proj StdDev (ns),Total GPU Ops,Avg GPU Ops,Avg Range Lvl,Avg Num Child\n"
          ":step,PushPop,100,60,2,50.0,50.5,49,51,1.4,4,2.0,0.0,0.0\n",
          "ranges '':'step' 2x 100 of 60 [49, 51] median 50.5 stddev 1.4 4 ops\n");
}

/* ---- files and what is around tables ---- */

static void test_stdout(void **state) {
    (void)state;
    check("\n"
          "NOTICE: Existing SQLite export found: x.sqlite\n"
          "        It is assumed file was previously exported from: x.nsys-rep\n"
          "\n"
          "Processing [x.sqlite] with [reports/cuda_api_sum.py]... \n"
          "\n"
          " ** CUDA API Summary (cuda_api_sum):\n"
          "\n"
          "Time (%),Total Time (ns),Num Calls,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n"
          "100.0,900,9,100.0,100.0,100,100,0.0,cudaLaunchKernel\n"
          "\n"
          "Processing [x.sqlite] with [reports/cuda_gpu_kern_sum.py]... \n"
          "\n"
          " ** CUDA GPU Kernel Summary (cuda_gpu_kern_sum):\n"
          "\n" KERNELS "\n"
          "Processing [x.sqlite] with [reports/um_sum.py]... \n"
          "SKIPPED: x.sqlite does not contain CUDA Unified Memory CPU page faults data.\n"
          "\n"
          "Processing [x.sqlite] with [reports/cuda_gpu_mem_time_sum.py]... \n"
          "\n"
          " ** CUDA GPU MemOps Summary (by Time) (cuda_gpu_mem_time_sum):\n"
          "\n" MEMORY "\n",
          KERNEL_GROUPS MEMORY_GROUPS "skipped 1\n");
    /* Tables that touch. */
    check(KERNELS MEMORY, KERNEL_GROUPS MEMORY_GROUPS);
    check(KERNELS "Processing [x.sqlite] with [y.py]...\n" MEMORY, KERNEL_GROUPS MEMORY_GROUPS);
    check("\xef\xbb\xbf" KERNELS "\xef\xbb\xbf" MEMORY, KERNEL_GROUPS MEMORY_GROUPS);
}

static void test_nothing_counts_twice(void **state) {
    (void)state;
    static const char all[] =
        "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Category,Operation\n"
        "66.7,3000,3,1000.0,1000.5,900,1100,141.4,CUDA_KERNEL,h\n"
        "33.3,500,5,100.0,100.0,100,100,0.0,MEMORY_OPER,[CUDA memcpy DtoD]\n";
    static const char trace[] = "Start (ns),Duration (ns),Device,Strm,Name\n5,6,GPU (0),7,f\n";
    static const char grids[] =
        "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),GridXYZ,BlockXYZ,Name\n"
        "99.0,3000,3,900.0,900.0,900,900,0.0,1 1 1,128 1 1,f\n";
    static const char base[] =
        "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n"
        "100.0,3000,3,1000.0,1000.0,900,1100,81.6,all\n";
    static const char other[] =
        "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n"
        "100.0,7,1,7.0,7.0,7,7,0.0,k\n";
    struct gt_str kernels = GT_STR(KERNELS), memory = GT_STR(MEMORY);
    check_files((struct gt_str[]){kernels, gt_str_of(trace), memory}, 3, "kernel 5+6 'f' gpu 0 'GPU' stream 7\n");
    check_files((struct gt_str[]){kernels, gt_str_of(all), memory}, 3,
                "group kernel 'h' 3x 3000 [900, 1100] median 1000.5 stddev 141.4\n" MEMORY_GROUPS);
    check_files((struct gt_str[]){gt_str_of(grids), kernels}, 2, KERNEL_GROUPS);
    /* The same sums under other names are the same kernels; different sums are other ones. */
    check_files((struct gt_str[]){kernels, gt_str_of(base)}, 2, KERNEL_GROUPS);
    check_files((struct gt_str[]){kernels, gt_str_of(other)}, 2,
                KERNEL_GROUPS "group kernel 'k' 1x 7 [7, 7] median 7 stddev 0\nissue documents_joined 1\n");
    check_files((struct gt_str[]){gt_str_of(trace), gt_str_of(trace)}, 2, "kernel 5+6 'f' gpu 0 'GPU' stream 7\n");
    /* A trace without rows does not replace the sums. */
    check_files((struct gt_str[]){GT_STR(TRACE_2024), kernels}, 2, KERNEL_GROUPS);
}

static void test_headers_alone(void **state) {
    (void)state;
    check(TRACE_2024, "");
    check(RANGES, "");
}

static void test_refused(void **state) {
    (void)state;
    check("hello,world\n1,2\n", "error\n");
    check("Total (MB),Count,Avg (MB),Operation\n1,1,1,[CUDA memset]\n", "error\n");
    check_files((struct gt_str[]){GT_STR(KERNELS), GT_STR("hello\n")}, 2, "error\n");
    /* A table that is not needed may come along. */
    check_files((struct gt_str[]){GT_STR(KERNELS), GT_STR("Total (MB),Count,Avg (MB),Operation\n1,1,1,x\n")}, 2,
                KERNEL_GROUPS "skipped 1\n");
}

static void test_sniff(void **state) {
    (void)state;
    assert_int_equal(gt_nsys_csv_sniff(GT_STR(KERNELS), "x"), 90);
    assert_int_equal(gt_nsys_csv_sniff(GT_STR("NOTICE: x\n\n" TRACE_2024), "x"), 90);
    assert_int_equal(gt_nsys_csv_sniff(GT_STR("\xef\xbb\xbf" MEMORY), "x"), 90);
    assert_int_equal(gt_nsys_csv_sniff(GT_STR("Total (MB),Count,Avg (MB),Operation\n"), "x"), 10);
    assert_int_equal(gt_nsys_csv_sniff(GT_STR(""), "x"), 0);
    assert_int_equal(gt_nsys_csv_sniff(GT_STR("Name,Start,End\n1,2,3\n"), "x.csv"), 0);
    assert_int_equal(gt_nsys_csv_sniff(GT_STR("{\"traceEvents\": []}"), "x.csv"), 0);
    assert_int_equal(gt_nsys_csv_sniff(GT_STR(KERNELS "\0"), "x.csv"), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trace),           cmocka_unit_test(test_trace_generations),
        cmocka_unit_test(test_trace_units),     cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_copies),          cmocka_unit_test(test_sums),
        cmocka_unit_test(test_sum_generations), cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_stdout),          cmocka_unit_test(test_nothing_counts_twice),
        cmocka_unit_test(test_headers_alone),   cmocka_unit_test(test_refused),
        cmocka_unit_test(test_sniff),
    };
    return cmocka_run_group_tests_name("nsys_csv", tests, NULL, NULL);
}
