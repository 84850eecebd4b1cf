/* The server: requests of one line each come in, answers of one line each go out, until standard input ends. */
#include "mcp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "actions.h"
#include "error.h"
#include "json_write.h"
#include "memory.h"

/* ---- lines ---- */

enum { LINE_MAX_BYTES = 4 << 20, CHUNK = 65536 };

struct lines {
    int file;
    char *bytes; /* `count` of them have been read, the first `used` of which were a line before */
    size_t count, used, capacity;
    bool is_too_long; /* the line that is being read */
    bool has_ended;
    int failure; /* number of the error that ended it; 0: it ended by itself */
};

/* Reads more; false: there is no more, or no memory for it. Of a line that is too long nothing is kept. */
static bool read_more(struct lines *lines) {
    if (lines->used) {
        memmove(lines->bytes, lines->bytes + lines->used, lines->count - lines->used);
        lines->count -= lines->used;
        lines->used = 0;
    }
    if (lines->count > LINE_MAX_BYTES) {
        lines->is_too_long = true;
        lines->count = 0;
    }
    if (lines->capacity - lines->count < CHUNK) {
        char *bytes = realloc(lines->bytes, 2 * lines->capacity + 2 * CHUNK);
        if (!bytes) {
            lines->failure = ENOMEM;
            return false;
        }
        lines->bytes = bytes;
        lines->capacity = 2 * lines->capacity + 2 * CHUNK;
    }
    ssize_t got;
    do
        got = read(lines->file, lines->bytes + lines->count, CHUNK);
    while (got < 0 && errno == EINTR);
    lines->count += got > 0 ? (size_t)got : 0;
    lines->failure = got < 0 ? errno : 0;
    return got > 0;
}

/* The next line, without its end; NULL: there is none. */
static char *next_line(struct lines *lines, size_t *bytes, bool *is_too_long) {
    size_t seen = lines->used;
    for (;;) {
        char *line = lines->bytes + lines->used;
        char *end = lines->count > seen ? memchr(lines->bytes + seen, '\n', lines->count - seen) : NULL;
        if (end || lines->has_ended) {
            *bytes = end ? (size_t)(end - line) : lines->count - lines->used;
            *is_too_long = lines->is_too_long || *bytes > LINE_MAX_BYTES;
            if (!end && !*bytes && !lines->is_too_long)
                return NULL;
            lines->used = end ? (size_t)(end - lines->bytes) + 1 : lines->count;
            lines->is_too_long = false;
            return line;
        }
        seen = lines->count - lines->used;
        if (!read_more(lines))
            lines->has_ended = true;
        seen = lines->is_too_long ? 0 : seen;
    }
}

/* ---- answers ---- */

enum code {
    PARSE_ERROR = -32700,
    INVALID_REQUEST = -32600,
    METHOD_NOT_FOUND = -32601,
    INVALID_PARAMS = -32602,
    INTERNAL_ERROR = -32603
};

/* Ids are given back as they came. */
static void write_id(FILE *out, const struct cli_json *id) {
    fputs("{\"jsonrpc\":\"2.0\",\"id\":", out);
    if (id && id->type == CLI_JSON_TEXT)
        cli_json_write_bytes(out, id->text, id->bytes);
    else if (id && id->type == CLI_JSON_NUMBER)
        fwrite(id->text, 1, id->bytes, out);
    else
        fputs("null", out);
}

static void write_error(FILE *out, const struct cli_json *id, enum code code, const char *format, const char *subject) {
    char message[512];
    snprintf(message, sizeof message, format, subject);
    write_id(out, id);
    fprintf(out, ",\"error\":{\"code\":%d,\"message\":", (int)code);
    cli_json_write_text(out, message);
    fputs("}}", out);
}

static void begin_result(FILE *out, const struct cli_json *id) {
    write_id(out, id);
    fputs(",\"result\":", out);
}

/* ---- methods ---- */

