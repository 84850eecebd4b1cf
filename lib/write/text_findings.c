/* Findings on a terminal: a numbered title with its worth, then evidence and advice as wrapped sentences. */
#include "write/text_findings.h"

#include <stdio.h>

#include "base/num.h"
#include "write/cell_format.h"

enum { MARGIN = 4, ADVICE_MARGIN = 6 };

/* "high, potential saving 12.3 ms" */
static void describe_worth(char *text, size_t size, const struct gt_finding *finding) {
    char gain[GT_NUM_MAX];
    const char *severity = gt_finding_list_severity_name(finding->severity);
    if (finding->recoverable_ns <= 0) {
        snprintf(text, size, "(%s)", severity);
        return;
    }
    gt_num_format_duration(gain, (double)finding->recoverable_ns);
    snprintf(text, size, "(%s, potential saving %s)", severity, gain);
}

static void write_title(const struct gt_screen *screen, const struct gt_finding *finding, size_t number) {
    char text[32], worth[GT_NUM_MAX + 64];
    snprintf(text, sizeof text, "%2zu. ", number);
    gt_screen_text(screen, GT_INK_PLAIN, gt_str_of(text));
    describe_worth(worth, sizeof worth, finding);
    size_t title_width = gt_screen_measure(screen, finding->title),
           worth_width = gt_screen_measure(screen, gt_str_of(worth));
    enum gt_ink ink = finding->severity == GT_SEVERITY_HIGH ? GT_INK_WARN : GT_INK_BOLD;
    bool fits = MARGIN + title_width + 1 + worth_width <= screen->width;
    if (!fits) {
        gt_screen_wrap(screen, ink, finding->title, MARGIN, MARGIN);
        gt_screen_blanks(screen, MARGIN);
    } else {
        gt_screen_text(screen, ink, finding->title);
        gt_screen_blanks(screen, 1);
    }
    gt_screen_wrap(screen, GT_INK_DIM, gt_str_of(worth), MARGIN, MARGIN);
}

static void write_advice(const struct gt_screen *screen, struct gt_str advice) {
    gt_screen_blanks(screen, MARGIN);
    gt_screen_text(screen, GT_INK_ACCENT, screen->utf8 ? GT_STR("→ ") : GT_STR("> "));
    gt_screen_wrap(screen, GT_INK_PLAIN, advice, ADVICE_MARGIN, ADVICE_MARGIN);
}

static void write_finding(const struct gt_screen *screen, const struct gt_table *table,
                          const struct gt_finding *finding, size_t number) {
    char text[128];
    write_title(screen, finding, number);
    for (size_t i = 0; gt_finding_list_shows(table, "evidence") && i < finding->evidence_count; i++) {
        gt_screen_blanks(screen, MARGIN);
        gt_screen_wrap(screen, GT_INK_PLAIN, finding->evidence[i], MARGIN, MARGIN);
    }
    for (size_t i = 0; i < gt_finding_list_advice_shown(table, finding); i++)
        write_advice(screen, finding->advice[i]);
    if (!gt_finding_list_shows(table, "table"))
        return;
    snprintf(text, sizeof text, "[%s]%s%s", finding->id, finding->table ? " see --table " : "",
             finding->table ? finding->table : "");
    gt_screen_blanks(screen, MARGIN);
    gt_screen_wrap(screen, GT_INK_DIM, gt_str_of(text), MARGIN, MARGIN);
}

void gt_text_findings(const struct gt_screen *screen, const struct gt_section *section, const struct gt_table *table) {
    struct gt_shown shown;
    char text[GT_NUM_MAX + 64];
    gt_cell_format_shown(&shown, table);
    gt_screen_text(screen, GT_INK_BOLD, gt_str_of(table->title));
    gt_screen_newline(screen);
    if (table->row_count == 0)
        gt_screen_wrap(screen, GT_INK_PLAIN, gt_str_of(table->empty), 0, 0);
    for (size_t row = 0; row < shown.rows; row++)
        write_finding(screen, table, gt_finding_list_at(section, table, row), row + 1);
    if (shown.rows_hidden) {
        snprintf(text, sizeof text, "%s and %zu more (gputime findings shows all, with the evidence)",
                 screen->utf8 ? "…" : "...", shown.rows_hidden);
        gt_screen_wrap(screen, GT_INK_DIM, gt_str_of(text), 0, 0);
    }
}
