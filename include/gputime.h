/* gputime: where did the GPU time go?
 *
 * Loads GPU traces, runs analyses over them and writes reports.
 *
 *   struct gputime_trace *trace;
 *   struct gputime_report *report;
 *   const char *path = "trace.json.gz", *analysis = "kernels";
 *   gputime_trace_open(&path, 1, NULL, &trace, &err);
 *   gputime_report_new(&trace, 1, "example", &analysis, 1, NULL, &report, &err);
 *   gputime_report_write(report, NULL, "kernels.csv", &err);
 *
 * Rules for every function: text is NUL-terminated bytes (UTF-8 where it is text for people); pointers passed in are
 * borrowed for the call unless it says otherwise; options may be NULL (all automatic), err may be NULL. On failure the
 * out pointer is NULL and *err says why. The library never prints, never exits and keeps no global state (but for the
 * names of the files being written, for gputime_remove_unfinished): different objects may be used from different
 * threads, one object only from one thread at a time (reading a finished report from several is fine). */
#ifndef GPUTIME_H
#define GPUTIME_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GPUTIME_VERSION "0.1.0"

enum gputime_status {
    GPUTIME_OK = 0,
    GPUTIME_FAILED = 1, /* the work could not be done */
    GPUTIME_USAGE = 2,  /* the request makes no sense: unknown analysis, no such step */
    GPUTIME_BROKEN = 3, /* a limit of the user is broken: only the program's, functions tell it otherwise */
};

struct gputime_error {
    enum gputime_status status;
    char message[1024]; /* one line, no full stop */
};

enum gputime_choice_names { GPUTIME_NAMES_FULL = 0, GPUTIME_NAMES_SHORT, GPUTIME_NAMES_HASH /* redaction only */ };
enum gputime_choice_unit { GPUTIME_UNIT_AUTO = 0, GPUTIME_UNIT_NS, GPUTIME_UNIT_US, GPUTIME_UNIT_MS, GPUTIME_UNIT_S };
enum gputime_choice_color { GPUTIME_COLOR_AUTO = 0, GPUTIME_COLOR_ALWAYS, GPUTIME_COLOR_NEVER };
/* How Nsight reports are read: by the library, what it cannot read by nsys; by the library alone; by nsys alone. */
enum gputime_choice_reader { GPUTIME_READER_AUTO = 0, GPUTIME_READER_NATIVE, GPUTIME_READER_NSYS };
enum gputime_choice_bins { GPUTIME_BINS_LOG = 0, GPUTIME_BINS_LINEAR };

/* How one table of a report is shown. Unset (0, NULL) fields leave it as the analysis made it. */
struct gputime_shape {
    const char *table;    /* key of the table */
    const char *sort;     /* key of a column, largest first; "+key" smallest first */
    int64_t limit;        /* rows kept in every format; 0 = all */
    int64_t screen_limit; /* rows shown in text and Markdown; 0 = the table's own choice, -1 = all */
    const char *columns;  /* comma-separated keys for text and Markdown, in order */
    int hidden;           /* 1: left out of text and Markdown; -1: shown there even if meant for data */
    int absent;           /* 1: of no use, an analysis need not make it */
    int ranked;           /* 1: rows are numbered in text and Markdown */
    int joined;           /* 1: of several inputs they show one table with the rows of all */
    const char *pivot;    /* "ROW,VALUE": of several inputs they show one table that has a row for each ROW, a column
                             for each input with the sum of its VALUEs, and the totals */
};

/* One key of a class map: kernels whose name contains the part, in any case, are of the class. The first key that a
   name contains decides, unless a longer one around it is there too. */
struct gputime_class {
    const char *part, *name;
};

/* Whether a report is over whole steps: from the start of the first one behind the warm-up (the long steps at the
   beginning) to the end of the last one or of the last op that a step launched. */
enum gputime_whole_steps {
    GPUTIME_STEPS_ANY,     /* no: over all GPU work */
    GPUTIME_STEPS_IF_MOST, /* where there are several, and they are at least half of the time of the GPU work */
    GPUTIME_STEPS_WHOLE,   /* where there are steps */
};

