/* The option table and the look-ups on it. */
#include "options.h"

#include <stdio.h>
#include <string.h>

#define AT(member) offsetof(struct cli_options, member)

/* Choices are stored as int: the library's enums must be that wide. Lists are a pointer and then their length. */
_Static_assert(AT(gaps) > 0, "0 means that an option implies nothing");
_Static_assert(sizeof(enum gputime_unit) == sizeof(int), "enums are stored through int pointers");
#define IS_LIST(items, count) _Static_assert(AT(count) == AT(items) + sizeof(void *), "a list and its length")
IS_LIST(selection.steps, selection.step_count);
IS_LIST(selection.devices, selection.device_count);
IS_LIST(selection.streams, selection.stream_count);
IS_LIST(selection.processes, selection.process_count);
IS_LIST(selection.categories, selection.category_count);
IS_LIST(writing.columns, writing.column_count);
IS_LIST(diff.label_a, diff.label_b);

const struct cli_option cli_option_table[] = {
    {.name = "gaps",
     .letter = 'g',
     .type = CLI_FLAG,
     .offset = AT(gaps),
     .group = CLI_GROUP_KERNELS,
     .help = "add idle gaps of streams"},
    {.name = "launches",
     .type = CLI_FLAG,
     .offset = AT(launches),
     .group = CLI_GROUP_KERNELS,
     .help = "add launch calls and queue times"},
    {.name = "why",
     .type = CLI_FLAG,
     .offset = AT(why),
     .group = CLI_GROUP_KERNELS,
     .help = "show the rule that chose each category"},
    {.name = "tree",
     .type = CLI_FLAG,
     .offset = AT(tree),
     .group = CLI_GROUP_RANGES,
     .help = "show nested ranges as a tree"},
    {.name = "phase-map",
     .alias = "phases-json",
     .type = CLI_TEXT,
     .offset = AT(phase_map),
     .analysing = "phase_map",
     .argument = "FILE",
     .group = CLI_GROUP_PHASES,
     .help = "JSON file that maps range names to phases"},
    {.name = "out",
     .type = CLI_TEXT,
     .offset = AT(directory),
     .argument = "DIR",
     .group = CLI_GROUP_EXPLAIN,
     .help = "write report.md, report.json, report.html and\ntables/*.csv to DIR; created if missing"},
    {.name = "kernel-limit",
     .alias = "top-kernels",
     .type = CLI_INTEGER,
     .offset = AT(kernel_limit),
     .max = INT32_MAX,
     .argument = "N",
     .group = CLI_GROUP_EXPLAIN,
     .help = "kernels to list, overrides --top (30; 0 = all)"},
    {.name = "no-kernel-percentiles",
     .type = CLI_FLAG,
     .offset = AT(no_kernel_percentiles),
     .is_negated = true,
     .analysing = "kernel_percentiles",
     .group = CLI_GROUP_EXPLAIN,
     .help = "omit medians and percentiles in kernels.csv"},
    {.name = "no-nvtx-kernel-map",
     .type = CLI_FLAG,
     .offset = AT(no_range_kernels),
     .is_negated = true,
     .analysing = "ranges_have_kernels",
     .group = CLI_GROUP_EXPLAIN,
     .help = "do not attribute kernels to ranges"},
    {.name = "nvtx-coverage-warn-threshold",
     .type = CLI_DECIMAL,
     .offset = AT(coverage_threshold),
     .analysing = "coverage_threshold",
     .argument = "X",
     .group = CLI_GROUP_EXPLAIN,
     .help = "warn if less of the kernel time is in ranges (0.7)"},
    {.name = "print-schema",
     .type = CLI_FLAG,
     .offset = AT(print_schema),
     .group = CLI_GROUP_EXPLAIN,
     .help = "print the tables and columns of the file; without\n--out, nothing else. --table trace_facts: "
             "which\nkinds of data the trace has"},
    {.name = "generated-at",
     .type = CLI_MOMENT,
     .offset = AT(generated_at),
     .argument = "TIME",
     .group = CLI_GROUP_EXPLAIN,
     .help = "time of the report: 2026-01-31T09:30:00Z, or a date\n(now, or SOURCE_DATE_EPOCH)"},
    {.name = "per",
     .type = CLI_CHOICE,
     .offset = AT(per),
     .choices = "stream|device",
     .group = CLI_GROUP_GAPS,
     .help = "gaps of each stream, or of each GPU with causes"},
    {.name = "gap-top",
     .type = CLI_INTEGER,
     .offset = AT(gap_top),
     .max = INT32_MAX,
     .argument = "N",
     .group = CLI_GROUP_GAP_PART,
     .implies = AT(gaps),
     .help = "transitions to show (15; 0 = all)"},
    {.name = "gap-sort",
     .type = CLI_TEXT,
     .offset = AT(gap_sort),
     .argument = "KEY",
     .group = CLI_GROUP_GAP_PART,
     .implies = AT(gaps),
     .help = "sort transitions by avg, count, max, stdev or total\n(avg); avggap and maxgap mean avg and max"},
    {.name = "gap-output",
     .type = CLI_TEXT,
     .offset = AT(gap_output),
     .argument = "FILE",
     .group = CLI_GROUP_GAP_PART,
     .implies = AT(gaps),
     .help = "write the gap report to FILE"},
    {.name = "hist",
     .type = CLI_CHOICE,
     .offset = AT(bins),
     .analysing = "bins",
     .group = CLI_GROUP_GAP_PART,
     .implies = AT(gaps),
     .help = "bins of the histogram (log)"},
    {.name = "bins",
     .type = CLI_INTEGER,
     .offset = AT(bin_count),
     .analysing = "bin_count",
     .argument = "N",
     .group = CLI_GROUP_GAP_PART,
     .implies = AT(gaps),
     .help = "number of bins; implies --hist linear"},
    {.name = "hist-min",
     .type = CLI_MICROSECONDS,
     .offset = AT(hist_min_ns),
     .analysing = "hist_min_ns",
     .argument = "US",
     .group = CLI_GROUP_GAP_PART,
     .implies = AT(gaps),
     .help = "ignore stream gaps shorter than US microseconds"},
    {.name = "hist-max",
     .type = CLI_MICROSECONDS,
     .offset = AT(hist_max_ns),
     .analysing = "hist_max_ns",
     .argument = "US",
     .group = CLI_GROUP_GAP_PART,
     .implies = AT(gaps),
     .help = "ignore stream gaps longer than US microseconds"},

    {.name = "in-file",
     .alias = "infile",
     .type = CLI_WORD,
     .argument = "RUN",
     .group = CLI_GROUP_GRAPH,
     .help = "another RUN; may be repeated"},
    {.name = "out-dir",
     .type = CLI_TEXT,
     .offset = AT(out_dir),
     .argument = "DIR",
     .group = CLI_GROUP_GRAPH,
     .help = "directory for the files (.); created if missing"},
    {.name = "config",
     .type = CLI_TEXT,
     .offset = AT(config),
     .argument = "FILE",
     .group = CLI_GROUP_STATS,
     .help = "JSON file with inputs, iterations and class map"},
    {.name = "iters",
     .type = CLI_INTEGER,
     .offset = AT(run.iterations),
     .min = 1,
     .max = INT32_MAX,
     .argument = "N",
     .group = CLI_GROUP_STATS,
     .help = "iterations in the trace (ranges named by --nvtx-tag,\nelse 1)"},
    {.name = "gpus",
     .type = CLI_INTEGER,
     .offset = AT(run.gpus),
     .min = 1,
     .max = INT32_MAX,
     .argument = "N",
     .group = CLI_GROUP_STATS,
     .help = "GPUs in the trace (as recorded)"},
    {.name = "nvtx-tag",
     .type = CLI_TEXT,
     .offset = AT(run.iteration_range),
     .argument = "NAME",
     .group = CLI_GROUP_STATS,
     .help = "range that marks an iteration; [domain:]name"},
    {.name = "title",
     .type = CLI_TEXT,
     .offset = AT(run.title),
     .argument = "TEXT",
     .group = CLI_GROUP_TITLE,
     .help = "heading instead of the file name"},

    {.name = "range",
     .type = CLI_TEXT,
     .offset = AT(path_range),
     .analysing = "path_range",
     .argument = "NAME",
     .group = CLI_GROUP_PATH,
     .help = "path of each range with this name ('*' and '?' as in\nfile names)"},
    {.name = "scale",
     .type = CLI_LINE,
     .offset = AT(changes),
     .choices = "scale:",
     .analysing = "changes",
     .argument = "GLOB=F",
     .group = CLI_GROUP_WHATIF,
     .help = "ops of this name take F times as long (repeatable)"},
    {.name = "class",
     .type = CLI_LINE,
     .offset = AT(changes),
     .choices = "class:",
     .analysing = "changes",
     .argument = "KEY=F",
     .group = CLI_GROUP_WHATIF,
     .help = "the same for compute, comm, memory or a category"},
    {.name = "cpu",
     .type = CLI_LINE,
     .offset = AT(changes),
     .choices = "cpu=",
     .analysing = "changes",
     .argument = "N",
     .group = CLI_GROUP_WHATIF,
     .help = "the CPU is N times as fast"},
    {.name = "no",
     .type = CLI_LINE,
     .offset = AT(changes),
     .choices = "no:",
     .analysing = "changes",
     .argument = "launch|think|sync",
     .group = CLI_GROUP_WHATIF,
     .help = "launches or other CPU work take no time, or no call\nwaits for the GPU (repeatable)"},
    {.name = "overlap",
     .type = CLI_LINE,
     .offset = AT(changes),
     .choices = "overlap:",
     .analysing = "changes",
     .argument = "comm",
     .group = CLI_GROUP_WHATIF,
     .help = "only the end of a step waits for communication"},
    {.name = "force",
     .type = CLI_FLAG,
     .offset = AT(force),
     .analysing = "force",
     .group = CLI_GROUP_WHATIF,
     .help = "answer even if the trace is explained badly"},
    {.name = "of",
     .type = CLI_TEXT,
     .offset = AT(of),
     .argument = "TABLE",
     .group = CLI_GROUP_DIFF,
     .help = "show only this table: kernels, ranges, limits, ..."},
    {.name = "per",
     .type = CLI_CHOICE,
     .offset = AT(diff.per),
     .choices = "step|range|launch|none",
     .min = GPUTIME_PER_STEP,
     .argument = "UNIT",
     .group = CLI_GROUP_DIFF,
     .pair = "range",
     .pair_offset = AT(diff.range),
     .help = "normalize by step, range NAME, launch or none"},
    {.name = "a",
     .type = CLI_PLACE,
     .offset = AT(a_words),
     .group = CLI_GROUP_DIFF,
     .help = "the traces that follow are captures of A"},
    {.name = "b",
     .type = CLI_PLACE,
     .offset = AT(b_words),
     .group = CLI_GROUP_DIFF,
     .help = "the traces that follow are captures of B"},
    {.name = "label",
     .type = CLI_TWO_TEXTS,
     .offset = AT(diff.label_a),
     .argument = "A,B",
     .group = CLI_GROUP_DIFF,
     .help = "names of the two sides, such as 'main,PR'"},
    {.name = "noise",
     .type = CLI_PERCENT,
     .offset = AT(diff.noise_share),
     .argument = "PERCENT",
     .group = CLI_GROUP_DIFF,
     .help = "treat smaller changes as noise (1%)"},
    {.name = "fail-if",
     .type = CLI_TEXTS,
     .offset = AT(fail_if),
     .argument = "CHANGE",
     .group = CLI_GROUP_DIFF,
     .help = "exit 3 on a change beyond noise: 'step>+3%',\n"
             "'idle>+2ms', 'each kernel:*>+10%'; may be repeated"},
    {.name = "limit",
     .type = CLI_TEXTS,
     .offset = AT(limits),
     .argument = "LIMIT",
     .group = CLI_GROUP_CHECK,
     .help = "exit 3 unless it holds: 'idle<20%', 'gap<5ms',\n"
             "'each kernel:*<20%'; may be repeated"},
    {.name = "limits",
     .type = CLI_TEXTS,
     .offset = AT(limit_files),
     .argument = "FILE",
     .group = CLI_GROUP_LIMITS,
     .help = "read limits from FILE, one per line; may be repeated"},

    {.name = "from",
     .type = CLI_TIME,
     .offset = AT(selection.from),
     .argument = "TIME",
     .group = CLI_GROUP_SELECTION,
     .help = "start of the window: 1.2s, 350ms, 20us, 40%"},
    {.name = "to",
     .type = CLI_TIME,
     .offset = AT(selection.to),
     .argument = "TIME",
     .group = CLI_GROUP_SELECTION,
     .help = "end of the window; both count from the first GPU op"},
    {.name = "step",
     .alias = "pstep",
     .type = CLI_RANGES,
     .offset = AT(selection.steps),
     .argument = "N[-M]",
     .group = CLI_GROUP_SELECTION,
     .help = "only work launched in these steps"},
    {.name = "device",
     .type = CLI_RANGES,
     .offset = AT(selection.devices),
     .argument = "ID,...",
     .group = CLI_GROUP_SELECTION,
     .help = "only these GPUs"},
    {.name = "stream",
     .type = CLI_RANGES,
     .offset = AT(selection.streams),
     .argument = "ID,...",
     .group = CLI_GROUP_SELECTION,
     .help = "only these streams"},
    {.name = "process",
     .type = CLI_RANGES,
     .offset = AT(selection.processes),
     .argument = "PID,...",
     .group = CLI_GROUP_SELECTION,
     .help = "only these processes"},
    {.name = "name",
     .type = CLI_TEXT,
     .offset = AT(selection.name),
     .argument = "TEXT",
     .group = CLI_GROUP_SELECTION,
     .help = "only names that contain TEXT, or match re:PATTERN"},
    {.name = "category",
     .type = CLI_KEYS,
     .offset = AT(selection.categories),
     .argument = "KEY,...",
     .group = CLI_GROUP_SELECTION,
     .help = "only these categories ('gputime list categories')"},

    {.name = "rules",
     .type = CLI_TEXTS,
     .offset = AT(rules),
     .argument = "FILE",
     .group = CLI_GROUP_RULES,
     .help = "category rules (patterns): FILE|DIR[,ENGINE,MODEL]"},
    {.name = "map",
     .type = CLI_TEXT,
     .offset = AT(opening.map_path),
     .argument = "FILE",
     .group = CLI_GROUP_TABLES,
     .help = "category map (substrings of kernel names)"},
    {.name = "top",
     .letter = 't',
     .alias = "limit",
     .type = CLI_INTEGER,
     .offset = AT(top),
     .max = INT32_MAX,
     .argument = "N",
     .group = CLI_GROUP_TABLES,
     .help = "rows of the main list (0 = all)"},
    {.name = "sort",
     .letter = 's',
     .type = CLI_TEXT,
     .offset = AT(sort),
     .argument = "KEY",
     .group = CLI_GROUP_TABLES,
     .help = "sort the main list; '+KEY': smallest first"},
    {.name = "columns",
     .type = CLI_KEYS,
     .offset = AT(writing.columns),
     .argument = "KEY,...",
     .group = CLI_GROUP_TABLES,
     .help = "columns to show in text, Markdown and CSV"},
    {.name = "table",
     .type = CLI_TEXT,
     .offset = AT(writing.table),
     .argument = "KEY",
     .group = CLI_GROUP_TABLES,
     .help = "show this table ('gputime list analyses')"},
    {.name = "names",
     .type = CLI_CHOICE,
     .offset = AT(names),
     .choices = "full|short|hash",
     .argument = "NAMES",
     .group = CLI_GROUP_NAMES,
     .help = "kernel names; hash: redact only"},
    {.name = "verbose",
     .letter = 'v',
     .type = CLI_FLAG,
     .offset = AT(writing.full_names),
     .group = CLI_GROUP_TABLES,
     .help = "do not shorten names"},
    {.name = "unit",
     .type = CLI_CHOICE,
     .offset = AT(writing.unit),
     .choices = "auto|ns|us|ms|s",
     .argument = "UNIT",
     .group = CLI_GROUP_TABLES,
     .help = "unit of times"},

    {.name = "format",
     .type = CLI_FORMAT,
     .offset = AT(writing.format),
     .argument = "FORMAT",
     .group = CLI_GROUP_FORMAT,
     .help = "or --json, --csv, --html ..."},
    {.name = "json",
     .type = CLI_CONSTANT,
     .offset = AT(writing.format),
     .choices = "json",
     .group = CLI_GROUP_FORMAT,
     .help = "short for --format json"},
    {.name = "csv",
     .type = CLI_CONSTANT,
     .offset = AT(writing.format),
     .choices = "csv",
     .group = CLI_GROUP_OUTPUT,
     .help = "short for --format csv"},
    {.name = "md",
     .type = CLI_CONSTANT,
     .offset = AT(writing.format),
     .choices = "md",
     .group = CLI_GROUP_OUTPUT,
     .help = "short for --format md"},
    {.name = "html",
     .type = CLI_CONSTANT,
     .offset = AT(writing.format),
     .choices = "html",
     .group = CLI_GROUP_OUTPUT,
     .help = "short for --format html"},
    {.name = "output",
     .letter = 'o',
     .type = CLI_TEXT,
     .offset = AT(output),
     .argument = "FILE",
     .group = CLI_GROUP_FILE,
     .help = "write to FILE; DIR/: one CSV file per table"},
    {.name = "open",
     .type = CLI_FLAG,
     .offset = AT(open),
     .group = CLI_GROUP_OUTPUT,
     .help = "open the HTML page in a browser"},
    {.name = "color",
     .alias = "colour",
     .type = CLI_CHOICE,
     .offset = AT(writing.color),
     .choices = "auto|always|never",
     .argument = "WHEN",
     .group = CLI_GROUP_TERMINAL,
     .help = "color in text"},
    {.name = "width",
     .type = CLI_INTEGER,
     .offset = AT(writing.width),
     .min = 20,
     .max = 10000,
     .argument = "N",
     .group = CLI_GROUP_TERMINAL,
     .help = "width of text (terminal, else COLUMNS, else 80)"},
    {.name = "quiet",
     .letter = 'q',
     .type = CLI_FLAG,
     .offset = AT(quiet),
     .group = CLI_GROUP_FILE,
     .help = "print only errors; files are still written"},

    {.name = "strict",
     .type = CLI_FLAG,
     .offset = AT(opening.strict),
     .group = CLI_GROUP_READING,
     .help = "fail if any event was lost or unreadable"},
    {.name = "threads",
     .type = CLI_INTEGER,
     .offset = AT(opening.threads),
     .max = 1024,
     .argument = "N",
     .group = CLI_GROUP_READING,
     .help = "number of threads (0 = one per core)"},
    {.name = "reader",
     .type = CLI_CHOICE,
     .offset = AT(opening.reader),
     .choices = "auto|native|nsys",
     .argument = "READER",
     .group = CLI_GROUP_READING,
     .help = "how .nsys-rep files are read"},
    {.name = "nsys-cmd",
     .type = CLI_TEXT,
     .offset = AT(opening.nsys_command),
     .argument = "PATH",
     .group = CLI_GROUP_READING,
     .help = "nsys executable (the one on PATH)"},
    {.name = "no-cache",
     .type = CLI_FLAG,
     .offset = AT(opening.no_cache),
     .group = CLI_GROUP_READING,
     .help = "do not use the cache"},
    {.name = "cache-after",
     .type = CLI_DURATION,
     .offset = AT(opening.cache_after_ns),
     .argument = "TIME",
     .group = CLI_GROUP_READING,
     .help = "cache traces that take longer to read (1s)"},

    {.name = "help",
     .letter = 'h',
     .type = CLI_FLAG,
     .offset = AT(help),
     .group = CLI_GROUP_GENERAL,
     .help = "print this help; 'gputime COMMAND --help' for a command"},
    {.name = "version",
     .letter = 'V',
     .type = CLI_FLAG,
     .offset = AT(version),
     .group = CLI_GROUP_GENERAL,
     .help = "print the versions of gputime and its libraries"},
    {.name = "print-man",
     .type = CLI_FLAG,
     .offset = AT(print_man),
     .group = CLI_GROUP_HIDDEN,
     .help = "print the manual page"},
    {.name = "print-completion",
     .type = CLI_CHOICE,
     .offset = AT(print_completion),
     .choices = "none|bash|zsh|fish",
     .group = CLI_GROUP_HIDDEN,
     .help = "print the completions for a shell"},
};
const size_t cli_option_count = sizeof cli_option_table / sizeof *cli_option_table;
_Static_assert(sizeof cli_option_table / sizeof *cli_option_table <= CLI_MAX_OPTIONS, "raise CLI_MAX_OPTIONS");

