/* Text for people, broken into lines. */
#include "paragraph.h"

#include <string.h>

void cli_paragraph_print(FILE *out, const char *text, size_t indent) {
    size_t column = 0;
    for (text += strspn(text, " \n"); *text; text += strspn(text, " \n")) {
        size_t bytes = strcspn(text, " \n");
        if (column && column + 1 + bytes > CLI_PARAGRAPH_WIDTH) {
            fputc('\n', out);
            column = 0;
        }
        column += (size_t)fprintf(out, "%*s", column ? 1 : (int)indent, "");
        fwrite(text, 1, bytes, out);
        column += bytes;
        text += bytes;
    }
    fputc('\n', out);
}
