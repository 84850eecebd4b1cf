/* Traces that stay open between calls: the ones used last, as long as their files do not change. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "mcp.h"

/* ---- keys ---- */

static const char *or_empty(const char *text) {
    return text ? text : "";
}

static void write_paths(FILE *out, const struct gputime_input *input) {
    for (size_t i = 0; i < input->path_count; i++)
        fprintf(out, "%s%c", input->paths[i], '\0');
}

/* All that a trace depends on but the contents of its files. */
static void write_key(FILE *out, const struct gputime_input *input) {
    const struct gputime_open_options *how = input->options;
    const struct gputime_run *run = input->run;
    write_paths(out, input);
    fprintf(out, "%d %d %d %d %s %s %s %s %s", how->strict, (int)how->reader, how->no_cache, how->redact,
            or_empty(how->nsys_command), or_empty(how->rules_path), or_empty(how->rules_engine),
            or_empty(how->rules_model), or_empty(how->map_path));
    for (size_t i = 0; i < how->rule_path_count; i++)
        fprintf(out, "%c%s", '\0', how->rule_paths[i]);
    fprintf(out, "%c%s %lld %lld %s %lld %d", '\0', or_empty(run->title), (long long)run->iterations,
            (long long)run->gpus, or_empty(run->iteration_range), (long long)run->elapsed_ns, run->without_memory);
}

static void write_state(FILE *out, const struct gputime_input *input) {
    for (size_t i = 0; i < input->path_count; i++) {
        struct stat info = {0};
        int found = stat(input->paths[i], &info);
        fprintf(out, "%d %llu %llu %lld %lld.%09ld %lld.%09ld\n", found, (unsigned long long)info.st_dev,
                (unsigned long long)info.st_ino, (long long)info.st_size, (long long)info.st_mtim.tv_sec,
                info.st_mtim.tv_nsec, (long long)info.st_ctim.tv_sec, info.st_ctim.tv_nsec);
    }
}

/* Text with NULs inside becomes one without: they only separate. NULL: out of memory. */
static char *text_of(const struct gputime_input *input, void (*write)(FILE *out, const struct gputime_input *input)) {
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    if (!out)
        return NULL;
    write(out, input);
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    for (size_t i = 0; i < bytes; i++)
        if (!text[i])
            text[i] = '\n';
    return text;
}

/* ---- the list ---- */

static uint64_t field_bytes(enum gputime_field_type type) {
    switch (type) {
    case GPUTIME_FIELD_U8:
        return 1;
    case GPUTIME_FIELD_U16:
        return 2;
    case GPUTIME_FIELD_U32:
        return 4;
    case GPUTIME_FIELD_U64:
    case GPUTIME_FIELD_I64:
    case GPUTIME_FIELD_F64:
    case GPUTIME_FIELD_TEXT:
        break;
    }
    return 8;
}

/* Memory of a trace: its columns, which is most of it. */
static uint64_t bytes_of(const struct gputime_trace *trace) {
    uint64_t bytes = 0;
    for (size_t i = 0; i < gputime_trace_rows_count(trace); i++) {
        const struct gputime_rows *rows = gputime_trace_rows_at(trace, i);
        for (size_t f = 0; f < gputime_rows_field_count(rows); f++)
            bytes += gputime_rows_count(rows) * field_bytes(gputime_rows_field(rows, f).type);
    }
    return bytes;
}

static void drop(struct cli_mcp_trace *item) {
    gputime_trace_free(item->trace);
    free(item->key);
    free(item->state);
    *item = (struct cli_mcp_trace){0};
}

/* Whether everything asked for has been read: reading more would keep both readings in memory. */
static bool has_facts(const struct gputime_trace *trace, const struct gputime_open_options *options) {
    uint64_t wanted = options->facts ? options->facts : GPUTIME_FACTS_USUAL;
    return (wanted & ~gputime_trace_describe(trace).facts_read) == 0;
}

/* The open trace of these files; NULL: it has to be read. One that has changed, or was read for less, is dropped, and
 * *facts is what it had. */
