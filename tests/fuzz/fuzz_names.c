/* Fuzzes what is written: the bytes are the name of everything in a tiny trace, which passes through every output
   format. Whatever a name holds, text and Markdown steer no terminal, JSON has whole strings and CSV has whole rows. */
#include <stdbool.h>
#include <string.h>

#include "output_checks.h"
#include "report/layouts.h"
#include "run_report.h"

enum { NAME_MAX_BYTES = 4096, TEXT_BYTES = 16 * 6 * NAME_MAX_BYTES };

/* Every event that has a name; %s is the name, quoted. */
static const char *const events[] = {
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":%s,\"pid\":0,\"tid\":7,\"ts\":100,\"dur\":5,"
    "\"args\":{\"device\":0,\"stream\":7,\"correlation\":1}},",
    "{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"name\":%s,\"pid\":0,\"tid\":7,\"ts\":120,\"dur\":5,"
    "\"args\":{\"device\":0,\"stream\":7,\"correlation\":2,\"bytes\":64}},",
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"plain\",\"pid\":0,\"tid\":7,\"ts\":140,\"dur\":5,"
    "\"args\":{\"device\":0,\"stream\":7,\"correlation\":3,\"Collective name\":%s}},",
    "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":%s,\"pid\":9,\"tid\":9,\"ts\":110,\"dur\":4,"
    "\"args\":{\"correlation\":2}},",
    "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":%s,\"pid\":9,\"tid\":9,\"ts\":90,\"dur\":90,\"args\":{}},",
    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":%s,\"pid\":9,\"tid\":9,\"ts\":95,\"dur\":50,\"args\":{}},",
    "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":9,\"args\":{\"name\":%s}},",
    "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":9,\"tid\":9,\"args\":{\"name\":%s}}",
};

/* What JSON cannot hold raw is escaped; the other bytes stay, be they UTF-8 or not. */
static void quote(char quoted[6 * NAME_MAX_BYTES + 3], const uint8_t *name, size_t size) {
    char *to = quoted;
    *to++ = '"';
    for (size_t i = 0; i < size; i++) {
        if (name[i] < ' ' || name[i] == '"' || name[i] == '\\')
            to += sprintf(to, "\\u%04x", name[i]);
        else
            *to++ = (char)name[i];
    }
    strcpy(to, "\"");
}

static size_t make_trace(char *text, const char *quoted) {
    char *to = text;
    to += sprintf(to, "{\"traceEvents\":[");
    for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
        const char *place = strstr(events[i], "%s");
        to += sprintf(to, "%.*s%s%s", (int)(place - events[i]), events[i], quoted, place + 2);
    }
    return (size_t)(to - text) + (size_t)sprintf(to, "]}");
}

/* ---- the run ---- */

static void write_and_check(const struct gputime_report *report, const struct gputime_write_options *options) {
    static uint8_t text[4 << 20];
    struct gputime_error err;
    char path[FUZZ_PATH_MAX], target[FUZZ_PATH_MAX];
    int fd = fuzz_file("", 0, path);
    snprintf(target, sizeof target, "/dev/fd/%d", fd);
    fuzz_must(gputime_report_write(report, options, target, &err) == GPUTIME_OK);
    ssize_t size = pread(fd, text, sizeof text, 0);
    fuzz_must(size >= 0);
    fuzz_output_check *check = fuzz_check_of(options->format);
    if (check && (size_t)size < sizeof text)
        check(text, (size_t)size);
    close(fd);
}

static void write_all(const struct gputime_report *report, struct gputime_write_options *options, bool has_page) {
    for (size_t i = 0; i < gputime_registry_count(GPUTIME_OUTPUTS); i++) {
        options->format = gputime_registry_entry(GPUTIME_OUTPUTS, i).key;
        options->table = NULL;
        if (strcmp(options->format, "html") == 0 && !has_page)
            continue;
        if (strcmp(options->format, "csv") != 0)
            write_and_check(report, options);
        for (size_t t = 0; strcmp(options->format, "csv") == 0 && t < gputime_report_table_count(report, 0); t++) {
            options->table = gputime_table_key(gputime_report_table_at(report, 0, t));
            write_and_check(report, options);
        }
    }
    options->table = NULL;
    for (size_t i = 0; i < gt_layout_count; i++) {
        options->format = gt_layouts[i].key;
        write_and_check(report, options);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static char quoted[6 * NAME_MAX_BYTES + 3], text[TEXT_BYTES];
    const char *analyses[FUZZ_ANALYSES_MAX];
    size_t analysis_count = fuzz_analyses(analyses);
    struct fuzz_options options = fuzz_options_new(NULL);
    options.writing.width = 40 + (int64_t)(size % 100);
    options.writing.full_names = size % 2 == 1;
    options.report.names = size % 3 == 0 ? GPUTIME_NAMES_SHORT : GPUTIME_NAMES_FULL;
    struct gputime_trace *trace = NULL;
    struct gputime_report *report = NULL;
    struct gputime_error err;
    char path[FUZZ_PATH_MAX];
    const char *paths[] = {path};
    if (size > NAME_MAX_BYTES)
        return 0;
    quote(quoted, data, size);
    int fd = fuzz_file(text, make_trace(text, quoted), path);
    fuzz_must(fuzz_open(paths, 1, &options, &trace, &err) == GPUTIME_OK);
    fuzz_must(fuzz_analyse(trace, analyses, analysis_count, &options, &report, &err) == GPUTIME_OK);
    write_all(report, &options.writing, gt_page_bytes > 0 && size % 8 == 0); /* the page is large, and slows all down */
    gputime_report_free(report);
    gputime_trace_free(trace);
    close(fd);
    return 0;
}
