/* Fuzzes what is looked for in the text of a query before anything is read: its words, and the facts that it needs. */
#include "sql/sql_words.h"
#include "text_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = fuzz_text(data, size);
    if (!text)
        return 0;
    struct gt_str whole = {text, size}, rest = whole;
    size_t left = size + 1, asked = 0;
    for (struct gt_sql_word word; (word = gt_sql_words_next(&rest)).kind != GT_SQL_WORD_END;) {
        fuzz_must(rest.len < left && word.text.len <= size); /* each takes something off */
        left = rest.len;
        if (word.kind == GT_SQL_WORD_NAME && asked++ < 2)
            gt_sql_words_mention(whole, word.text);
    }
    fuzz_must(rest.len == 0);
    if (size <= 48) /* looks up every word among all columns */
        gt_sql_words_facts(whole);
    free(text);
    return 0;
}