/* The newest first. What a client asks for is answered with the same if it is one of these, else with the newest. */
static const char *const versions[] = {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"};
static const char version_with_batches[] = "2025-03-26";

static const char instructions[] =
    "gputime reads GPU traces (PyTorch profiler, Nsight Systems, JAX/XLA, Perfetto) and says where the GPU time went. "
    "Begin with "
    "'summary' or 'findings'; 'define' explains every key and word. Times are in ns unless a title has a unit, counted "
    "from the first GPU op; shares are fractions 0..1 of what 'of' says. Rows beyond table_rows are left out of the "
    "JSON: "
    "total_rows of a table says how many there are.";

static void initialize(struct cli_mcp *server, const struct cli_json *params, FILE *out) {
    const struct cli_json *asked = cli_json_member(params, "protocolVersion");
    server->version = versions[0];
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++)
        if (cli_json_is_text(asked, versions[i]))
            server->version = versions[i];
    fprintf(out,
            "{\"protocolVersion\":\"%s\",\"capabilities\":{\"tools\":{}},\"serverInfo\":{\"name\":\"gputime\","
            "\"title\":\"gputime\",\"version\":\"%s\"},\"instructions\":",
            server->version, gputime_version());
    cli_json_write_text(out, instructions);
    fputc('}', out);
}

static void call_tool(struct cli_mcp *server, const struct cli_json *id, const struct cli_json *params, FILE *out) {
    const struct cli_json *name = cli_json_member(params, "name");
    const struct cli_json *arguments = cli_json_member(params, "arguments");
    if (!name || name->type != CLI_JSON_TEXT) {
        write_error(out, id, INVALID_PARAMS, "%s", "tools/call needs the name of a tool");
        return;
    }
    const struct cli_command *command = cli_command_find(name->text);
    if (!command || !cli_mcp_offers(command) || strlen(name->text) != name->bytes) {
        write_error(out, id, INVALID_PARAMS, "unknown tool '%.100s'", name->text);
        return;
    }
    if (arguments && arguments->type != CLI_JSON_OBJECT && arguments->type != CLI_JSON_NULL) {
        write_error(out, id, INVALID_PARAMS, "%s", "arguments must be an object");
        return;
    }
    begin_result(out, id);
    cli_mcp_call(server, command, arguments, out);
    fputc('}', out);
}

static void list_tools(const struct cli_json *id, const struct cli_json *params, FILE *out) {
    const struct cli_json *cursor = cli_json_member(params, "cursor");
    if (cursor && cursor->type != CLI_JSON_NULL) {
        write_error(out, id, INVALID_PARAMS, "%s", "unknown cursor: all tools are on one page");
        return;
    }
    begin_result(out, id);
    fputs("{\"tools\":", out);
    cli_mcp_list_tools(out);
    fputs("}}", out);
}

static void answer_request(struct cli_mcp *server, const struct cli_json *request, FILE *out) {
    const struct cli_json *id = cli_json_member(request, "id"), *params = cli_json_member(request, "params");
    const struct cli_json *method = cli_json_member(request, "method");
    if (cli_json_is_text(method, "initialize") || cli_json_is_text(method, "ping")) {
        begin_result(out, id);
        if (cli_json_is_text(method, "ping"))
            fputs("{}", out);
        else
            initialize(server, params, out);
        fputc('}', out);
    } else if (cli_json_is_text(method, "tools/list")) {
        list_tools(id, params, out);
    } else if (cli_json_is_text(method, "tools/call")) {
        call_tool(server, id, params, out);
    } else {
        write_error(out, id, METHOD_NOT_FOUND, "unknown method '%.100s'", method->text);
    }
}

static bool is_id(const struct cli_json *id) {
    return id && (id->type == CLI_JSON_TEXT || id->type == CLI_JSON_NUMBER);
}

/* One message. Notifications, and answers to requests that this server never makes, get no answer. */
static void answer_message(struct cli_mcp *server, const struct cli_json *message, FILE *out) {
    const struct cli_json *id = cli_json_member(message, "id"), *method = cli_json_member(message, "method");
    bool is_answer = !method && (cli_json_member(message, "result") || cli_json_member(message, "error"));
    if (message->type != CLI_JSON_OBJECT || !cli_json_is_text(cli_json_member(message, "jsonrpc"), "2.0"))
        write_error(out, is_id(id) ? id : NULL, INVALID_REQUEST, "%s", "not a request of JSON-RPC 2.0");
    else if (is_answer)
        return;
    else if (!method || method->type != CLI_JSON_TEXT)
        write_error(out, is_id(id) ? id : NULL, INVALID_REQUEST, "%s", "the request has no method");
    else if (id && !is_id(id))
        write_error(out, NULL, INVALID_REQUEST, "%s", "an id must be a string or a number");
    else if (id)
        answer_request(server, message, out);
}

