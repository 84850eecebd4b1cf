/* gputime: where did the GPU time go?
 *
 * Reads GPU traces, runs analyses over them, compares and writes reports; gives access to the events themselves.
 *
 *   struct gputime_report_options options = GPUTIME_REPORT_OPTIONS_INIT;
 *   const char *path = "trace.json.gz", *analysis = "kernels";
 *   options.analyses = &analysis;
 *   options.analysis_count = 1;
 *   gputime_trace_open(&path, 1, NULL, NULL, &trace, &err);
 *   gputime_report_new(&trace, 1, &options, &report, &err);
 *   const struct gputime_table *kernels = gputime_report_table(report, 0, "kernels");
 *
 * Rules for every function:
 *
 * Text is NUL-terminated bytes, UTF-8 for display; a struct gputime_text has a length instead. Times are
 * int64_t nanoseconds, shares are fractions 0..1.
 *
 * What is passed in is borrowed for the call; what is kept is copied. What is handed out as a pointer belongs to the
 * object it was asked of and lives as long as that, unless the comment says that it is the caller's.
 *
 * Structs without a field `size` change only with the soname of the library, which changes with every 0.x.
 *
 * Options are structs whose zero means automatic. Start each from its INIT macro, which sets the field `size`: a
 * program built against an older header has a shorter struct, and what it does not know is 0. A pointer to options may
 * be NULL: all automatic. err may be NULL. On failure the out pointer is set to NULL and *err says why.
 *
 * Threads: the library never prints, never exits and keeps no global state but the names of unfinished files. Different
 * objects may be used from different threads at once. A trace or report that is complete may be read (every function
 * that takes it as const) from several threads at once; it must not be freed while it is read. */
#ifndef GPUTIME_H
#define GPUTIME_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GPUTIME_VERSION "0.2.0"

/* The version of the library that is linked; GPUTIME_VERSION is that of the header. Constant text. Any thread. */
const char *gputime_version(void);

/* ---- Errors ---- */

/* Status of a function. */
enum gputime_status {
    GPUTIME_OK = 0,
    GPUTIME_FAILED = 1, /* the work could not be done */
    GPUTIME_USAGE = 2,  /* invalid request: unknown analysis, no such step */
    GPUTIME_BROKEN = 3, /* exit status of the program when a limit is broken; no function returns it */
};

/* Why a function failed. */
struct gputime_error {
    enum gputime_status status;
    char message[1024]; /* one line, no full stop */
};

/* ---- Values ---- */

/* Text with a length: any bytes, NUL among them, not terminated. */
struct gputime_text {
    const char *bytes; /* NULL: there is none */
    size_t size;
};

/* What a struct gputime_time is. */
enum gputime_time_kind {
    GPUTIME_TIME_NONE = 0, /* not given */
    GPUTIME_TIME_NS,       /* a duration */
    GPUTIME_TIME_SHARE,    /* a share of the time from the first start to the last end of GPU work */
};

/* A place on the time line, counted from the first GPU op. */
struct gputime_time {
    enum gputime_time_kind kind;
    int64_t ns;
    double share;
    const char *text; /* how reports quote it; NULL: made from the value */
};

/* Parses "1.2s", "350ms", "20us", "5ns" or "40%"; a plain number is seconds. out->text is the text itself, which must
   live as long as the time is used. Any thread. */
enum gputime_status gputime_time_parse(const char *text, struct gputime_time *out, struct gputime_error *err);

/* Numbers from first to last, inclusive; a single number has both equal. */
struct gputime_range {
    int64_t first, last;
};

/* Parses "3", "0,2" or "1-3,7": sets the number of ranges and fills up to `capacity` of them; out may be NULL
   where that is 0. Any thread. */
enum gputime_status gputime_ranges_parse(const char *text, struct gputime_range *out, size_t capacity, size_t *count,
                                         struct gputime_error *err);

/* ---- Opening traces ---- */

/* A trace: the events of one capture with their labels. Constant once it is open. */
struct gputime_trace;

/* How Nsight reports (.nsys-rep) are read. */
enum gputime_reader {
    GPUTIME_READER_AUTO = 0, /* by the library, or by nsys if the library cannot */
    GPUTIME_READER_NATIVE,   /* only by the library */
    GPUTIME_READER_NSYS,     /* only by nsys */
};

/* One key of a class map: kernels whose name contains the part, in any case, are of the class. The first key that a
   name contains decides, unless a longer one around it is there too. */
struct gputime_class {
    const char *part, *name;
};

/* What can be read of a trace. Reports read what their analyses need; rows of the other kinds are empty until they are
   asked for. */
enum gputime_trace_fact {
    GPUTIME_FACT_OPS = 1 << 0,          /* GPU ops with times */
    GPUTIME_FACT_CALLS = 1 << 1,        /* runtime and driver calls */
    GPUTIME_FACT_CORRELATION = 1 << 2,  /* which call launched which op */
    GPUTIME_FACT_RANGES = 1 << 3,       /* NVTX ranges and annotations */
    GPUTIME_FACT_CPU_OPS = 1 << 4,      /* operators of a framework */
    GPUTIME_FACT_GROUPS = 1 << 5,       /* rows that are summed already */
    GPUTIME_FACT_BYTES = 1 << 6,        /* sizes of copies */
    GPUTIME_FACT_PROJECTIONS = 1 << 7,  /* ranges as the profiler projected them on the GPU */
    GPUTIME_FACT_OVERHEADS = 1 << 8,    /* what the profiler and the driver did outside calls */
    GPUTIME_FACT_GRAPHS = 1 << 9,       /* which CUDA graph an op is of */
    GPUTIME_FACT_RANGE_TEXTS = 1 << 10, /* categories and texts of ranges */
    GPUTIME_FACT_SOURCE = 1 << 11,      /* tables and columns of a database */
    GPUTIME_FACT_MEMORY = 1 << 12,      /* allocations; from here on: only read when asked for */
    GPUTIME_FACT_COUNTERS = 1 << 13,    /* all counters: GPU metrics, others of the file, and memory in use */
    GPUTIME_FACT_COMMS = 1 << 14,       /* sizes and groups of collectives */
    GPUTIME_FACT_SYNCS = 1 << 15,       /* events, waits of streams, synchronizations */
    GPUTIME_FACT_FLOWS = 1 << 16,       /* links from forward to backward operators */
    GPUTIME_FACT_ARGUMENTS = 1 << 17,   /* shapes, types and other arguments of operators */
    GPUTIME_FACT_CONFIGS = 1 << 18,     /* grids, blocks, registers, shared memory of kernels */
    GPUTIME_FACT_STACKS = 1 << 19,      /* Python functions */
    GPUTIME_FACT_METRICS = 1 << 20,     /* counters without memory in use: GPU metrics and others of the file */
    GPUTIME_FACT_DETAILS = 1 << 21,     /* generated kernels of operators, and the code that called them */
    GPUTIME_FACT_COMM_LOGS = 1 << 22,   /* collectives that NCCL's profiler plugin logged */
    GPUTIME_FACT_HOST_CALLS = 1 << 23,  /* calls of the C library that can block, and of MPI */
    GPUTIME_FACT_CALL_ARGS = 1 << 24,   /* arguments of calls */
};
/* Those that are read unless others are asked for. */
#define GPUTIME_FACTS_USUAL (GPUTIME_FACT_MEMORY - 1)

