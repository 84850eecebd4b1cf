/* Groups the traces of the command line into captures and checks them before anything is read. */
#include "capture.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"

/* ---- runs ---- */

enum { FIELDS = 3 }; /* after the path, which may contain commas */

static bool is_there(const char *path) {
    struct stat info;
    return stat(path, &info) == 0;
}

static bool drop_suffix(const char *name, size_t *bytes, const char *suffix, size_t suffix_bytes) {
    if (!suffix_bytes || *bytes <= suffix_bytes || strncasecmp(name + *bytes - suffix_bytes, suffix, suffix_bytes) != 0)
        return false;
    *bytes -= suffix_bytes;
    return true;
}

/* The suffixes of all inputs, as the registry lists them. */
static bool drop_known_suffix(const char *name, size_t *bytes) {
    static const char *const packed[] = {".gz", ".zst", ".xz", ".zip", ".pt.trace"};
    for (size_t i = 0; i < sizeof packed / sizeof *packed; i++)
        if (drop_suffix(name, bytes, packed[i], strlen(packed[i])))
            return true;
    for (size_t i = 0; i < gputime_registry_count(GPUTIME_INPUTS); i++)
        for (const char *item = gputime_registry_entry(GPUTIME_INPUTS, i).detail; item && *item;) {
            size_t suffix_bytes = strcspn(item, " ");
            if (drop_suffix(name, bytes, item, suffix_bytes))
                return true;
            item += suffix_bytes + strspn(item + suffix_bytes, " ");
        }
    return false;
}

static enum gputime_status make_label(struct cli_run *run, size_t index, struct gputime_error *err) {
    const char *slash = strrchr(run->path, '/');
    const char *name = slash ? slash + 1 : run->path;
    size_t bytes = gputime_capture_prefix(name);
    bytes = bytes ? bytes : strlen(name);
    while (drop_known_suffix(name, &bytes))
        continue;
    if (asprintf(&run->label, "%s_%s_%.*s_%zu", run->model, run->engine, (int)bytes, name, index) < 0) {
        run->label = NULL;
        return cli_fail_memory(err);
    }
    return GPUTIME_OK;
}

/* "306" are seconds; empty: the span of the GPU work. */
static enum gputime_status set_elapsed(struct cli_run *run, const char *text, struct gputime_error *err) {
    struct gputime_time time = {.kind = GPUTIME_TIME_NS};
    if (*text && (gputime_time_parse(text, &time, NULL) || time.kind != GPUTIME_TIME_NS || time.ns < 0))
        return cli_fail_usage(err, "run of '%s': invalid elapsed time '%s'; use seconds, such as 306 or 12.5",
                              run->path, text);
    run->elapsed_ns = time.ns;
    return GPUTIME_OK;
}

/* Checks the word only, not the files it names; index counts runs from 0. */
static enum gputime_status run_init(struct cli_run *run, const char *word, size_t index, struct gputime_error *err) {
    char *commas[FIELDS];
    size_t count = 0;
    *run = (struct cli_run){.text = strdup(word)};
    if (!run->text)
        return cli_fail_memory(err);
    run->path = run->text;
    for (char *c = run->text + strlen(run->text); c > run->text && count < FIELDS; c--)
        if (c[-1] == ',')
            commas[count++] = c - 1;
    if (!count || is_there(word))
        return GPUTIME_OK;
    if (count < FIELDS)
        return cli_fail_usage(err, "invalid run '%s'; use FILE,ENGINE,MODEL,SECONDS", word);
    for (size_t i = 0; i < FIELDS; i++)
        *commas[i] = '\0';
    run->engine = commas[2] + 1;
    run->model = commas[1] + 1;
    if (!*run->path || !*run->engine || !*run->model)
        return cli_fail_usage(err,
                              "invalid run '%s': the file, engine or model is empty; use "
                              "FILE,ENGINE,MODEL,SECONDS",
                              word);
    enum gputime_status status = make_label(run, index, err);
    return status ? status : set_elapsed(run, commas[0] + 1, err);
}

static void run_release(struct cli_run *run) {
    free(run->text);
    free(run->label);
    *run = (struct cli_run){0};
}

/* ---- captures ---- */

/* A run with engine and model is a capture of one file. */
static bool same_capture(const struct cli_run *a, const struct cli_run *b) {
    size_t bytes = a->engine || b->engine ? 0 : gputime_capture_prefix(a->path);
    return bytes && bytes == gputime_capture_prefix(b->path) && memcmp(a->path, b->path, bytes) == 0;
}

