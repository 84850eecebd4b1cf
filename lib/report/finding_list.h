/* Findings: what is worth doing, most valuable first, as a block of a section and as a table for data. */
#ifndef GT_REPORT_FINDING_LIST_H
#define GT_REPORT_FINDING_LIST_H

#include "report/table.h"

struct gt_section;

enum gt_severity { GT_SEVERITY_HIGH, GT_SEVERITY_MEDIUM, GT_SEVERITY_LOW };
const char *gt_finding_list_severity_name(enum gt_severity severity); /* "high", "medium", "low" */

#define GT_FINDING_SENTENCES 8 /* rules write at most two less: doubts and references come after theirs */
#define GT_FINDING_WINDOWS   5

/* Where to look. */
struct gt_finding_window {
    int64_t start_ns, end_ns; /* since the start of the first op */
    int64_t device;           /* as printed */
};

/* What could be saved on one GPU. */
struct gt_finding_saving {
    int64_t device;     /* as printed */
    int64_t waiting_ns; /* of idle time, exposed communication and exposed memory */
    int64_t compute_ns;
};

/* What simulating the dependency graph without the cause says. */
struct gt_finding_simulation {
    const char *change;  /* one on each line, as the analysis whatif takes them; NULL: nothing is simulated */
    const char *command; /* the same as a command */
    const char *trust;   /* as the table replay has it; NULL: there is no graph */
    int64_t base_ns, predicted_ns, low_ns; /* of all windows after the warm-up; -1: not simulated */
};

/* Something worth doing about the program or the capture. Sentences are text for people that may hold names of the
   trace; those of a count after the last are empty. Text is borrowed as in cells. */
struct gt_finding {
    const char *id; /* stable: "host_bound" */
    enum gt_severity severity;
    struct gt_str title;
    struct gt_str evidence[GT_FINDING_SENTENCES]; /* with the numbers; at least one */
    size_t evidence_count;
    struct gt_str advice[GT_FINDING_SENTENCES];
    size_t advice_count;
    int64_t recoverable_ns; /* of the time that it all takes, at most: the mean over the GPUs; -1: not known */
    int64_t step_ns;        /* the same of one step; -1: not known, or there are no steps */
    double share;           /* of the steady span; negative: not known */
    bool is_simulated;      /* the saving is no more than what the simulation says; false: an upper bound */
    struct gt_finding_simulation simulation;
    const char *rule;                                     /* what is looked for, in a sentence */
    struct gt_finding_window windows[GT_FINDING_WINDOWS]; /* where most of it is, the most first */
    size_t window_count;
    struct gt_finding_saving *savings; /* one for each GPU, in the report's arena; NULL: there is none */
    size_t saving_count;
    const char *causes_id;   /* id of a finding that it is a cause of: of the same severity it comes first */
    const char *overlaps_id; /* id of a finding that describes the same time and says more; NULL: none */
    const char *table;       /* where the evidence is: key of a table that some analysis makes; may be NULL */
};

/* The block of the findings and its table `findings`, without rows. One for a section, before its first finding. */
struct gt_table *gt_finding_list_new(struct gt_section *section);
/* Puts it among the section's findings: the most severe first, then the most potential saving (what is not known counts
   as none), then what no other describes, then in the order they come. */
void gt_finding_list_add(struct gt_section *section, const struct gt_finding *finding);
/* After the last finding: causes come before what they cause, and each that has overlaps_id says so in its evidence, by
   the number of the other. */
void gt_finding_list_link(struct gt_section *section);
/* What it is worth, for people: "high, saves 26.5 ms a step, simulated", or "saves up to" where it is an upper bound.
   Without steps it is the whole saving. */
struct gt_str gt_finding_list_worth(const struct gt_finding *finding, char *text, size_t size);
/* How the saving was found: "simulation" or "upper_bound"; NULL: there is none. */
const char *gt_finding_list_saving_by(const struct gt_finding *finding);
/* The fact with the sentence that comes before the findings where none is above low. */
#define GT_FINDINGS_VERDICT GT_STR("findings_verdict")
struct gt_str gt_finding_list_verdict(const struct gt_section *section); /* empty: there is none */
/* Keeps this row of the table alone, or none where no finding has the id. */
void gt_finding_list_keep(struct gt_section *section, const char *id);
/* Its place among all of the section, from 1. */
size_t gt_finding_list_rank(const struct gt_section *section, const struct gt_finding *finding);
/* What row of the table `findings` says, wherever sorting has put it. */
const struct gt_finding *gt_finding_list_at(const struct gt_section *section, const struct gt_table *table, size_t row);
/* Whether people want to see a part of the findings ("evidence"): all except for a choice of columns. */
bool gt_finding_list_shows(const struct gt_table *table, const char *column);
/* How many sentences of advice people want to see: without the evidence, only the first. */
size_t gt_finding_list_advice_shown(const struct gt_table *table, const struct gt_finding *finding);

#endif