/* Everything a user can ask for; zero-initialise, 0 and NULL mean automatic. Borrowed until the report is freed. */
struct gputime_options {
    /* reading */
    int64_t threads; /* of analyses too; they change no result */
    int strict;      /* any loss is an error */
    int no_cache;
    enum gputime_choice_reader reader; /* other than automatic: the cache is left alone */
    const char *nsys_command;          /* the nsys to run; NULL is the one on PATH */
    const char *cache_after;           /* how long reading must take to be worth keeping; NULL is "1s" */
    void (*progress)(void *context, uint64_t done_bytes, uint64_t total_bytes); /* from any thread, one at a time */
    void *progress_context;

    /* categories: at most one of these; NULL: the built-in rules */
    const char *rules; /* "FILE", "FILE,ENGINE,MODEL" or "ENGINE,MODEL": regular expressions, the first match wins */
    const char *map;   /* "FILE": substrings of kernel names by class */
    const char *const *rule_files; /* rule_file_count files or folders of *.json to look for ENGINE,MODEL in, beside
                                      the built-in engines and the user's own; a later one wins */
    size_t rule_file_count;
    const struct gputime_class *classes; /* class_count of them: a map that is not in a file */
    size_t class_count;

    /* phases */
    const char *phase_map; /* "FILE": {phase: [pattern of range names, ...]}; NULL: common names are guessed */

    /* the run: what the user knows of a capture and the trace does not tell. A trace keeps what it was opened with;
       what the options of a report say of it goes first */
    const char *title;    /* stands for the name of the file */
    int64_t iterations;   /* how often the work was repeated; 0: as often as the range of the tag, else once */
    int64_t gpus;         /* how many GPUs' work the trace holds; 0: those it shows, 1 where it shows none */
    const char *nvtx_tag; /* name of the range around an iteration, with or without "domain:" */
    const char *elapsed;  /* how long it took without a profiler: "306" seconds, "12.5s"; NULL or "0": as long as the
                             trace has GPU work */
    int without_memory;   /* class statistics leave memory operations out */
    const char *remark;   /* a sentence that the report states about this input */

    /* selection */
    const char *from, *to; /* "1.2s", "350ms", "20us", "40%"; a bare number is seconds; from the first GPU op */
    const char *step;      /* "3" or "2-4" */
    enum gputime_whole_steps whole_steps;  /* not with from, to, step */
    const char *device, *stream, *process; /* "0" or "0,2" */
    const char *name;                      /* substring, or "re:" and a pattern */
    const char *category;                  /* "comm" or "comm,memcpy" */

    /* analyses */
    enum gputime_choice_names names;
    enum gputime_choice_bins bins;
    int64_t bin_count;
    const char *hist_min, *hist_max; /* microseconds, decimal */
    int no_kernel_percentiles;       /* of device_kernels: they are what needs memory for each op */
    int no_range_kernels;            /* of range_kernels: only the ranges, not the kernels launched in them */
    const char *coverage_threshold;  /* "0.7": of range_kernels: the share of kernel time in ranges to warn below */

    /* tables */
    const struct gputime_shape *shapes; /* shape_count of them; a later one wins */
    size_t shape_count;
    const char *main_table; /* what CSV writes, and what is the command's own */
    int for_screen; /* the report is for text or Markdown alone, and is neither compared nor checked: long tables
                       need hold no more rows than these show */

    /* writing */
    const char *heading;      /* of the whole report; NULL: none */
    const char *generated_at; /* stands in the report as it is; NULL: no time does */
    const char *format;       /* "text", "csv", "json", "md", or a layout; NULL: by the file's suffix, else text */
    const char *table;        /* CSV: another table than the main one */
    const char *columns;      /* CSV: only these, comma-separated, in this order */
    enum gputime_choice_unit unit;
    enum gputime_choice_color color;
    int64_t width;
    int verbose; /* full names on the screen */
};

struct gputime_trace;
struct gputime_report;

