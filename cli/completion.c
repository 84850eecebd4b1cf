/* Completions for bash, zsh and fish, from the tables and the library's registries. */
#include <string.h>

#include "help.h"

/* ---- values of options and commands ---- */

enum { VALUES_BYTES = 4096 };

static void add_value(char *values, const char *value, size_t bytes) {
    size_t used = strlen(values);
    if (used + bytes + 2 > VALUES_BYTES)
        return;
    if (used)
        values[used++] = ' ';
    memcpy(values + used, value, bytes);
    values[used + bytes] = '\0';
}

/* Items of "a|b" or "a,b". */
static void add_values(char *values, const char *list) {
    for (const char *item = list; item && *item;) {
        size_t bytes = strcspn(item, "|,");
        add_value(values, item, bytes);
        item += bytes + (item[bytes] != '\0');
    }
}

static bool has_value(const char *values, const char *value) {
    size_t bytes = strlen(value);
    for (const char *found = strstr(values, value); found; found = strstr(found + 1, value))
        if ((found == values || found[-1] == ' ') && (found[bytes] == ' ' || !found[bytes]))
            return true;
    return false;
}

static void add_sorts(char *values, size_t option_offset) {
    for (size_t c = 0; c < cli_command_count; c++)
        for (size_t p = 0; p < CLI_MAX_PARTS; p++)
            for (size_t l = 0; l < CLI_MAX_LISTS; l++) {
                const struct cli_list *list = cli_command_table[c].parts[p].lists[l];
                const struct cli_sort *sort = list && list->sort_offset == option_offset ? list->sorts : NULL;
                for (; sort && sort->name; sort++)
                    if (!has_value(values, sort->name))
                        add_value(values, sort->name, strlen(sort->name));
            }
}

/* Values of the option, separated by spaces; empty if it takes any. */
static const char *option_values(const struct cli_option *option, char *values) {
    char choices[256];
    values[0] = '\0';
    add_values(values, cli_option_choices(option, choices, sizeof choices));
    if (option->offset == offsetof(struct cli_options, sort) ||
        option->offset == offsetof(struct cli_options, gap_sort))
        add_sorts(values, option->offset);
    if (option->offset == offsetof(struct cli_options, writing.table) ||
        option->offset == offsetof(struct cli_options, of))
        for (size_t i = 0; i < gputime_registry_count(GPUTIME_ANALYSES); i++)
            add_values(values, gputime_registry_entry(GPUTIME_ANALYSES, i).detail);
    if (option->offset == offsetof(struct cli_options, selection.categories))
        for (size_t i = 0; i < gputime_registry_count(GPUTIME_CATEGORIES); i++)
            add_values(values, gputime_registry_entry(GPUTIME_CATEGORIES, i).key);
    return values;
}

static bool takes_file(const struct cli_option *option) {
    return option->argument && strcmp(option->argument, "FILE") == 0;
}

/* Words that follow the command; empty: files. */
static const char *command_words(const struct cli_command *command, char *values) {
    values[0] = '\0';
    add_values(values, command->words);
    for (size_t i = 0; command->action == CLI_ACTION_HELP && i < cli_command_count; i++)
        add_value(values, cli_command_table[i].name, strlen(cli_command_table[i].name));
    return values;
}

static const char *all_commands(char *values) {
    values[0] = '\0';
    for (size_t i = 0; i < cli_command_count; i++)
        add_value(values, cli_command_table[i].name, strlen(cli_command_table[i].name));
    return values;
}

static bool is_offered(const struct cli_command *command, const struct cli_option *option) {
    return option->group != CLI_GROUP_HIDDEN && cli_command_takes(command, option);
}

/* Text inside single quotes of a shell; line ends become spaces, characters of `special` get a backslash. */
static void print_quoted(FILE *out, const char *text, const char *special, const char *quote) {
    for (; *text; text++) {
        if (*text == '\'')
            fputs(quote, out);
        else if (*text == '\n')
            fputc(' ', out);
        else
            fprintf(out, "%s%c", strchr(special, *text) ? "\\" : "", *text);
    }
}

/* ---- bash ---- */

/* Whether the name is another option in other commands. */
static bool has_namesake(const struct cli_option *option) {
    size_t count = 0;
    for (size_t i = 0; i < cli_option_count; i++)
        count += strcmp(cli_option_table[i].name, option->name) == 0;
    return count > 1;
}