/* What a trace hides from everything that is made of it, so that it can be shared (docs/redact.md). */
enum gputime_redact {
    GPUTIME_REDACT_NOTHING = 0,
    GPUTIME_REDACT_PRIVATE, /* host, user, paths, names of processes and threads, clock time; pids and tids are new */
    GPUTIME_REDACT_NAMES,   /* names of kernels, ranges, operators and counters, too: they are hashes */
};

/* How a trace is opened. */
struct gputime_open_options {
    size_t size;
    int64_t threads;            /* 0: one for each core; they change no result */
    int strict;                 /* 1: any loss is an error */
    int no_cache;               /* 1: the cache is neither read nor written */
    enum gputime_reader reader; /* other than automatic: no cache */
    const char *nsys_command;   /* the nsys to run; NULL: the one on PATH */
    int64_t cache_after_ns;     /* reading that takes longer is worth caching; 0: one second */
    void (*progress)(void *context, uint64_t done_bytes, uint64_t total_bytes); /* from any thread, one at a time */
    void *progress_context;

    /* Categories of kernels: rules, a map or classes, at most one of these; none: the built-in rules. */
    const char *rules_path;                 /* file of regular expressions, or directory of *.json */
    const char *rules_engine, *rules_model; /* both or neither: whose rules; without rules_path those of all files */
    const char *const *rule_paths; /* rule_path_count more files or directories of engines, in addition to the built-in
                                      ones and the user's; a later one wins */
    size_t rule_path_count;
    const char *map_path;                /* file of substrings of kernel names by class */
    const struct gputime_class *classes; /* class_count of them: a map that is not in a file */
    size_t class_count;

    uint64_t facts;             /* bits of enum gputime_trace_fact: what to read, with what that implies; 0:
                                   GPUTIME_FACTS_USUAL. A report that needs more has the files read again */
    enum gputime_redact redact; /* what reports and rows of the trace hide; other than nothing: no cache */
    int reserved;               /* 0 */
};
#define GPUTIME_OPEN_OPTIONS_INIT                                                                                      \
    {                                                                                                                  \
        sizeof(struct gputime_open_options), 0, 0, 0, GPUTIME_READER_AUTO, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,      \
            GPUTIME_REDACT_NOTHING, 0                                                                                  \
    }

/* What the user knows about a run and the trace does not say. A trace keeps what it was opened with; what the options
   of a report override it. */
struct gputime_run {
    size_t size;
    const char *title;           /* instead of the file name */
    int64_t iterations;          /* how often the work was repeated; 0: as often as iteration_range, else once */
    int64_t gpus;                /* number of GPUs of the trace; 0: as recorded, at least 1 */
    const char *iteration_range; /* name of the range that marks an iteration, with or without "domain:" */
    int64_t elapsed_ns;          /* elapsed time without a profiler; 0: the span of the GPU work */
    int without_memory;          /* 1: class statistics exclude memory ops */
    const char *remark;          /* a sentence that the report states about this input */
};
#define GPUTIME_RUN_INIT                                                                                               \
    { sizeof(struct gputime_run), 0, 0, 0, 0, 0, 0, 0 }

/* Checks options before a trace is read: rules, map, classes. Any thread. */
enum gputime_status gputime_open_options_check(const struct gputime_open_options *options, struct gputime_error *err);

/* Reads one capture: usually one path ("-" is standard input), or several files of the same capture. options and run
   may be NULL. The trace is the caller's; free it after every report made from it. Any thread. */
enum gputime_status gputime_trace_open(const char *const *paths, size_t path_count,
                                       const struct gputime_open_options *options, const struct gputime_run *run,
                                       struct gputime_trace **out, struct gputime_error *err);

/* One of several captures to open. Everything is borrowed for the call. */
struct gputime_input {
    const char *const *paths; /* files of one capture */
    size_t path_count;
    const struct gputime_open_options *options; /* NULL: automatic */
    const struct gputime_run *run;              /* NULL: nothing is known */
};

/* Reads several captures at the same time, pipes one after the other, on the threads of the first one's options. out
   and errors have an element for each: what could not be read is NULL and has an error. needs_all: one failure makes
   the others useless, so those after it that have not been begun are left out, NULL without an error; those that have
   are read to their end. Progress is reported by one thread at a time. Returns the status of the first in order that
   failed. The traces are the caller's. Any thread. */
enum gputime_status gputime_traces_open(const struct gputime_input *inputs, size_t count, int needs_all,
                                        struct gputime_trace **out, struct gputime_error *errors);

/* Reads these facts unless they were read already: bits of enum gputime_trace_fact. Rows, strings and descriptions of
   the trace are then those of the new reading; what was handed out before stays valid, but its string ids are not those
   of gputime_trace_string any more. What was read before stays in memory until the trace is freed. Nobody else may use
   the trace at the same time. A usage error where the files cannot be read again, as standard input. */
enum gputime_status gputime_trace_read(struct gputime_trace *trace, uint64_t facts, struct gputime_error *err);

/* Frees a trace and everything handed out from it, except for Arrow streams and arrays, which keep what they need; may
   be NULL. No report made from it may be left. */
void gputime_trace_free(struct gputime_trace *trace);

/* A sentence about what could not be read of the file; NULL: nothing was lost. Constant text. */
const char *gputime_trace_loss(const struct gputime_trace *trace);

/* Information about a trace. */
struct gputime_trace_info {
    const char *path;             /* the first file */
    const char *format;           /* key of the input format: "torch-json" */
    struct gputime_text producer; /* "Nsight Systems 2025.3.1"; may be empty */
    int64_t origin_ns;            /* start of the first op in the trace's clock: the zero of printed times */
    int64_t base_ns;              /* what to add to the trace's clock for UTC epoch; 0: not known */
    int64_t rank, world_size;     /* -1: not known */
    uint64_t skipped_events;      /* read, understood and not needed */
    struct gputime_text host;     /* name of the machine; may be empty */
    const char *rank_source; /* where the rank was found: "trace", "mpi", "environment" or "file_name"; NULL: not known.
                                Ranks of NCCL's communicators are only in rows of processes, with GPUTIME_FACT_COMMS */
    /* Bits of enum gputime_trace_fact. */
    uint64_t facts_present;  /* they were read and the trace has them */
    uint64_t facts_read;     /* they were asked for: those that are not present are not in the trace, or were lost */
    uint64_t facts_possible; /* the format can hold them: the others are never there */
};

/* Fills it; texts live as long as the trace. Several threads may ask. */
struct gputime_trace_info gputime_trace_describe(const struct gputime_trace *trace);

/* Length of the beginning of a path that names its capture, where a tool writes one capture as several files (as
   `nsys stats` does): files with the same beginning belong together. 0: the file is a capture of its own. Any thread.
 */
size_t gputime_capture_prefix(const char *path);

/* Whether one of the paths is the same capture with more in it, of which this file was made: the report beside what
   `nsys export` or `nsys stats` writes, XLA's .xplane.pb beside its .trace.json.gz. Names alone are compared. Who takes
   all files of a directory leaves copies out. Any thread. */
