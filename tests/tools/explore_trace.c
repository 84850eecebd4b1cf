/* Asks a trace what the explorer asks, for tests and for measuring:

       explore_trace [--threads N] FILE [QUESTION...]

   Questions are texts: "lanes", "window FROM TO WIDTH [LANE,LANE...]", "item LANE START END [NTH]", "search AT LIMIT
   TEXT", "search-back AT LIMIT TEXT", "flame operators|python|ranges gpu|idle FROM TO" and "measure COUNT SEED". Each
   is answered by one line with a JSON value; what fails by {"error": ...}. Without arguments questions are lines of the
   standard input. "measure" asks for random windows at all zooms and prints how long the slowest answers took. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/out.h"
#include "explore/explore.h"
#include "internal.h"
#include "write/escape.h"

enum { LANES_MAX = 4096 };

_Noreturn static void fail(const char *what) {
    fprintf(stderr, "explore_trace: %s\n", what);
    exit(1);
}

/* ---- questions ---- */

static size_t parse_lanes(const char *text, uint32_t *lanes) {
    size_t count = 0;
    for (char *rest; *text && count < LANES_MAX; text = *rest == ',' ? rest + 1 : rest) {
        lanes[count++] = (uint32_t)strtoul(text, &rest, 10);
        if (rest == text)
            fail("bad list of lanes");
    }
    return count;
}

static enum gt_status ask_window(const struct gt_explore *explore, const char *text, struct gt_out *out,
                                 struct gt_error *err) {
    static uint32_t lanes[LANES_MAX];
    static char list[65536];
    struct gt_explore_window window = {0};
    list[0] = '\0';
    if (sscanf(text, "%" SCNd64 " %" SCNd64 " %" SCNu32 " %65535s", &window.from_ns, &window.to_ns, &window.width,
               list) < 3)
        fail("bad window");
    window.lane_count = parse_lanes(list, lanes);
    window.lanes = window.lane_count ? lanes : NULL;
    return gt_explore_window(explore, &window, out, err);
}

static enum gt_status ask_item(const struct gt_explore *explore, const char *text, struct gt_out *out,
                               struct gt_error *err) {
    struct gt_explore_item item = {0};
    if (sscanf(text, "%" SCNu32 " %" SCNd64 " %" SCNd64 " %" SCNu32, &item.lane, &item.start_ns, &item.end_ns,
               &item.nth) < 3)
        fail("bad item");
    return gt_explore_item(explore, &item, out, err);
}

static enum gt_status ask_search(const struct gt_explore *explore, const char *text, bool is_backwards,
                                 struct gt_out *out, struct gt_error *err) {
    struct gt_explore_search search = {.is_backwards = is_backwards};
    int used = 0;
    if (sscanf(text, "%" SCNd64 " %" SCNu32 " %n", &search.at_ns, &search.limit, &used) < 2)
        fail("bad search");
    search.text = gt_str_of(text + used);
    return gt_explore_search(explore, &search, out, err);
}

static enum gt_status ask_flame(const struct gt_explore *explore, const char *text, struct gt_out *out,
                                struct gt_error *err) {
    struct gt_explore_flame flame = {0};
    char of[16], by[16];
    if (sscanf(text, "%15s %15s %" SCNd64 " %" SCNd64, of, by, &flame.from_ns, &flame.to_ns) < 4)
        fail("bad flame");
    flame.of = strcmp(of, "python") == 0   ? GT_EXPLORE_PYTHON
               : strcmp(of, "ranges") == 0 ? GT_EXPLORE_RANGES
                                           : GT_EXPLORE_OPERATORS;
    flame.by = strcmp(by, "idle") == 0 ? GT_EXPLORE_IDLE : GT_EXPLORE_GPU;
    return gt_explore_flame(explore, &flame, out, err);
}

static const char *after(const char *text, const char *word) {
    size_t length = strlen(word);
    if (strncmp(text, word, length) != 0 || (text[length] != '\0' && text[length] != ' '))
        return NULL;
    return text[length] ? text + length + 1 : text + length;
}

static enum gt_status ask(const struct gt_explore *explore, const char *question, struct gt_out *out,
                          struct gt_error *err) {
    const char *rest;
    if (after(question, "lanes"))
        return gt_explore_lanes(explore, out, err);
    if ((rest = after(question, "window")))
        return ask_window(explore, rest, out, err);
    if ((rest = after(question, "item")))
        return ask_item(explore, rest, out, err);
    if ((rest = after(question, "search")))
        return ask_search(explore, rest, false, out, err);
    if ((rest = after(question, "search-back")))
        return ask_search(explore, rest, true, out, err);
    if ((rest = after(question, "flame")))
        return ask_flame(explore, rest, out, err);
    fail("unknown question");
}

/* One line, whatever the answer has. */
static void answer(const struct gt_explore *explore, const char *question) {
    struct gt_error err = {0};
    struct gt_out *out = NULL;
    if (gt_out_open_memory(&out, &err) != GT_OK)
        fail(err.message);
    if (ask(explore, question, out, &err) == GT_OK) {
        struct gt_str bytes = gt_out_bytes(out);
        for (size_t i = 0; i < bytes.len; i++)
            putchar(bytes.ptr[i] == '\n' ? ' ' : bytes.ptr[i]);
        putchar('\n');
    } else {
        printf("{\"error\": \"%s\"}\n", err.message);
    }
    gt_out_close(out);
}

/* ---- measuring ---- */

