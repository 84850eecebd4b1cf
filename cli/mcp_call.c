/* One call of a tool: the command runs inside the server, and what it writes becomes the result, cut to a size that
 * clients can take. */
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "json_write.h"
#include "mcp.h"
#include "program.h"
#include "terminal.h"

/* ---- the host of the command ---- */

static enum gputime_status accept_options(void *context, const struct cli_options *options, struct gputime_error *err) {
    (void)context;
    if (options->max_rows == 0)
        return cli_fail_usage(err, "max_rows must be from 1 to %d here", CLI_MCP_QUERY_ROWS);
    if (options->timeout_ns == 1) /* "0" */
        return cli_fail_usage(err, "timeout must be more than 0 and at most %ds here", CLI_MCP_QUERY_SECONDS);
    return GPUTIME_OK;
}

/* Queries of clients end, and their results fit into memory, whatever settings allow. */
static void limit_query(struct cli_options *options) {
    int64_t longest_ns = CLI_MCP_QUERY_SECONDS * INT64_C(1000000000);
    options->most_rows = CLI_MCP_QUERY_ROWS;
    if (options->timeout_ns <= 1 || options->timeout_ns > longest_ns) /* 1: "0" */
        options->timeout_ns = longest_ns;
}

static void settle(void *context, struct cli_options *options) {
    struct cli_mcp *server = context;
    const struct gputime_open_options *own = &server->options->opening;
    struct gputime_open_options *opening = &options->opening;
    options->host = &server->host;
    options->quiet = options->open = 0;
    options->output = options->gap_output = options->directory = NULL;
    options->writing.format = server->format ? server->format : "text";
    options->second_format = server->format ? NULL : "json";
    options->writing.color = GPUTIME_COLOR_NEVER;
    options->writing.width = 120;
    opening->threads = own->threads;
    opening->reader = own->reader;
    opening->nsys_command = own->nsys_command;
    opening->no_cache = own->no_cache;
    opening->cache_after_ns = own->cache_after_ns;
    opening->strict |= own->strict;
    opening->redact = opening->redact > own->redact ? opening->redact : own->redact;
    limit_query(options);
}

static void open_traces(void *context, const struct gputime_input *inputs, size_t count, bool needs_all,
                        struct gputime_trace **traces, struct gputime_error *errors) {
    cli_mcp_traces_open(&((struct cli_mcp *)context)->traces, inputs, count, needs_all, traces, errors);
}

static void close_trace(void *context, struct gputime_trace *trace) {
    cli_mcp_traces_close(&((struct cli_mcp *)context)->traces, trace);
}

static void replace_text(struct cli_mcp_text *text, struct cli_mcp_text by) {
    free(text->bytes);
    *text = by;
}

static bool take_printed(const struct cli_mcp *server, struct cli_mcp_text *text) {
    free(text->bytes);
    return cli_mcp_streams_take(server->streams.printed, CLI_MCP_CHARACTERS, text);
}

/* What was printed, as JSON without blanks; one that is far too long is only its beginning. */
static bool take_json(const struct cli_mcp *server, struct cli_mcp_text *text) {
    if (!cli_mcp_streams_take(server->streams.printed, 4 * (size_t)CLI_MCP_CHARACTERS, text))
        return false;
    if (text->whole_size == text->size)
        text->size = text->whole_size = cli_json_pack(text->bytes, text->size);
    return true;
}

/* JSON that is too long is written again with fewer rows, until it fits. */
static enum gputime_status write_json(struct cli_mcp *server, const struct gputime_report *report,
                                      const struct gputime_write_options *writing, struct gputime_error *err) {
    struct gputime_write_options options = *writing;
    static const int64_t fewer[] = {25, 10, 5, 2, 1};
    size_t next = 0;
    if (!take_printed(server, &server->report))
        return cli_fail_memory(err);
    for (options.row_limit = server->rows;;) {
        enum gputime_status status = gputime_report_write(report, &options, NULL, err);
        struct cli_mcp_text text;
        if (status)
            return status;
        if (!take_json(server, &text))
            return cli_fail_memory(err);
        server->json_rows = options.row_limit;
        replace_text(&server->json, text);
        if (text.size <= CLI_MCP_CHARACTERS)
            return GPUTIME_OK;
        while (next < sizeof fewer / sizeof *fewer && options.row_limit && fewer[next] >= options.row_limit)
            next++;
        if (next == sizeof fewer / sizeof *fewer)
            break;
        options.row_limit = fewer[next++];
    }
    server->json_rows = -1;
    return GPUTIME_OK;
}

static enum gputime_status write_report(void *context, const struct gputime_report *report,
                                        const struct gputime_write_options *writing, struct gputime_error *err) {
    struct cli_mcp *server = context;
    if (strcmp(writing->format, "json") == 0)
        return write_json(server, report, writing, err);
    return gputime_report_write(report, writing, NULL, err); /* taken with what the command prints itself */
}

void cli_mcp_call_init(struct cli_mcp *server) {
    server->host = (struct cli_host){.context = server,
                                     .accept = accept_options,
                                     .settle = settle,
                                     .check = cli_mcp_check_path,
                                     .open = open_traces,
                                     .close = close_trace,
                                     .write = write_report};
}