int gputime_capture_is_copy(const char *path, const char *const *paths, size_t path_count);

/* ---- Events of a trace ---- */

/* Rows of one kind: ops, calls, ranges, cpu_ops, steps, categories, lanes, threads, processes, devices and more.
   docs/rows.md lists all kinds and fields. */
struct gputime_rows;

/* How the values of a field are stored: the type of the elements of its array. */
enum gputime_field_type {
    GPUTIME_FIELD_U8,
    GPUTIME_FIELD_U16,
    GPUTIME_FIELD_U32,
    GPUTIME_FIELD_U64,
    GPUTIME_FIELD_I64,
    GPUTIME_FIELD_F64,
    GPUTIME_FIELD_TEXT, /* const char *: NUL-terminated */
};

/* Which values mean that the trace lacks the value. */
enum gputime_null {
    GPUTIME_NULL_NEVER,    /* every value is one */
    GPUTIME_NULL_MAX,      /* the largest value of the (unsigned) type */
    GPUTIME_NULL_MIN,      /* the smallest value of the (signed) type */
    GPUTIME_NULL_NEGATIVE, /* all negative values */
};

/* One column of rows: a constant array with an element for each row. */
struct gputime_field {
    const char *key;
    enum gputime_field_type type;
    enum gputime_null null;
    const char *unit;      /* "ns", "bytes", or "" */
    const char *refers_to; /* values are row numbers of this kind ("threads"), or ids of "strings"; NULL: plain */
    const char *choices;   /* meaning of the values 0, 1, ...: "kernel|memcpy|memset|graph"; NULL: numbers */
    const void *data;      /* may be NULL without rows */
};

/* How many kinds of rows there are, the same in every trace of one version of the library. */
size_t gputime_trace_rows_count(const struct gputime_trace *trace);

/* Rows by kind ("ops"), or by number below gputime_trace_rows_count; NULL: there is no such kind, or memory was short.
   A kind that the trace has nothing of has no rows; of NULL there are no rows and no fields. Arrays are constant and
   live as long as the trace; several threads may read them. */
const struct gputime_rows *gputime_trace_rows(const struct gputime_trace *trace, const char *key);
const struct gputime_rows *gputime_trace_rows_at(const struct gputime_trace *trace, size_t index);

/* Key of the kind, number of its rows, number of its fields. Rows are in the order of the file. */
const char *gputime_rows_key(const struct gputime_rows *rows);
size_t gputime_rows_count(const struct gputime_rows *rows);
size_t gputime_rows_field_count(const struct gputime_rows *rows);

/* A field by its number; all zero when there is none. */
struct gputime_field gputime_rows_field(const struct gputime_rows *rows, size_t field);

/* The number of the field with this key ("start_ns"); SIZE_MAX: there is none. */
size_t gputime_rows_find_field(const struct gputime_rows *rows, const char *key);

/* One value: whether it is null, and as a whole number (0 for text), a real number, or text (of a string id, a choice
   or a text field; else none). Out of range it is null, 0 and none. For many values read the array. */
int gputime_rows_is_null(const struct gputime_rows *rows, size_t row, size_t field);
int64_t gputime_rows_int(const struct gputime_rows *rows, size_t row, size_t field);
double gputime_rows_real(const struct gputime_rows *rows, size_t row, size_t field);
struct gputime_text gputime_rows_text(const struct gputime_rows *rows, size_t row, size_t field);

/* How many strings a trace has, and the string of an id below that; none out of range. Lives as long as the trace. */
size_t gputime_trace_string_count(const struct gputime_trace *trace);
struct gputime_text gputime_trace_string(const struct gputime_trace *trace, uint32_t id);

/* The values of a counter, by the row of its track (rows "counter_tracks"), whichever way they are stored: how many
   there are, and `count` of them from number `first` on, in order of time; fewer where there are no more. Gives how
   many. times_ns and values have room for them, or are NULL. */
size_t gputime_trace_counter_count(const struct gputime_trace *trace, size_t track);
size_t gputime_trace_counter_read(const struct gputime_trace *trace, size_t track, size_t first, size_t count,
                                  int64_t *times_ns, double *values);

/* The simplified name of an op, by the id of its name: without template arguments and the like. Other strings have
   none. Lives as long as the trace. */
struct gputime_text gputime_trace_short_name(const struct gputime_trace *trace, uint32_t id);

/* ---- Selecting ---- */

/* Whether a report is over whole steps: from the start of the first one after the warm-up (the long steps at the
   beginning) to the end of the last one or of the last op that a step launched. */
enum gputime_whole_steps {
    GPUTIME_STEPS_ANY = 0, /* no: over all GPU work */
    GPUTIME_STEPS_IF_MOST, /* where there are several, and they are at least half of the time of the GPU work */
    GPUTIME_STEPS_WHOLE,   /* where there are steps */
};

/* The part of a trace that a report covers. Steps, devices and categories that the trace does not have are usage errors
   that say what there is. */
struct gputime_selection {
    size_t size;
    struct gputime_time from, to;      /* a window; none: the whole trace */
    const struct gputime_range *steps; /* step_count ranges of step numbers; the same for the next three */
    size_t step_count;
    const struct gputime_range *devices;
    size_t device_count;
    const struct gputime_range *streams;
    size_t stream_count;
    const struct gputime_range *processes; /* pids */
    size_t process_count;
    const char *name;              /* substring of the names of ops in any case, or "re:" and a regular expression */
    const char *const *categories; /* category_count keys; "compute", "comm" and "memory" are all of that kind */
    size_t category_count;
    enum gputime_whole_steps whole_steps; /* not with from, to and steps */
    int reserved;                         /* 0 */
};
#define GPUTIME_SELECTION_INIT                                                                                         \
    {                                                                                                                  \
        sizeof(struct gputime_selection), {GPUTIME_TIME_NONE, 0, 0, 0}, {GPUTIME_TIME_NONE, 0, 0, 0}, 0, 0, 0, 0, 0,   \
            0, 0, 0, 0, 0, 0, GPUTIME_STEPS_ANY, 0                                                                     \
    }

/* ---- Options of analyses ---- */

/* What kind of value an option of an analysis takes. */
enum gputime_option_type {
    GPUTIME_OPTION_FLAG,   /* integer 0 or 1 */
    GPUTIME_OPTION_INT,    /* integer */
    GPUTIME_OPTION_REAL,   /* real */
    GPUTIME_OPTION_TEXT,   /* text */
    GPUTIME_OPTION_CHOICE, /* text: one of the choices */
};

/* A value for an option: only the member of its type counts. */
struct gputime_option {
    const char *key;
    enum gputime_option_type type;
    int64_t integer;
    double real;
    const char *text;
};

/* Makes a value for the option of that key; key and text are borrowed as long as it is used. Any thread. */
struct gputime_option gputime_option_flag(const char *key, int is_on);
struct gputime_option gputime_option_int(const char *key, int64_t value);
struct gputime_option gputime_option_real(const char *key, double value);
struct gputime_option gputime_option_text(const char *key, const char *text);
struct gputime_option gputime_option_choice(const char *key, const char *choice);

