/* Fuzzes the command line alone: the bytes are words, one a line. They are options and words, or an error that says
   why. */
#include "../../cli/parse.h"
#include "text_input.h"

enum { WORDS_MAX = 256 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = fuzz_text(data, size), *words[WORDS_MAX + 1] = {(char[]){""}};
    static struct cli_arguments arguments;
    struct gputime_error err = {.status = GPUTIME_OK};
    int count = 1;
    if (!text)
        return 0;
    for (char *rest = text; rest && *rest && count < WORDS_MAX;)
        words[count++] = strsep(&rest, "\n");
    if (cli_arguments_parse(&arguments, count, words, &err) != GPUTIME_OK)
        fuzz_must(err.message[0]);
    else
        fuzz_must(arguments.plain_words <= arguments.word_count && arguments.word_count < (size_t)count);
    cli_arguments_release(&arguments);
    free(text);
    return 0;
}