/* ---- the result ---- */

/* Text up to its last whole line. */
static size_t whole_lines(const struct cli_mcp_text *text) {
    size_t size = text->size;
    while (text->whole_size > text->size && size && text->bytes[size - 1] != '\n')
        size--;
    return size ? size : text->size;
}

/* The items of the result. */
struct content {
    FILE *out;
    size_t count;
};

static void add_content(struct content *content, const char *text, size_t bytes) {
    fprintf(content->out, "%s{\"type\":\"text\",\"text\":", content->count++ ? "," : "");
    cli_json_write_bytes(content->out, text, bytes);
    fputc('}', content->out);
}

/* What is not in the answer, and how to get it. */
static void add_left_out(struct content *content, const struct cli_mcp *server, const struct cli_mcp_text *text) {
    char how[256], note[sizeof how + 256];
    static const char total_rows[] = ",\"total_rows\":";
    cli_mcp_advice(server->command, how, sizeof how);
    if (text->whole_size > whole_lines(text)) {
        snprintf(note, sizeof note, "Left out: the last %zu of %zu bytes%s.", text->whole_size - whole_lines(text),
                 text->whole_size, how);
        add_content(content, note, strlen(note));
    }
    /* Inside of texts the quotes would have backslashes before them. */
    if (!server->json.bytes || (server->json_rows == server->rows &&
                                !memmem(server->json.bytes, server->json.size, total_rows, strlen(total_rows))))
        return;
    if (server->json_rows < 0)
        snprintf(note, sizeof note, "Left out: the JSON, which has %zu bytes%s.", server->json.whole_size, how);
    else
        snprintf(note, sizeof note,
                 "Left out: rows of the JSON beyond the first %lld of each table (total_rows of a table says how many "
                 "there are)%s.",
                 (long long)server->json_rows, how);
    add_content(content, note, strlen(note));
}

/* JSON that a command printed itself, such as that of `list`. */
static void take_printed_json(struct cli_mcp *server, struct cli_mcp_text *printed) {
    bool is_json = server->format && strcmp(server->format, "json") == 0 && !server->json.bytes && printed->size;
    if (!is_json)
        return;
    server->json = *printed;
    server->json_rows = printed->whole_size > printed->size ? -1 : server->rows;
    if (server->json_rows >= 0)
        server->json.size = cli_json_pack(server->json.bytes, server->json.size);
    *printed = (struct cli_mcp_text){0};
}

/* The report, what the command complained about, why it failed, and what is missing. */
static void add_contents(struct content *content, const struct cli_mcp *server, const struct cli_mcp_text *text,
                         enum gputime_status status, const struct gputime_error *err) {
    struct cli_mcp_text complained;
    bool is_json = server->format && strcmp(server->format, "json") == 0 && server->json_rows >= 0;
    if (is_json && server->json.bytes)
        add_content(content, server->json.bytes, server->json.size);
    else if (text->size)
        add_content(content, text->bytes, whole_lines(text));
    if (cli_mcp_streams_take(server->streams.complained, CLI_MCP_CHARACTERS / 4, &complained) && complained.size)
        add_content(content, complained.bytes, complained.size);
    free(complained.bytes);
    if (status) {
        char said[2 * sizeof err->message], message[4 * sizeof said], line[sizeof message + 16];
        cli_mcp_message(server->command, err->message, said, sizeof said);
        snprintf(line, sizeof line, "gputime: %s\n", cli_terminal_text(message, sizeof message, said));
        add_content(content, line, strlen(line));
    }
    add_left_out(content, server, text);
}

static void write_result(FILE *out, struct cli_mcp *server, enum gputime_status status,
                         const struct gputime_error *err) {
    struct cli_mcp_text printed = {0};
    struct content content = {.out = out};
    bool is_failure = status && status != GPUTIME_BROKEN;
    take_printed(server, &printed);
    take_printed_json(server, &printed);
    fputs("{\"content\":[", out);
    add_contents(&content, server, server->report.size ? &server->report : &printed, status, err);
    fputc(']', out);
    if (server->json.bytes && server->json_rows >= 0 && !is_failure) {
        fputs(",\"structuredContent\":", out);
        fwrite(server->json.bytes, 1, server->json.size, out);
    }
    fprintf(out, ",\"isError\":%s}", is_failure ? "true" : "false");
    free(printed.bytes);
}

void cli_mcp_call(struct cli_mcp *server, const struct cli_command *command, const struct cli_json *arguments,
                  FILE *out) {
    struct gputime_error err = {.status = GPUTIME_OK};
    struct cli_mcp_words words = {0};
    server->command = command;
    server->format = NULL;
    server->rows = CLI_MCP_ROWS;
    server->json_rows = -1;
    enum gputime_status status = cli_mcp_words_make(&words, server, command, arguments, &err);
    if (!status)
        status = cli_program_call((int)words.count, words.items, &server->host, &err);
    write_result(out, server, status, &err);
    replace_text(&server->json, (struct cli_mcp_text){0});
    replace_text(&server->report, (struct cli_mcp_text){0});
    cli_mcp_words_release(&words);
}