/* What is known about an option. Constant. */
struct gputime_option_info {
    const char *analysis;            /* key of the analysis it belongs to */
    struct gputime_option automatic; /* its key, type, and value where none is given; text may be NULL */
    double min, max;                 /* of numbers */
    const char *choices;             /* "log|linear"; NULL: not a choice */
    const char *unit;                /* "ns", "share", or "" */
    const char *help;                /* one line */
};

/* All options of all analyses, by number; all zero out of range. Any thread. */
size_t gputime_option_count(void);
struct gputime_option_info gputime_option_at(size_t index);

/* ---- Shaping tables ---- */

/* How one table of a report is shown. What is 0 or NULL leaves it as the analysis made it. */
struct gputime_shape {
    const char *table;          /* key of the table */
    const char *sort;           /* key of a column, largest first; "+key" smallest first */
    int64_t limit;              /* rows kept in every format; 0: all */
    int64_t screen_limit;       /* rows shown in text and Markdown; 0: the table's own choice, -1: all */
    const char *const *columns; /* column_count keys for text and Markdown, in order */
    size_t column_count;
    int ranked; /* 1: rows are numbered in text and Markdown */
    int joined; /* 1: of several inputs text and Markdown show one table with the rows of all */
    const char *pivot_row, *pivot_value; /* both: of several inputs they show one table that has a row for each value of
                                            pivot_row, a column for each input with the sum of its pivot_values, and
                                            the totals */
    const char *cut_sort;                /* as sort, where there are more rows than screen_limit; NULL: as they are */
};