/* Patterns of "COMMAND OPTION". */
static void print_bash_names(FILE *out, const struct cli_option *option) {
    if (has_namesake(option)) {
        const char *between = "";
        for (size_t c = 0; c < cli_command_count; c++)
            if (cli_command_takes(&cli_command_table[c], option)) {
                fprintf(out, "%s\"%s --%s\"", between, cli_command_table[c].name, option->name);
                between = " | ";
            }
        return;
    }
    fprintf(out, "*\" --%s\"", option->name);
    if (option->alias)
        fprintf(out, " | *\" --%s\"", option->alias);
    if (option->letter)
        fprintf(out, " | *\" -%c\"", option->letter);
}

static void print_bash_values(FILE *out) {
    char values[VALUES_BYTES];
    for (size_t i = 0; i < cli_option_count; i++) {
        const struct cli_option *option = &cli_option_table[i];
        if (option->group == CLI_GROUP_HIDDEN || !cli_option_takes_value(option))
            continue;
        fputs("        ", out);
        print_bash_names(out, option);
        if (takes_file(option))
            fputs(") files=yes ;;\n", out);
        else if (*option_values(option, values))
            fprintf(out, ") words=\"%s\" ;;\n", values);
        else
            fputs(") ;;\n", out);
    }
    fputs("        *) return 1 ;;\n", out);
}

static void print_bash_commands(FILE *out) {
    char values[VALUES_BYTES];
    for (size_t c = 0; c < cli_command_count; c++) {
        const struct cli_command *command = &cli_command_table[c];
        fprintf(out, "            %s)\n                ", command->name);
        if (command->words)
            fprintf(out, "words=\"%s\"\n", command_words(command, values));
        else
            fputs("files=yes\n", out);
        fputs("                options=\"", out);
        for (size_t i = 0, count = 0; i < cli_option_count; i++)
            if (is_offered(command, &cli_option_table[i]))
                fprintf(out, "%s--%s", count++ ? " " : "", cli_option_table[i].name);
        fputs("\"\n                ;;\n", out);
    }
}

static void print_bash(FILE *out) {
    char values[VALUES_BYTES];
    fputs("# Completions of gputime for bash.\n\n"
          "# Completes the value of an option: sets words or files; fails if the option takes no value.\n"
          "_gputime_value() {\n    case \"$1 $2\" in\n",
          out);
    print_bash_values(out);
    fprintf(out,
            "    esac\n}\n\n"
            "_gputime() {\n"
            "    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}\n"
            "    local commands=\"%s\" command=\"\" words=\"\" files=\"\" options i\n"
            "    # '=' breaks words: --unit=m arrives as '--unit' '=' 'm'.\n"
            "    if [[ $current == \"=\" ]]; then\n"
            "        current=\"\"\n"
            "    elif [[ $previous == \"=\" ]] && ((COMP_CWORD > 1)); then\n"
            "        previous=${COMP_WORDS[COMP_CWORD - 2]}\n"
            "    fi\n"
            "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
            "        if [[ \" $commands \" == *\" ${COMP_WORDS[i]} \"* ]]; then\n"
            "            command=${COMP_WORDS[i]}\n"
            "            break\n"
            "        fi\n"
            "    done\n"
            "    if ! _gputime_value \"${command:-%s}\" \"$previous\"; then\n"
            "        case ${command:-%s} in\n",
            all_commands(values), cli_command_table[0].name, cli_command_table[0].name);
    print_bash_commands(out);
    fputs("        esac\n"
          "        [[ -z $command ]] && words=$commands\n"
          "        [[ $current == -* ]] && words=$options files=\"\"\n"
          "    fi\n"
          "    [[ -n $files ]] && compopt -o filenames 2>/dev/null\n"
          "    mapfile -t COMPREPLY < <(\n"
          "        compgen -W \"$words\" -- \"$current\"\n"
          "        [[ -n $files ]] && compgen -f -- \"$current\"\n"
          "    )\n"
          "}\n"
          "complete -F _gputime gputime\n",
          out);
}

/* ---- zsh ---- */

static void print_zsh_option(FILE *out, const struct cli_option *option, const char *help) {
    char values[VALUES_BYTES];
    bool takes_value = cli_option_takes_value(option);
    const char *equals = takes_value ? "=" : "";
    fputs("                ", out);
    if (option->letter || option->alias) {
        fprintf(out, "'(--%s", option->name);
        if (option->alias)
            fprintf(out, " --%s", option->alias);
        if (option->letter)
            fprintf(out, " -%c", option->letter);
        fprintf(out, ")'{--%s%s", option->name, equals);
        if (option->alias)
            fprintf(out, ",--%s%s", option->alias, equals);
        if (option->letter)
            fprintf(out, ",-%c%s", option->letter, takes_value ? "+" : "");
        fputs("}'[", out);
    } else {
        fprintf(out, "'--%s%s[", option->name, equals);
    }
    print_quoted(out, help, "[]\\", "'\\''");
    fputc(']', out);
    if (takes_value && takes_file(option))
        fputs(":file:_files", out);
    else if (takes_value && *option_values(option, values))
        fprintf(out, ":value:(%s)", values);
    else if (takes_value)
        fprintf(out, ":%s: ", option->argument);
    fputs("' \\\n", out);
}

