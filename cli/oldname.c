/* Which command replaces which older program. Their options are in the option table, next to gputime's own. */
#include "oldname.h"

#include <dirent.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "error.h"

struct old_program {
    const char *name;    /* with or without ".py"; '-' and '_' are the same */
    const char *command; /* that replaces it */
    bool is_script;      /* only with ".py": the name alone is too generic */
    bool has_own_rules;  /* it uses the JSON files in its directory as rules */
};

static const struct old_program old_programs[] = {
    {.name = "gputrc2graph", .command = "graph", .has_own_rules = true},
    {.name = "nsys-llm-explain", .command = "explain"},
    {.name = "gpu-kernel-analyzer", .command = "kernels"},
    {.name = "profiler", .command = "kernels", .is_script = true},
    {.name = "gpu-performance-analyser", .command = "stats"},
    {.name = "gpu-perf-analyser", .command = "stats"},
    {.name = "main", .command = "stats", .is_script = true},
    {.name = "kernel-stats", .command = "stats", .is_script = true},
};

static bool is_same_name(const char *name, const char *given, size_t bytes) {
    for (size_t i = 0; i < bytes; i++)
        if (name[i] != (given[i] == '_' ? '-' : given[i]))
            return false;
    return name[bytes] == '\0';
}

static const struct old_program *find_program(const char *path) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t bytes = strlen(name);
    bool is_script = bytes > 3 && strcmp(name + bytes - 3, ".py") == 0;
    bytes -= is_script ? 3 : 0;
    for (size_t i = 0; i < sizeof old_programs / sizeof *old_programs; i++)
        if (is_same_name(old_programs[i].name, name, bytes) && (is_script || !old_programs[i].is_script))
            return &old_programs[i];
    return NULL;
}

/* Traces and settings are JSON too and may be in the same directory. */
static bool is_rule_file(const char *path) {
    enum { LARGEST_BYTES = 1 << 20 };
    struct stat info;
    struct gputime_rules *rules = NULL;
    struct gputime_error ignored;
    bool is_one = stat(path, &info) == 0 && S_ISREG(info.st_mode) && info.st_size <= LARGEST_BYTES &&
                  gputime_rules_list(&path, 1, &rules, &ignored) == GPUTIME_OK;
    gputime_rules_free(rules);
    return is_one;
}

static int is_json(const struct dirent *entry) {
    return fnmatch("*.json", entry->d_name, FNM_PERIOD) == 0;
}

static int by_name(const struct dirent **a, const struct dirent **b) {
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* The rule files in the directory of a program that was called by its path. */
static void find_own_rules(struct cli_command_line *line, const char *program) {
    const char *slash = strrchr(program, '/');
    char directory[PATH_MAX];
    struct dirent **entries = NULL;
    if (!slash ||
        snprintf(directory, sizeof directory, "%.*s", (int)(slash - program + 1), program) >= (int)sizeof directory)
        return;
    int count = scandir(directory, &entries, is_json, by_name);
    for (int i = 0; i < count; i++) {
        char *path = NULL;
        if (line->rule_count < CLI_OWN_RULES_MAX && asprintf(&path, "%s%s", directory, entries[i]->d_name) > 0 &&
            is_rule_file(path))
            line->rules[line->rule_count++] = path;
        else
            free(path);
        free(entries[i]);
    }
    free(entries);
}

static void add_word(struct cli_command_line *line, const char *word) {
    line->words[line->count++] = (char *)(uintptr_t)word;
}

enum gputime_status cli_command_line_init(struct cli_command_line *line, int argc, char **argv,
                                          struct gputime_error *err) {
    const struct old_program *program = argc > 0 ? find_program(argv[0]) : NULL;
    *line = (struct cli_command_line){0};
    if (program && program->has_own_rules)
        find_own_rules(line, argv[0]);
    line->words = calloc((size_t)argc + 1 + 2 * line->rule_count + 1, sizeof *line->words);
    if (!line->words)
        return cli_fail_memory(err);
    if (argc > 0)
        add_word(line, argv[0]);
    if (program)
        add_word(line, program->command);
    for (size_t i = 0; i < line->rule_count; i++) {
        add_word(line, "--rules");
        add_word(line, line->rules[i]);
    }
    for (int i = 1; i < argc; i++)
        add_word(line, argv[i]);
    return GPUTIME_OK;
}

void cli_command_line_release(struct cli_command_line *line) {
    for (size_t i = 0; i < line->rule_count; i++)
        free(line->rules[i]);
    free(line->words);
    *line = (struct cli_command_line){0};
}