const char *cli_group_heading(enum cli_group group) {
    switch (group) {
    case CLI_GROUP_SELECTION:
        return "Selection";
    case CLI_GROUP_RULES:
    case CLI_GROUP_TABLES:
    case CLI_GROUP_NAMES:
        return "Tables";
    case CLI_GROUP_FORMAT:
    case CLI_GROUP_OUTPUT:
    case CLI_GROUP_FILE:
    case CLI_GROUP_TERMINAL:
        return "Output";
    case CLI_GROUP_READING:
        return "Reading";
    case CLI_GROUP_KERNELS:
    case CLI_GROUP_GAPS:
    case CLI_GROUP_GAP_PART:
    case CLI_GROUP_RANGES:
    case CLI_GROUP_DIFF:
    case CLI_GROUP_CHECK:
    case CLI_GROUP_LIMITS:
    case CLI_GROUP_PHASES:
    case CLI_GROUP_EXPLAIN:
    case CLI_GROUP_GRAPH:
    case CLI_GROUP_STATS:
    case CLI_GROUP_TITLE:
    case CLI_GROUP_PATH:
    case CLI_GROUP_WHATIF:
        return "Options";
    case CLI_GROUP_GENERAL:
    case CLI_GROUP_HIDDEN:
        break;
    }
    return "General";
}