/* Batches exist in one version of the protocol alone. Messages without an answer leave nothing in the array. */
static void answer_batch(struct cli_mcp *server, const struct cli_json *batch, FILE *out) {
    const char *lead = "[";
    if (!server->version || strcmp(server->version, version_with_batches) != 0 || !batch->first) {
        write_error(out, NULL, INVALID_REQUEST, "%s",
                    batch->first ? "batches are not part of this version of the protocol" : "the batch is empty");
        return;
    }
    for (const struct cli_json *item = batch->first; item; item = item->next) {
        struct cli_memory text;
        FILE *one = cli_memory_open(&text);
        if (one)
            answer_message(server, item, one);
        bool is_whole = one && cli_memory_close(&text, one);
        if (!is_whole || text.size) {
            fputs(lead, out);
            lead = ",";
        }
        if (!is_whole)
            write_error(out, NULL, INTERNAL_ERROR, "%s", "out of memory");
        else if (text.size)
            fwrite(text.bytes, 1, text.size, out);
        free(text.bytes);
    }
    if (*lead == ',')
        fputc(']', out);
}

static void answer_line(struct cli_mcp *server, char *line, size_t bytes, bool is_too_long, FILE *out) {
    struct cli_json_tree tree;
    if (is_too_long) {
        write_error(out, NULL, INVALID_REQUEST, "%s", "the message is longer than 4 MiB");
        return;
    }
    const char *failure = cli_json_read(&tree, line, bytes);
    if (failure)
        write_error(out, NULL, PARSE_ERROR, "not valid JSON: %s", failure);
    else if (tree.nodes->type == CLI_JSON_ARRAY)
        answer_batch(server, tree.nodes, out);
    else
        answer_message(server, tree.nodes, out);
    cli_json_release(&tree);
}

/* ---- the server ---- */

static enum gputime_status send_all(int file, const char *bytes, size_t count, struct gputime_error *err) {
    while (count) {
        ssize_t sent = write(file, bytes, count);
        if (sent < 0 && errno != EINTR)
            return cli_fail_system(err, errno, "cannot write standard output");
        bytes += sent > 0 ? sent : 0;
        count -= sent > 0 ? (size_t)sent : 0;
    }
    return GPUTIME_OK;
}

static enum gputime_status answer(struct cli_mcp *server, char *line, size_t bytes, bool is_too_long,
                                  struct gputime_error *err) {
    struct cli_memory text;
    FILE *out = cli_memory_open(&text);
    if (!out)
        return cli_fail_memory(err);
    answer_line(server, line, bytes, is_too_long, out);
    fflush(out);
    if (text.size > 0)
        fputc('\n', out);
    enum gputime_status status =
        cli_memory_close(&text, out) ? send_all(server->streams.out, text.bytes, text.size, err) : cli_fail_memory(err);
    free(text.bytes);
    return status;
}

static bool is_blank(const char *line, size_t bytes) {
    for (size_t i = 0; i < bytes; i++)
        if (line[i] != ' ' && line[i] != '\r' && line[i] != '\t')
            return false;
    return true;
}

static enum gputime_status serve(struct cli_mcp *server, struct gputime_error *err) {
    struct lines lines = {.file = server->streams.in};
    enum gputime_status status = GPUTIME_OK;
    size_t bytes;
    bool is_too_long;
    for (char *line; !status && (line = next_line(&lines, &bytes, &is_too_long));)
        if (is_too_long || !is_blank(line, bytes))
            status = answer(server, line, bytes, is_too_long, err);
    free(lines.bytes);
    if (!status && lines.failure)
        status = cli_fail_system(err, lines.failure, "cannot read standard input");
    return status;
}

static enum gputime_status enter_root(struct cli_mcp *server, struct gputime_error *err) {
    const char *root = server->options->root;
    if (!root)
        return GPUTIME_OK;
    server->root = realpath(root, NULL);
    if (!server->root || chdir(server->root) != 0)
        return cli_fail_system(err, errno, "cannot read '%s'", root);
    return GPUTIME_OK;
}

enum gputime_status cli_mcp_run(const struct cli_command *command, const struct cli_options *options,
                                struct cli_words words, struct gputime_error *err) {
    struct cli_mcp server = {.options = options, .traces.has_cache = !options->opening.no_cache};
    if (words.count)
        return cli_fail_usage(err, "'%s': unexpected argument '%s'; traces are named by clients", command->name,
                              words.items[0]);
    cli_mcp_call_init(&server);
    enum gputime_status status = enter_root(&server, err);
    if (!status) {
        status = cli_mcp_streams_init(&server.streams, err);
        if (!status)
            status = serve(&server, err);
        cli_mcp_streams_release(&server.streams);
    }
    cli_mcp_traces_release(&server.traces);
    free(server.root);
    return status;
}