/* How the tables of a report are shown. */
struct gputime_shaping {
    size_t size;
    size_t shape_size;                  /* sizeof(struct gputime_shape), set by the INIT macro */
    const struct gputime_shape *shapes; /* shape_count of them; of two for one table the later wins, field by field */
    size_t shape_count;
    const char *main_table;   /* what formats of one table (CSV) write; NULL: the first */
    const char *const *shown; /* shown_count keys: of the tables of analyses, text and Markdown show only these; NULL:
                                 all that the analyses mean for them */
    size_t shown_count;
    const char *const *forced; /* forced_count keys of tables that they show even if meant for data, or empty */
    size_t forced_count;
    const char *const *absent; /* absent_count keys of tables that need not be made */
    size_t absent_count;
    int for_screen; /* 1: for text or Markdown alone, neither compared nor checked: long tables need not hold more rows
                       than these show */
    int columns_only; /* 1: nobody reads other columns of a table than those that its shape lists, if it does: what they
                         say may be unknown */
};
#define GPUTIME_SHAPING_INIT                                                                                           \
    { sizeof(struct gputime_shaping), sizeof(struct gputime_shape), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/* ---- Reports ---- */

/* A report: one section for each input, with facts, notes, tables and findings. Constant once it is made, but for
   gputime_report_check. */
struct gputime_report;

/* How names of ops are grouped. */
enum gputime_names {
    GPUTIME_NAMES_FULL = 0,
    GPUTIME_NAMES_SHORT, /* simplified: names that differ in template arguments alone are one */
};

/* What a report is made of. */
struct gputime_report_options {
    size_t size;
    const char *const *analyses; /* analysis_count keys: what is measured */
    size_t analysis_count;
    const struct gputime_option *options; /* option_count values; unknown keys and wrong types are usage errors */
    size_t option_count;
    enum gputime_names names;
    int64_t threads;                           /* 0: one for each core; they change no result */
    const struct gputime_selection *selection; /* NULL: everything */
    const struct gputime_shaping *shaping;     /* NULL: as the analyses made the tables */
    const struct gputime_run *run;             /* about every trace; goes before what a trace was opened with */
    const char *command;                       /* name of the request in JSON; NULL: "report" */
    const char *heading;                       /* heading of the report; NULL: none */
    const char *generated_at;                  /* time of the report, as text; NULL: none */
};
#define GPUTIME_REPORT_OPTIONS_INIT                                                                                    \
    { sizeof(struct gputime_report_options), 0, 0, 0, 0, GPUTIME_NAMES_FULL, 0, 0, 0, 0, 0, 0, 0 }

/* Runs the analyses over each trace: one section for each, in order. The report is the caller's and borrows from the
   traces, which must outlive it. Several threads may make reports of one trace. */
enum gputime_status gputime_report_new(struct gputime_trace *const *traces, size_t trace_count,
                                       const struct gputime_report_options *options, struct gputime_report **out,
                                       struct gputime_error *err);

/* What a report with these options reads: bits of enum gputime_trace_fact, for gputime_open_options.facts, so that the
   files are read only once. 0: the options are not valid. Any thread. */
uint64_t gputime_report_facts(const struct gputime_report_options *options);

/* The same for gputime_report_new_sides, which adds what every comparison needs. Any thread. */
uint64_t gputime_report_sides_facts(const struct gputime_report_options *options);

/* Frees a report and everything handed out from it; may be NULL. */
void gputime_report_free(struct gputime_report *report);

/* ---- Jobs of many ranks ---- */

/* What is left of the traces of a job's ranks: summaries that are small next to the traces. */
struct gputime_job;

/* Reads captures, as many at the same time as there are threads, and keeps a summary of each rank in them: memory is
   that of a few traces and a few hundred bytes for each communication kernel. Several processes of a capture are
   several ranks. options: option_count values of options of the analysis "ranks". errors has an element for each input,
   or is NULL; what could not be read has an error and is left out. Fails if nothing could be read. The job is the
   caller's. Any thread. */
enum gputime_status gputime_job_open(const struct gputime_input *inputs, size_t count,
                                     const struct gputime_option *options, size_t option_count,
                                     struct gputime_job **out, struct gputime_error *errors, struct gputime_error *err);

/* Processes, usually on several machines, that read the traces of a job together. Process 0 opens the job and makes the
   report, the others serve it. The library says what is sent when; the functions say how. All processes call them in
   the same order, each from one thread at a time, but for those about progress. They do not fail: where others cannot
   be reached any more, they end the program. Any number of bytes, also 0. */
struct gputime_team {
    size_t size;
    uint32_t process, process_count; /* numbered from 0 */
    void *context;
    void (*broadcast)(void *context, void *bytes, size_t count); /* from process 0 to all */
    void (*send)(void *context, uint32_t to, const void *bytes, size_t count);
    void (*receive)(void *context, uint32_t from, void *bytes, size_t count);
    void (*give_up)(void *context, const char *message); /* ends all processes, with this error */
    /* Any thread. What this process has read, and on process 0 what another one has; reading begins and ends. */
    void (*set_progress)(void *context, uint64_t done_bytes);
    uint64_t (*progress_of)(void *context, uint32_t process);
    void (*set_reading)(void *context, int is_reading);
    /* From now on tick is called some times a second, by another thread; NULL: not any more, not even once. */
    void (*set_tick)(void *context, void (*tick)(void *tick_context), void *tick_context);
    const char *(*place_of)(void *context, uint32_t process); /* name of its machine, on process 0 */
};

/* gputime_job_open on process 0 of a team: captures are dealt to the processes by size. All need to see the files under
   the same names. Reports of the job, made by one thread at a time, are the same for any number of processes. team may
   be NULL: this process is alone; else it lives as long as the job.
 */
enum gputime_status gputime_job_open_team(const struct gputime_team *team, const struct gputime_input *inputs,
                                          size_t count, const struct gputime_option *options, size_t option_count,
                                          struct gputime_job **out, struct gputime_error *errors,
                                          struct gputime_error *err);

/* The other processes: does what process 0 asks for until that calls gputime_team_end. All open with these options,
   which should be the same as those of process 0. failure: why this process cannot read anything; NULL: it can. */
void gputime_team_serve(const struct gputime_team *team, const struct gputime_open_options *opening,
                        const struct gputime_option *options, size_t option_count, const struct gputime_error *failure);
void gputime_team_end(const struct gputime_team *team);

/* How many ranks it has; of several jobs those of all. */
size_t gputime_job_rank_count(const struct gputime_job *job);

/* A report with the tables of the analysis "ranks" in one section; traces that cannot be of one job (a rank is there
   twice, world sizes differ) have one for each job, the largest first. Of the options those that shape tables count,
   not analyses and selections. The report, the caller's, does not need the job any more. Several threads may ask. */
enum gputime_status gputime_job_report(const struct gputime_job *job, const struct gputime_report_options *options,
                                       struct gputime_report **out, struct gputime_error *err);

/* Frees a job; may be NULL. */
void gputime_job_free(struct gputime_job *job);

/* ---- Comparing ---- */

/* What amounts are divided by before they are compared. */
enum gputime_per {
    GPUTIME_PER_AUTO = 0, /* step, where every capture has steps that make up most of it; else none */
    GPUTIME_PER_STEP,
    GPUTIME_PER_RANGE, /* the range that `range` names */
    GPUTIME_PER_LAUNCH,
    GPUTIME_PER_NONE,
};

/* How two reports are compared. */
struct gputime_diff_options {
    size_t size;
    enum gputime_per per;
    const char *range;         /* per range: its name */
    const char *const *tables; /* table_count keys of the tables to show; NULL: all that both reports have. Verdicts
                                  and limits look at all of them */
    size_t table_count;
    double noise_share;            /* smaller changes are noise regardless of the spread; 0: 0.01, below 0: none */
    const char *label_a, *label_b; /* names of the sides, both or neither; NULL: "A" and "B" */
    const struct gputime_shaping *shaping; /* of the comparison's tables; NULL: as they are made */
};
#define GPUTIME_DIFF_OPTIONS_INIT                                                                                      \
    { sizeof(struct gputime_diff_options), GPUTIME_PER_AUTO, 0, 0, 0, 0, 0, 0, 0 }

/* Makes the reports of the two sides of a comparison, both at the same time: out[0] is over the traces before
   first_of_b, out[1] over those from it on. Each side has a trace: 0 < first_of_b < trace_count, else GPUTIME_USAGE.
   Both are NULL if one fails. whole_steps of the selection holds for all traces or for none: GPUTIME_STEPS_IF_MOST
   where amounts are to be per step if there are steps (GPUTIME_PER_AUTO), GPUTIME_STEPS_WHOLE for GPUTIME_PER_STEP. The
   analyses that every comparison needs are added to those named. The reports are the caller's and borrow from the
   traces. */
enum gputime_status gputime_report_new_sides(struct gputime_trace *const *traces, size_t trace_count, size_t first_of_b,
                                             const struct gputime_report_options *options,
                                             struct gputime_report *out[2], struct gputime_error *err);

/* Compares report B with report A, table by table; both may be over several captures. They should be made
   by gputime_report_new_sides, and their tables have all their rows. Each
   table is under its own key, with columns a_KEY, b_KEY and delta_KEY for each amount. The result is the caller's and
   borrows from both reports, which must outlive it; its first section is the comparison. Jobs of one side are runs of
   the same: if their traces say different world sizes, it fails. */
enum gputime_status gputime_report_diff(const struct gputime_report *a, const struct gputime_report *b,
                                        const struct gputime_diff_options *options, struct gputime_report **out,
                                        struct gputime_error *err);

/* Key of the table that has the values of a limit (below), so that reports to be checked can run its analysis. NULL:
   the limit is malformed, or reads no table. Constant text. */
const char *gputime_limit_table(const char *limit);

/* Judges limits and adds a row to the table `limits` for each; *broken counts those that do not hold. A limit is
   MEASURE or KIND:GLOB (kernel, category, range, phase, memory, cause, launch, work), < <= > or >=, and a number with
   %, a unit of time, a unit of bytes (B, kB, MB, GB, TB, KiB, MiB, GiB, TiB) or nothing. Rows that match are summed;
   with "each " before it, they are judged one by one. In a report it says what must hold: "idle<20%",
   "utilisation>80%", "gap<5ms", "losses<1", "each kernel:*<10%". In a comparison it says which change is an error:
   "step>+3%", "each kernel:*>+10%"; changes within the noise break no limit. A limit on data that a trace lacks is a
   usage error. The report must not be used by other threads meanwhile.
 */
enum gputime_status gputime_report_check(struct gputime_report *report, const char *const *limits, size_t limit_count,
                                         size_t *broken, struct gputime_error *err); /* broken may be NULL */

/* ---- Writing ---- */

enum gputime_unit { GPUTIME_UNIT_AUTO = 0, GPUTIME_UNIT_NS, GPUTIME_UNIT_US, GPUTIME_UNIT_MS, GPUTIME_UNIT_S };
enum gputime_color { GPUTIME_COLOR_AUTO = 0 /* never */, GPUTIME_COLOR_ALWAYS, GPUTIME_COLOR_NEVER };

/* How a report is written. */
struct gputime_write_options {
    size_t size;
    const char *format; /* key of an output ("text", "json") or of an older tool's file; NULL: by the suffix of the
                           path, else text */
    const char *table;  /* formats of one table (CSV): another than the main one */
    const char *const *columns; /* the same: column_count keys, in this order; NULL: all */
    size_t column_count;
    enum gputime_unit unit; /* of times in text and Markdown */
    enum gputime_color color;
    int64_t width;     /* columns of text; 0: 80 */
    int full_names;    /* 1: text does not shorten names */
    int64_t threads;   /* 0: one for each core; they change no result */
    int64_t row_limit; /* rows of each table in JSON, whose `total_rows` says how many there are; 0: all */
};
#define GPUTIME_WRITE_OPTIONS_INIT                                                                                     \
    { sizeof(struct gputime_write_options), 0, 0, 0, 0, GPUTIME_UNIT_AUTO, GPUTIME_COLOR_AUTO, 0, 0, 0, 0 }

/* Writes to a file (replaced atomically), or to standard output when path is NULL or "-". A path that ends in
   '/' is a directory: formats of one table write one file per table to it, formats that are directories ("explain")
   their files. Several threads may write one report. */
enum gputime_status gputime_report_write(const struct gputime_report *report,
                                         const struct gputime_write_options *options, const char *path,
                                         struct gputime_error *err);

/* The same into memory, in a format of one file: *out is the caller's, to be freed by gputime_text_free. Several
   threads may write one report. */
enum gputime_status gputime_report_print(const struct gputime_report *report,
                                         const struct gputime_write_options *options, struct gputime_text *out,
                                         struct gputime_error *err);

/* Removes the unfinished files that reports are being written to, in every thread: for a signal handler of a program
   that ends by the signal. Async-signal-safe; the files that were to be replaced stay as they were. */
void gputime_remove_unfinished(void);

/* ---- Exporting events ---- */

/* How events are exported. */
struct gputime_export_options {
    size_t size;
    const char *format;                        /* key of an export; NULL: by the end of the path */
    const struct gputime_selection *selection; /* which ops; NULL: all. Other events are whole */
    const char *const *tables;                 /* formats of several tables: table_count keys; NULL: all */
    size_t table_count;
    int64_t threads;   /* 0: one for each core; they change no result */
    size_t *op_counts; /* set to how many ops of each trace were selected; NULL: not asked for */
};
#define GPUTIME_EXPORT_OPTIONS_INIT                                                                                    \
    { sizeof(struct gputime_export_options), 0, 0, 0, 0, 0, 0 }

/* Writes the events of traces to files of another format (registry GPUTIME_EXPORTS): to one file, or to a directory
   where the path ends in '/'. Either all files are replaced or none. A trace that was read without facts that the
   export needs is read again. */
enum gputime_status gputime_traces_export(struct gputime_trace *const *traces, size_t count,
                                          const struct gputime_export_options *options, const char *path,
                                          struct gputime_error *err);

/* What an export with these options to this path reads: bits of enum gputime_trace_fact, as gputime_report_facts gives
   them. 0: the options are not valid. Any thread. */
uint64_t gputime_export_facts(const struct gputime_export_options *options, const char *path);

/* ---- Queries ---- */

/* Limits of a query. 0: automatic, below 0: none. */
struct gputime_sql_options {
    size_t size;
    int64_t max_rows;   /* of the result, the rest is left out with a note; automatic: 1000000 */
    int64_t max_bytes;  /* of the result, likewise; automatic: 1 GiB */
    int64_t timeout_ns; /* automatic: 5 minutes, then the query fails */
    const struct gputime_report_options *reporting; /* shape of the result, its names; options of the analyses that
                                                       report_ tables are made by. Their analyses and selections do not
                                                       count; NULL: all automatic */
    int (*is_abandoned)(void *context); /* asked some times a second by the calling thread while the query runs: other
                                           than 0 ends it with an error; NULL: nobody abandons it */
    void *abandoned_context;
};
#define GPUTIME_SQL_OPTIONS_INIT                                                                                       \
    { sizeof(struct gputime_sql_options), 0, 0, 0, 0, 0, 0 }

/* Runs one SELECT of SQLite's dialect over the traces. The report has one section with one table, "rows". Tables are
   the events (ops, calls, ranges, gaps ...; gputime_sql_schema lists them) and report_KEY for each table of each
   analysis. Nothing can be changed or opened by a query. What is wrong with it fails with its place. A trace that was
   read without facts that the query needs is read again. The report is the caller's and does not need the traces any
   more. Several threads may query one trace. */
enum gputime_status gputime_sql_query(struct gputime_trace *const *traces, size_t trace_count, const char *text,
                                      const struct gputime_sql_options *options, struct gputime_report **out,
                                      struct gputime_error *err);

/* What a query reads: bits of enum gputime_trace_fact, for gputime_open_options.facts. Any thread. */
uint64_t gputime_sql_facts(const char *text);

/* The tables and columns of queries as a report: table "schema". options: only their shape counts, and as `analyses`
   the keys of the tables to list: ops, calls ... (none: all). Any thread. */
enum gputime_status gputime_sql_schema(const struct gputime_report_options *options, struct gputime_report **out,
                                       struct gputime_error *err);

/* ---- Viewing ---- */

/* Traces that a browser explores: the application of the html output, which asks for what it shows (docs/view.md). */
struct gputime_view;

/* What is viewed, and how. */
struct gputime_view_options {
    size_t size;
    const struct gputime_report_options *reporting; /* reports where a question does not say otherwise: their analyses,
                                                       options, selection, shaping. Lives as long as the view; NULL:
                                                       questions name the analyses */
    const char *title;                              /* of the page; NULL: the name of the input */
    const char *command;                            /* that the page quotes: "gputime view trace.json"; NULL: none */
};
#define GPUTIME_VIEW_OPTIONS_INIT                                                                                      \
    { sizeof(struct gputime_view_options), 0, 0, 0 }

/* What a view reads at first: bits of enum gputime_trace_fact, for gputime_open_options.facts, so that the files are
   read only once. 0: the options are not valid. Any thread. */
uint64_t gputime_view_facts(const struct gputime_view_options *options);

/* Makes a view; nothing is analysed yet. The view is the caller's and borrows from the traces, which must outlive it.
   Any thread. */
enum gputime_status gputime_view_new(struct gputime_trace *const *traces, size_t trace_count,
                                     const struct gputime_view_options *options, struct gputime_view **out,
                                     struct gputime_error *err);

/* Frees a view that nobody asks or serves any more; may be NULL. */
void gputime_view_free(struct gputime_view *view);

/* The answer to one question. */
struct gputime_answer {
    int status;               /* as HTTP numbers them: 200, 400, 404, 500, 503 */
    const char *content_type; /* constant text */
    struct gputime_text body; /* the caller's, to be freed by gputime_text_free */
    const char *policy;       /* Content-Security-Policy of a page; NULL: not a page. Lives as long as the view */
};

/* Answers the question that an address asks, what follows the token in it: "", "lanes?input=0", "sql?query=..."
   (docs/view.md). Errors of the question are answers, too; it fails only where there is no memory for an answer.
   Several threads may ask. */
enum gputime_status gputime_view_answer(struct gputime_view *view, const char *path_and_query,
                                        struct gputime_answer *out, struct gputime_error *err);

/* Whether there is a server: this build knows one, and libmicrohttpd can be loaded. Any thread. */
int gputime_view_can_serve(void);

/* How a view is served. */
struct gputime_serve_options {
    size_t size;
    const char *address;  /* to listen on: an IP address; NULL: 127.0.0.1, which only this machine reaches */
    int64_t port;         /* 0: any that is free */
    int64_t idle_seconds; /* ends when no page was heard of for so long, also if none was ever opened; 0: a minute after
                             the last page was closed, or a quarter of an hour after it fell silent; -1: never */
    void (*ready)(void *context, const char *url,
                  int port); /* once, by the calling thread: pages may be opened.
                                The url has the token that admits them; NULL: not asked */
    void *context;
};
#define GPUTIME_SERVE_OPTIONS_INIT                                                                                     \
    { sizeof(struct gputime_serve_options), 0, 0, 0, 0, 0 }

/* Serves pages of the view over HTTP until gputime_view_stop is called or no page is left. GPUTIME_FAILED: this build
   has no server, or the port is taken. A view is served by one thread at a time. */
enum gputime_status gputime_view_serve(struct gputime_view *view, const struct gputime_serve_options *options,
                                       struct gputime_error *err);

/* Ends gputime_view_serve, also one that begins later. Any thread; async-signal-safe. */
void gputime_view_stop(struct gputime_view *view);

/* ---- Reading reports ---- */

enum gputime_cell_type { GPUTIME_CELL_NULL, GPUTIME_CELL_INT, GPUTIME_CELL_REAL, GPUTIME_CELL_TEXT };

/* One value. Text lives as long as the report. */
struct gputime_cell {
    enum gputime_cell_type type;
    int64_t integer;
    double real;
    const char *text; /* text_bytes long, not terminated, any bytes */
    size_t text_bytes;
};

/* One column of a table. Units: "" for names and ids, "count", "ns", "bytes", and "share" for a fraction 0..1. */
struct gputime_column {
    const char *key, *title, *unit;
    const char *of; /* what a share is of; NULL for others */
};

/* A single number or text of a section. */
struct gputime_fact {
    const char *key, *title, *unit;
    struct gputime_cell value;
};

/* A part of the trace: times since the start of the first op. */
struct gputime_window {
    int64_t start_ns, end_ns;
    int64_t device; /* number of the GPU */
};

/* Something worth acting on. Sentences are empty from their count on. */
struct gputime_finding {
    const char *id;       /* "host_bound" */
    const char *severity; /* "high", "medium", "low" */
    struct gputime_text title;
    struct gputime_text evidence[8], advice[8];
    size_t evidence_count, advice_count;
    int64_t recoverable_ns;           /* potential saving of GPU time, an upper bound; -1: unknown */
    const char *table;                /* key of the table with the details; may be NULL */
    int64_t recoverable_step_ns;      /* potential saving of a step; -1: unknown, or there are no steps */
    double share;                     /* of the time after the warm-up that could be saved; negative: unknown */
    const char *rule;                 /* what the rule looks for, in a sentence */
    struct gputime_window windows[5]; /* where most of it is, the most first */
    size_t window_count;
};

/* A problem in the data. */
struct gputime_issue {
    const char *id, *help;
    uint64_t count;
    uint64_t first_offset; /* byte of the (inflated) input where it was first seen; UINT64_MAX: not known */
    int is_loss;           /* 1: something could not be read */
};

/* A table of a section: rows of typed cells. Lives as long as the report. */
struct gputime_table;

/* Sections: one for each trace, in their order; of a comparison the first is the comparison itself. The title is the
   name of the input; NULL out of range. */
size_t gputime_report_section_count(const struct gputime_report *report);
const char *gputime_report_section_title(const struct gputime_report *report, size_t section);

/* Facts of a section by number, or by key; all zero when there is none. */
size_t gputime_report_fact_count(const struct gputime_report *report, size_t section);
struct gputime_fact gputime_report_fact_at(const struct gputime_report *report, size_t section, size_t fact);
struct gputime_fact gputime_report_fact(const struct gputime_report *report, size_t section, const char *key);

/* Notes of a section: sentences; NULL out of range. */
size_t gputime_report_note_count(const struct gputime_report *report, size_t section);
const char *gputime_report_note(const struct gputime_report *report, size_t section, size_t note);

/* Those among the notes on a job that name traces that were only partly read, and ranks without a trace; NULL out of
   range. */
const char *gputime_report_loss(const struct gputime_report *report, size_t section, size_t loss);

/* Findings of a section, the most severe first; all zero out of range. They are the table "findings", too. */
size_t gputime_report_finding_count(const struct gputime_report *report, size_t section);
struct gputime_finding gputime_report_finding(const struct gputime_report *report, size_t section, size_t finding);

/* Problems of the data of a section; all zero out of range. */
size_t gputime_report_issue_count(const struct gputime_report *report, size_t section);
struct gputime_issue gputime_report_issue(const struct gputime_report *report, size_t section, size_t issue);

/* Tables of a section by key ("kernels"), or by number; NULL when there is none. */
size_t gputime_report_table_count(const struct gputime_report *report, size_t section);
const struct gputime_table *gputime_report_table(const struct gputime_report *report, size_t section, const char *key);
const struct gputime_table *gputime_report_table_at(const struct gputime_report *report, size_t section, size_t table);

/* About a table; a table that is NULL has no key, no title, no rows and no columns. */
const char *gputime_table_key(const struct gputime_table *table);
const char *gputime_table_title(const struct gputime_table *table);
size_t gputime_table_row_count(const struct gputime_table *table);
size_t gputime_table_column_count(const struct gputime_table *table);

/* A column by number; all zero out of range. */
struct gputime_column gputime_table_column(const struct gputime_table *table, size_t column);

/* The number of the column with this key ("total_ns"); SIZE_MAX: there is none. */
size_t gputime_table_find_column(const struct gputime_table *table, const char *key);

/* A cell; null out of range (so also with a column that find_column did not find). */
struct gputime_cell gputime_table_cell(const struct gputime_table *table, size_t row, size_t column);

/* A cell as a whole number (a real one is cut to it), a real number or text; 0 and none where it is null or of another
   kind. */
int64_t gputime_table_int(const struct gputime_table *table, size_t row, size_t column);
double gputime_table_real(const struct gputime_table *table, size_t row, size_t column);
struct gputime_text gputime_table_text(const struct gputime_table *table, size_t row, size_t column);

/* One table as text for a terminal, without the rest of its report; empty for a table that is not shown without rows.
   Of the options unit, color, width and full_names count. *out is the caller's, to be freed by gputime_text_free.
   Several threads may ask. */
enum gputime_status gputime_table_print(const struct gputime_table *table, const struct gputime_write_options *options,
                                        struct gputime_text *out, struct gputime_error *err);

/* Frees a text that is the caller's; one without bytes is fine. */
void gputime_text_free(struct gputime_text text);

/* ---- Arrow ---- */

/* The structs of the Arrow C data and C stream interfaces, an ABI that data frame libraries share
   (https://arrow.apache.org/docs/format/CDataInterface.html); other headers may have them already. */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE           2
#define ARROW_FLAG_MAP_KEYS_SORTED    4

/* The type of a column, or of a table, whose columns are its children. */
struct ArrowSchema {
    const char *format, *name, *metadata;
    int64_t flags, n_children;
    struct ArrowSchema **children, *dictionary;
    void (*release)(struct ArrowSchema *schema); /* NULL: it was released */
    void *private_data;
};

/* The values of a column or table. */
struct ArrowArray {
    int64_t length, null_count, offset, n_buffers, n_children;
    const void **buffers;
    struct ArrowArray **children, *dictionary;
    void (*release)(struct ArrowArray *array); /* NULL: it was released */
    void *private_data;
};
#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

/* A table as a sequence of arrays that all have its schema. */
struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *stream, struct ArrowSchema *out); /* 0, or an errno */
    int (*get_next)(struct ArrowArrayStream *stream, struct ArrowArray *out);    /* released at the end of the table */
    const char *(*get_last_error)(struct ArrowArrayStream *stream);
    void (*release)(struct ArrowArrayStream *stream); /* NULL: it was released */
    void *private_data;
};
#endif

