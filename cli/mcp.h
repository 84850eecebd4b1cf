/* `gputime mcp`: a server of the Model Context Protocol on standard input and output. Its tools are rows of the command
 * table; each call runs a command inside the server. */
#ifndef CLI_MCP_H
#define CLI_MCP_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "commands.h"
#include "host.h"
#include "json_read.h"

enum {
    CLI_MCP_ROWS = 20,           /* of each table in JSON, unless a call asks for others */
    CLI_MCP_CHARACTERS = 60000,  /* bytes of text, and of JSON, in one answer */
    CLI_MCP_QUERY_ROWS = 100000, /* of the result of a query, at most */
    CLI_MCP_QUERY_SECONDS = 60   /* that a query may take */
};

/* ---- mcp_streams.c: standard input and output belong to the protocol, and nothing else may reach them ---- */

struct cli_mcp_streams {
    int in, out;                  /* of the protocol */
    int printed, complained;      /* files in memory that stand for standard output and standard error */
    int own_in, own_out, own_err; /* what descriptors 0, 1 and 2 were; -1: not saved */
};

/* From here on printed text goes to memory. Release also after a failure; it puts everything back. */
enum gputime_status cli_mcp_streams_init(struct cli_mcp_streams *streams, struct gputime_error *err);
void cli_mcp_streams_release(struct cli_mcp_streams *streams);

/* A text in memory: the beginning of what was printed. */
struct cli_mcp_text {
    char *bytes;             /* terminated; NULL: none */
    size_t size, whole_size; /* of the text, and of what it is the beginning of */
};
/* What was printed since the last call, up to `most` bytes; false: out of memory. The text is the caller's. */
bool cli_mcp_streams_take(int file, size_t most, struct cli_mcp_text *text);

/* ---- mcp_traces.c: traces that stay open ---- */

enum { CLI_MCP_TRACES = 8 };
#define CLI_MCP_TRACE_BYTES (UINT64_C(4) << 30) /* of all that are open and not in use */

struct cli_mcp_trace {
    struct gputime_trace *trace; /* NULL: free */
    struct cli_mcp_text key;     /* files and how they were opened */
    struct cli_mcp_text state;   /* of the files, and of those with rules: size, times */
    uint64_t last_use;
    size_t users;
    bool is_cached;
};

struct cli_mcp_traces {
    struct cli_mcp_trace *items;
    size_t count;
    uint64_t uses;
    bool has_cache; /* of the file system, for the next time */
};

void cli_mcp_traces_open(struct cli_mcp_traces *traces, const struct gputime_input *inputs, size_t count,
                         bool needs_all, struct gputime_trace **out, struct gputime_error *errors);
void cli_mcp_traces_close(struct cli_mcp_traces *traces, struct gputime_trace *trace);
void cli_mcp_traces_release(struct cli_mcp_traces *traces);

/* ---- mcp_tools.c: what is offered ---- */

bool cli_mcp_offers(const struct cli_command *command);
bool cli_mcp_offers_option(const struct cli_command *command, const struct cli_option *option);
bool cli_mcp_offers_format(const struct cli_command *command, const char *format);
/* Name of the argument that is a command's only word ("key" of define); traces have none. */
const char *cli_mcp_word(const struct cli_command *command, char *name, size_t size);
/* Name of the argument that is a query over the traces; NULL: the command has none. */
const char *cli_mcp_query(const struct cli_command *command);
void cli_mcp_list_tools(FILE *out); /* the JSON array of all tools */

/* ---- mcp_speech.c: messages for clients ---- */

const char *cli_mcp_argument(const struct cli_option *option, char *name, size_t size); /* the option's name with '_' */
/* A message of the program with arguments in place of options. */
void cli_mcp_message(const struct cli_command *command, const char *message, char *out, size_t size);
enum gputime_status cli_mcp_fail_unknown(const struct cli_command *command, const char *key, struct gputime_error *err);
/* How to ask for less, with a semicolon before it; empty if the tool takes nothing for that. */
void cli_mcp_advice(const struct cli_command *command, char *advice, size_t size);

/* ---- the server ---- */

struct cli_mcp {
    const struct cli_options *options; /* of the server */
    char *root;                        /* canonical; NULL: all files may be read */
    struct cli_mcp_streams streams;
    struct cli_mcp_traces traces;
    struct cli_host host;
    const char *version; /* of the protocol, as agreed on */

    /* Of the call that is running. */
    const struct cli_command *command;
    const char *format;         /* that it asked for; NULL: text and JSON */
    int64_t rows;               /* of each table in JSON; 0: all */
    struct cli_mcp_text report; /* what was printed before the JSON was */
    struct cli_mcp_text json;
    int64_t json_rows; /* what the JSON was limited to so that it fits; -1: it does not fit at all */
};

/* ---- mcp_words.c: the command line of a call ---- */

/* Words that are the list's. */
struct cli_mcp_words {
    char **items;
    size_t count, capacity;
};
/* Also sets format and rows of the server. Release also after a failure. */
enum gputime_status cli_mcp_words_make(struct cli_mcp_words *words, struct cli_mcp *server,
                                       const struct cli_command *command, const struct cli_json *arguments,
                                       struct gputime_error *err);
void cli_mcp_words_release(struct cli_mcp_words *words);
/* Fails unless it is a file or directory that clients may name. context: the server. */
enum gputime_status cli_mcp_check_path(void *context, const char *path, struct gputime_error *err);

/* ---- mcp_call.c: one call ---- */

void cli_mcp_call_init(struct cli_mcp *server); /* sets up the host */
/* Runs the command with the arguments, which may be NULL, and writes the result of the call. */
void cli_mcp_call(struct cli_mcp *server, const struct cli_command *command, const struct cli_json *arguments,
                  FILE *out);

#endif
