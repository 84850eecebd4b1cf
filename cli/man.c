/* The manual page, from the tables. */
#include <string.h>

#include "help.h"

static const char *const exit_statuses[][2] = {
    {"0", "success"},
    {"1", "failure: a trace could not be read, or a file or standard output could not be written (no message is "
          "printed when a reader such as head closes the pipe early)"},
    {"2", "invalid command line or configuration file, or a limit that cannot be judged"},
    {"3", "a limit of check or diff is broken"},
};

static const char *const environment[][2] = {
    {"GPUTIME_THREADS", "number of threads, as --threads"},
    {"GPUTIME_MPI_TIMEOUT", "gputime-mpi: seconds without a sign of life after which a process is given up (60)"},
    {"GPUTIME_MPI_PROGRESS", "gputime-mpi: seconds between lines about progress (10); 0: none"},
    {"GPUTIME_RULES", "file or directory of rules, or ENGINE,MODEL; --rules overrides it"},
    {"GPUTIME_CACHE", "directory of the cache; 'off' disables it, as --no-cache does"},
    {"COLUMNS", "width of text if standard output is not a terminal or the width of the terminal is unknown; --width "
                "overrides it. Text in files is 80 columns wide without --width"},
    {"NO_COLOR", "if set, --color auto means never"},
    {"XDG_CACHE_HOME", "the cache is in its directory gputime; ~/.cache if unset"},
    {"XDG_CONFIG_HOME", "the configuration file is gputime/config in it; ~/.config if unset"},
};

/* Text with characters special to troff escaped; line ends become spaces. */
static void print_text(FILE *out, const char *text) {
    if (*text == '.' || *text == '\'')
        fputs("\\&", out);
    for (; *text; text++) {
        switch (*text) {
        case '\\':
            fputs("\\e", out);
            break;
        case '-':
            fputs("\\-", out);
            break;
        case '\'':
            fputs("\\(aq", out);
            break;
        case '\n':
            fputc(' ', out);
            break;
        default:
            fputc(*text, out);
        }
    }
}

static void print_line(FILE *out, const char *text) {
    print_text(out, text);
    fputc('\n', out);
}

static void print_pairs(FILE *out, const char *heading, const char *const pairs[][2], size_t count) {
    fprintf(out, ".SH %s\n", heading);
    for (size_t i = 0; i < count; i++) {
        fputs(".TP\n.B ", out);
        print_line(out, pairs[i][0]);
        print_line(out, pairs[i][1]);
    }
}

static void print_option(FILE *out, const struct cli_option *option, const char *help) {
    char choices[256];
    fputs(".TP\n", out);
    if (option->letter)
        fprintf(out, "\\fB\\-%c\\fR, ", option->letter);
    fputs("\\fB\\-\\-", out);
    print_text(out, option->name);
    fputs("\\fR", out);
    if (option->alias) {
        fputs(", \\fB\\-\\-", out);
        print_text(out, option->alias);
        fputs("\\fR", out);
    }
    if (cli_option_takes_value(option)) {
        fputs(" \\fI", out);
        print_text(out, cli_option_argument(option, choices, sizeof choices));
        fputs("\\fR", out);
    }
    fputc('\n', out);
    print_line(out, help);
}

static void print_command(FILE *out, const struct cli_command *command) {
    fprintf(out, ".SS \"gputime %s%s%s%s\"\n", command->name, command->groups ? " [OPTION]..." : "",
            *command->usage ? " " : "", command->usage);
    print_line(out, command->details);
    for (size_t i = 0; i < cli_option_count; i++) {
        const struct cli_option *option = &cli_option_table[i];
        bool is_special = (option->group & CLI_GROUPS_SPECIAL) != 0;
        if (cli_command_takes(command, option) && (is_special || cli_command_has_note(command, option)))
            print_option(out, option, cli_command_option_help(command, option));
    }
}

static void print_common_options(FILE *out) {
    const char *heading = "";
    fputs(".SH OPTIONS\nOptions may come before or after the traces; \\fB\\-\\-\\fR ends them. The value of a long "
          "option follows a space or an equals sign; dashes and underscores in names are the same. If an option with a "
          "number or a choice, or one on reading, is given again, the last value counts. Options that may be repeated "
          "add up. Files, selections, tables and formats can be given only once.\n",
          out);
    for (size_t i = 0; i < cli_option_count; i++) {
        const struct cli_option *option = &cli_option_table[i];
        if (option->group == CLI_GROUP_HIDDEN || (option->group & CLI_GROUPS_SPECIAL))
            continue;
        if (strcmp(heading, cli_group_heading(option->group)) != 0) {
            heading = cli_group_heading(option->group);
            fprintf(out, ".SS %s\n", heading);
        }
        print_option(out, option, option->help);
    }
}

static void print_examples(FILE *out) {
    fputs(".SH EXAMPLES\n.nf\n", out);
    for (size_t i = 0; i < cli_command_count; i++)
        for (size_t k = 0; k < CLI_MAX_EXAMPLES && cli_command_table[i].examples[k]; k++)
            print_line(out, cli_command_table[i].examples[k]);
    fputs(".fi\n", out);
}

void cli_man_print(FILE *out) {
    fprintf(
        out,
        ".\\\" Made by \"gputime --print-man\" from the program's tables; not to be edited.\n"
        ".TH GPUTIME 1 \"\" \"gputime %s\" \"User Commands\"\n"
        ".SH NAME\ngputime \\- where did the GPU time go?\n"
        ".SH SYNOPSIS\n\\fBgputime\\fR [\\fICOMMAND\\fR] [\\fIOPTION\\fR]... \\fITRACE\\fR...\n"
        ".SH DESCRIPTION\n"
        "Reads GPU traces, accounts for every nanosecond of GPU time, and prints the result or writes it to files. "
        "The default command is \\fBsummary\\fR. Every trace is a separate input, except that files written by "
        "nsys stats with the same prefix (X_cuda_gpu_trace.csv, X_nvtx_sum.csv) are one capture; \\- is standard "
        "input. \\fBgputime list inputs\\fR shows the supported formats. If a file has the name of a command, write "
        "./NAME or put it after \\fB\\-\\-\\fR.\n.SH COMMANDS\n",
        GPUTIME_VERSION);
    for (size_t i = 0; i < cli_command_count; i++)
        print_command(out, &cli_command_table[i]);
    print_common_options(out);
    print_pairs(out, "EXIT STATUS", exit_statuses, sizeof exit_statuses / sizeof *exit_statuses);
    print_pairs(out, "ENVIRONMENT", environment, sizeof environment / sizeof *environment);
    fputs(
        ".SH FILES\n.TP\n.B $XDG_CONFIG_HOME/gputime/config\n"
        "Lines \\fIoption\\fR = \\fIvalue\\fR with long option names; \\fB#\\fR starts a comment. Flags are yes or no. "
        "The environment and the command line override it.\n",
        out);
    print_examples(out);
}
