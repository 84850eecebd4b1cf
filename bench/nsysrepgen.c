/* Writes a valid Nsight Systems report of any size for the benchmark: kernels, their launch calls and NVTX ranges of
   several processes, in chunks of 7000 events as nsys writes them, then samples of GPU metrics. The same arguments give
   the same bytes.

       nsysrepgen [-m MEGABYTES of inflated events, 100] [-p PROCESSES, 2] [-s SEED, 1] [-g SAMPLES, 0] FILE */
#include <endian.h>
#include <inttypes.h>
#include <lz4.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CHUNK_EVENTS = 7000, KERNEL_NAMES = 400, CALL_NAMES = 8, RANGE_NAMES = 200 };

/* First string ids of each kind of name. */
enum { FIRST_CALL = 0, FIRST_KERNEL = CALL_NAMES, FIRST_RANGE = FIRST_KERNEL + 3 * KERNEL_NAMES };
enum { FIRST_METRIC = FIRST_RANGE + RANGE_NAMES, METRICS = 22 }; /* the first is the name of their source */
enum { STRING_COUNT = FIRST_METRIC + 1 + METRICS };

/* As in a report of an H200: most metrics are a percentage, a few have up to four bytes. */
enum { SAMPLE_BYTES = 34, SAMPLE_PERIOD_NS = 10000 };
static const unsigned char metric_sizes[METRICS] = {4, 4, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 3, 1, 1, 4, 1, 1, 1, 2, 1};
static const uint64_t metric_type = UINT64_C(1) << 48 | UINT64_C(1) << 32; /* of GPU 0 */

/* Names of those that reports attribute to kernels. */
static const char *const metric_names[METRICS] = {
    [0] = "GPC Clock Frequency [MHz]",
    [2] = "SMs Active [Throughput %]",
    [3] = "SM Issue [Throughput %]",
    [4] = "Tensor Active [Throughput %]",
    [5] = "DRAM Read Bandwidth [Throughput %]",
    [6] = "DRAM Write Bandwidth [Throughput %]",
    [7] = "Compute Warps in Flight [Throughput %]",
};

static const char *const call_names[CALL_NAMES] = {
    "cudaLaunchKernel_v7000",       "cudaLaunchKernelExC_v11060", "cuLaunchKernel",       "cudaStreamSynchronize_v3020",
    "cudaStreamIsCapturing_v10000", "cudaEventRecord_v3020",      "cudaEventQuery_v3020", "cudaMemsetAsync_v3020",
};

/* ---- bytes ---- */

/* Messages are small and nested: each is written into a buffer of its own, then into the one around it. */
struct buffer {
    unsigned char *bytes;
    size_t size, capacity;
};

static void *check(void *block) {
    if (!block) {
        fputs("nsysrepgen: out of memory\n", stderr);
        exit(1);
    }
    return block;
}

static void add_bytes(struct buffer *buffer, const void *bytes, size_t size) {
    if (buffer->size + size > buffer->capacity) {
        buffer->capacity = 2 * (buffer->size + size);
        buffer->bytes = check(realloc(buffer->bytes, buffer->capacity));
    }
    memcpy(buffer->bytes + buffer->size, bytes, size);
    buffer->size += size;
}

static void add_varint(struct buffer *buffer, uint64_t value) {
    unsigned char bytes[10];
    size_t size = 0;
    for (; value >= 0x80; value >>= 7)
        bytes[size++] = (unsigned char)(value | 0x80);
    bytes[size++] = (unsigned char)value;
    add_bytes(buffer, bytes, size);
}

static void add_number(struct buffer *buffer, unsigned field, uint64_t value) {
    add_varint(buffer, (uint64_t)field << 3);
    add_varint(buffer, value);
}

static void add_text(struct buffer *buffer, unsigned field, const void *text, size_t size) {
    add_varint(buffer, (uint64_t)field << 3 | 2);
    add_varint(buffer, size);
    add_bytes(buffer, text, size);
}