/* A table of a report as a stream, which is the caller's to release and needs the report no more. Whole numbers are
   int64, other numbers and shares double, texts dictionary-encoded UTF-8; docs/frames.md has the rules. On failure
   out->release is NULL. Several threads may ask. */
enum gputime_status gputime_table_arrow(const struct gputime_table *table, struct ArrowArrayStream *out,
                                        struct gputime_error *err);

/* The same for the table with this key over all sections of a report, as one on several jobs has them: their rows one
   after the other, with the section's title in the column `input` before the others. */
enum gputime_status gputime_report_arrow(const struct gputime_report *report, const char *table,
                                         struct ArrowArrayStream *out, struct gputime_error *err);

/* A frame of a trace as a stream: its events as a wide table with the joins made ("ops", "calls", "ranges", "gaps",
   "steps" ...; docs/frames.md lists all with their columns). columns: column_count keys, in this order, for which the
   files are read again if need be; NULL: all that can be had from what was read. Columns of the trace itself are not
   copied: the stream and its arrays keep the trace's memory until they are released, also after gputime_trace_free. The
   stream is the caller's. On failure out->release is NULL. Several threads may ask. */
enum gputime_status gputime_trace_arrow(struct gputime_trace *trace, const char *frame, const char *const *columns,
                                        size_t column_count, struct ArrowArrayStream *out, struct gputime_error *err);

