/* Text for people, broken into lines. */
#ifndef CLI_PARAGRAPH_H
#define CLI_PARAGRAPH_H

#include <stdio.h>

enum { CLI_PARAGRAPH_WIDTH = 79 };

/* Breaks at white space; every line starts at column indent. */
void cli_paragraph_print(FILE *out, const char *text, size_t indent);

#endif