/* Adds a message as a field and empties it for the next one. */
static void add_message(struct buffer *buffer, unsigned field, struct buffer *message) {
    add_text(buffer, field, message->bytes, message->size);
    message->size = 0;
}

/* ---- events ---- */

struct generator {
    FILE *file;
    uint64_t state;           /* of the random numbers */
    uint64_t processes, next; /* how many; whose turn it is */
    int64_t now_ns;
    uint64_t correlation, event_count, sample_count, inflated_bytes;
    struct buffer chunk, event, sub, details;
    size_t chunk_events;
    uint64_t raw_bytes; /* written behind "QDTEXT00" */
};

static uint64_t random_below(struct generator *generator, uint64_t limit) {
    uint64_t z = generator->state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return (z ^ z >> 31) % limit;
}

static uint64_t global_pid(uint64_t process) {
    return UINT64_C(1) << 48 | (4000 + process) << 24;
}

static void write_out(struct generator *generator, const void *bytes, size_t size) {
    if (fwrite(bytes, 1, size, generator->file) != size) {
        perror("nsysrepgen");
        exit(1);
    }
    generator->raw_bytes += size;
}

/* A length and a message, packed as one LZ4 block behind its two sizes. */
static void write_chunk(struct generator *generator, const struct buffer *message) {
    struct buffer plain = {0}, header = {0};
    add_varint(&plain, message->size);
    add_bytes(&plain, message->bytes, message->size);
    char *packed = check(malloc((size_t)LZ4_compressBound((int)plain.size)));
    int size =
        LZ4_compress_default((const char *)plain.bytes, packed, (int)plain.size, LZ4_compressBound((int)plain.size));
    add_varint(&header, (uint64_t)size);
    add_varint(&header, plain.size);
    write_out(generator, header.bytes, header.size);
    write_out(generator, packed, (size_t)size);
    free(header.bytes);
    free(plain.bytes);
    free(packed);
}

static void end_chunk(struct generator *generator) {
    if (generator->chunk_events == 0)
        return;
    generator->inflated_bytes += generator->chunk.size;
    write_chunk(generator, &generator->chunk);
    generator->chunk.size = 0;
    generator->chunk_events = 0;
}

static void end_event(struct generator *generator, unsigned type, unsigned field) {
    add_number(&generator->event, 1, type);
    add_message(&generator->event, field, &generator->sub);
    add_message(&generator->chunk, 1, &generator->event);
    generator->event_count++;
    if (++generator->chunk_events == CHUNK_EVENTS)
        end_chunk(generator);
}

static void add_call(struct generator *generator, int64_t start_ns, int64_t length_ns, unsigned name) {
    struct buffer *call = &generator->sub;
    add_number(call, 1, (uint64_t)start_ns);
    add_number(call, 2, (uint64_t)(start_ns + length_ns));
    add_number(call, 3, generator->correlation);
    add_number(call, 6, name == 2);
    add_number(call, 7, FIRST_CALL + name);
    add_number(call, 8, 0);
    add_number(call, 13, global_pid(generator->next) + 4000 + generator->next);
    end_event(generator, 48, 108);
}

