/* Damage in great numbers: real samples come in, each is cut, flipped, spliced, repeated or given absurd values a
   number of times, and the program itself runs over every one of them, inside this process. Each run must end on its
   own within ten seconds, in a report or in one line that says why not. Of JSON that is cut, no event before the cut
   may be lost.

       corrupt COUNT FOLDER SAMPLE...

   The input of a run that fails stays in FOLDER. */
#include <ctype.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../cli/commands.h"
#include "../unit/random.h"
#include "fuzz.h"
#include "gputime.h"

enum { SAMPLES_MAX = 8, INPUT_MAX = 1 << 20, SECONDS_MAX = 10, PATH_BYTES = 4096, KEPT_PERCENT = 99 };

int gputime_main(int argc, char **argv); /* cli/main.c */

struct sample {
    uint8_t bytes[INPUT_MAX];
    size_t size;
    size_t *ends; /* JSON: after each event of GPU work */
    size_t end_count;
};

static struct {
    struct sample samples[SAMPLES_MAX];
    size_t sample_count;
    char path[PATH_BYTES]; /* of the input */
    const char *what;      /* the run, for messages */
    unsigned long runs, reports, cuts;
    double least_kept; /* of the events before a cut, 0..1 */
    uint64_t random;
} world = {.least_kept = 1, .random = 1};

static void fail(const char *why) {
    dprintf(STDERR_FILENO, "corrupt: %s: %s; the input is %s\n", world.what, why, world.path);
    abort();
}

static size_t below(size_t limit) {
    return (size_t)random_below(&world.random, limit ? limit : 1);
}

/* ---- damage: each returns the new size ---- */

static size_t cut(uint8_t *data, size_t size, size_t max_size) {
    (void)data, (void)max_size;
    return below(size);
}

static size_t flip_bits(uint8_t *data, size_t size, size_t max_size) {
    (void)max_size;
    for (size_t left = 1 + below(16); left && size; left--)
        data[below(size)] ^= (uint8_t)(1u << below(8));
    return size;
}

static size_t insert(uint8_t *data, size_t size, size_t max_size, size_t at, const uint8_t *from, size_t count) {
    count = count < max_size - size ? count : max_size - size;
    memmove(data + at + count, data + at, size - at);
    memcpy(data + at, from, count);
    return size + count;
}

/* A piece of a sample, put in or over what is there. */
static size_t splice_piece(uint8_t *data, size_t size, size_t max_size) {
    const struct sample *other = &world.samples[below(world.sample_count)];
    size_t from = below(other->size), count = below(other->size - from), at = below(size);
    if (below(2))
        return insert(data, size, max_size, at, other->bytes + from, count);
    memcpy(data + at, other->bytes + from, count < size - at ? count : size - at);
    return size;
}

static size_t repeat(uint8_t *data, size_t size, size_t max_size) {
    static uint8_t piece[INPUT_MAX];
    size_t at = below(size), count = below(size - at < 2000 ? size - at : 2000);
    memcpy(piece, data + at, count);
    for (size_t times = 1 + below(below(4) ? 4 : 100); times; times--)
        size = insert(data, size, max_size, at, piece, count);
    return size;
}

/* A number of text becomes another one or none. */
static size_t replace_number(uint8_t *data, size_t size, size_t max_size, size_t at) {
    static const char *const numbers[] = {"-1",    "0",   "9223372036854775807",  "-9223372036854775808",
                                          "1e308", "nan", "18446744073709551616", "0.0000000001",
                                          "",      "\"x", "99999999999.999",      "[{}]"};
    const char *number = numbers[below(sizeof numbers / sizeof *numbers)];
    size_t end = at;
    while (end < size && isdigit(data[end]))
        end++;
    memmove(data + at, data + end, size - end);
    return insert(data, size - (end - at), max_size, at, (const uint8_t *)number, strlen(number));
}

/* Of binary data one, two, four or eight bytes become a number at the end of its range. */
static size_t replace_field(uint8_t *data, size_t size, size_t max_size) {
    size_t at = below(size), digit = at;
    while (digit < size && digit < at + 200 && !isdigit(data[digit]))
        digit++;
    if (digit < size && isdigit(data[digit]))
        return replace_number(data, size, max_size, digit);
    size_t bytes = (size_t)1 << below(4);
    uint8_t fill = (uint8_t)(0x100 - below(2)), first = (uint8_t)(fill ^ (below(2) << 7)),
            last = first ^ (uint8_t)below(2);
    for (size_t i = 0; i < bytes && at + i < size; i++)
        data[at + i] = i == 0 ? first : i + 1 == bytes ? last : fill;
    return size;
}

