/* Walks over the tables of all analyses: the registry's detail of an analysis is the list of them. */
#include "tables.h"

#include <assert.h>
#include <string.h>

/* Takes the first item off a comma-separated list. */
static const char *take_item(const char **list, char key[CLI_TABLE_KEY_MAX]) {
    size_t bytes = strcspn(*list, ",");
    assert(bytes < CLI_TABLE_KEY_MAX);
    memcpy(key, *list, bytes);
    key[bytes] = '\0';
    *list += bytes + ((*list)[bytes] == ',');
    return key;
}

const char *cli_table_next(struct cli_table_walk *walk) {
    while (!walk->rest || !*walk->rest) {
        if (walk->next == gputime_registry_count(GPUTIME_ANALYSES))
            return NULL;
        walk->rest = gputime_registry_entry(GPUTIME_ANALYSES, walk->next++).detail;
    }
    return take_item(&walk->rest, walk->key);
}

struct gputime_entry cli_table_analysis(const char *table) {
    struct cli_table_walk walk = {0};
    for (const char *key = cli_table_next(&walk); key; key = cli_table_next(&walk))
        if (strcmp(key, table) == 0)
            return gputime_registry_entry(GPUTIME_ANALYSES, walk.next - 1);
    return (struct gputime_entry){0};
}
