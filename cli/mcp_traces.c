/* Traces that stay open between calls: the ones used last, as long as their files do not change. */
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mcp.h"
#include "memory.h"

/* ---- keys ---- */

/* Texts end with a NUL, which they cannot have inside, and lists begin with their length: different options never have
 * the same key. */
static void write_text(FILE *out, const char *text) {
    fprintf(out, "%d%s%c", text != NULL, text ? text : "", '\0');
}

static void write_texts(FILE *out, const char *const *texts, size_t count) {
    fprintf(out, "%zu%c", count, '\0');
    for (size_t i = 0; i < count; i++)
        write_text(out, texts[i]);
}

/* All that a trace depends on but the contents of its files. */
static void write_key(FILE *out, const struct gputime_input *input) {
    const struct gputime_open_options *how = input->options;
    const struct gputime_run *run = input->run;
    write_texts(out, input->paths, input->path_count);
    fprintf(out, "%d %d %d %d%c", how->strict, (int)how->reader, how->no_cache, how->redact, '\0');
    write_text(out, how->nsys_command);
    write_text(out, how->rules_path);
    write_text(out, how->rules_engine);
    write_text(out, how->rules_model);
    write_text(out, how->map_path);
    write_texts(out, how->rule_paths, how->rule_path_count);
    write_text(out, run->title);
    write_text(out, run->iteration_range);
    fprintf(out, "%lld %lld %lld %d", (long long)run->iterations, (long long)run->gpus, (long long)run->elapsed_ns,
            run->without_memory);
}

static bool write_file(FILE *out, int directory, const char *path) {
    struct stat info = {0};
    int found = fstatat(directory, path, &info, 0);
    fprintf(out, "%d %u %llu %llu %lld %lld.%09ld %lld.%09ld%c", found, info.st_mode, (unsigned long long)info.st_dev,
            (unsigned long long)info.st_ino, (long long)info.st_size, (long long)info.st_mtim.tv_sec,
            info.st_mtim.tv_nsec, (long long)info.st_ctim.tv_sec, info.st_ctim.tv_nsec, '\0');
    return found == 0 && S_ISDIR(info.st_mode);
}

static int is_not_hidden(const struct dirent *entry) {
    return entry->d_name[0] != '.';
}

/* Rules may be a directory of files. */
static void write_rules(FILE *out, const char *path) {
    struct dirent **names;
    if (!path || !write_file(out, AT_FDCWD, path))
        return;
    int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
        count = scandir(path, &names, is_not_hidden, alphasort);
    for (int i = 0; i < count; i++) {
        write_text(out, names[i]->d_name);
        if (directory >= 0)
            write_file(out, directory, names[i]->d_name);
        free(names[i]);
    }
    if (count >= 0)
        free(names);
    if (directory >= 0)
        close(directory);
}

static void write_state(FILE *out, const struct gputime_input *input) {
    const struct gputime_open_options *how = input->options;
    for (size_t i = 0; i < input->path_count; i++)
        write_file(out, AT_FDCWD, input->paths[i]);
    write_rules(out, how->rules_path);
    write_rules(out, how->map_path);
    for (size_t i = 0; i < how->rule_path_count; i++)
        write_rules(out, how->rule_paths[i]);
}

/* bytes is NULL if there was no memory. */
static struct cli_mcp_text text_of(const struct gputime_input *input,
                                   void (*write)(FILE *out, const struct gputime_input *input)) {
    struct cli_memory memory;
    FILE *out = cli_memory_open(&memory);
    if (!out)
        return (struct cli_mcp_text){0};
    write(out, input);
    cli_memory_close(&memory, out);
    return (struct cli_mcp_text){.bytes = memory.bytes, .size = memory.size};
}

static bool is_same(struct cli_mcp_text a, struct cli_mcp_text b) {
    return a.bytes && b.bytes && a.size == b.size && memcmp(a.bytes, b.bytes, a.size) == 0;
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
    free(item->key.bytes);
    free(item->state.bytes);
    *item = (struct cli_mcp_trace){0};
}

/* Whether everything asked for has been read: reading more would keep both readings in memory. */
static bool has_facts(const struct gputime_trace *trace, const struct gputime_open_options *options) {
    uint64_t wanted = options->facts ? options->facts : GPUTIME_FACTS_USUAL;
    return (wanted & ~gputime_trace_describe(trace).facts_read) == 0;
}

/* The open trace of these files; NULL: it has to be read. One that has changed, or was read for less, is dropped, and
 * *facts is what it had. */
static struct cli_mcp_trace *find(struct cli_mcp_traces *traces, const struct gputime_input *input,
                                  struct cli_mcp_text key, struct cli_mcp_text state, uint64_t *facts) {
    for (size_t i = 0; i < traces->count; i++) {
        struct cli_mcp_trace *item = &traces->items[i];
        if (!item->trace || !is_same(item->key, key))
            continue;
        bool is_unchanged = is_same(item->state, state);
        if (is_unchanged && has_facts(item->trace, input->options))
            return item;
        if (item->users)
            continue;
        if (is_unchanged)
            *facts = gputime_trace_describe(item->trace).facts_read;
        drop(item);
    }
    return NULL;
}

/* Keeps a new trace if there is memory to do so; else it is freed when it is closed. Takes key and state. */
static void keep(struct cli_mcp_traces *traces, struct gputime_trace *trace, struct cli_mcp_text key,
                 struct cli_mcp_text state) {
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
    if (place && key.bytes && state.bytes) {
        *place =
            (struct cli_mcp_trace){.trace = trace, .key = key, .state = state, .users = 1, .last_use = ++traces->uses};
        return;
    }
    if (place)
        *place = (struct cli_mcp_trace){0};
    free(key.bytes);
    free(state.bytes);
}

/* Reads one capture, or takes it from the list. */
static void open_one(struct cli_mcp_traces *traces, const struct gputime_input *input, struct gputime_trace **out,
                     struct gputime_error *err) {
    uint64_t facts = 0;
    struct cli_mcp_text key = text_of(input, write_key), state = text_of(input, write_state);
    struct cli_mcp_trace *found = find(traces, input, key, state, &facts);
    if (found) {
        found->users++;
        found->last_use = ++traces->uses;
        *out = found->trace;
        free(key.bytes);
        free(state.bytes);
        return;
    }
    struct gputime_open_options how = *input->options;
    how.facts = facts ? facts | (how.facts ? how.facts : GPUTIME_FACTS_USUAL) : how.facts;
    if (gputime_trace_open(input->paths, input->path_count, &how, input->run, out, err)) {
        free(key.bytes);
        free(state.bytes);
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