bool cli_option_takes_value(const struct cli_option *option) {
    return option->type != CLI_FLAG && option->type != CLI_CONSTANT && option->type != CLI_PLACE;
}

static const char *format_choices(char *text, size_t size) {
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < gputime_registry_count(GPUTIME_OUTPUTS); i++) {
        int written =
            snprintf(text + used, size - used, "%s%s", i ? "|" : "", gputime_registry_entry(GPUTIME_OUTPUTS, i).key);
        if (written < 0 || (size_t)written >= size - used)
            break;
        used += (size_t)written;
    }
    return text;
}

struct gputime_option_info cli_option_analysing(const struct cli_option *option) {
    for (size_t i = 0; option->analysing && i < gputime_option_count(); i++) {
        struct gputime_option_info info = gputime_option_at(i);
        if (strcmp(info.automatic.key, option->analysing) == 0)
            return info;
    }
    return (struct gputime_option_info){0};
}

const char *cli_option_choices(const struct cli_option *option, char *text, size_t size) {
    if (option->type == CLI_FORMAT)
        return format_choices(text, size);
    if (option->type != CLI_CHOICE)
        return NULL;
    return option->choices ? option->choices : cli_option_analysing(option).choices;
}

const char *cli_option_argument(const struct cli_option *option, char *text, size_t size) {
    const char *choices = cli_option_choices(option, text, size);
    return choices ? choices : option->argument;
}