/* --html takes no name: one that follows it is taken for a trace. */
static bool is_page_name(const char *path) {
    size_t bytes = strlen(path);
    return bytes > strlen(".html") && strcmp(path + bytes - strlen(".html"), ".html") == 0;
}

static enum gputime_status check_readable(const char *path, struct gputime_error *err) {
    struct stat info;
    if (strcmp(path, "-") == 0)
        return GPUTIME_OK;
    if (stat(path, &info) != 0 && errno == ENOENT && is_page_name(path))
        return cli_fail(err, "cannot read '%s': no such file; to write a page: --html -o %s", path, path);
    if (stat(path, &info) != 0)
        return cli_fail_system(err, errno, "cannot read '%s'", path);
    if (S_ISDIR(info.st_mode))
        return cli_fail(err,
                        "cannot read '%s': it is a directory; name the traces in it (directories: 'gputime ranks', "
                        "check --ranks and diff --ranks)",
                        path);
    if (access(path, R_OK) != 0)
        return cli_fail_system(err, errno, "cannot read '%s'", path);
    return GPUTIME_OK;
}

enum gputime_status cli_capture_check(const struct cli_capture *capture, struct gputime_error *err) {
    enum gputime_status status = GPUTIME_OK;
    for (size_t i = 0; i < capture->path_count && !status; i++)
        status = check_readable(capture->paths[i], err);
    return status;
}

static enum gputime_status read_words(struct cli_captures *captures, const char *const *words, size_t word_count,
                                      bool are_runs, struct gputime_error *err) {
    size_t pipes = 0;
    for (size_t i = 0; i < word_count; i++) {
        struct cli_run *run = &captures->runs[captures->run_count++];
        enum gputime_status status = are_runs ? run_init(run, words[i], i, err) : GPUTIME_OK;
        if (!are_runs)
            run->path = words[i];
        if (!status && are_runs)
            status = check_readable(run->path, err);
        if (status)
            return status;
        pipes += strcmp(run->path, "-") == 0;
    }
    return pipes > 1 ? cli_fail_usage(err, "standard input ('-') can be read only once") : GPUTIME_OK;
}

/* Adds the capture of the first run: its file and all files before `end` that belong to it. */
static void add_capture(struct cli_captures *captures, const char **next, size_t first, size_t end, bool *is_taken) {
    struct cli_capture *capture = &captures->items[captures->count++];
    const struct cli_run *runs = captures->runs;
    capture->paths = next;
    capture->run = &runs[first];
    for (size_t i = first; i < end; i++)
        if (!is_taken[i] && (i == first || same_capture(&runs[first], &runs[i]))) {
            is_taken[i] = true;
            capture->paths[capture->path_count++] = runs[i].path;
        }
}

enum gputime_status cli_captures_init(struct cli_captures *captures, const char *const *words, size_t word_count,
                                      bool are_runs, size_t split, struct gputime_error *err) {
    bool *is_taken = calloc(word_count + 1, sizeof *is_taken);
    *captures = (struct cli_captures){.items = calloc(word_count + 1, sizeof *captures->items),
                                      .paths = calloc(word_count + 1, sizeof *captures->paths),
                                      .runs = calloc(word_count + 1, sizeof *captures->runs)};
    if (!is_taken || !captures->items || !captures->paths || !captures->runs) {
        free(is_taken);
        return cli_fail_memory(err);
    }
    enum gputime_status status = read_words(captures, words, word_count, are_runs, err);
    const char **next = captures->paths;
    for (size_t i = 0; !status && i < word_count; i++) {
        if (i == split)
            captures->first_of_b = captures->count;
        if (!is_taken[i]) {
            add_capture(captures, next, i, i < split ? split : word_count, is_taken);
            next += captures->items[captures->count - 1].path_count;
        }
    }
    if (split >= word_count)
        captures->first_of_b = captures->count;
    free(is_taken);
    return status;
}