/* Of this thread on a CPU: the machine may have other things to do. */
static double now_ms(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static uint64_t next_random(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

static double time_of(const struct gt_explore *explore, const struct gt_explore_window *window, size_t *bytes) {
    struct gt_error err = {0};
    struct gt_out *out = NULL;
    double best = 1e9;
    for (int turn = 0; turn < 3; turn++) { /* others use this machine: the best of some */
        double start = now_ms();
        if (gt_out_open_memory(&out, &err) != GT_OK || gt_explore_window(explore, window, out, &err) != GT_OK)
            fail(err.message);
        double took = now_ms() - start;
        best = took < best ? took : best;
        *bytes = gt_out_bytes(out).len;
        gt_out_close(out);
    }
    return best;
}

static void measure(const struct gt_explore *explore, const char *text, int64_t first_ns, int64_t last_ns) {
    uint64_t random = 1;
    int count = 100;
    sscanf(text, "%d %" SCNu64, &count, &random);
    double worst = 0, sum = 0;
    for (int i = 0; i < count; i++) {
        uint64_t room = (uint64_t)(last_ns - first_ns), length = room >> (i % 30);
        length = length ? length : 1;
        uint64_t at = room > length ? (next_random(&random) << 31 ^ next_random(&random)) % (room - length + 1) : 0;
        struct gt_explore_window window = {.from_ns = first_ns + (int64_t)at, .width = i % 2 ? 2000 : 1000};
        window.to_ns = window.from_ns + (int64_t)length;
        size_t bytes;
        double took = time_of(explore, &window, &bytes);
        sum += took;
        if (took > worst) {
            worst = took;
            printf("window of 2^-%d of all, %" PRIu32 " pixels: %.2f ms, %zu bytes\n", i % 30, window.width, took,
                   bytes);
        }
    }
    printf("%d windows: mean %.2f ms, worst %.2f ms\n", count, sum / count, worst);
}

/* ---- the program ---- */

static void time_answer(const struct gt_explore *explore, const char *question) {
    double best = 1e9;
    for (int turn = 0; turn < 3; turn++) {
        struct gt_error err = {0};
        struct gt_out *out = NULL;
        double start = now_ms();
        if (gt_out_open_memory(&out, &err) != GT_OK || ask(explore, question, out, &err) != GT_OK)
            fail(err.message);
        double took = now_ms() - start;
        if (turn == 0)
            printf("%s: first %.2f ms, ", question, took);
        best = took < best ? took : best;
        gt_out_close(out);
    }
    printf("best %.2f ms\n", best);
}

static void handle(const struct gt_explore *explore, const struct gt_store *store, const char *question) {
    const char *rest = after(question, "time");
    if (rest) {
        time_answer(explore, rest);
        return;
    }
    rest = after(question, "measure");
    if (!rest) {
        answer(explore, question);
        return;
    }
    int64_t last_ns = 0;
    for (size_t i = 0; i < store->ops.count; i++) {
        int64_t end_ns = store->ops.end_ns[i] - store->origin_ns;
        last_ns = end_ns > last_ns ? end_ns : last_ns;
    }
    measure(explore, rest, 0, last_ns);
}

static size_t store_bytes(const struct gt_store *store) {
    size_t bytes = 0;
    for (size_t c = 0; c < gt_column_count; c++)
        bytes += *gt_store_row_count((struct gt_store *)(uintptr_t)store, gt_column_infos[c].table) *
                 gt_column_infos[c].elem_bytes;
    return bytes;
}

static void explore_all(const struct gt_reading *reading, int64_t threads, char **questions, int count) {
    struct gt_error err = {0};
    struct gt_explore *explore;
    struct gt_explore_trace from = {.store = reading->store,
                                    .labels = reading->labels,
                                    .label = GT_STR("trace"),
                                    .names = GPUTIME_NAMES_FULL,
                                    .threads = threads};
    double start = now_ms();
    if (gt_explore_new(&from, &explore, &err) != GT_OK)
        fail(err.message);
    if (count && after(questions[0], "measure"))
        printf("made in %.0f ms of one thread; %.1f MB next to %.1f MB of columns\n", now_ms() - start,
               (double)gt_explore_bytes(explore) / 1e6, (double)store_bytes(reading->store) / 1e6);
    for (int i = 0; i < count; i++)
        handle(explore, reading->store, questions[i]);
    char line[70000];
    while (count == 0 && fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = '\0';
        handle(explore, reading->store, line);
        fflush(stdout);
    }
    gt_explore_free(explore);
}

int main(int argc, char **argv) {
    struct gputime_open_options how = GPUTIME_OPEN_OPTIONS_INIT;
    struct gputime_error error = {0};
    struct gt_error err = {0};
    struct gputime_trace *trace;
    const struct gt_reading *reading;
    argc--, argv++;
    if (argc > 1 && strcmp(argv[0], "--threads") == 0) {
        how.threads = strtoll(argv[1], NULL, 10);
        argc -= 2, argv += 2;
    }
    if (argc < 1)
        fail("no file");
    const char *paths[] = {argv[0]};
    if (gputime_trace_open(paths, 1, &how, NULL, &trace, &error) != GPUTIME_OK)
        fail(error.message);
    if (gt_internal_read(trace, gt_explore_facts(), &reading, &err) != GT_OK)
        fail(err.message);
    explore_all(reading, how.threads, argv + 1, argc - 1);
    gputime_trace_free(trace);
    return 0;
}
