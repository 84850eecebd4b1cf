/* Runs the program: parses the command line, runs the command, prints one line on errors. */
#include "program.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "actions.h"
#include "error.h"
#include "help.h"
#include "host.h"
#include "oldname.h"
#include "suggest.h"
#include "terminal.h"

static const char *nearest_command(const char *word) {
    struct cli_suggestion suggestion;
    cli_suggestion_init(&suggestion, word, strlen(word));
    for (size_t i = 0; i < cli_command_count; i++)
        cli_suggestion_offer(&suggestion, cli_command_table[i].name);
    return suggestion.nearest;
}

/* The first word is the command unless it is a file; the default is summary. */
static enum gputime_status choose_command(const struct cli_arguments *arguments, const struct cli_command **command,
                                          struct cli_words *words, struct gputime_error *err) {
    struct stat info;
    *words = (struct cli_words){.items = arguments->words, .count = arguments->word_count};
    *command = &cli_command_table[0];
    if (!arguments->plain_words)
        return GPUTIME_OK;
    const char *first = arguments->words[0];
    const struct cli_command *named = cli_command_find(first);
    if (named) {
        *command = named;
        words->items++;
        words->count--;
        return GPUTIME_OK;
    }
    bool is_path = strcmp(first, "-") == 0 || strpbrk(first, "./");
    if (is_path || stat(first, &info) == 0 || errno != ENOENT)
        return GPUTIME_OK; /* if it cannot be read, the command reports that */
    const char *nearest = nearest_command(first);
    return nearest ? cli_fail_usage(err, "no command or file '%s'; did you mean '%s'?", first, nearest)
                   : cli_fail_usage(err, "no command or file '%s'; see 'gputime --help'", first);
}

enum gputime_status cli_program_fail_option(const struct cli_command *command, const struct cli_option *option,
                                            struct gputime_error *err) {
    char others[384] = "";
    size_t used = 0, left_out = 0, room = sizeof others - sizeof " and 99 more";
    for (size_t c = 0; c < cli_command_count; c++) {
        const char *name = cli_command_table[c].name;
        if (!cli_command_takes(&cli_command_table[c], option))
            continue;
        if (left_out || used + strlen(name) + 2 >= room)
            left_out++;
        else
            used += (size_t)snprintf(others + used, sizeof others - used, "%s%s", used ? ", " : "", name);
    }
    if (left_out)
        snprintf(others + used, sizeof others - used, " and %zu more", left_out);
    return cli_fail_usage(err, "--%s is not valid for '%s' (only: %s)", option->name, command->name, others);
}

static enum gputime_status check_options(const struct cli_arguments *arguments, const struct cli_command *command,
                                         struct gputime_error *err) {
    for (size_t i = 0; i < cli_option_count; i++) {
        const struct cli_option *option = &cli_option_table[i];
        if (arguments->given[i] && !cli_command_takes(command, option))
            return cli_program_fail_option(command, option, err);
    }
    char formats[256];
    if (arguments->options.writing.format && !cli_command_writes(command, arguments->options.writing.format))
        return cli_fail_usage(err, "'%s' cannot write %s (only: %s)", command->name, arguments->options.writing.format,
                              cli_command_formats(command, formats, sizeof formats));
    return GPUTIME_OK;
}

static enum gputime_status run_help(const struct cli_options *options, struct cli_words words,
                                    struct gputime_error *err) {
    const struct cli_command *command = words.count ? cli_command_find(words.items[0]) : NULL;
    if (words.count && !command) {
        const char *nearest = nearest_command(words.items[0]);
        return nearest ? cli_fail_usage(err, "unknown command '%s'; did you mean '%s'?", words.items[0], nearest)
                       : cli_fail_usage(err, "unknown command '%s'; see 'gputime help'", words.items[0]);
    }
    if (options->writing.format && strcmp(options->writing.format, "json") == 0)
        cli_help_json(stdout, command);
    else if (command)
        cli_help_command(stdout, command);
    else
        cli_help_program(stdout);
    return GPUTIME_OK;
}

static void print_version(void) {
    char parts[256];
    gputime_parts(parts, sizeof parts);
    printf("gputime %s\n%s\n", GPUTIME_VERSION, parts);
}

static enum gputime_status run_command(const struct cli_command *command, const struct cli_options *options,
                                       struct cli_words words, struct gputime_error *err) {
    switch (command->action) {
    case CLI_ACTION_REPORT:
    case CLI_ACTION_CHECK:
    case CLI_ACTION_RANKS:
        return cli_report_run(command, options, words, err);
    case CLI_ACTION_DIFF:
        return cli_diff_run(command, options, words, err);
    case CLI_ACTION_REDACT:
        return cli_redact_run(command, options, words, err);
    case CLI_ACTION_EXPORT:
        return cli_export_run(command, options, words, err);
    case CLI_ACTION_SQL:
        return cli_sql_run(command, options, words, err);
    case CLI_ACTION_LIST:
        return cli_list_run(command, options, words, err);
    case CLI_ACTION_DEFINE:
        return cli_define_run(command, words, err);
    case CLI_ACTION_CACHE:
        return cli_cache_run(command, words, err);
    case CLI_ACTION_VIEW:
        return cli_view_run(command, options, words, err);
    case CLI_ACTION_MCP:
        return cli_mcp_run(command, options, words, err);
    case CLI_ACTION_HELP:
        return run_help(options, words, err);
    case CLI_ACTION_VERSION:
        break;
    }
    print_version();
    return GPUTIME_OK;
}

