/* The commands that read no trace: "list" prints the library's registries, "cache" shows or clears the cache. */
#include <stdio.h>
#include <string.h>

#include "actions.h"
#include "error.h"
#include "json_tables.h"
#include "suggest.h"
#include "terminal.h"

struct listing {
    const char *name, *title;
    enum gputime_registry registry;
    const char *detail_title;
};

static const struct listing listings[] = {
    {"inputs", "Inputs", GPUTIME_INPUTS, "Suffixes"},
    {"analyses", "Analyses", GPUTIME_ANALYSES, "Tables"},
    {"outputs", "Outputs", GPUTIME_OUTPUTS, "Suffix"},
    {"exports", "Exports", GPUTIME_EXPORTS, "Suffix"},
    {"categories", "Categories", GPUTIME_CATEGORIES, "Time class"},
};

static const char *or_empty(const char *text) {
    return text ? text : "";
}

static void begin_json(struct cli_json_tables *json, const char *name, const char *title,
                       const struct cli_json_column *columns) {
    cli_json_tables_begin(json, stdout, "list");
    cli_json_tables_table(json, name, title, columns);
}

static void print_json(const struct listing *listing) {
    const struct cli_json_column columns[] = {{"key", "Key", false},
                                              {"title", "Title", false},
                                              {"detail", listing->detail_title, false},
                                              {NULL, NULL, false}};
    struct cli_json_tables json;
    begin_json(&json, listing->name, listing->title, columns);
    for (size_t i = 0; i < gputime_registry_count(listing->registry); i++) {
        struct gputime_entry entry = gputime_registry_entry(listing->registry, i);
        const char *cells[] = {entry.key, or_empty(entry.title), or_empty(entry.detail)};
        cli_json_tables_row(&json, cells);
    }
    cli_json_tables_end(&json);
}

static void print_text(const struct listing *listing) {
    size_t count = gputime_registry_count(listing->registry);
    int key_width = 3, title_width = 5;
    for (size_t i = 0; i < count; i++) {
        struct gputime_entry entry = gputime_registry_entry(listing->registry, i);
        int key_bytes = (int)strlen(or_empty(entry.key)), title_bytes = (int)strlen(or_empty(entry.title));
        key_width = key_bytes > key_width ? key_bytes : key_width;
        title_width = title_bytes > title_width ? title_bytes : title_width;
    }
    printf("%-*s  %-*s  %s\n", key_width, "Key", title_width, "Title", listing->detail_title);
    for (size_t i = 0; i < count; i++) {
        struct gputime_entry entry = gputime_registry_entry(listing->registry, i);
        const char *detail = or_empty(entry.detail);
        bool fits = key_width + title_width + 4 + (int)strlen(detail) <= cli_terminal_width();
        printf("%-*s  %-*s", key_width, or_empty(entry.key), *detail && fits ? title_width : 0, or_empty(entry.title));
        if (*detail && fits)
            printf("  %s", detail);
        else if (*detail)
            printf("\n%*s  %s", key_width, "", detail);
        putchar('\n');
    }
}

static enum gputime_status fail_word(const struct cli_command *command, struct cli_words words,
                                     struct gputime_error *err) {
    if (words.count > 1)
        return cli_fail_usage(err, "'%s': unexpected argument '%s'; usage: gputime %s %s", command->name,
                              words.items[1], command->name, command->usage);
    if (words.count == 0)
        return cli_fail_usage(err, "'%s' needs an argument; usage: gputime %s %s", command->name, command->name,
                              command->usage);
    return cli_fail_usage(err, "'%s': unknown argument '%s'; usage: gputime %s %s", command->name, words.items[0],
                          command->name, command->usage);
}

/* ---- rules ---- */

static void print_rules_json(const struct gputime_rules *rules) {
    static const struct cli_json_column columns[] = {
        {"key", "Rule", false},      {"title", "Category", false},          {"detail", "Pattern", false},
        {"source", "Source", false}, {"replaced_by", "Replaced by", false}, {NULL, NULL, false}};
    struct cli_json_tables json;
    begin_json(&json, "rules", "Rules for categories", columns);
    for (size_t i = 0; i < gputime_rules_count(rules); i++) {
        struct gputime_rule rule = gputime_rules_at(rules, i);
        char key[1024], source[4096], replaced_by[4096]; /* file names may not be valid text */
        snprintf(key, sizeof key, "%s %u", cli_terminal_text(source, sizeof source, rule.model), rule.number);
        const char *cells[] = {key, rule.category, rule.pattern, cli_terminal_text(source, sizeof source, rule.source),
                               cli_terminal_text(replaced_by, sizeof replaced_by, or_empty(rule.replaced_by))};
        cli_json_tables_row(&json, cells);
    }
    cli_json_tables_end(&json);
}

