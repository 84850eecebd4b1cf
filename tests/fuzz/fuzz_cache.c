/* Fuzzes the cache's file: bytes that begin with its magic are the whole file, others are edits of a good one. Its
   header is made right afterwards, so that the reader's checks of the values are all that protects the
   analyses. A file that is not believed is decoded anew; either way there must be a report. */
#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "events/cache_format.h"
#include "run_report.h"

/* A bit of everything that has columns. */
static const char trace_text[] =
    "{\"distributedInfo\":{\"rank\":1,\"world_size\":2},\"traceEvents\":["
    "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":9,\"args\":{\"name\":\"python\"}},"
    "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#1\",\"pid\":9,\"tid\":9,\"ts\":1,\"dur\":90},"
    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"pid\":9,\"tid\":9,\"ts\":2,\"dur\":20},"
    "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":9,\"tid\":9,\"ts\":3,\"dur\":2,"
    "\"args\":{\"correlation\":1}},"
    "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaMemcpyAsync\",\"pid\":9,\"tid\":9,\"ts\":6,\"dur\":2,"
    "\"args\":{\"correlation\":2}},"
    "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaDeviceSynchronize\",\"pid\":9,\"tid\":9,\"ts\":9,\"dur\":9,"
    "\"args\":{\"correlation\":3}},"
    "{\"ph\":\"X\",\"cat\":\"gpu_user_annotation\",\"name\":\"forward\",\"pid\":0,\"tid\":7,\"ts\":4,\"dur\":30},"
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"gemm\",\"pid\":0,\"tid\":7,\"ts\":5,\"dur\":5,"
    "\"args\":{\"device\":0,\"stream\":7,\"correlation\":1}},"
    "{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"name\":\"Memcpy HtoD (Pageable -> Device)\",\"pid\":0,\"tid\":7,\"ts\":20,"
    "\"dur\":5,\"args\":{\"device\":0,\"stream\":7,\"correlation\":2,\"bytes\":64}},"
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"ncclDevKernel_AllReduce_Sum_bf16\",\"pid\":0,\"tid\":8,\"ts\":22,"
    "\"dur\":9,\"args\":{\"device\":0,\"stream\":8,\"Collective name\":\"allreduce\",\"In msg nelems\":64,"
    "\"Out msg nelems\":64,\"dtype\":\"Float\"}}]}";

static struct {
    char folder[32], trace[48], cache[48], entry[320];
    uint8_t good[1 << 20], file[1 << 20];
    size_t good_size;
    struct gt_cache_header header; /* of the good file: the key is in it */
} world = {.folder = "/tmp/gputime-fuzz-XXXXXX"};

static void expect(int holds) {
    if (!holds)
        abort();
}

static void write_file(const char *path, const void *bytes, size_t size) {
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    expect(fd >= 0 && write(fd, bytes, size) == (ssize_t)size && close(fd) == 0);
}

static void remove_world(void) {
    unlink(world.entry);
    unlink(world.trace);
    rmdir(world.cache);
    rmdir(world.folder);
}

/* Keeps a trace that is old enough for it, and reads what was kept. */
static void make_world(void) {
    struct gputime_open_options options = GPUTIME_OPEN_OPTIONS_INIT;
    struct gputime_trace *trace;
    struct gputime_error err;
    struct timespec long_ago[2] = {{1600000000, 0}, {1600000000, 0}};
    const char *paths[] = {world.trace};
    options.threads = 1;
    options.cache_after_ns = 1;
    expect(mkdtemp(world.folder) != NULL);
    snprintf(world.trace, sizeof world.trace, "%s/trace.json", world.folder);
    snprintf(world.cache, sizeof world.cache, "%s/cache", world.folder);
    setenv("GPUTIME_CACHE", world.cache, 1);
    atexit(remove_world);
    write_file(world.trace, trace_text, sizeof trace_text - 1);
    utimensat(AT_FDCWD, world.trace, long_ago, 0);
    expect(gputime_trace_open(paths, 1, &options, NULL, &trace, &err) == GPUTIME_OK);
    gputime_trace_store_cache(trace);
    gputime_trace_free(trace);

    DIR *folder = opendir(world.cache);
    expect(folder != NULL);
    for (struct dirent *item; (item = readdir(folder));)
        if (item->d_name[0] != '.')
            snprintf(world.entry, sizeof world.entry, "%s/%s", world.cache, item->d_name);
    closedir(folder);
    int fd = open(world.entry, O_RDONLY | O_CLOEXEC);
    ssize_t size = read(fd, world.good, sizeof world.good);
    expect(size > (ssize_t)sizeof world.header && (size_t)size < sizeof world.good);
    close(fd);
    world.good_size = (size_t)size;
    memcpy(&world.header, world.good, sizeof world.header);
}

/* Each edit is 12 bytes: where (4), how many bytes (the lowest bits of the next one), what (up to 7). What is left of
   the input in the end is how much of the file is cut off. */
static size_t edit_good_file(const uint8_t *data, size_t size) {
    memcpy(world.file, world.good, world.good_size);
    size_t payload = world.good_size - sizeof world.header;
    for (; size >= 12; data += 12, size -= 12) {
        uint32_t where;
        size_t bytes = 1 + data[4] % 7;
        memcpy(&where, data, sizeof where);
        where = (uint32_t)(sizeof world.header + where % payload);
        if (bytes > world.good_size - where)
            bytes = world.good_size - where;
        memcpy(world.file + where, data + 5, bytes);
    }
    size_t cut = size ? data[0] % 128 : 0;
    return world.good_size - (cut < payload ? cut : 0);
}

static void make_header_right(size_t size) {
    struct gt_cache_header header = world.header;
    header.file_bytes = size;
    header.payload_hash = XXH3_64bits(world.file + sizeof header, size - sizeof header);
    header.header_hash = XXH3_64bits(&header, offsetof(struct gt_cache_header, header_hash));
    memcpy(world.file, &header, sizeof header);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!world.good_size)
        make_world();
    if (size >= sizeof world.header && memcmp(data, GT_CACHE_MAGIC, sizeof world.header.magic) == 0) {
        size = size < sizeof world.file ? size : sizeof world.file;
        memcpy(world.file, data, size);
    } else {
        size = edit_good_file(data, size);
    }
    make_header_right(size);
    write_file(world.entry, world.file, size);
    const char *paths[] = {world.trace};
    struct fuzz_options options = fuzz_options_new(fuzz_format(size));
    options.opening.no_cache = 0;
    options.opening.reader = GPUTIME_READER_AUTO; /* the others leave the cache alone */
    expect(fuzz_report(paths, 1, &options));
    return 0;
}
