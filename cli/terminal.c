/* What the terminal can do, and the progress line on standard error. */
#include "terminal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { NARROWEST = 20, USUAL = 80, WIDEST = 10000, BAR_CELLS = 24 };
static const double first_draw_s = 0.5, next_draw_s = 0.1, next_line_s = 10;

/* The value of COLUMNS; 0: unset or invalid. */
static int64_t width_in_environment(void) {
    const char *columns = getenv("COLUMNS");
    char *end = NULL;
    long width = columns ? strtol(columns, &end, 10) : 0;
    return width >= NARROWEST && width <= WIDEST && !*end ? width : 0;
}

int64_t cli_terminal_width(void) {
    struct winsize window;
    bool knows_window = isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0;
    int64_t width = knows_window && window.ws_col >= NARROWEST ? window.ws_col : width_in_environment();
    return width ? width : USUAL;
}

static bool is_dumb(void) {
    const char *term = getenv("TERM");
    return !term || strcmp(term, "dumb") == 0;
}

bool cli_terminal_has_color(void) {
    const char *no_color = getenv("NO_COLOR");
    return isatty(STDOUT_FILENO) && !is_dumb() && !(no_color && *no_color);
}

/* Bytes of the character that text starts with; 0: a control character or invalid UTF-8. */
static size_t printable_bytes(const unsigned char *text) {
    if (text[0] < 0x80)
        return text[0] >= 0x20 && text[0] != 0x7f;
    size_t bytes = text[0] >= 0xf0 ? 4 : text[0] >= 0xe0 ? 3 : 2;
    unsigned code = text[0] & (0xffu >> (bytes + 1));
    for (size_t i = 1; i < bytes; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (text[i] & 0x3fu);
    }
    static const unsigned smallest[] = {0, 0, 0xa0, 0x800, 0x10000}; /* control characters end at 0x9f */
    bool is_surrogate = code >= 0xd800 && code < 0xe000;
    return text[0] >= 0xc2 && text[0] <= 0xf4 && code >= smallest[bytes] && code <= 0x10ffff && !is_surrogate ? bytes
                                                                                                              : 0;
}

const char *cli_terminal_text(char *out, size_t size, const char *text) {
    size_t used = 0;
    while (*text) {
        char escape[8];
        size_t bytes = printable_bytes((const unsigned char *)text), taken = bytes ? bytes : 1;
        const char *from = bytes ? text : escape;
        if (!bytes)
            bytes = (size_t)snprintf(escape, sizeof escape, "\\x%02x", (unsigned char)*text);
        if (used + bytes >= size)
            break;
        memcpy(out + used, from, bytes);
        used += bytes;
        text += taken;
    }
    out[used] = '\0';
    return out;
}

void cli_terminal_print_error(const struct gputime_error *err) {
    char message[4 * sizeof err->message];
    fprintf(stderr, "gputime: %s\n", cli_terminal_text(message, sizeof message, err->message));
}

static double seconds_since(const struct timespec *start) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - start->tv_sec) + (double)(now.tv_nsec - start->tv_nsec) / 1e9;
}

/* Seconds between lines that stay; 0: none are wanted. */
static double seconds_between_lines(void) {
    const char *text = getenv("GPUTIME_MPI_PROGRESS");
    char *end = NULL;
    double seconds = text ? strtod(text, &end) : next_line_s;
    return text && (end == text || *end || !(seconds >= 0)) ? next_line_s : seconds;
}

void cli_progress_begin(struct cli_progress *progress, const char *path, bool has_launcher) {
    const char *slash = strrchr(path, '/');
    *progress = (struct cli_progress){.is_wanted = isatty(STDERR_FILENO) && !is_dumb(), .next_s = next_draw_s};
    if (has_launcher && !progress->is_wanted) {
        progress->is_logged = true;
        progress->next_s = seconds_between_lines();
        progress->is_wanted = progress->next_s > 0;
    }
    cli_terminal_text(progress->name, sizeof progress->name, slash ? slash + 1 : path);
    clock_gettime(CLOCK_MONOTONIC, &progress->start);
}

static void draw(const struct cli_progress *progress, double seconds) {
    const char *name = progress->name;
    uint64_t done_bytes = progress->done_bytes, total_bytes = progress->total_bytes;
    double done = (double)done_bytes, total = (double)total_bytes;
    double rate = seconds > 0 ? done / 1e6 / seconds : 0;
    char bar[BAR_CELLS + 1];
    if (progress->is_logged) {
        fprintf(stderr, "gputime: reading %s, %.0f of %.0f MB after %.0f s\n", name, done / 1e6, total / 1e6, seconds);
        return;
    }
    if (total_bytes == 0 || done_bytes > total_bytes) {
        fprintf(stderr, "\r\033[Kreading %s  %.0f MB  %.0f MB/s", name, done / 1e6, rate);
        return;
    }
    int full = (int)(done / total * BAR_CELLS);
    for (int i = 0; i < BAR_CELLS; i++)
        bar[i] = i < full ? '#' : '.';
    bar[BAR_CELLS] = '\0';
    fprintf(stderr, "\r\033[Kreading %s [%s] %3.0f%%  %.0f MB/s", name, bar, done / total * 100, rate);
}

void cli_progress_add(struct cli_progress *progress, struct cli_progress_part *part, uint64_t total_bytes) {
    *part = (struct cli_progress_part){.progress = progress, .total_bytes = total_bytes};
    progress->total_bytes += total_bytes;
}

void cli_progress_update(void *context, uint64_t done_bytes, uint64_t total_bytes) {
    struct cli_progress_part *part = context;
    struct cli_progress *progress = part->progress;
    progress->done_bytes += done_bytes - part->done_bytes;
    progress->total_bytes += total_bytes - part->total_bytes;
    part->done_bytes = done_bytes;
    part->total_bytes = total_bytes;
    double seconds = seconds_since(&progress->start);
    double first_s = progress->is_logged ? progress->next_s : first_draw_s;
    if (seconds < first_s || (progress->is_shown && seconds_since(&progress->drawn) < progress->next_s))
        return;
    draw(progress, seconds);
    fflush(stderr);
    clock_gettime(CLOCK_MONOTONIC, &progress->drawn);
    progress->is_shown = true;
}

void cli_progress_end(struct cli_progress *progress) {
    if (progress->is_shown && !progress->is_logged)
        fputs("\r\033[K", stderr);
    progress->is_shown = false;
}