/* Keys of the frames and of their columns by number, the same in every trace; NULL out of range. Constant texts. */
const char *gputime_frame_key(size_t frame);
const char *gputime_frame_column_key(size_t frame, size_t column);

/* ---- Registries ---- */

/* Lists of what this build of the library supports. */
enum gputime_registry {
    GPUTIME_INPUTS,     /* formats it reads */
    GPUTIME_ANALYSES,   /* what it measures */
    GPUTIME_OUTPUTS,    /* formats it writes */
    GPUTIME_CATEGORIES, /* built-in categories of ops */
    GPUTIME_EXPORTS,    /* formats that it exports events to */
};

/* One entry of a registry. Constant texts. */
struct gputime_entry {
    const char *key, *title;
    const char *detail; /* inputs: suffixes; analyses: their tables, comma-separated; outputs and exports: suffix, "/"
                           for a directory; categories: their time class */
    int is_data;        /* outputs: for programs, with all rows */
    int is_missing;     /* outputs: this build cannot write it */
    int fills_folders;  /* outputs: one file has one table, so a directory has them all */
    int is_binary;      /* outputs: not for a terminal */
};

/* Length of a registry, and an entry by number or key; all zero when there is none. Any thread. */
size_t gputime_registry_count(enum gputime_registry registry);
struct gputime_entry gputime_registry_entry(enum gputime_registry registry, size_t index);
struct gputime_entry gputime_registry_find(enum gputime_registry registry, const char *key);

