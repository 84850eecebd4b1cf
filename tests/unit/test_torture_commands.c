/* Torture of the program: for every command each call to the system fails in turn, with the whole program inside this
   process. A run ends in what it gives anyway, or with exit status 1 and one line that says why; nothing is leaked, no
   file is half-written, and what was to be replaced is still there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <ftw.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "../../cli/commands.h"
#include "faults.h"
#include "files.h"

enum { WORDS_MAX = 12, LONG_AGO = 1600000000 };

int gputime_main(int argc, char **argv); /* cli/main.c */

static char folder[PATH_BYTES];
static char trace[2 * PATH_BYTES], output[2 * PATH_BYTES], out_dir[2 * PATH_BYTES], wanted_dir[2 * PATH_BYTES];
static char exported_dir[2 * PATH_BYTES];
static char cache[2 * PATH_BYTES];
static const char other_trace[] = "tests/data/overlap.json";
static const char perfetto[] = "tests/fuzz/seeds/fuzz_pftrace/small.pftrace";
static const char inspector[] = "tests/fuzz/seeds/fuzz_nccl_inspector/small.log";
static const char export[] = "tests/fuzz/seeds/fuzz_nsys_sqlite/small.sqlite";

/* Command lines, at least one for each command. Files go to `output` or `out_dir`. */
static const struct command_line {
    const char *words[WORDS_MAX];
} command_lines[] = {
    {{"summary", trace}},
    {{"ranks", trace, trace}},
    {{"summary", trace, "--json", "-o", output}},
    {{"kernels", trace, "--gaps", "--launches", "-o", output}},
    {{"gaps", trace, "--per", "device", "--csv"}},
    {{"ranges", trace, "--tree", "--md", "-o", output}},
    {{"steps", trace}},
    {{"path", trace}},
    {{"whatif", trace, "--cpu", "2", "--force"}},
    {{"memory", trace}},
    {{"efficiency", trace}},
    {{"findings", trace, "--json"}},
    {{"findings", trace, "--why", "host_bound"}},
    {{"graph", trace, "--out-dir", out_dir}},
    {{"explain", trace, "--out", out_dir}},
    {{"stats", trace, "--iters", "2"}},
    {{"diff", trace, other_trace, "--json", "-o", output}},
    {{"diff", trace, other_trace, "--fail-if", "each kernel:*>+900s", "--fail-if", "launches>+900%"}},
    {{"check", trace, "--limit", "idle<100%"}},
    {{"check", trace, "--limit", "each kernel:*<101%", "--limit", "cause:sync<101%"}},
    {{"redact", export, "-o", output}},
    {{"export", trace, "-o", exported_dir}},
    {{"sql", trace, "select name, count(*), sum(dur_ns) from ops where name like '%e%' group by name", "--csv"}},
    {{"sql", trace, other_trace, "select * from gaps g join ops o on o.id = g.next_id order by o.range", "-o", output}},
    {{"sql", trace, "select median(total_ns) from report_kernels"}},
    {{"sql", "--schema"}},
    {{"gaps", perfetto}},
    {{"summary", inspector}},
    {{"ranks", inspector, trace}},
    {{"gaps", export, "--per", "device"}},
    {{"export", trace, "--format", "perfetto", "-o", output}},
    {{"export", trace, other_trace, "--format", "perfetto", "-o", output}},
    {{"list", "rules"}},
    {{"list", "inputs", "--json"}},
    {{"define", "idle_ns"}},
    {{"kernels", trace, "--redact-names", "--json"}},
    {{"mcp"}},
    {{"view", "--help"}}, /* else it would serve: test_torture_view asks what it is asked */
    {{"cache", "show"}},
    {{"help", "kernels"}},
    {{"version"}},
};
enum { LINES = sizeof command_lines / sizeof *command_lines };