static const struct {
    const char *name;
    size_t (*damage)(uint8_t *data, size_t size, size_t max_size);
} ways[] = {{"cut", cut},
            {"bits flipped", flip_bits},
            {"spliced", splice_piece},
            {"repeated", repeat},
            {"absurd values", replace_field}};
enum { WAYS = sizeof ways / sizeof *ways };

/* For the inside of what is packed. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size) {
    size_t made = size;
    for (size_t times = 1 + below(3); times && made; times--)
        made = ways[below(WAYS)].damage(data, made, max_size);
    return made ? made : size;
}

/* ---- one run of the program ---- */

static void on_alarm(int number) {
    (void)number;
    fail("it takes over ten seconds");
}

/* Every line must be the program's own. */
static void check_messages(int status, const char *text) {
    if (status != 0 && status != 1)
        fail("its exit status is neither 0 nor 1");
    if (status == 1 && (!*text || strchr(text, '\n') != text + strlen(text) - 1))
        fail("it fails without one line that says why");
    for (const char *line = text; *line; line = strchr(line, '\n') + 1)
        if (strncmp(line, "gputime: ", 9) != 0 || !strchr(line, '\n'))
            fail("it prints something else than its messages");
}

static int run_program(const char *command, const char *format, const char *output) {
    char threads[2] = {(char)('1' + below(3)), '\0'};
    const char *words[] = {"gputime",  command,    "--format",   format,    "--threads", threads,
                           "--reader", "native",   "--no-cache", "--width", "100",       "--out-dir",
                           "/nowhere", world.path, "-o",         output,    NULL};
    int count = output ? 16 : 14;
    if (strcmp(command, "graph") != 0) { /* the only one that takes --out-dir */
        memmove(&words[11], &words[13], 4 * sizeof *words);
        count -= 2;
    }
    words[count] = NULL;
    char *messages;
    size_t size;
    world.what = command;
    stderr = open_memstream(&messages, &size); /* descriptor 2 stays with the sanitizers */
    alarm(SECONDS_MAX);
    int status = gputime_main(count, (char **)(uintptr_t)words);
    alarm(0);
    fclose(stderr);
    check_messages(status, messages);
    free(messages);
    world.runs++;
    world.reports += status == 0;
    return status;
}

static void write_input(const uint8_t *data, size_t size) {
    int fd = open(world.path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size || close(fd) < 0)
        fail("it cannot be written");
}

/* Everything that a trace can hold is read, which no report asks for. */
static void read_all_facts(void) {
    struct gputime_open_options options = GPUTIME_OPEN_OPTIONS_INIT;
    struct gputime_error err;
    struct gputime_trace *trace = NULL;
    const char *path = world.path;
    options.facts = (GPUTIME_FACT_CALL_ARGS << 1) - 1; /* the last one */
    options.no_cache = 1;
    options.threads = (int64_t)(1 + below(3));
    options.reader = GPUTIME_READER_NATIVE;
    world.what = "reading all facts";
    alarm(SECONDS_MAX);
    enum gputime_status status = gputime_trace_open(&path, 1, &options, NULL, &trace, &err);
    gputime_trace_free(trace);
    alarm(0);
    if (status != GPUTIME_OK && !err.message[0])
        fail("it fails without saying why");
    world.runs++;
}

/* Those that are asked for each time, and one of all others. */
static void run_commands(size_t number) {
    static const char *const always[] = {"summary", "kernels", "stats", "explain"};
    static const char *const formats[] = {"text", "json", "csv", "md", "html"};
    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        if (cli_command_find(always[i]))
            run_program(always[i], formats[(number + i) % 5], NULL);
    const struct cli_command *other = &cli_command_table[number / WAYS % cli_command_count];
    if (other->action == CLI_ACTION_REPORT)
        run_program(other->name, formats[number % 5], NULL);
}

/* ---- events before a cut ---- */

/* Whether "cat" names work of a GPU. What ends before it starts is left out of every report. */
static bool is_gpu_work(const uint8_t *event, size_t size) {
    if (memmem(event, size, "\"dur\": -", 8))
        return false;
    static const char *const categories[] = {"\"kernel\"", "\"gpu_memcpy\"", "\"gpu_memset\""};
    const uint8_t *end = event + size, *value = memmem(event, size, "\"cat\"", 5);
    for (value = value ? value + 5 : end; value < end && (*value == ':' || isspace(*value)); value++)
        continue;
    for (size_t i = 0; i < sizeof categories / sizeof *categories; i++) {
        size_t length = strlen(categories[i]);
        if (length <= (size_t)(end - value) && memcmp(value, categories[i], length) == 0)
            return true;
    }
    return false;
}