/* One line on this build of the library: its libraries with their versions, whether it has the page of the html output,
   whether it is part of a static program. Writes as much as fits, terminated, and gives the length of all. */
size_t gputime_parts(char *text, size_t capacity);

/* A place of docs/measures.md that defines a number. Texts are constant Markdown, not terminated. */
struct gputime_definition {
    const char *section; /* its heading */
    size_t section_bytes;
    const char *header; /* row of titles of the table that `text` is a row of; empty: it is not a row */
    size_t header_bytes;
    const char *text;
    size_t text_bytes;
};

/* Finds where a key of the JSON output (a table, a column, a fact, a finding, an issue) is defined: fills as many as
   fit and gives how many there are, 0 where the key is not known. Any thread. */
size_t gputime_definitions(const char *key, struct gputime_definition *out, size_t capacity);

/* What a key in the files of `gputime explain` means. Constant texts. */
struct gputime_source {
    const char *key; /* of the JSON output; not terminated */
    size_t key_bytes;
    const char *operation; /* what is done with it: "/1000000", "*100"; "+": a moment in the trace's own clock; or "" */
    const char *table;     /* that it is a column of; NULL: it is a fact */
};

/* Finds them: fills as many as fit and gives how many these are, 0 where the files have no such key. Any thread. */
size_t gputime_sources(const char *key, struct gputime_source *out, size_t capacity);

/* ---- Rules ---- */

/* A rule that gives kernels their category. Texts live as long as the list. */
struct gputime_rule {
    const char *model;       /* "builtin", "ENGINE/MODEL"; the file for rules of no model */
    const char *source;      /* "built-in", or the file it is from */
    const char *replaced_by; /* the file whose model of the same name counts instead; NULL: this one does */
    uint32_t number;         /* reports call it "MODEL NUMBER" */
    const char *category, *pattern;
};

/* A list of rules. */
struct gputime_rules;

/* Every rule there is: built in, in the user's directory and in the files and directories of `paths` (path_count of
   them; NULL where that is 0). The list is the caller's. Any thread. */
enum gputime_status gputime_rules_list(const char *const *paths, size_t path_count, struct gputime_rules **out,
                                       struct gputime_error *err);
void gputime_rules_free(struct gputime_rules *rules); /* may be NULL */
size_t gputime_rules_count(const struct gputime_rules *rules);
struct gputime_rule gputime_rules_at(const struct gputime_rules *rules, size_t index); /* all NULL out of range */

/* ---- Configuration files ---- */

/* Several inputs, each with what is known of its run (out begins as GPUTIME_RUN_INIT),
   and one class map: a JSON file as docs/stats.md describes it. */
struct gputime_config;

/* Checks everything in the file but the class map, and that the files it names can be read. The configuration is the
   caller's. Any thread. */
enum gputime_status gputime_config_open(const char *path, struct gputime_config **out, struct gputime_error *err);
void gputime_config_free(struct gputime_config *config); /* may be NULL */

/* How many inputs it names, the files of one (*path_count of them; NULL out of range), what is known of its run (out
   begins as GPUTIME_RUN_INIT), and the file of the class map, NULL where it has none. All live as long as the
   configuration. */
size_t gputime_config_input_count(const struct gputime_config *config);
const char *const *gputime_config_paths(const struct gputime_config *config, size_t index, size_t *path_count);
void gputime_config_run(const struct gputime_config *config, size_t index, struct gputime_run *out);
const char *gputime_config_map_path(const struct gputime_config *config);

/* ---- Cache ---- */

/* Caches a trace that took long to read; does nothing if that is not worth it, and never fails. */
void gputime_trace_store_cache(const struct gputime_trace *trace);

/* Writes one line about the cache to `text` of `size` bytes; the other removes all its files. Any thread. */
enum gputime_status gputime_cache_show(char *text, size_t size, struct gputime_error *err);
enum gputime_status gputime_cache_clear(uint64_t *removed_files, struct gputime_error *err);

/* ---- Redaction ---- */

/* What a redacted file contains, and what was left out. */
struct gputime_redaction {
    uint64_t kept_tables, kept_rows, kept_strings;
    uint64_t left_tables, left_columns, left_rows; /* left out; columns and rows: of the tables that are kept */
    uint64_t hidden_names;                         /* different names that are hashes now */
};

/* Writes an SQLite export of Nsight Systems without host, user, environment, paths and process list; pids and tids are
   new numbers. With hash_names the names of kernels and ranges are hashes. The output is replaced atomically; done may
   be NULL. Any thread. */
enum gputime_status gputime_redact(const char *input, const char *output, int hash_names,
                                   struct gputime_redaction *done, struct gputime_error *err);

#ifdef __cplusplus
}
#endif

#endif
