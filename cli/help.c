/* --help of the program and of each command, from the tables: at most 80 columns, one screen. */
#include "help.h"

#include <string.h>

#include "paragraph.h"

enum { WIDTH = CLI_PARAGRAPH_WIDTH, HELP_COLUMN = 28 };

void cli_help_short(FILE *out) {
    fputs("gputime: where did the GPU time go?\n"
          "\n"
          "Usage: gputime [COMMAND] [OPTION]... TRACE...\n"
          "Try:   gputime trace.json.gz    summary of the trace\n"
          "       gputime --help           commands and options\n",
          out);
}

/* Help lines of an option, aligned. */
static void print_help_lines(FILE *out, const char *help) {
    for (; *help; help++) {
        fputc(*help, out);
        if (*help == '\n')
            fprintf(out, "%*s", HELP_COLUMN, "");
    }
    fputc('\n', out);
}

/* Choices that do not fit go after the help text, unless a note of the command lists them. */
static void print_option(FILE *out, const struct cli_option *option, const char *help, bool is_note) {
    char left[160], choices[128], letter[8] = "    ", longer[160];
    const char *argument = cli_option_takes_value(option) ? cli_option_argument(option, choices, sizeof choices) : "";
    if (option->letter)
        snprintf(letter, sizeof letter, "-%c, ", option->letter);
    int bytes = snprintf(left, sizeof left, "  %s--%s%s%s", letter, option->name, *argument ? " " : "", argument);
    bool has_choices = argument != option->argument;
    if (bytes + 2 > HELP_COLUMN && option->argument && has_choices) {
        snprintf(left, sizeof left, "  %s--%s %s", letter, option->name, option->argument);
        snprintf(longer, sizeof longer, "%s (%s)", help, argument);
        help = is_note ? help : longer;
    }
    fprintf(out, "%-*s", HELP_COLUMN, left);
    if (strlen(left) + 2 > HELP_COLUMN)
        fprintf(out, "\n%*s", HELP_COLUMN, "");
    print_help_lines(out, help);
}

/* The line of --format covers --json and the like. */
static bool has_own_line(const struct cli_option *option) {
    return option->group != CLI_GROUP_HIDDEN && option->type != CLI_CONSTANT;
}

static bool is_common(const struct cli_option *option) {
    return has_own_line(option) && !(option->group & CLI_GROUPS_SPECIAL);
}

/* --help and --version are listed among the options already. */
static bool has_option_form(const struct cli_command *command) {
    return command->action == CLI_ACTION_HELP || command->action == CLI_ACTION_VERSION;
}

/* "--from TIME  --to TIME ...", broken into lines. */
struct name_list {
    FILE *out;
    size_t column;
};

static void print_name(struct name_list *list, const struct cli_option *option) {
    char text[160], letter[8] = "";
    const char *argument = !cli_option_takes_value(option) ? "" : option->argument ? option->argument : option->choices;
    if (option->letter)
        snprintf(letter, sizeof letter, "-%c, ", option->letter);
    int bytes = snprintf(text, sizeof text, "  %s--%s%s%s", letter, option->name, *argument ? " " : "", argument);
    if (list->column && list->column + (size_t)bytes > WIDTH) {
        fputc('\n', list->out);
        list->column = 0;
    }
    fputs(text, list->out);
    list->column += (size_t)bytes;
}

/* Rarely needed options are only listed here; the manual explains them. */
static bool is_rare(const struct cli_option *option) {
    return option->is_rare || option->group == CLI_GROUP_READING || option->group == CLI_GROUP_TERMINAL ||
           option->group == CLI_GROUP_GENERAL;
}

void cli_help_program(FILE *out) {
    struct name_list rare = {.out = out};
    const char *heading = "";
    fputs("gputime: where did the GPU time go?\n"
          "\n"
          "Usage: gputime [COMMAND] [OPTION]... TRACE...\n"
          "\n"
          "Commands ('gputime COMMAND --help' shows the options of a command):\n",
          out);
    for (size_t i = 0; i < cli_command_count; i++)
        if (!has_option_form(&cli_command_table[i]))
            fprintf(out, "  %-12s%s\n", cli_command_table[i].name, cli_command_table[i].help);
    fputc('\n', out);
    for (size_t i = 0; i < cli_option_count; i++) {
        const struct cli_option *option = &cli_option_table[i];
        if (!is_common(option) || is_rare(option))
            continue;
        if (strcmp(heading, cli_group_heading(option->group)) != 0) {
            heading = cli_group_heading(option->group);
            fprintf(out, "%s:\n", heading);
        }
        print_option(out, option, option->help, false);
    }
    fputs("Other options (see the manual):\n", out);
    for (size_t i = 0; i < cli_option_count; i++)
        if (is_rare(&cli_option_table[i]))
            print_name(&rare, &cli_option_table[i]);
    fprintf(out, "\n\nExample: %s\n", cli_command_table[1].examples[0]);
}

static bool is_own(const struct cli_command *command, const struct cli_option *option) {
    return cli_command_takes(command, option) && has_own_line(option) &&
           (!is_common(option) || cli_command_has_note(command, option));
}

static void print_common_names(FILE *out, const struct cli_command *command) {
    struct name_list list = {.out = out};
    for (size_t i = 0; i < cli_option_count; i++) {
        const struct cli_option *option = &cli_option_table[i];
        if (cli_command_takes(command, option) && option->group != CLI_GROUP_HIDDEN && !is_own(command, option))
            print_name(&list, option);
    }
    fputc('\n', out);
}

void cli_help_command(FILE *out, const struct cli_command *command) {
    bool takes_options = false;
    fprintf(out, "Usage: gputime %s %s%s\n\n", command->name, command->groups ? "[OPTION]... " : "", command->usage);
    cli_paragraph_print(out, command->details, 0);
    for (size_t i = 0; i < cli_option_count; i++) {
        const struct cli_option *option = &cli_option_table[i];
        if (!is_own(command, option))
            continue;
        if (!takes_options)
            fputs("\nOptions:\n", out);
        takes_options = true;
        print_option(out, option, cli_command_option_help(command, option), cli_command_has_note(command, option));
    }
    if (command->groups & (CLI_GROUP_SELECTION | CLI_GROUP_TABLES)) {
        fputs("\nCommon options (see 'gputime --help'):\n", out);
        print_common_names(out, command);
    }
    fputs(command->examples[1] ? "\nExamples:\n" : "\nExample:\n", out);
    for (size_t i = 0; i < CLI_MAX_EXAMPLES && command->examples[i]; i++)
        fprintf(out, "  %s\n", command->examples[i]);
}
