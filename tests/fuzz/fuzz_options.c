/* Fuzzes the command line and the settings file: the bytes are words, one a line, and after 0xff the lines of the
   file. They give an error that says why, or a request that the library can answer about a tiny trace. */
#include <sys/stat.h>

#include "../../cli/commands.h"
#include "../../cli/parse.h"
#include "../../cli/request.h"
#include "../../cli/terminal.h"
#include "run_report.h"

enum { BYTES_MAX = 1 << 14, WORDS_MAX = 512 };

static const char trace_path[] = "tests/data/devices.json";

static struct {
    struct gputime_trace *trace;
    char folder[32], program[48], settings[64];
} world = {.folder = "/tmp/gputime-fuzz-XXXXXX"};

static void remove_world(void) {
    gputime_trace_free(world.trace);
    unlink(world.settings);
    rmdir(world.program);
    rmdir(world.folder);
}

static void make_world(void) {
    const char *path = trace_path;
    struct fuzz_options options = fuzz_options_new(NULL);
    if (fuzz_open(&path, 1, &options, &world.trace, NULL) != GPUTIME_OK || !mkdtemp(world.folder))
        abort();
    snprintf(world.program, sizeof world.program, "%s/gputime", world.folder);
    snprintf(world.settings, sizeof world.settings, "%s/config", world.program);
    atexit(remove_world);
    if (mkdir(world.program, 0700) < 0 || setenv("XDG_CONFIG_HOME", world.folder, 1) < 0)
        abort();
}

static void write_settings(const uint8_t *bytes, size_t size) {
    FILE *file = fopen(world.settings, "wb");
    if (!file || fwrite(bytes, 1, size, file) != size || fclose(file) != 0)
        abort();
}

static int split_words(char *text, char *words[WORDS_MAX + 1]) {
    int count = 0;
    words[count++] = text + strlen(text); /* the name of the program */
    for (char *rest = text; rest && *rest && count < WORDS_MAX;)
        words[count++] = strsep(&rest, "\n");
    words[count] = NULL;
    return count;
}

/* What names a file is left out: the fuzzer is not to read or write others than its own. */
static size_t copy_harmless(const struct cli_options *options, struct gputime_option kept[CLI_ANALYSIS_OPTIONS]) {
    size_t count = 0;
    for (size_t i = 0; i < options->analysing_count; i++)
        if (options->analysing[i].type != GPUTIME_OPTION_TEXT)
            kept[count++] = options->analysing[i];
    return count;
}

static enum gputime_status report(const struct cli_command *command, const struct cli_request *request,
                                  const struct cli_destination *destination, const struct cli_options *options,
                                  struct gputime_error *err) {
    struct gputime_report *made;
    struct gputime_option kept[CLI_ANALYSIS_OPTIONS];
    struct gputime_shaping shaping = cli_request_shaping(request);
    struct gputime_report_options asked = GPUTIME_REPORT_OPTIONS_INIT;
    struct gputime_write_options writing = options->writing;
    asked.command = command->name;
    asked.analyses = request->analyses;
    asked.analysis_count = request->analysis_count;
    asked.options = kept;
    asked.option_count = copy_harmless(options, kept);
    asked.selection = &options->selection;
    asked.shaping = &shaping;
    asked.run = &options->run;
    asked.threads = writing.threads = 1;
    writing.format = destination->format;
    writing.columns = request->columns;
    writing.column_count = request->column_count;
    enum gputime_status status = gputime_report_new(&world.trace, 1, &asked, &made, err);
    if (!status)
        status = gputime_report_write(made, &writing, "/dev/null", err);
    gputime_report_free(made);
    return status;
}

static enum gputime_status request_all(const struct cli_command *command, const struct cli_options *options,
                                       struct gputime_error *err) {
    static struct cli_destination destinations[CLI_MAX_DESTINATIONS];
    static struct cli_request request;
    size_t count = 0;
    enum gputime_status status = cli_destinations_plan(command, options, destinations, &count, err);
    for (size_t i = 0; !status && i < count; i++) {
        status = cli_request_build(command, options, &destinations[i], &request, err);
        if (!status)
            status = report(command, &request, &destinations[i], options, err);
    }
    return status;
}

/* As the program itself sees to before anything else. */
static bool takes_all(const struct cli_command *command, const struct cli_arguments *arguments) {
    for (size_t i = 0; i < cli_option_count; i++)
        if (arguments->given[i] && !cli_command_takes(command, &cli_option_table[i]))
            return false;
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static char text[BYTES_MAX + 1];
    char *words[WORDS_MAX + 1];
    struct cli_arguments arguments;
    struct gputime_error err = {.status = GPUTIME_OK};
    if (size > BYTES_MAX)
        return 0;
    if (!world.trace)
        make_world();
    const uint8_t *stop = size ? memchr(data, 0xff, size) : NULL;
    size_t line_bytes = stop ? (size_t)(stop - data) : size;
    memcpy(text, data, line_bytes);
    text[line_bytes] = '\0';
    write_settings(stop ? stop + 1 : data, stop ? size - line_bytes - 1 : 0);
    enum gputime_status status = cli_arguments_parse(&arguments, split_words(text, words), words, &err);
    if (!status && !cli_options_ask_about(&arguments.options)) {
        const struct cli_command *command = arguments.plain_words ? cli_command_find(arguments.words[0]) : NULL;
        command = command ? command : &cli_command_table[0];
        status = cli_settings_read(&arguments, command, &err);
        if (!status && command->action == CLI_ACTION_REPORT && takes_all(command, &arguments))
            status = request_all(command, &arguments.options, &err);
    }
    if (status) {
        struct gputime_error shown = {.status = err.status};
        cli_terminal_text(shown.message, sizeof shown.message, err.message);
        fuzz_expect_reason(&shown);
    }
    cli_arguments_release(&arguments);
    return 0;
}
