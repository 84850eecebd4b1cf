/* Writes pieces of JSON to a stream: what the program itself says, next to the reports of the library. */
#ifndef CLI_JSON_WRITE_H
#define CLI_JSON_WRITE_H

#include <stddef.h>
#include <stdio.h>

/* A string with its quotes. What is not valid UTF-8 becomes U+FFFD. */
void cli_json_write_bytes(FILE *out, const char *text, size_t bytes);
void cli_json_write_text(FILE *out, const char *text); /* NULL: null */

/* "key": and a string; lead is written before it. */
void cli_json_write_member(FILE *out, const char *lead, const char *key, const char *text);

/* Takes the blanks and line breaks between its values out of JSON; gives its new size. */
size_t cli_json_pack(char *json, size_t bytes);

#endif
