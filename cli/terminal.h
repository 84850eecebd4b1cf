/* What the terminal can do, and the progress line. */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "gputime.h"

int64_t cli_terminal_width(void);  /* of the terminal, else of COLUMNS, else 80 */
bool cli_terminal_has_color(void); /* standard output: a terminal, NO_COLOR unset, TERM not dumb */

/* Copies text so that it is safe to print on a terminal: control characters and invalid UTF-8 become "\x1b" and the
 * like. Returns out; text that does not fit is cut off. */
const char *cli_terminal_text(char *out, size_t size, const char *text);

/* One line on standard error. */
void cli_terminal_print_error(const struct gputime_error *err);

/* One line on standard error that appears when reading takes long and is erased at the end. */
struct cli_progress {
    char name[25];
    struct timespec start, drawn;
    uint64_t done_bytes, total_bytes; /* of all that is being read */
    bool is_wanted, is_shown;
    bool is_logged; /* lines that stay, seldom: where standard error is not the terminal itself */
    double next_s;  /* how long each is shown */
};

/* One of the captures that share the line. */
struct cli_progress_part {
    struct cli_progress *progress;
    uint64_t done_bytes, total_bytes;
};

/* has_launcher: standard error goes to the program that started this one. */
void cli_progress_begin(struct cli_progress *progress, const char *path, bool has_launcher);
/* Adds a part that is about to be read, with the size of its files. */
void cli_progress_add(struct cli_progress *progress, struct cli_progress_part *part, uint64_t total_bytes);
void cli_progress_update(void *part, uint64_t done_bytes, uint64_t total_bytes);
void cli_progress_end(struct cli_progress *progress);

#endif
