/* Says what a report on a job was made without: notes of the report in, lines on standard error or a failure out. */
#include "losses.h"

#include <ctype.h>
#include <string.h>

#include "error.h"
#include "terminal.h"

/* A sentence of the report as a message. */
static void phrase(const struct gputime_report *report, size_t section, const char *note,
                   struct gputime_error *message) {
    char path[1024];
    bool is_one = gputime_report_section_count(report) == 1;
    size_t length = strlen(note);
    length -= length && note[length - 1] == '.';
    cli_terminal_text(path, sizeof path, gputime_report_section_title(report, section));
    cli_fail(message, "%s%s%c%.*s", is_one ? "" : path, is_one ? "" : ": ", tolower((unsigned char)note[0]),
             (int)(length ? length - 1 : 0), note + (length > 0));
}

void cli_losses_tell(const struct gputime_report *report, bool is_strict, bool is_gate, struct gputime_error *failure) {
    for (size_t s = 0; s < gputime_report_section_count(report); s++) {
        const char *note;
        for (size_t i = 0; (note = gputime_report_loss(report, s, i)) != NULL; i++) {
            struct gputime_error message = {0};
            phrase(report, s, note, &message);
            if (is_strict && failure->status)
                cli_terminal_print_error(failure);
            if (is_strict)
                *failure = message;
            else if (is_gate)
                cli_terminal_print_error(&message);
        }
    }
}