int cli_choice_index(const char *choices, const char *value) {
    size_t bytes = strlen(value);
    int index = 0;
    for (const char *choice = choices; choice; index++) {
        const char *bar = strchr(choice, '|');
        size_t choice_bytes = bar ? (size_t)(bar - choice) : strlen(choice);
        if (choice_bytes == bytes && memcmp(choice, value, bytes) == 0)
            return index;
        choice = bar ? bar + 1 : NULL;
    }
    return -1;
}

static bool same_name(const char *name, const char *given, size_t bytes) {
    if (!name || strlen(name) != bytes)
        return false;
    for (size_t i = 0; i < bytes; i++) {
        char c = given[i] == '_' ? '-' : given[i];
        if (name[i] != c)
            return false;
    }
    return true;
}

const struct cli_option *cli_option_find(const char *name, size_t bytes, unsigned groups) {
    const struct cli_option *found = NULL;
    for (size_t i = 0; i < cli_option_count; i++) {
        const struct cli_option *option = &cli_option_table[i];
        if (!same_name(option->name, name, bytes) && !same_name(option->alias, name, bytes))
            continue;
        bool is_better = found && !(found->group & groups) && (option->group & groups);
        found = !found || is_better ? option : found;
    }
    return found;
}

const struct cli_option *cli_option_find_letter(char letter) {
    for (size_t i = 0; i < cli_option_count; i++)
        if (cli_option_table[i].letter && cli_option_table[i].letter == letter)
            return &cli_option_table[i];
    return NULL;
}