/* Finds what is wrong with the options that a trace is opened with (rules, map, times), without reading one. */
enum gputime_status gputime_options_check(const struct gputime_options *options, struct gputime_error *err);

/* Reads one capture: usually one path ("-" is standard input), or several files of the same capture.
   The trace is the caller's; free it after every report made from it. */
enum gputime_status gputime_trace_open(const char *const *paths, size_t path_count,
                                       const struct gputime_options *options, struct gputime_trace **out,
                                       struct gputime_error *err);

/* What to open one of several captures with. */
struct gputime_input {
    const char *const *paths; /* files of one capture */
    size_t path_count;
    struct gputime_options options;
};

/* Reads several captures at the same time, pipes one after the other, on the threads of the first one's options. out
   and errors have an element for each: what could not be read is NULL and has an error. needs_all: one that fails makes
   the others useless, so those behind it that have not been begun are left out, NULL without an error; those that have
   are read to their end. Callbacks of progress come one at a time. Gives the status of the first in order that failed.
 */
enum gputime_status gputime_traces_open(const struct gputime_input *inputs, size_t count, int needs_all,
                                        struct gputime_trace **out, struct gputime_error *errors);
void gputime_trace_free(struct gputime_trace *trace); /* NULL is fine */

/* NULL, or a sentence on what of the file could not be read. Constant text. */
const char *gputime_trace_loss(const struct gputime_trace *trace);

/* Runs the named analyses over each trace: one section for each, in order. The report borrows from the traces. */
enum gputime_status gputime_report_new(struct gputime_trace *const *traces, size_t trace_count, const char *command,
                                       const char *const *analyses, size_t analysis_count,
                                       const struct gputime_options *options, struct gputime_report **out,
                                       struct gputime_error *err);
void gputime_report_free(struct gputime_report *report); /* NULL is fine */

/* The same for the two sides of a comparison, both at the same time: out[0] is over the traces before first_of_b,
   out[1] over those from it on. Each side has a trace: 0 < first_of_b < trace_count, else GPUTIME_USAGE. Both are NULL
   if one fails. whole_steps holds for all traces or for none. The analyses that every comparison needs are added to
   those named. */
enum gputime_status gputime_report_new_sides(struct gputime_trace *const *traces, size_t trace_count, size_t first_of_b,
                                             const char *command, const char *const *analyses, size_t analysis_count,
                                             const struct gputime_options *options, struct gputime_report *out[2],
                                             struct gputime_error *err);

/* How two reports are compared; zero-initialise, 0 and NULL mean automatic. */
struct gputime_diff_options {
    const char *per;    /* amounts are divided by the number of: "step", "range", "launch"; "none": they are not; NULL:
                           step, where every capture has steps that make up most of it */
    const char *range;  /* per range: its name */
    const char *tables; /* comma-separated keys of the tables to show; "": none, NULL: all that both reports have. The
                           words and limits go by all of them */
    const char *noise;  /* "2%": smaller changes count as noise whatever the spread; NULL is "1%" */
    const char *labels; /* "main,PR": what headings call the sides; NULL is "A,B" */
};

/* Compares report B with report A, table by table; both may be over several captures. They should have the same
   analyses, "measures", "accounting", "categories", "gaps" and "steps" among them, and tables with all their rows. Each
   table is under its own key, with columns a_KEY, b_KEY and delta_KEY for each amount. The result borrows from both
   reports; its first section is the comparison. */
enum gputime_status gputime_report_diff(const struct gputime_report *a, const struct gputime_report *b,
                                        const struct gputime_diff_options *diff, const struct gputime_options *options,
                                        struct gputime_report **out, struct gputime_error *err);

/* Judges limits and adds a line to the table `limits` for each. A limit is MEASURE or KIND:GLOB (kernel, category,
   range, phase, memory, cause, launch, work), < <= > or >=, and a number with %, a unit of time or nothing. Rows that
   match are summed; with "each " before it, every one is judged by itself. In a report it says what must hold:
   "idle<20%", "utilisation>80%", "gap<5ms", "losses<1", "each kernel:*<10%". In a comparison it says which change must
   not be: "step>+3%", "each kernel:*>+10%"; one inside the noise breaks no limit. What a trace or a side cannot tell is
   a usage error. */