/* Rules by model, below their source. Texts from files may contain anything. */
static void print_rules_text(const struct gputime_rules *rules) {
    const char *model = NULL, *source = NULL;
    char text[4096];
    for (size_t i = 0; i < gputime_rules_count(rules); i++) {
        struct gputime_rule rule = gputime_rules_at(rules, i);
        if (rule.model != model || rule.source != source) {
            printf("%s%s", i ? "\n" : "", cli_terminal_text(text, sizeof text, rule.model));
            printf("  (%s", cli_terminal_text(text, sizeof text, rule.source));
            if (rule.replaced_by)
                printf("; replaced by %s", cli_terminal_text(text, sizeof text, rule.replaced_by));
            puts(")");
        }
        model = rule.model;
        source = rule.source;
        printf("%5u  %-20s", rule.number, cli_terminal_text(text, sizeof text, rule.category));
        printf("  %s\n", cli_terminal_text(text, sizeof text, rule.pattern));
    }
}

/* ---- engines ---- */

/* The engine and model of a rule as options name them ("vllm,llama"). false: it is not the first rule of the model, is
 * replaced by other rules, or has no engine. */
static bool names_engine(const struct gputime_rules *rules, size_t index, char *text, size_t size) {
    struct gputime_rule rule = gputime_rules_at(rules, index);
    bool is_first = index == 0 || gputime_rules_at(rules, index - 1).model != rule.model;
    const char *slash = strchr(rule.model, '/');
    if (!is_first || rule.replaced_by || !slash || rule.model == rule.source)
        return false;
    snprintf(text, size, "%.*s,%s", (int)(slash - rule.model), rule.model, slash + 1);
    return true;
}

static void print_engines_json(const struct gputime_rules *rules) {
    static const struct cli_json_column columns[] = {
        {"key", "Engine and model", false}, {"source", "Source", false}, {NULL, NULL, false}};
    char key[1024], text[4096], source[4096];
    struct cli_json_tables json;
    begin_json(&json, "engines", "Engines and models", columns);
    for (size_t i = 0; i < gputime_rules_count(rules); i++)
        if (names_engine(rules, i, key, sizeof key)) {
            const char *cells[] = {
                cli_terminal_text(text, sizeof text, key),
                cli_terminal_text(source, sizeof source, gputime_rules_at(rules, i).source),
            };
            cli_json_tables_row(&json, cells);
        }
    cli_json_tables_end(&json);
}

static void print_engines_text(const struct gputime_rules *rules) {
    char key[1024], text[4096];
    printf("%-20s  Source\n", "Engine,model");
    for (size_t i = 0; i < gputime_rules_count(rules); i++)
        if (names_engine(rules, i, key, sizeof key)) {
            printf("%-20s", cli_terminal_text(text, sizeof text, key));
            printf("  %s\n", cli_terminal_text(text, sizeof text, gputime_rules_at(rules, i).source));
        }
    puts("\n'gputime list rules' shows the rules of each.");
}

static enum gputime_status list_rules(const struct gputime_open_options *options,
                                      void (*print)(const struct gputime_rules *rules), struct gputime_error *err) {
    struct gputime_rules *rules;
    enum gputime_status status = gputime_rules_list(options->rule_paths, options->rule_path_count, &rules, err);
    if (status)
        return status;
    print(rules);
    gputime_rules_free(rules);
    return GPUTIME_OK;
}

enum gputime_status cli_list_run(const struct cli_command *command, const struct cli_options *options,
                                 struct cli_words words, struct gputime_error *err) {
    bool is_json = options->writing.format && strcmp(options->writing.format, "json") == 0;
    if (words.count == 1 && strcmp(words.items[0], "rules") == 0)
        return list_rules(&options->opening, is_json ? print_rules_json : print_rules_text, err);
    if (words.count == 1 && strcmp(words.items[0], "engines") == 0)
        return list_rules(&options->opening, is_json ? print_engines_json : print_engines_text, err);
    for (size_t i = 0; words.count == 1 && i < sizeof listings / sizeof *listings; i++)
        if (strcmp(words.items[0], listings[i].name) == 0) {
            if (is_json)
                print_json(&listings[i]);
            else
                print_text(&listings[i]);
            if (!is_json && listings[i].registry == GPUTIME_CATEGORIES)
                puts("\n'gputime list rules' shows all rules and their sources.");
            return GPUTIME_OK;
        }
    return fail_word(command, words, err);
}

enum gputime_status cli_cache_run(const struct cli_command *command, struct cli_words words,
                                  struct gputime_error *err) {
    bool is_show = words.count == 1 && strcmp(words.items[0], "show") == 0;
    bool is_clear = words.count == 1 && strcmp(words.items[0], "clear") == 0;
    enum gputime_status status = GPUTIME_OK;
    if (is_show) {
        char line[4096] = "";
        status = gputime_cache_show(line, sizeof line, err);
        if (!status)
            printf("%s\n", line);
    } else if (is_clear) {
        uint64_t removed = 0;
        status = gputime_cache_clear(&removed, err);
        if (!status)
            printf("removed %llu file%s\n", (unsigned long long)removed, removed == 1 ? "" : "s");
    } else {
        status = fail_word(command, words, err);
    }
    return status;
}
