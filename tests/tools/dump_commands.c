/* Prints the commands that make reports as JSON, from the command table of the program, for python/make_commands.py:
   what each runs, what it shows and how. */
#include <stdio.h>
#include <string.h>

#include "../../cli/commands.h"

static const char *lead = "";

/* "key": before a value, and a comma after what was there. */
static void key(const char *name) {
    printf("%s\"%s\": ", lead, name);
    lead = ", ";
}

static void text_value(const char *text) {
    putchar('"');
    for (; *text; text++)
        if (*text == '\n')
            printf("\\n");
        else
            printf(*text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
    putchar('"');
}

static void text(const char *name, const char *value) {
    if (!value)
        return;
    key(name);
    text_value(value);
}

static void number(const char *name, int64_t value) {
    if (!value)
        return;
    key(name);
    printf("%lld", (long long)value);
}

static void texts(const char *name, const char *const *items, size_t count) {
    if (!items)
        return;
    key(name);
    putchar('[');
    for (size_t i = 0; i < count && items[i]; i++) {
        printf(i ? ", " : "");
        text_value(items[i]);
    }
    putchar(']');
}

static void open_list(const char *name) {
    key(name);
    putchar('[');
    lead = "";
}

static void open_item(size_t index) {
    printf("%s{", index ? ", " : "");
    lead = "";
}

static void close_with(char mark) {
    putchar(mark);
    lead = ", ";
}

/* The option that sets a field of struct cli_options; of several the first. */
static const struct cli_option *option_at(size_t offset) {
    for (size_t i = 0; offset && i < cli_option_count; i++)
        if (cli_option_table[i].offset == offset)
            return &cli_option_table[i];
    return NULL;
}

static void option(const char *name, size_t offset) {
    const struct cli_option *found = option_at(offset);
    text(name, found ? found->name : NULL);
}

static void shapes(const struct gputime_shape *items) {
    if (!items)
        return;
    open_list("shapes");
    for (size_t i = 0; items[i].table; i++) {
        open_item(i);
        text("table", items[i].table);
        text("sort", items[i].sort);
        number("limit", items[i].limit);
        number("screen_limit", items[i].screen_limit);
        texts("columns", items[i].columns, items[i].column_count);
        number("ranked", items[i].ranked);
        number("joined", items[i].joined);
        text("pivot_row", items[i].pivot_row);
        text("pivot_value", items[i].pivot_value);
        text("cut_sort", items[i].cut_sort);
        close_with('}');
    }
    close_with(']');
}

static void sorts(const struct cli_sort *items) {
    if (!items)
        return;
    key("sorts");
    lead = "";
    putchar('{');
    for (size_t i = 0; items[i].name; i++)
        text(items[i].name, items[i].plus_column);
    close_with('}');
}

static void lists(const struct cli_list *const items[CLI_MAX_LISTS]) {
    if (!items[0])
        return;
    open_list("lists");
    for (size_t i = 0; i < CLI_MAX_LISTS && items[i]; i++) {
        open_item(i);
        text("table", items[i]->table);
        text("sort", items[i]->sort);
        text("cut_sort", items[i]->cut_sort);
        number("screen_rows", items[i]->screen_rows);
        option("sort_option", items[i]->sort_offset);
        option("top_option", items[i]->top_offset);
        sorts(items[i]->sorts);
        number("only_sorts", items[i]->only_sorts);
        number("ranked", items[i]->is_ranked);
        close_with('}');
    }
    close_with(']');
}

static void part(const struct cli_part *item) {
    const struct cli_option *chosen = option_at(item->option);
    if (chosen) {
        text("option", chosen->name);
        text("choices", chosen->type == CLI_CHOICE ? chosen->choices : NULL);
        key("value");
        printf("%d", item->value);
    }
    number("for_data", item->for_data);
    number("for_page", item->for_page);
    number("alone", item->is_alone);
    text("main_table", item->main_table);
    text("text_layout", item->text_layout);
    texts("analyses", item->analyses, SIZE_MAX);
    texts("tables", item->tables, SIZE_MAX);
    texts("data_tables", item->data_tables, SIZE_MAX);
    texts("asked_tables", item->asked_tables, SIZE_MAX);
    shapes(item->shapes);
    lists(item->lists);
}

static void command(const struct cli_command *item) {
    size_t shown = 0;
    text("name", item->name);
    text("help", item->help);
    text("details", item->details);
    number("may_refuse", item->may_refuse);
    open_list("parts");
    for (size_t i = 0; i < CLI_MAX_PARTS; i++)
        if (item->parts[i].analyses) {
            open_item(shown++);
            part(&item->parts[i]);
            close_with('}');
        }
    close_with(']');
}

int main(void) {
    size_t shown = 0;
    putchar('[');
    for (size_t i = 0; i < cli_command_count; i++)
        if (cli_command_table[i].parts[0].analyses && cli_command_table[i].action != CLI_ACTION_VIEW) {
            open_item(shown++);
            command(&cli_command_table[i]);
            close_with('}');
        }
    printf("]\n");
    return fflush(stdout) != 0 || ferror(stdout);
}