enum gputime_status gputime_report_check(struct gputime_report *report, const char *const *limits, size_t limit_count,
                                         size_t *broken, struct gputime_error *err);

/* Writes to a file (replaced whole or not at all), or to standard output when path is NULL or "-". For CSV a path that
   ends in '/' is a folder that gets one file for each table; with the format "explain" it gets report.md, report.json,
   report.html and tables/ of the one trace of the report. */
enum gputime_status gputime_report_write(const struct gputime_report *report, const struct gputime_options *options,
                                         const char *path, struct gputime_error *err);

/* ---- configuration files ---- */

/* Several inputs, each with what is known of its run, and one class map: a JSON file as docs/stats.md describes it. */
struct gputime_config;

/* Checks everything in the file but the class map, and that the files it names can be read. */
enum gputime_status gputime_config_open(const char *path, struct gputime_config **out, struct gputime_error *err);
void gputime_config_free(struct gputime_config *config); /* NULL is fine */

size_t gputime_config_input_count(const struct gputime_config *config);
/* What to open one of its inputs with: the options of `base`, and what they leave open by the configuration, which it
   borrows from. */
struct gputime_input gputime_config_input(const struct gputime_config *config, size_t index,
                                          const struct gputime_options *base); /* base may be NULL */

/* Removes the unfinished files that reports are being written to, in every thread: for a signal handler of a program
   that ends by the signal. Async-signal-safe; the files that were to be replaced stay as they were. */
void gputime_remove_unfinished(void);

/* Writes what a decoding that took long is worth keeping for the next time; never fails loudly. */
void gputime_trace_store_cache(const struct gputime_trace *trace);
enum gputime_status gputime_cache_show(char *text, size_t size, struct gputime_error *err); /* one line */
enum gputime_status gputime_cache_clear(uint64_t *removed_files, struct gputime_error *err);

/* ---- redaction ---- */

/* What a redacted file holds, and what of its origin it does not. */
struct gputime_redaction {
    uint64_t kept_tables, kept_rows, kept_strings;
    uint64_t left_tables, left_columns, left_rows; /* left out; columns and rows: of the tables that are kept */
    uint64_t hidden_names;                         /* different names that stand as a hash */
};

/* Writes an SQLite export of Nsight Systems without host, user, environment, paths and process list; pids and tids are
   new numbers. With GPUTIME_NAMES_HASH the names of kernels and ranges are hashes. The output is replaced whole or not
   at all; done may be NULL. */
enum gputime_status gputime_redact(const char *input, const char *output, enum gputime_choice_names names,
                                   struct gputime_redaction *done, struct gputime_error *err);

/* ---- walking a report ---- */

enum gputime_cell_type { GPUTIME_CELL_NULL, GPUTIME_CELL_INT, GPUTIME_CELL_REAL, GPUTIME_CELL_TEXT };

struct gputime_cell {
    enum gputime_cell_type type;
    int64_t integer;
    double real;
    const char *text; /* text_bytes long, not terminated, any bytes; lives as long as the report */
    size_t text_bytes;
};

/* Units: "" for names and ids, "count", "ns", "bytes", and "share" for a fraction 0..1 of what `of` says. */
struct gputime_column {
    const char *key, *title, *unit;
    const char *of; /* NULL but for shares */
};

/* A single number or text of a section. */
struct gputime_fact {
    const char *key, *title, *unit;
    struct gputime_cell value;
};

