/* Findings on a terminal: a numbered title with its worth, then evidence and advice as wrapped sentences. */
#include "write/text_findings.h"

#include <stdio.h>

#include "base/num.h"
#include "write/cell_format.h"

enum { MARGIN = 4, ADVICE_MARGIN = 6 };

static void write_title(const struct gt_screen *screen, const struct gt_finding *finding, size_t number) {
    char text[32], words[GT_NUM_MAX + 64], worth[GT_NUM_MAX + 68];
    snprintf(text, sizeof text, "%2zu. ", number);
    gt_screen_text(screen, GT_INK_PLAIN, gt_str_of(text));
    snprintf(worth, sizeof worth, "(%s)", gt_finding_list_worth(finding, words, sizeof words).ptr);
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
    struct gt_str verdict = gt_finding_list_verdict(section);
    gt_cell_format_shown(&shown, table);
    gt_screen_text(screen, GT_INK_BOLD, gt_str_of(table->title));
    gt_screen_newline(screen);
    if (table->row_count == 0 || verdict.len)
        gt_screen_wrap(screen, GT_INK_PLAIN, verdict.len ? verdict : gt_str_of(table->empty), 0, 0);
    for (size_t row = 0; row < shown.rows; row++) {
        const struct gt_finding *finding = gt_finding_list_at(section, table, row);
        write_finding(screen, table, finding, gt_finding_list_rank(section, finding));
    }
    if (shown.rows_hidden) {
        snprintf(text, sizeof text, "%s and %zu more (gputime findings shows all, with the evidence)",
                 screen->utf8 ? "…" : "...", shown.rows_hidden);
        gt_screen_wrap(screen, GT_INK_DIM, gt_str_of(text), 0, 0);
    }
}
