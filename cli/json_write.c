/* Writes JSON strings, and JSON without blanks. */
#include "json_write.h"

#include <stdbool.h>
#include <string.h>

#include "json_read.h"

static size_t write_character(FILE *out, const unsigned char *c, size_t bytes) {
    size_t length = cli_json_character(c, bytes);
    if (length == 0)
        fputs("\\ufffd", out);
    else if (*c == '"' || *c == '\\')
        fprintf(out, "\\%c", *c);
    else if (*c == '\n')
        fputs("\\n", out);
    else if (*c < 0x20 || *c == 0x7F)
        fprintf(out, "\\u%04x", *c);
    else
        fwrite(c, 1, length, out);
    return length ? length : 1;
}

void cli_json_write_bytes(FILE *out, const char *text, size_t bytes) {
    fputc('"', out);
    for (size_t i = 0; i < bytes;)
        i += write_character(out, (const unsigned char *)text + i, bytes - i);
    fputc('"', out);
}

void cli_json_write_text(FILE *out, const char *text) {
    if (text)
        cli_json_write_bytes(out, text, strlen(text));
    else
        fputs("null", out);
}

void cli_json_write_member(FILE *out, const char *lead, const char *key, const char *text) {
    fprintf(out, "%s\"%s\": ", lead, key);
    cli_json_write_text(out, text);
}

size_t cli_json_pack(char *json, size_t bytes) {
    bool is_inside = false;
    size_t size = 0;
    for (size_t i = 0; i < bytes; i++) {
        char c = json[i];
        if (c == '"')
            is_inside = !is_inside;
        if (is_inside && c == '\\' && i + 1 < bytes) {
            json[size++] = c;
            c = json[++i];
        }
        if (is_inside || !(c == ' ' || c == '\n' || c == '\r' || c == '\t'))
            json[size++] = c;
    }
    return size;
}