static void add_kernel(struct generator *generator, int64_t start_ns, int64_t length_ns) {
    struct buffer *activity = &generator->sub, *kernel = &generator->details;
    uint64_t name = FIRST_KERNEL + 3 * random_below(generator, KERNEL_NAMES);
    const uint64_t values[][2] = {
        {1, name},
        {2, name + 1},
        {3, name + 2},
        {8, name},
        {10, 1 + random_below(generator, 5000)},
        {11, 1},
        {12, 1},
        {13, 256},
        {14, 1},
        {15, 1},
        {16, 0},
        {17, random_below(generator, 2) * 98304},
        {18, 0},
        {19, 250871808},
        {20, generator->correlation},
        {21, 32},
        {22, 32768},
        {23, 1},
        {24, 1},
        {26, 0},
        {28, 0},
        {31, 0},
        {32, 0},
        {33, 0},
        {34, 1},
        {35, 0},
        {36, 0},
    };
    add_number(activity, 1, (uint64_t)start_ns);
    add_number(activity, 2, (uint64_t)(start_ns + length_ns));
    add_number(activity, 3, generator->correlation);
    add_number(activity, 4, generator->next);
    add_number(activity, 5, 1);
    add_number(activity, 6, 7 + 6 * (random_below(generator, 8) == 0));
    add_number(activity, 7, 3);
    add_number(activity, 8, global_pid(generator->next));
    add_number(activity, 9, 0);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        add_number(kernel, (unsigned)values[i][0], values[i][1]);
    add_message(activity, 101, kernel);
    end_event(generator, 79, 107);
}

static void add_range(struct generator *generator, int64_t start_ns, int64_t length_ns) {
    struct buffer *range = &generator->sub;
    add_number(range, 1, 59);
    add_number(range, 2, (uint64_t)start_ns);
    add_number(range, 9, global_pid(generator->next) + 4000 + generator->next);
    add_number(range, 10, (uint64_t)(start_ns + length_ns));
    add_number(range, 12, FIRST_RANGE + random_below(generator, RANGE_NAMES));
    add_number(range, 13, 0);
    add_number(range, 14, 1);
    end_event(generator, 59, 102);
}

/* One kernel, the two calls around it and now and then a range: the mix of a real capture of inference. */
static void add_launch(struct generator *generator) {
    int64_t call_ns = (int64_t)(2000 + random_below(generator, 3000));
    generator->next = (generator->next + 1) % generator->processes;
    generator->correlation++;
    if (random_below(generator, 20) == 0)
        add_range(generator, generator->now_ns, 40000);
    add_call(generator, generator->now_ns, call_ns, (unsigned)random_below(generator, 3));
    add_kernel(generator, generator->now_ns + call_ns + 900, (int64_t)(900 + random_below(generator, 6000)));
    generator->correlation++;
    add_call(generator, generator->now_ns + call_ns + 200, 400, 3 + (unsigned)random_below(generator, 5));
    generator->now_ns += 9000;
}

/* Idle for a while, then busy for a while. */
static void add_sample(struct generator *generator, uint64_t number) {
    unsigned char bytes[SAMPLE_BYTES] = {0};
    bool is_busy = number / 700 % 4 != 0;
    for (size_t i = 0, at = 0; i < METRICS; at += metric_sizes[i++]) {
        uint64_t limit = metric_sizes[i] == 1 ? 101 : UINT64_C(1) << (8 * metric_sizes[i] - 1);
        uint64_t value = htole64(is_busy && i % 3 ? random_below(generator, limit) : limit - 1);
        memcpy(bytes + at, &value, metric_sizes[i]);
    }
    add_number(&generator->sub, 1, metric_type);
    add_number(&generator->sub, 2, number * SAMPLE_PERIOD_NS);
    add_text(&generator->sub, 3, bytes, sizeof bytes);
    add_message(&generator->chunk, 2, &generator->sub);
    if (++generator->chunk_events == CHUNK_EVENTS)
        end_chunk(generator);
}

/* ---- the rest of the file ---- */

