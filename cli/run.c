/* Runs: words of the command line come in; paths, rules, elapsed times and labels go out. */
#include "run.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "capture.h"
#include "error.h"

enum { FIELDS = 3 }; /* behind the path, which may have commas of its own */

static bool is_there(const char *path) {
    struct stat info;
    return stat(path, &info) == 0;
}

/* ---- labels ---- */

static bool drop_suffix(const char *name, size_t *bytes, const char *suffix, size_t suffix_bytes) {
    if (!suffix_bytes || *bytes <= suffix_bytes || strncasecmp(name + *bytes - suffix_bytes, suffix, suffix_bytes) != 0)
        return false;
    *bytes -= suffix_bytes;
    return true;
}

/* The suffixes of all inputs, as the registry lists them. */
static bool drop_known_suffix(const char *name, size_t *bytes) {
    static const char *const packed[] = {".gz", ".zst", ".pt.trace"};
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

static enum gputime_status make_label(struct cli_run *run, const char *engine, int engine_bytes, const char *model,
                                      size_t index, struct gputime_error *err) {
    const char *slash = strrchr(run->path, '/');
    const char *name = slash ? slash + 1 : run->path;
    size_t bytes = cli_capture_prefix(name);
    bytes = bytes ? bytes : strlen(name);
    while (drop_known_suffix(name, &bytes))
        continue;
    if (asprintf(&run->label, "%s_%.*s_%.*s_%zu", model, engine_bytes, engine, (int)bytes, name, index) < 0) {
        run->label = NULL;
        return cli_fail_memory(err);
    }
    return GPUTIME_OK;
}

/* ---- words ---- */

enum gputime_status cli_run_init(struct cli_run *run, const char *word, size_t index, struct gputime_error *err) {
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
        return cli_fail_usage(err, "cannot read run '%s'; write FILE,ENGINE,MODEL,SECONDS", word);
    const char *engine = commas[2] + 1, *model = commas[1] + 1;
    if (commas[2] == run->text || engine == commas[1] || model == commas[0])
        return cli_fail_usage(err,
                              "cannot read run '%s': the file, engine or model is empty; write "
                              "FILE,ENGINE,MODEL,SECONDS",
                              word);
    *commas[2] = *commas[0] = '\0';
    run->rules = engine;
    run->elapsed = commas[0][1] ? commas[0] + 1 : NULL;
    return make_label(run, engine, (int)(commas[1] - engine), model, index, err);
}

void cli_run_release(struct cli_run *run) {
    free(run->text);
    free(run->label);
    *run = (struct cli_run){0};
}

struct gputime_options cli_run_options(const struct cli_run *run, const struct gputime_options *options) {
    struct gputime_options own = *options;
    if (run->rules) {
        own.rules = run->rules;
        own.title = run->label;
        own.elapsed = run->elapsed;
    }
    return own;
}

enum gputime_status cli_run_check(const struct cli_run *run, const struct gputime_options *own,
                                  struct gputime_error *err) {
    struct gputime_error why = {.status = GPUTIME_OK};
    if (run->rules && own->map)
        return cli_fail_usage(err,
                              "run of '%s': its engine and model say what the categories are, and so does --map; leave "
                              "--map out or give the trace alone",
                              run->path);
    if (!run->rules || gputime_options_check(own, &why) == GPUTIME_OK)
        return GPUTIME_OK;
    return why.status == GPUTIME_USAGE ? cli_fail_usage(err, "run of '%s': %s", run->path, why.message)
                                       : cli_fail(err, "run of '%s': %s", run->path, why.message);
}
