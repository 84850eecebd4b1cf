/* What the terminal can do, and the progress line. */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

int64_t cli_terminal_width(void);  /* of the terminal, else of COLUMNS, else 80 */
bool cli_terminal_has_color(void); /* standard output: a terminal, NO_COLOR unset, TERM not dumb */

/* Copies text so that a terminal takes nothing in it for a command: control characters and what is no UTF-8 become
   "\x1b" and the like. Gives out; what has no room is left off. */
const char *cli_terminal_text(char *out, size_t size, const char *text);

/* One line on standard error that is drawn when reading lasts, and erased at the end. */
struct cli_progress {
    char name[25];
    struct timespec start, drawn;
    uint64_t done_bytes, total_bytes; /* of all that is being read */
    bool is_wanted, is_shown;
};

/* One of the captures that the line tells of together. */
struct cli_progress_part {
    struct cli_progress *progress;
    uint64_t done_bytes, total_bytes;
};

void cli_progress_begin(struct cli_progress *progress, const char *path);
/* A part that is about to be read, with as many bytes as its files seem to have. */
void cli_progress_add(struct cli_progress *progress, struct cli_progress_part *part, uint64_t total_bytes);
void cli_progress_update(void *part, uint64_t done_bytes, uint64_t total_bytes);
void cli_progress_end(struct cli_progress *progress);

#endif
