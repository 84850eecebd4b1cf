/* `nsys stats` CSVs: every generation of headers and every unit gives the same rows, nothing counts twice, and damage
   costs only the rows it hits. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "decode/nsys_csv.h"

enum { FILES_MAX = 4 };

static const struct gt_csv_sizes tiny_sizes = {3, 4096};

/* ---- a store as text ---- */

static const char *text_of(const struct gt_store *store, gt_strid id) {
    return gt_store_string(store, id).ptr;
}

static void print_ops(FILE *out, const struct gt_store *store) {
    static const char *const kinds[] = {"kernel", "memcpy", "memset", "graph"};
    const struct gt_ops *ops = &store->ops;
    size_t copy = 0;
    for (size_t i = 0; i < ops->count; i++) {
        uint32_t lane = ops->lane[i], device = store->lanes.device[lane];
        fprintf(out, "%s %" PRId64 "+%" PRId64 " '%s' gpu %" PRId64 " '%s' stream %" PRId64, kinds[ops->kind[i]],
                ops->start_ns[i], ops->end_ns[i] - ops->start_ns[i], text_of(store, ops->name[i]),
                store->devices.id[device], text_of(store, store->devices.name[device]), store->lanes.stream[lane]);
        assert_int_equal(store->lanes.process[lane], GT_NO_TRACK);
        if (ops->correlation[i] != GT_NO_CORRELATION)
            fprintf(out, " #%" PRIu64, ops->correlation[i]);
        if (copy < store->copies.count && store->copies.op[copy] == i) {
            fprintf(out, " %" PRIu64 " bytes %d>%d", store->copies.bytes[copy], store->copies.src[copy],
                    store->copies.dst[copy]);
            copy++;
        }
        fputc('\n', out);
    }
    assert_int_equal(copy, store->copies.count);
}

static void print_groups(FILE *out, const struct gt_store *store) {
    static const char *const kinds[] = {"kernel", "memcpy", "memset", "graph"};
    const struct gt_groups *groups = &store->groups;
    for (size_t i = 0; i < groups->count; i++)
        fprintf(out, "group %s '%s' %" PRIu64 "x %" PRId64 " [%" PRId64 ", %" PRId64 "] median %.10g stddev %.10g\n",
                kinds[groups->kind[i]], text_of(store, groups->name[i]), groups->instances[i], groups->total_ns[i],
                groups->min_ns[i], groups->max_ns[i], groups->median_ns[i], groups->stddev_ns[i]);
}

static void print_thread(FILE *out, const struct gt_store *store, uint32_t thread) {
    if (thread == GT_NO_TRACK)
        fprintf(out, "thread ?");
    else
        fprintf(out, "thread %" PRId64 "/%" PRId64, store->processes.pid[store->threads.process[thread]],
                store->threads.tid[thread]);
}

static void print_ranges(FILE *out, const struct gt_store *store) {
    const struct gt_projections *ranges = &store->projections;
    for (size_t i = 0; i < ranges->count; i++) {
        fprintf(out, "range '%s':'%s' %" PRId64 "+%" PRId64, text_of(store, ranges->domain[i]),
                text_of(store, ranges->name[i]), ranges->start_ns[i], ranges->end_ns[i] - ranges->start_ns[i]);
        if (ranges->range_start_ns[i] != GT_NO_TIME)
            fprintf(out, " of %" PRId64 "+%" PRId64, ranges->range_start_ns[i],
                    ranges->range_end_ns[i] - ranges->range_start_ns[i]);
        fputc(' ', out);
        print_thread(out, store, ranges->thread[i]);
        fprintf(out, " %" PRIu32 " ops level %d%s\n", ranges->ops[i], ranges->level[i],
                ranges->kind[i] == GT_RANGE_START_END ? " start/end" : "");
    }
    const struct gt_projection_groups *sums = &store->projection_groups;
    for (size_t i = 0; i < sums->count; i++)
        fprintf(out,
                "ranges '%s':'%s' %" PRIu64 "x %" PRId64 " of %" PRId64 " [%" PRId64 ", %" PRId64
                "] median %.10g stddev %.10g %" PRId64 " ops%s\n",
                text_of(store, sums->domain[i]), text_of(store, sums->name[i]), sums->instances[i], sums->total_ns[i],
                sums->range_total_ns[i], sums->min_ns[i], sums->max_ns[i], sums->median_ns[i], sums->stddev_ns[i],
                sums->ops[i], sums->kind[i] == GT_RANGE_START_END ? " start/end" : "");
}

static void print_issues(FILE *out, const struct gt_store *store) {
    for (int k = 0; k < GT_ISSUE_COUNT; k++)
        if (store->issues[k].count) {
            fprintf(out, "issue %s %" PRIu64, gt_issue_infos[k].id, store->issues[k].count);
            if (store->issues[k].first_offset != GT_NO_OFFSET)
                fprintf(out, " at %" PRIu64, store->issues[k].first_offset);
            fputc('\n', out);
        }
    if (store->skipped_events)
        fprintf(out, "skipped %" PRIu64 "\n", store->skipped_events);
}