enum gputime_status cli_captures_init_config(struct cli_captures *captures, const char *path,
                                             struct gputime_error *err) {
    *captures = (struct cli_captures){0};
    enum gputime_status status = gputime_config_open(path, &captures->config, err);
    if (status)
        return status;
    size_t count = gputime_config_input_count(captures->config), path_count = 0, own_count;
    for (size_t i = 0; i < count; i++) {
        gputime_config_paths(captures->config, i, &own_count);
        path_count += own_count;
    }
    captures->items = calloc(count + 1, sizeof *captures->items);
    captures->paths = calloc(path_count + 1, sizeof *captures->paths);
    if (!captures->items || !captures->paths)
        return cli_fail_memory(err);
    const char **next = captures->paths;
    for (size_t i = 0; i < count; i++) {
        const char *const *paths = gputime_config_paths(captures->config, i, &own_count);
        captures->items[captures->count++] = (struct cli_capture){.paths = next, .path_count = own_count};
        memcpy(next, paths, own_count * sizeof *next);
        next += own_count;
    }
    return GPUTIME_OK;
}

/* ---- what to open them with ---- */

static bool has_classes(const struct gputime_open_options *opening) {
    return opening->rules_path || opening->rules_engine || opening->map_path;
}

static void clear_classes(struct gputime_open_options *opening) {
    opening->rules_path = opening->rules_engine = opening->rules_model = opening->map_path = NULL;
}

static void take_run(struct cli_capture_options *own, const struct cli_run *run) {
    if (!run->engine)
        return;
    own->opening.rules_path = NULL;
    own->opening.rules_engine = run->engine;
    own->opening.rules_model = run->model;
    own->run.title = own->opening.redact ? NULL : run->label; /* it has the name of the file */
    own->run.elapsed_ns = run->elapsed_ns;
}

/* Options take precedence. */
static void take_config(struct cli_capture_options *own, const struct gputime_config *config, size_t index) {
    struct gputime_run asked = own->run;
    own->run = (struct gputime_run)GPUTIME_RUN_INIT;
    gputime_config_run(config, index, &own->run);
    own->run.title = asked.title ? asked.title : own->run.title;
    own->run.iterations = asked.iterations ? asked.iterations : own->run.iterations;
    own->run.gpus = asked.gpus ? asked.gpus : own->run.gpus;
    own->run.iteration_range = asked.iteration_range ? asked.iteration_range : own->run.iteration_range;
    if (!has_classes(&own->opening))
        own->opening.map_path = gputime_config_map_path(config);
}

struct cli_capture_options cli_captures_options(const struct cli_captures *captures, size_t index,
                                                const struct cli_options *options) {
    struct cli_capture_options own = {options->opening, options->run};
    if (options->is_class_default)
        clear_classes(&own.opening);
    if (captures->config)
        take_config(&own, captures->config, index);
    else
        take_run(&own, captures->items[index].run);
    if (!has_classes(&own.opening)) {
        own.opening.rules_path = options->opening.rules_path;
        own.opening.rules_engine = options->opening.rules_engine;
        own.opening.rules_model = options->opening.rules_model;
        own.opening.map_path = options->opening.map_path;
    }
    return own;
}

static enum gputime_status check_run(const struct cli_run *run, const struct gputime_open_options *opening,
                                     struct gputime_error *err) {
    struct gputime_error why = {.status = GPUTIME_OK};
    if (run->engine && opening->map_path)
        return cli_fail_usage(
            err,
            "run of '%s': the categories come from its engine and model, not from --map; omit --map, or give "
            "only the trace",
            run->path);
    if (!run->engine || gputime_open_options_check(opening, &why) == GPUTIME_OK)
        return GPUTIME_OK;
    return why.status == GPUTIME_USAGE ? cli_fail_usage(err, "run of '%s': %s", run->path, why.message)
                                       : cli_fail(err, "run of '%s': %s", run->path, why.message);
}

enum gputime_status cli_captures_check(const struct cli_captures *captures, const struct cli_options *options,
                                       struct gputime_error *err) {
    enum gputime_status status = GPUTIME_OK;
    for (size_t i = 0; !status && i < captures->count; i++) {
        struct cli_capture_options own = cli_captures_options(captures, i, options);
        status = captures->config ? gputime_open_options_check(&own.opening, err)
                                  : check_run(captures->items[i].run, &own.opening, err);
    }
    return status;
}

void cli_captures_release(struct cli_captures *captures) {
    gputime_config_free(captures->config);
    for (size_t i = 0; i < captures->run_count; i++)
        run_release(&captures->runs[i]);
    free(captures->runs);
    free(captures->items);
    free(captures->paths);
    *captures = (struct cli_captures){0};
}