static struct cli_mcp_trace *find(struct cli_mcp_traces *traces, const struct gputime_input *input, const char *key,
                                  const char *state, uint64_t *facts) {
    for (size_t i = 0; key && state && i < traces->count; i++) {
        struct cli_mcp_trace *item = &traces->items[i];
        if (!item->trace || strcmp(item->key, key) != 0)
            continue;
        bool is_same = strcmp(item->state, state) == 0;
        if (is_same && has_facts(item->trace, input->options))
            return item;
        if (item->users)
            continue;
        if (is_same)
            *facts = gputime_trace_describe(item->trace).facts_read;
        drop(item);
    }
    return NULL;
}

/* Keeps a new trace if there is memory to do so; else it is freed when it is closed. Takes key and state. */
static void keep(struct cli_mcp_traces *traces, struct gputime_trace *trace, char *key, char *state) {
    struct cli_mcp_trace *place = NULL;
    for (size_t i = 0; i < traces->count; i++)
        if (!traces->items[i].trace)
            place = &traces->items[i];
    if (!place) {
        struct cli_mcp_trace *items = realloc(traces->items, (traces->count + 1) * sizeof *items);
        if (items) {
            traces->items = items;
            place = &items[traces->count++];
        }
    }
    if (place && key && state) {
        *place =
            (struct cli_mcp_trace){.trace = trace, .key = key, .state = state, .users = 1, .last_use = ++traces->uses};
        return;
    }
    if (place)
        *place = (struct cli_mcp_trace){0};
    free(key);
    free(state);
}

/* Reads one capture, or takes it from the list. */
static void open_one(struct cli_mcp_traces *traces, const struct gputime_input *input, struct gputime_trace **out,
                     struct gputime_error *err) {
    uint64_t facts = 0;
    char *key = text_of(input, write_key), *state = text_of(input, write_state);
    struct cli_mcp_trace *found = find(traces, input, key, state, &facts);
    if (found) {
        found->users++;
        found->last_use = ++traces->uses;
        *out = found->trace;
        free(key);
        free(state);
        return;
    }
    struct gputime_open_options how = *input->options;
    how.facts = facts ? facts | (how.facts ? how.facts : GPUTIME_FACTS_USUAL) : how.facts;
    if (gputime_trace_open(input->paths, input->path_count, &how, input->run, out, err)) {
        free(key);
        free(state);
        return;
    }
    keep(traces, *out, key, state);
}

void cli_mcp_traces_open(struct cli_mcp_traces *traces, const struct gputime_input *inputs, size_t count,
                         bool needs_all, struct gputime_trace **out, struct gputime_error *errors) {
    for (size_t i = 0; i < count; i++) {
        out[i] = NULL;
        errors[i] = (struct gputime_error){.status = GPUTIME_OK};
        open_one(traces, &inputs[i], &out[i], &errors[i]);
        if (!out[i] && needs_all)
            return;
    }
}

/* Drops those that were not used for the longest time, until the others are few and small enough. */
static void make_room(struct cli_mcp_traces *traces) {
    for (;;) {
        struct cli_mcp_trace *oldest = NULL;
        uint64_t bytes = 0;
        size_t count = 0;
        for (size_t i = 0; i < traces->count; i++) {
            struct cli_mcp_trace *item = &traces->items[i];
            if (!item->trace || item->users)
                continue;
            count++;
            bytes += bytes_of(item->trace);
            if (!oldest || item->last_use < oldest->last_use)
                oldest = item;
        }
        if (!oldest || (count <= CLI_MCP_TRACES && bytes <= CLI_MCP_TRACE_BYTES))
            return;
        drop(oldest);
    }
}

void cli_mcp_traces_close(struct cli_mcp_traces *traces, struct gputime_trace *trace) {
    struct cli_mcp_trace *item = NULL;
    for (size_t i = 0; i < traces->count; i++)
        if (traces->items[i].trace == trace)
            item = &traces->items[i];
    if (traces->has_cache && !(item && item->is_cached))
        gputime_trace_store_cache(trace);
    if (item) {
        item->users--;
        item->is_cached = true;
    } else {
        gputime_trace_free(trace);
    }
    make_room(traces);
}

void cli_mcp_traces_release(struct cli_mcp_traces *traces) {
    for (size_t i = 0; i < traces->count; i++)
        drop(&traces->items[i]);
    free(traces->items);
    *traces = (struct cli_mcp_traces){0};
}