static void print_about(const struct cli_arguments *arguments) {
    const struct cli_options *options = &arguments->options;
    const struct cli_command *command = arguments->plain_words ? cli_command_find(arguments->words[0]) : NULL;
    if (options->help && command)
        cli_help_command(stdout, command);
    else if (options->help)
        cli_help_program(stdout);
    else if (options->version)
        print_version();
    else if (options->print_man)
        cli_man_print(stdout);
    else
        cli_completion_print(stdout, (enum cli_shell)options->print_completion);
}

/* The command and all its options. */
static enum gputime_status prepare_command(struct cli_arguments *arguments, const struct cli_command **command,
                                           struct cli_words *words, struct gputime_error *err) {
    enum gputime_status status = choose_command(arguments, command, words, err);
    if (!status)
        status = check_options(arguments, *command, err);
    if (!status && (*command)->groups && (*command)->action != CLI_ACTION_HELP) /* help does not depend on settings */
        status = cli_settings_read(arguments, *command, err);
    return status;
}

static enum gputime_status run(struct cli_arguments *arguments, struct gputime_error *err) {
    const struct cli_command *command;
    struct cli_words words;
    if (cli_options_ask_about(&arguments->options)) {
        print_about(arguments);
        return GPUTIME_OK;
    }
    enum gputime_status status = prepare_command(arguments, &command, &words, err);
    return status ? status : run_command(command, &arguments->options, words, err);
}

enum gputime_status cli_program_call(int argc, char **argv, const struct cli_host *host, struct gputime_error *err) {
    struct cli_arguments arguments;
    const struct cli_command *command = NULL;
    struct cli_words words = {0};
    enum gputime_status status = cli_arguments_parse(&arguments, argc, argv, err);
    if (!status)
        status = host->accept(host->context, &arguments.options, err);
    if (!status)
        status = prepare_command(&arguments, &command, &words, err);
    if (!status) {
        host->settle(host->context, &arguments.options);
        status = run_command(command, &arguments.options, words, err);
    }
    cli_arguments_release(&arguments);
    return status;
}

/* A reader that closed its pipe (head, less) needs no message; the exit status shows it. */
static bool reader_is_gone(void) {
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&out, 1, 0) == 1 && (out.revents & (POLLERR | POLLHUP)) && !(out.revents & POLLNVAL);
}

static enum gputime_status flush_output(struct gputime_error *err) {
    if (fflush(stdout) == 0 && !ferror(stdout))
        return GPUTIME_OK;
    return cli_fail_system(err, errno, "cannot write standard output");
}

/* A closed descriptor would be reused for the next opened file, and printed text would end up in that file. */
static void reserve_standard_files(void) {
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
            return;
}

/* Output files are replaced completely or not at all; unfinished ones are removed. The program still dies from the
 * signal, so that shells and make see it. */
static void end_by_signal(int number) {
    gputime_remove_unfinished();
    raise(number); /* the default action is restored and taken as soon as this returns */
}

static void catch_interrupts(void) {
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = end_by_signal, .sa_flags = (int)SA_RESETHAND}, before;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN) /* nohup ignores SIGHUP */
            sigaction(numbers[i], &action, NULL);
}

/* Analyses allocate and free large arrays in turn. Keeping freed memory in the program saves fetching zeroed pages from
 * the kernel again: a tenth of the time on traces with millions of ops. */
static void keep_memory(void) {
#ifdef __GLIBC__
    mallopt(M_ARENA_MAX, 1);
    mallopt(M_MMAP_THRESHOLD, INT_MAX);
    mallopt(M_TRIM_THRESHOLD, INT_MAX);
#endif
}

static void prepare(void) {
    keep_memory();
    reserve_standard_files();
    signal(SIGPIPE, SIG_IGN); /* so that a pipe closed early does not keep the cache from being written */
    signal(SIGXFSZ, SIG_IGN); /* exceeding the file size limit is an ordinary write error */
    catch_interrupts();
}

int cli_program_run(int argc, char **argv, const struct gputime_team *team) {
    struct cli_command_line line;
    struct cli_arguments arguments = {.words = NULL};
    struct gputime_error err = {.status = GPUTIME_OK};

    prepare();
    enum gputime_status status = cli_command_line_init(&line, argc, argv, &err);
    if (!status && line.count < 2) {
        cli_help_short(stderr);
        cli_command_line_release(&line);
        return GPUTIME_USAGE;
    }
    if (!status)
        status = cli_arguments_parse(&arguments, line.count, line.words, &err);
    arguments.options.team = team;
    if (!status)
        status = run(&arguments, &err);
    if (!status)
        status = flush_output(&err);
    cli_arguments_release(&arguments);
    cli_command_line_release(&line);
    if (status && !(status == GPUTIME_FAILED && reader_is_gone()))
        cli_terminal_print_error(&err);
    return (int)status;
}

void cli_program_serve(int argc, char **argv, const struct gputime_team *team) {
    struct cli_command_line line;
    struct cli_arguments arguments = {.words = NULL};
    const struct cli_command *command;
    struct cli_words words;
    struct gputime_error err = {.status = GPUTIME_OK};

    prepare();
    enum gputime_status status = cli_command_line_init(&line, argc, argv, &err);
    if (!status)
        status = cli_arguments_parse(&arguments, line.count, line.words, &err);
    if (!status && !cli_options_ask_about(&arguments.options)) {
        status = choose_command(&arguments, &command, &words, &err);
        if (!status && command->groups)
            status = cli_settings_read(&arguments, command, &err);
    }
    const struct cli_options *options = &arguments.options;
    gputime_team_serve(team, status ? NULL : &options->opening, options->analysing,
                       status ? 0 : options->analysing_count, status ? &err : NULL);
    cli_arguments_release(&arguments);
    cli_command_line_release(&line);
}