static void print_zsh_command(FILE *out, const struct cli_command *command) {
    char values[VALUES_BYTES];
    fprintf(out, "        %s)\n            _arguments -s -S \\\n", command->name);
    for (size_t i = 0; i < cli_option_count; i++)
        if (is_offered(command, &cli_option_table[i]))
            print_zsh_option(out, &cli_option_table[i], cli_command_option_help(command, &cli_option_table[i]));
    fputs("                '1: :_gputime_first' \\\n", out);
    if (*command_words(command, values))
        fprintf(out, "                '2:word:(%s)' ;;\n", values);
    else if (command->words)
        fputs("                '2: :_message \"no more arguments\"' ;;\n", out);
    else
        fputs("                '*:trace:_files' ;;\n", out);
}

static void print_zsh(FILE *out) {
    fputs("#compdef gputime\n# Completions of gputime for zsh.\n\n"
          "_gputime_first() {\n    _describe -t commands command commands\n    _files\n}\n\n"
          "_gputime() {\n    local -a commands\n    commands=(\n",
          out);
    for (size_t c = 0; c < cli_command_count; c++) {
        fprintf(out, "        '%s:", cli_command_table[c].name);
        print_quoted(out, cli_command_table[c].help, ":\\", "'\\''");
        fputs("'\n", out);
    }
    fprintf(out,
            "    )\n    local command=%s word\n"
            "    for word in \"${(@)words[2,CURRENT-1]}\"; do\n"
            "        if [[ $word == [a-z]## && -n ${(M)commands:#$word:*} ]]; then\n"
            "            command=$word\n            break\n        fi\n    done\n"
            "    case $command in\n",
            cli_command_table[0].name);
    for (size_t c = 0; c < cli_command_count; c++)
        print_zsh_command(out, &cli_command_table[c]);
    fputs("    esac\n}\n\n_gputime \"$@\"\n", out);
}

/* ---- fish ---- */

static void print_fish_option(FILE *out, const struct cli_option *option) {
    char values[VALUES_BYTES];
    fputs("complete -c gputime -n 'contains (__gputime_command)", out);
    for (size_t c = 0; c < cli_command_count; c++)
        if (cli_command_takes(&cli_command_table[c], option))
            fprintf(out, " %s", cli_command_table[c].name);
    fprintf(out, "' -l %s", option->name);
    if (option->alias)
        fprintf(out, " -l %s", option->alias);
    if (option->letter)
        fprintf(out, " -s %c", option->letter);
    if (cli_option_takes_value(option)) {
        fputs(takes_file(option) ? " -r" : " -x", out);
        if (*option_values(option, values))
            fprintf(out, " -a '%s'", values);
    }
    fputs(" -d '", out);
    print_quoted(out, option->help, "\\", "\\'");
    fputs("'\n", out);
}

static void print_fish(FILE *out) {
    char values[VALUES_BYTES];
    fprintf(out,
            "# Completions of gputime for fish.\n\n"
            "function __gputime_command\n"
            "    for word in (commandline -opc)[2..-1]\n"
            "        if contains -- $word %s\n"
            "            echo $word\n            return\n        end\n    end\n    echo %s\nend\n\n",
            all_commands(values), cli_command_table[0].name);
    for (size_t c = 0; c < cli_command_count; c++) {
        const struct cli_command *command = &cli_command_table[c];
        fprintf(out, "complete -c gputime -n 'not __fish_seen_subcommand_from %s' -a %s -d '", all_commands(values),
                command->name);
        print_quoted(out, command->help, "\\", "\\'");
        fputs("'\n", out);
        if (*command_words(command, values))
            fprintf(out, "complete -c gputime -n 'contains (__gputime_command) %s' -f -a '%s'\n", command->name,
                    values);
    }
    for (size_t i = 0; i < cli_option_count; i++)
        if (cli_option_table[i].group != CLI_GROUP_HIDDEN)
            print_fish_option(out, &cli_option_table[i]);
}

void cli_completion_print(FILE *out, enum cli_shell shell) {
    if (shell == CLI_SHELL_BASH)
        print_bash(out);
    else if (shell == CLI_SHELL_ZSH)
        print_zsh(out);
    else
        print_fish(out);
}