static void write_strings(struct generator *generator) {
    struct buffer strings = {0};
    char text[256];
    for (unsigned i = 0; i < CALL_NAMES; i++)
        add_text(&strings, 1, call_names[i], strlen(call_names[i]));
    for (unsigned i = 0; i < 3 * KERNEL_NAMES; i++) {
        static const char *const patterns[] = {
            ("void at::native::vectorized_elementwise_kernel<(int)4, at::native::Functor%u<c10::BFloat16>, "
             "std::array<char *, (unsigned long)3>>(int, T2, T3)"),
            "vectorized_elementwise_kernel_%u",
            "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_7FunctorIfEESt5arrayIPcLm3EEEEviT0_T1_%u",
        };
        int length = snprintf(text, sizeof text, patterns[i % 3], i / 3);
        add_text(&strings, 1, text, (size_t)length);
    }
    for (unsigned i = 0; i < RANGE_NAMES; i++) {
        int length = snprintf(text, sizeof text, "layer_%u.attention.forward", i);
        add_text(&strings, 1, text, (size_t)length);
    }
    add_text(&strings, 1, "GpuMetrics", 10);
    for (unsigned i = 0; i < METRICS; i++) {
        snprintf(text, sizeof text, "Unit %u Active [Throughput %%]", i);
        const char *name = metric_names[i] ? metric_names[i] : text;
        add_text(&strings, 1, name, strlen(name));
    }
    write_chunk(generator, &strings);
    free(strings.bytes);
}

static void write_message(struct generator *generator, struct buffer *message) {
    struct buffer length = {0};
    add_varint(&length, message->size);
    write_out(generator, length.bytes, length.size);
    write_out(generator, message->bytes, message->size);
    message->size = 0;
    free(length.bytes);
}

/* Which GPUs there are and which one each process uses. */
static void write_target(struct generator *generator) {
    struct buffer target = {0}, machine = {0}, entry = {0}, system = {0};
    for (uint64_t i = 0; i < generator->processes; i++) {
        add_number(&entry, 1, i);
        add_text(&entry, 2, "NVIDIA H200", 11);
        add_number(&entry, 11, UINT64_C(150109880320));
        add_number(&entry, 14, 132);
        add_message(&machine, 7, &entry);
    }
    for (uint64_t i = 0; i < generator->processes; i++) {
        add_number(&entry, 1, i);
        add_number(&entry, 2, i);
        add_number(&entry, 3, 4000 + i);
        add_message(&machine, 9, &entry);
    }
    add_number(&system, 1, UINT64_C(1) << 48);
    add_message(&system, 2, &machine);
    add_message(&target, 1, &system);
    write_message(generator, &target);
    free(target.bytes);
    free(machine.bytes);
    free(entry.bytes);
    free(system.bytes);
}

static void add_section(struct buffer *table, const char *name, uint64_t offset, uint64_t size) {
    struct buffer entry = {0};
    add_text(&entry, 1, name, strlen(name));
    add_number(&entry, 2, offset);
    add_number(&entry, 3, size);
    add_message(table, 1, &entry);
    free(entry.bytes);
}

/* The counts of the index must be known before the events are written: a run without a file counts them. */
static void write_events(struct generator *generator, uint64_t megabytes) {
    while (generator->inflated_bytes + generator->chunk.size < megabytes * 1000000)
        add_launch(generator);
    for (uint64_t i = 0; i < generator->sample_count; i++)
        add_sample(generator, i);
    end_chunk(generator);
}

/* Which metrics samples have, and where in them. */
static void add_metrics(const struct generator *generator, struct buffer *index) {
    struct buffer entry = {0}, metric = {0};
    if (generator->sample_count == 0)
        return;
    add_number(&entry, 1, metric_type);
    add_number(&entry, 2, 3);
    add_number(&entry, 3, FIRST_METRIC);
    add_message(index, 13, &entry);
    add_number(&entry, 1, metric_type);
    for (unsigned i = 0, at = 0; i < METRICS; at += metric_sizes[i++]) {
        add_number(&metric, 1, FIRST_METRIC + 1 + i);
        add_number(&metric, 2, at);
        add_number(&metric, 3, metric_sizes[i]);
        add_number(&metric, 8, 1);
        add_message(&entry, 3, &metric);
    }
    add_message(index, 14, &entry);
    add_number(index, 15, generator->sample_count);
    free(entry.bytes);
    free(metric.bytes);
}