/* Indices out of range give null, 0 or a struct of these. Findings are the rows of the table "findings". */
size_t gputime_report_section_count(const struct gputime_report *report); /* one for each trace */
const char *gputime_report_section_title(const struct gputime_report *report, size_t section);
size_t gputime_report_fact_count(const struct gputime_report *report, size_t section);
struct gputime_fact gputime_report_fact(const struct gputime_report *report, size_t section, size_t fact);
size_t gputime_report_note_count(const struct gputime_report *report, size_t section);
const char *gputime_report_note(const struct gputime_report *report, size_t section, size_t note); /* a sentence */
/* The number of the table with this key; SIZE_MAX if there is none. */
size_t gputime_report_find_table(const struct gputime_report *report, size_t section, const char *key);
size_t gputime_report_table_count(const struct gputime_report *report, size_t section);
const char *gputime_report_table_key(const struct gputime_report *report, size_t section, size_t table);
const char *gputime_report_table_title(const struct gputime_report *report, size_t section, size_t table);
size_t gputime_report_row_count(const struct gputime_report *report, size_t section, size_t table);
size_t gputime_report_column_count(const struct gputime_report *report, size_t section, size_t table);
struct gputime_column gputime_report_column(const struct gputime_report *report, size_t section, size_t table,
                                            size_t column);
const char *gputime_report_column_key(const struct gputime_report *report, size_t section, size_t table, size_t column);
struct gputime_cell gputime_report_cell(const struct gputime_report *report, size_t section, size_t table, size_t row,
                                        size_t column);

/* ---- registries ---- */

enum gputime_registry { GPUTIME_INPUTS, GPUTIME_ANALYSES, GPUTIME_OUTPUTS, GPUTIME_CATEGORIES };

struct gputime_entry {
    const char *key, *title;
    const char *detail; /* inputs: suffixes; analyses: their tables; outputs: suffix; categories: their kind of time */
    int is_data;        /* outputs: for programs, so it carries every row */
    int is_missing;     /* outputs: this build cannot write it */
};

size_t gputime_registry_count(enum gputime_registry registry);
struct gputime_entry gputime_registry_entry(enum gputime_registry registry, size_t index);

/* One line on this build of the library: its libraries with their versions, whether it has the page of the html output,
   whether it is part of a static program. Writes as much as fits, terminated, and gives the length of all. */
size_t gputime_parts(char *text, size_t capacity);

/* A place of docs/measures.md that defines a number. Texts are Markdown that is always there, not terminated. */
struct gputime_definition {
    const char *section; /* its heading */
    size_t section_bytes;
    const char *header; /* row of titles of the table that `text` is a row of; empty: it is none */
    size_t header_bytes;
    const char *text;
    size_t text_bytes;
};

/* Finds where a key of the JSON output (a table, a column, a fact, a finding, an issue) is defined: fills as many as
   fit and gives how many there are, 0 where the key is not known. */
size_t gputime_definitions(const char *key, struct gputime_definition *out, size_t capacity);

/* What a key in the files of `gputime explain` stands for. Texts are always there. */
struct gputime_source {
    const char *key; /* of the JSON output; not terminated */
    size_t key_bytes;
    const char *operation; /* what is done with it: "/1000000", "*100"; "+": a moment in the trace's own clock; or "" */
    const char *table;     /* that it is a column of; NULL: it is a fact */
};

/* Finds them: fills as many as fit and gives how many these are, 0 where the files have no such key. */
size_t gputime_sources(const char *key, struct gputime_source *out, size_t capacity);

/* A rule that gives kernels their category. Texts live as long as the list. */
struct gputime_rule {
    const char *model;       /* "builtin", "ENGINE/MODEL"; the file for rules of no model */
    const char *source;      /* "built-in", or the file it is from */
    const char *replaced_by; /* the file whose model of the same name counts instead; NULL: this one does */
    uint32_t number;         /* reports tell it as "MODEL NUMBER" */
    const char *category, *pattern;
};

struct gputime_rules;

/* Every rule there is: built in, in the user's own folder and in the rule_files of the options. The list is the
   caller's. */
enum gputime_status gputime_rules_list(const struct gputime_options *options, struct gputime_rules **out,
                                       struct gputime_error *err);
void gputime_rules_free(struct gputime_rules *rules); /* NULL is fine */
size_t gputime_rules_count(const struct gputime_rules *rules);
struct gputime_rule gputime_rules_get(const struct gputime_rules *rules, size_t index); /* all NULL behind the last */

#ifdef __cplusplus
}
#endif

#endif