static int make_world(void **state) {
    (void)state;
    struct timespec long_ago[2] = {{LONG_AGO, 0}, {LONG_AGO, 0}};
    /* In memory where that is possible: a hundred thousand files are written. */
    snprintf(folder, sizeof folder, "%s/gputime-torture-XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (!mkdtemp(folder))
        return -1;
    snprintf(trace, sizeof trace, "%s/trace.json", folder);
    snprintf(output, sizeof output, "%s/output", folder);
    snprintf(out_dir, sizeof out_dir, "%s/results", folder);
    snprintf(exported_dir, sizeof exported_dir, "%s/results/", folder);
    snprintf(wanted_dir, sizeof wanted_dir, "%s/wanted", folder);
    snprintf(cache, sizeof cache, "%s/cache", folder);
    setenv("GPUTIME_CACHE", cache, 1);
    setenv("XDG_CONFIG_HOME", folder, 1);
    setenv("GPUTIME_THREADS", "1", 1);
    setenv("SOURCE_DATE_EPOCH", "1600000000", 1);
    struct text text = read_file("tests/data/devices.json");
    write_file(trace, text.bytes, text.size);
    free(text.bytes);
    return utimensat(AT_FDCWD, trace, long_ago, 0);
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *place) {
    (void)info, (void)kind, (void)place;
    return remove(path);
}

static void remove_folder(const char *path) {
    nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static int remove_world(void **state) {
    (void)state;
    remove_folder(folder);
    return 0;
}

/* ---- one run ---- */

/* What a run leaves: its status and what it printed and wrote. Free the texts. */
struct outcome {
    int status;
    struct text printed, written;
    char *message;
};

static void release(struct outcome *outcome) {
    free(outcome->printed.bytes);
    free(outcome->written.bytes);
    __real_free(outcome->message); /* the stream's own, which is not counted */
}

static struct outcome run_line(const struct command_line *line) {
    struct outcome outcome = {0};
    enum fault fault = system_state.fault;
    const char *words[WORDS_MAX + 2] = {"gputime"};
    char path[PATH_BYTES];
    size_t size;
    int count = 1;
    for (; line->words[count - 1]; count++)
        words[count] = line->words[count - 1];
    end_faults();
    write_file(output, "old", 3);
    FILE *shown = stdout, *complaints = stderr;
    int own_input = dup(STDIN_FILENO),
        nothing = open("/dev/null", O_RDONLY | O_CLOEXEC); /* of a server, it ends at once */
    dup2(nothing, STDIN_FILENO);
    close(nothing);
    int kept = dup(STDOUT_FILENO), printed = memfd_create("printed", MFD_CLOEXEC);
    fflush(stdout);
    dup2(printed, STDOUT_FILENO);
    stdout = fdopen(dup(STDOUT_FILENO), "w");
    stderr = open_memstream(&outcome.message, &size);
    system_state.fault = fault;
    outcome.status = gputime_main(count, (char **)(uintptr_t)words);
    end_faults();
    fclose(stdout);
    fclose(stderr);
    stdout = shown;
    stderr = complaints;
    dup2(kept, STDOUT_FILENO);
    close(kept);
    dup2(own_input, STDIN_FILENO);
    close(own_input);
    snprintf(path, sizeof path, "/proc/self/fd/%d", printed);
    outcome.printed = read_file(path);
    outcome.written = read_file(output);
    close(printed);
    return outcome;
}

static void expect_same(struct text got, struct text wanted, const char *what) {
    if (got.size != wanted.size || memcmp(got.bytes, wanted.bytes, got.size) != 0)
        fail_msg("%s: it gives\n%.*s\ninstead of\n%.*s", what, (int)got.size, got.bytes, (int)wanted.size,
                 wanted.bytes);
}

static int refuse_left(const char *path, const struct stat *info, int kind, struct FTW *place) {
    (void)info, (void)kind;
    refuse_temporary(path, path + place->base);
    return 0;
}

/* A file of a folder that is there is as it is without faults. */
static int refuse_unfinished(const char *path, const struct stat *info, int kind, struct FTW *place) {
    (void)info, (void)place;
    char wanted_path[4 * PATH_BYTES];
    if (kind != FTW_F)
        return 0;
    snprintf(wanted_path, sizeof wanted_path, "%s%s", wanted_dir, path + strlen(out_dir));
    struct text got = read_file(path), wanted = read_file(wanted_path);
    expect_same(got, wanted, path);
    free(got.bytes);
    free(wanted.bytes);
    return 0;
}

/* ---- all runs ---- */

struct torture_case {
    const struct command_line *line;
    struct outcome wanted;
};

static void run_case(const void *context, const char *what) {
    const struct torture_case *torture_case = context;
    struct outcome got = run_line(torture_case->line);
    const struct text old = {(char[]){"old"}, 3};
    if (got.status == 0) {
        expect_same(got.printed, torture_case->wanted.printed, what);
        expect_same(got.written, torture_case->wanted.written, what);
    } else {
        const char *end = strchr(got.message, '\n');
        if (got.status != 1 || strncmp(got.message, "gputime: ", 9) != 0 || !end || end[1])
            fail_msg("%s: status %d, '%s'", what, got.status, got.message);
        /* Of several files the first ones may be there already, but each is whole. */
        if (got.written.size != torture_case->wanted.written.size)
            expect_same(got.written, old, what);
    }
    release(&got);
    nftw(folder, refuse_left, 8, FTW_PHYS);
    nftw(out_dir, refuse_unfinished, 8, FTW_PHYS);
    remove_folder(out_dir);
}

static void test_every_command(void **state) {
    (void)state;
    for (size_t i = 0; i < LINES; i++) {
        struct torture_case torture_case = {&command_lines[i], run_line(&command_lines[i])};
        remove_folder(wanted_dir);
        rename(out_dir, wanted_dir);
        if (torture_case.wanted.status != 0)
            fail_msg("%s: %s", command_lines[i].words[0], torture_case.wanted.message);
        torture(run_case, &torture_case, command_lines[i].words[0]);
        release(&torture_case.wanted);
    }
}

static void test_no_command_is_forgotten(void **state) {
    (void)state;
    for (size_t c = 0; c < cli_command_count; c++) {
        size_t i = 0;
        while (i < LINES && strcmp(command_lines[i].words[0], cli_command_table[c].name) != 0)
            i++;
        if (i == LINES)
            fail_msg("no line for '%s'", cli_command_table[c].name);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_command_is_forgotten),
        cmocka_unit_test_setup(test_every_command, switch_faults_off),
    };
    int failed = cmocka_run_group_tests(tests, make_world, remove_world);
    print_faults();
    return failed;
}
