/* Messages for clients: those of the program in the names of a tool's arguments, and how to ask for less. */
#include <ctype.h>
#include <string.h>

#include "error.h"
#include "mcp.h"
#include "suggest.h"

const char *cli_mcp_argument(const struct cli_option *option, char *name, size_t size) {
    snprintf(name, size, "%s", option->name);
    for (char *c = name; *c; c++)
        *c = *c == '-' ? '_' : *c;
    return name;
}

/* ---- messages ---- */

struct speech {
    const struct cli_command *command;
    char *out;
    size_t size, used;
};

static void say(struct speech *speech, const char *text, size_t bytes) {
    size_t room = speech->size - 1 - speech->used;
    bytes = bytes < room ? bytes : room;
    memcpy(speech->out + speech->used, text, bytes);
    speech->used += bytes;
    speech->out[speech->used] = '\0';
}

static bool begins(const char *text, const char *with) {
    return strncmp(text, with, strlen(with)) == 0;
}

/* Bytes of "--name" and of a word after it, and the option; NULL: it is none. */
static const struct cli_option *find_option(const struct cli_command *command, const char *text, size_t *bytes) {
    *bytes = 2;
    while (isalnum((unsigned char)text[*bytes]) || text[*bytes] == '-' || text[*bytes] == '_')
        ++*bytes;
    return cli_option_find(text + 2, *bytes - 2, command->groups);
}

/* "; see 'gputime kernels --help'", "; usage: gputime ...", ", or --limits FILE" are of no use to a client. How many
 * bytes are left out. */
static size_t useless_bytes(const struct cli_command *command, const char *text) {
    static const char help[] = "--help'", other[] = ", or ";
    if (begins(text, "; usage: gputime "))
        return strlen(text);
    if (begins(text, "; see 'gputime ")) {
        const char *end = strstr(text, help);
        return end && !end[strlen(help)] ? strlen(text) : 0;
    }
    if (!begins(text, ", or --"))
        return 0;
    size_t bytes;
    const struct cli_option *option = find_option(command, text + strlen(other), &bytes);
    if (!option || !cli_command_takes(command, option) || cli_mcp_offers_option(command, option))
        return 0;
    bytes += strlen(other);
    return bytes + (text[bytes] == ' ' ? 1 + strcspn(text + bytes + 1, " ") : 0);
}

/* "'--top'", "--top": an option that the tool takes, as an argument. How many bytes were said in other words. */
static size_t say_option(struct speech *speech, const char *text, bool is_quoted) {
    char name[64];
    size_t bytes;
    const struct cli_option *option = find_option(speech->command, text, &bytes);
    bool is_argument =
        option && (cli_mcp_offers_option(speech->command, option) || !cli_command_takes(speech->command, option));
    if (!is_argument)
        return 0;
    cli_mcp_argument(option, name, sizeof name);
    if (!is_quoted)
        say(speech, "'", 1);
    say(speech, name, strlen(name));
    if (!is_quoted)
        say(speech, "'", 1);
    return bytes;
}

void cli_mcp_message(const struct cli_command *command, const char *message, char *out, size_t size) {
    struct speech speech = {.command = command, .out = out, .size = size};
    static const char option[] = "option '--", program[] = "'gputime ";
    bool is_quoted = false; /* a command line */
    out[0] = '\0';
    for (const char *at = message; *at;) {
        bool is_word = at == message || strchr(" ('", at[-1]);
        size_t done = useless_bytes(command, at);
        if (!done && is_word && begins(at, "--"))
            done = say_option(&speech, at, is_quoted || (at != message && at[-1] == '\''));
        if (!done && is_word && begins(at, option)) {
            say(&speech, "argument ", strlen("argument "));
            done = strlen("option ");
        }
        if (!done && begins(at, program)) { /* tools have the names of commands */
            say(&speech, "'", 1);
            done = strlen(program);
            is_quoted = true;
        }
        if (!done && *at == '\'')
            is_quoted = false;
        if (!done)
            say(&speech, at, done = 1);
        at += done;
    }
}

enum gputime_status cli_mcp_fail_unknown(const struct cli_command *command, const char *key,
                                         struct gputime_error *err) {
    struct cli_suggestion suggestion;
    char nearest[64];
    cli_suggestion_init(&suggestion, key, strlen(key));
    for (size_t i = 0; i < cli_option_count; i++)
        if (cli_mcp_offers_option(command, &cli_option_table[i]))
            cli_suggestion_offer(&suggestion, cli_option_table[i].name);
    cli_suggestion_offer(&suggestion, command->words ? NULL : "traces");
    cli_suggestion_offer(&suggestion, cli_mcp_query(command));
    if (!suggestion.nearest)
        return cli_fail_usage(err, "unknown argument '%.200s' of '%s'", key, command->name);
    snprintf(nearest, sizeof nearest, "%s", suggestion.nearest);
    for (char *c = nearest; *c; c++)
        *c = *c == '-' ? '_' : *c;
    return cli_fail_usage(err, "unknown argument '%.200s' of '%s'; did you mean '%s'?", key, command->name, nearest);
}

/* ---- advice ---- */

/* "lead (a, b)" of the arguments that the tool takes; nothing if it takes none of them. */
static void add_arguments(char *advice, size_t size, const struct cli_command *command, const char *lead,
                          const char *const *names) {
    const char *before = " (";
    bool has_one = false;
    for (; *names; names++) {
        size_t used = strlen(advice);
        const struct cli_option *option = cli_option_find(*names, strlen(*names), command->groups);
        if (!option || !cli_mcp_offers_option(command, option))
            continue;
        if (!has_one)
            snprintf(advice + used, size - used, "%s%s", *advice ? ", or " : "; ask ", lead);
        used = strlen(advice);
        snprintf(advice + used, size - used, "%s%s", before, *names);
        before = ", ";
        has_one = true;
    }
    if (has_one)
        snprintf(advice + strlen(advice), size - strlen(advice), ")");
}

void cli_mcp_advice(const struct cli_command *command, char *advice, size_t size) {
    static const char *const of_tables[] = {"table", NULL};
    static const char *const of_rows[] = {"table_rows", "sort", "top", NULL};
    static const char *const of_less[] = {"name", "category", "device", "step", "from", "to", NULL};
    advice[0] = '\0';
    if (cli_mcp_query(command))
        snprintf(advice, size, "; ask for fewer rows or columns in the query");
    add_arguments(advice, size, command, "for one table", of_tables);
    add_arguments(advice, size, command, "for other rows", of_rows);
    add_arguments(advice, size, command, "for less", of_less);
}
