/* The manual page, from the tables. */
#include <string.h>

#include "help.h"

static const char *const exit_statuses[][2] = {
    {"0", "done"},
    {"1", "failed: a trace could not be read, or a file or standard output not be written (a reader that closes its "
          "pipe early, such as head, counts as that but is not remarked on)"},
    {"2", "the command line or the configuration file makes no sense, or a limit cannot be judged"},
    {"3", "a limit is broken that check or diff was given"},
};

static const char *const environment[][2] = {
    {"GPUTIME_THREADS", "threads to work with, as --threads"},
    {"GPUTIME_RULES", "file or folder of rules, or ENGINE,MODEL, as --rules, which goes before it"},
    {"GPUTIME_CACHE", "folder of the cache; 'off' turns it off, as --no-cache does"},
    {"COLUMNS", "columns of text where standard output is no terminal, or one that does not tell its width; --width "
                "goes before it, and text in files has 80 columns without --width"},
    {"NO_COLOR", "when set, --color auto means never"},
    {"XDG_CACHE_HOME", "the cache is in its folder gputime; ~/.cache when unset"},
    {"XDG_CONFIG_HOME", "the configuration file is its gputime/config; ~/.config when unset"},
};

/* Text with what troff would take for itself escaped; line ends become spaces. */
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
        bool is_special = ((unsigned)option->group & CLI_GROUPS_SPECIAL) != 0;
        if (cli_command_takes(command, option) && (is_special || cli_command_has_note(command, option)))
            print_option(out, option, cli_command_option_help(command, option));
    }
}

static void print_common_options(FILE *out) {
    const char *heading = "";
    fputs(".SH OPTIONS\nOptions may stand before or after the traces; \\fB\\-\\-\\fR ends them. Long names take "
          "their value after a space or an equals sign, and dashes and underscores in them are the same. Of an option "
          "with a number or a choice, and of those on reading, the last counts; files, selections, tables and formats "
          "can be given once, but for those that may be repeated, which add up.\n",
          out);
    for (size_t i = 0; i < cli_option_count; i++) {
        const struct cli_option *option = &cli_option_table[i];
        if (option->group == CLI_GROUP_HIDDEN || ((unsigned)option->group & CLI_GROUPS_SPECIAL))
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
    fprintf(out,
            ".\\\" Made by \"gputime --print-man\" from the program's tables; not to be edited.\n"
            ".TH GPUTIME 1 \"\" \"gputime %s\" \"User Commands\"\n"
            ".SH NAME\ngputime \\- where did the GPU time go?\n"
            ".SH SYNOPSIS\n\\fBgputime\\fR [\\fICOMMAND\\fR] [\\fIOPTION\\fR]... \\fITRACE\\fR...\n"
            ".SH DESCRIPTION\n"
            "Reads GPU traces, accounts for every nanosecond of GPU time and shows it in the terminal or writes it to "
            "files. Without a command it is \\fBsummary\\fR. Every trace is an input of its own, but for files that "
            "share the name before the report that nsys stats wrote (X_cuda_gpu_trace.csv, X_nvtx_sum.csv), which are "
            "one capture; \\- is standard input. "
            "\\fBgputime list inputs\\fR shows what can be read. A file that is named like a command is given as "
            "./NAME or after \\fB\\-\\-\\fR.\n.SH COMMANDS\n",
            GPUTIME_VERSION);
    for (size_t i = 0; i < cli_command_count; i++)
        print_command(out, &cli_command_table[i]);
    print_common_options(out);
    print_pairs(out, "EXIT STATUS", exit_statuses, sizeof exit_statuses / sizeof *exit_statuses);
    print_pairs(out, "ENVIRONMENT", environment, sizeof environment / sizeof *environment);
    fputs(".SH FILES\n.TP\n.B $XDG_CONFIG_HOME/gputime/config\n"
          "Lines \\fIoption\\fR = \\fIvalue\\fR with the long names of options; \\fB#\\fR starts a comment. Flags are "
          "yes or no. The environment and the command line come before it.\n",
          out);
    print_examples(out);
}
