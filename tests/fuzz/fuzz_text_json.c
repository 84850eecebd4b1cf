/* Fuzzes the two readers of small JSON texts: of configuration files, which forgives, and of requests, which does not.
   What the strict one takes is a value of the same kind to the other. */
#include "../../cli/json_read.h"
#include "base/json_tree.h"
#include "text_input.h"

static size_t count_strict(const struct cli_json *value) {
    size_t count = 1;
    for (const struct cli_json *item = value->first; item; item = item->next)
        count += count_strict(item);
    return count;
}

static size_t count_forgiving(const struct gt_json *value) {
    size_t count = 1;
    for (const struct gt_json *item = value->first; item; item = item->next)
        count += count_forgiving(item);
    return count;
}

static const enum gt_json_type types[] = {
    [CLI_JSON_NULL] = GT_JSON_NULL,     [CLI_JSON_FALSE] = GT_JSON_FALSE, [CLI_JSON_TRUE] = GT_JSON_TRUE,
    [CLI_JSON_NUMBER] = GT_JSON_NUMBER, [CLI_JSON_TEXT] = GT_JSON_STRING, [CLI_JSON_ARRAY] = GT_JSON_ARRAY,
    [CLI_JSON_OBJECT] = GT_JSON_OBJECT,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = fuzz_text(data, size);
    struct cli_json_tree strict = {0};
    struct gt_arena arena = {0};
    struct gt_json *forgiving = NULL;
    struct gt_error err = {0};
    if (!text)
        return 0;
    enum gt_status status = gt_json_tree_parse((struct gt_str){text, size}, &arena, &forgiving, &err);
    fuzz_must_say(status, &err);
    const char *why = cli_json_read(&strict, text, size);
    if (!why && status == GT_OK) {
        fuzz_must(types[strict.nodes[0].type] == forgiving->type);
        fuzz_must(count_strict(&strict.nodes[0]) == count_forgiving(forgiving));
    }
    /* Texts of configurations end at a NUL, so that one inside is refused there. */
    fuzz_must(why || status == GT_OK || memmem(data, size, "u0000", 5));
    cli_json_release(&strict);
    gt_arena_release(&arena);
    free(text);
    return 0;
}