/* Events are the objects right inside the array that "traceEvents" names, or inside that which is the whole file. */
static void find_ends(struct sample *sample) {
    const uint8_t *key = memmem(sample->bytes, sample->size, "\"traceEvents\"", 13);
    size_t depth = 0, begin = 0;
    bool in_string = false;
    if ((!key && sample->bytes[0] != '[') || !(sample->ends = malloc(sample->size * sizeof *sample->ends)))
        return;
    for (size_t i = key ? (size_t)(key - sample->bytes) + 13 : 0; i < sample->size; i++) {
        uint8_t c = sample->bytes[i];
        if (in_string) {
            i += c == '\\';
            in_string = c != '"';
            continue;
        }
        in_string = c == '"';
        if ((c == '{' || c == '[') && ++depth == 2)
            begin = i;
        if ((c == '}' || c == ']') && depth-- == 2 && is_gpu_work(sample->bytes + begin, i - begin))
            sample->ends[sample->end_count++] = i + 1;
        if (c == ']' && depth == 0)
            return;
    }
}

static void check_cut(const struct sample *sample, size_t size) {
    size_t whole = 0;
    while (whole < sample->end_count && sample->ends[whole] <= size)
        whole++;
    if (whole == 0)
        return;
    char path[32], text[4096];
    int fd = memfd_create("report", MFD_CLOEXEC);
    snprintf(path, sizeof path, "/dev/fd/%d", fd);
    if (run_program("summary", "json", path) != 0)
        fail("events before the cut are there, but no report");
    ssize_t got = pread(fd, text, sizeof text - 1, 0);
    text[got > 0 ? got : 0] = '\0';
    close(fd);
    const char *ops = strstr(text, "\"ops\": ");
    double kept = ops ? (double)strtoull(ops + 7, NULL, 10) / (double)whole : 0;
    if (100 * kept < KEPT_PERCENT)
        fail("events before the cut are lost");
    world.least_kept = kept < world.least_kept ? kept : world.least_kept;
    world.cuts++;
}

/* ---- all runs ---- */

static void corrupt(size_t number) {
    static uint8_t data[INPUT_MAX];
    world.random = number + 1;
    const struct sample *sample = &world.samples[below(world.sample_count)];
    size_t way = number % WAYS, size = sample->size;
    bool is_inside = below(2);
    memcpy(data, sample->bytes, size);
    size = is_inside && way ? LLVMFuzzerCustomMutator(data, size, sizeof data, (unsigned)below(1 << 20))
                            : ways[way].damage(data, size, sizeof data);
    write_input(data, size);
    read_all_facts();
    run_commands(number);
    if (way == 0)
        check_cut(sample, size);
}

static void load(struct sample *sample, const char *path) {
    FILE *file = fopen(path, "rb");
    sample->size = file ? fread(sample->bytes, 1, sizeof sample->bytes, file) : 0;
    if (sample->size == 0 || sample->size == sizeof sample->bytes) {
        fprintf(stderr, "corrupt: cannot read %s, or it is no small sample\n", path);
        exit(1);
    }
    fclose(file);
    find_ends(sample);
}

static void prepare(const char *folder, char **paths, size_t count) {
    const char *slash = strrchr(paths[0], '/');
    snprintf(world.path, sizeof world.path, "%s/%s", folder, slash ? slash + 1 : paths[0]);
    for (size_t i = 0; i < count && i < SAMPLES_MAX; i++)
        load(&world.samples[world.sample_count++], paths[i]);
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere < 0 || dup2(nowhere, STDOUT_FILENO) < 0)
        exit(1);
    close(nowhere);
    stdout = fopen("/dev/null", "w");
    signal(SIGALRM, on_alarm);
    setenv("GPUTIME_CACHE", "off", 1);
    setenv("XDG_CONFIG_HOME", "/nowhere", 1);
    world.what = "";
}

int main(int argc, char **argv) {
    if (argc < 4) {
        fprintf(stderr, "usage: corrupt COUNT FOLDER SAMPLE...\n");
        return 2;
    }
    size_t count = strtoul(argv[1], NULL, 10);
    prepare(argv[2], argv + 3, (size_t)argc - 3);
    for (size_t i = 0; i < count; i++)
        corrupt(i);
    dprintf(STDERR_FILENO, "%s: %zu corruptions, %lu runs, %lu reports", argv[3], count, world.runs, world.reports);
    if (world.cuts)
        dprintf(STDERR_FILENO, ", %lu cuts after an event that kept at least %.1f %% of those before", world.cuts,
                100 * world.least_kept);
    dprintf(STDERR_FILENO, "\n");
    unlink(world.path);
    for (size_t i = 0; i < world.sample_count; i++)
        free(world.samples[i].ends);
    return 0;
}