/* ---- decoding texts ---- */

static struct gt_source *source_of(struct gt_str bytes, int *fd) {
    struct gt_source *source;
    char path[64];
    *fd = memfd_create("table", 0);
    assert_true(*fd >= 0 && write(*fd, bytes.ptr, bytes.len) == (ssize_t)bytes.len);
    snprintf(path, sizeof path, "/proc/self/fd/%d", *fd);
    assert_int_equal(gt_source_open(path, &source, NULL), GT_OK);
    return source;
}

/* NULL: the decoder refused; *message says why. */
static struct gt_store *decode(const struct gt_str *files, size_t count, const struct gt_csv_sizes *sizes,
                               struct gt_error *err) {
    struct gt_source *sources[FILES_MAX] = {0};
    int fds[FILES_MAX];
    struct gt_store *store = NULL;
    struct gt_decode_options options = {.threads = 1};
    for (size_t i = 0; i < count; i++)
        sources[i] = source_of(files[i], &fds[i]);
    enum gt_status status = gt_nsys_csv_decode_sized(sources, count, &options, sizes, &store, err);
    assert_int_equal(status == GT_OK, store != NULL);
    for (size_t i = 0; i < count; i++) {
        gt_source_close(sources[i]);
        close(fds[i]);
    }
    return store;
}

static char *describe(const struct gt_str *files, size_t count, const struct gt_csv_sizes *sizes) {
    char *text = NULL;
    size_t size;
    struct gt_error err = {0};
    struct gt_store *store = decode(files, count, sizes, &err);
    FILE *out = open_memstream(&text, &size);
    if (store) {
        print_ops(out, store);
        print_groups(out, store);
        print_ranges(out, store);
        print_issues(out, store);
    } else {
        fprintf(out, "error\n");
    }
    fclose(out);
    gt_store_free(store);
    return text;
}

static void check_files(const struct gt_str *files, size_t count, const char *expected) {
    char *whole = describe(files, count, &gt_csv_default_sizes), *parts = describe(files, count, &tiny_sizes);
    assert_string_equal(whole, expected);
    assert_string_equal(parts, expected);
    free(whole);
    free(parts);
}

static void check(const char *text, const char *expected) {
    struct gt_str file = gt_str_of(text);
    check_files(&file, 1, expected);
}

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
    /* 2021: seconds beside nanoseconds, and bytes without a unit. */
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

#define KERNELS                                                                                                        \
    "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n"                        \
    "66.7,2000,2,1000.0,1000.5,900,1100,141.4,\"f(int, float)\"\n"                                                     \
    "33.3,1000,1,1000.0,1000.0,1000,1000,0.0,g\n"
#define KERNEL_GROUPS                                                                                                  \
    "group kernel 'f(int, float)' 2x 2000 [900, 1100] median 1000.5 stddev 141.4\n"                                    \
    "group kernel 'g' 1x 1000 [1000, 1000] median 1000 stddev 0\n"
#define MEMORY                                                                                                         \
    "Time (%),Total Time (ns),Count,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Operation\n"                       \
    "100.0,500,5,100.0,100.0,100,100,0.0,[CUDA memcpy Device-to-Device]\n"
#define MEMORY_GROUPS "group memcpy '[CUDA memcpy Device-to-Device]' 5x 500 [100, 100] median 100 stddev 0\n"

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

#define RANGES                                                                                                         \
    "Name,Projected Start (ns),Projected Duration (ns),Orig Start (ns),Orig Duration (ns),Style,PID,TID,NumGPUOps,"    \
    "Lvl,NumChild,RangeId,ParentId,RangeStack\n"

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

/* ---- files and what stands around tables ---- */

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
    /* A trace without rows does not stand for the sums. */
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

/* ---- damage ---- */

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
        assert_true(count == whole || store->issues[GT_ISSUE_INPUT_CUT].count == 1);
        gt_store_free(store);
    }
}

/* More tables than any input has: not read, but told. */
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
    assert_int_equal(store->issues[GT_ISSUE_EVENT_DAMAGED].count, 6);
    assert_int_equal(store->issues[GT_ISSUE_DOCUMENTS_JOINED].count, 1023);
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
        cmocka_unit_test(test_trace),           cmocka_unit_test(test_trace_generations),
        cmocka_unit_test(test_trace_units),     cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_copies),          cmocka_unit_test(test_sums),
        cmocka_unit_test(test_sum_generations), cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_stdout),          cmocka_unit_test(test_nothing_counts_twice),
        cmocka_unit_test(test_headers_alone),   cmocka_unit_test(test_refused),
        cmocka_unit_test(test_sniff),           cmocka_unit_test(test_damaged_rows),
        cmocka_unit_test(test_odd_values),      cmocka_unit_test(test_cut),
        cmocka_unit_test(test_every_cut),       cmocka_unit_test(test_many_tables),
        cmocka_unit_test(test_facts),
    };
    return cmocka_run_group_tests_name("nsys_csv", tests, NULL, NULL);
}