static uint64_t count_events(const struct generator *wanted, uint64_t megabytes) {
    struct generator counter = *wanted;
    counter.sample_count = 0;
    counter.file = check(fopen("/dev/null", "wb"));
    write_events(&counter, megabytes);
    fclose(counter.file);
    return counter.event_count;
}

static void write_raw(struct generator *generator, uint64_t megabytes, uint64_t *strings_at) {
    struct buffer message = {0};
    uint64_t event_count = count_events(generator, megabytes);
    add_number(&message, 17, UINT64_C(1000000000));
    add_number(&message, 18, UINT64_C(1000000000) + event_count * 9000);
    write_message(generator, &message);
    add_number(&message, 1, event_count);
    add_number(&message, 3, STRING_COUNT);
    add_number(&message, 5, 0);
    add_text(&message, 9, "lz4", 3);
    add_metrics(generator, &message);
    write_message(generator, &message);
    write_events(generator, megabytes);
    *strings_at = generator->raw_bytes;
    write_strings(generator);
    write_message(generator, &message);
    write_target(generator);
    free(message.bytes);
}

static void write_report(struct generator *generator, uint64_t megabytes) {
    static const char magic[] = "NVIDIA Tegra Profiler Report 36398880.";
    struct buffer table = {0}, offsets = {0}, ui = {0};
    uint64_t raw_at = sizeof magic - 1, strings_at;
    write_out(generator, magic, sizeof magic - 1);
    write_out(generator, "QDTEXT00", 8);
    generator->raw_bytes = 0;
    write_raw(generator, megabytes, &strings_at);
    uint64_t raw_size = generator->raw_bytes + 8, at = raw_at + raw_size;
    add_text(&offsets, 1, "lz4", 3);
    add_number(&offsets, 2, strings_at);
    add_text(&ui, 6, "2025.3.1.0", 10);
    write_out(generator, offsets.bytes, offsets.size);
    write_out(generator, ui.bytes, ui.size);
    add_section(&table, "Raw Sampling Data", raw_at, raw_size);
    add_section(&table, "Sampling Data Offsets", at, offsets.size);
    add_section(&table, "UI Data", at + offsets.size, ui.size);
    uint64_t table_at = htole64(at + offsets.size + ui.size);
    write_out(generator, table.bytes, table.size);
    write_out(generator, &table_at, sizeof table_at);
    write_out(generator, "U3w[END]", 8);
    free(table.bytes);
    free(offsets.bytes);
    free(ui.bytes);
}

int main(int argc, char **argv) {
    struct generator generator = {.state = 1, .processes = 2, .now_ns = 15000000};
    uint64_t megabytes = 100;
    for (int option; (option = getopt(argc, argv, "m:p:s:g:")) != -1;) {
        if (option == '?')
            return 2;
        uint64_t value = strtoull(optarg, NULL, 10);
        *(option == 'm'   ? &megabytes
          : option == 'p' ? &generator.processes
          : option == 'g' ? &generator.sample_count
                          : &generator.state) = value;
    }
    if (optind + 1 != argc || generator.processes == 0 || generator.processes > 1000) {
        fputs("usage: nsysrepgen [-m MEGABYTES] [-p PROCESSES] [-s SEED] [-g SAMPLES] FILE\n", stderr);
        return 2;
    }
    generator.file = fopen(argv[optind], "wb");
    if (!generator.file) {
        perror(argv[optind]);
        return 1;
    }
    write_report(&generator, megabytes);
    if (fclose(generator.file) != 0) {
        perror(argv[optind]);
        return 1;
    }
    printf("events %" PRIu64 " inflated_bytes %" PRIu64 "\n", generator.event_count, generator.inflated_bytes);
    free(generator.chunk.bytes);
    free(generator.event.bytes);
    free(generator.sub.bytes);
    free(generator.details.bytes);
    return 0;
}
