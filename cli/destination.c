/* Where the options send a report: the files and the terminal, each with its format. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "error.h"
#include "request.h"
#include "target.h"

/* Suffix of the last path component with its dot, "" when it has none. */
static const char *suffix_of(const char *path) {
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    const char *dot = strrchr(base, '.');
    return dot && dot != base ? dot : "";
}

/* The registry's detail of an output is its suffix, or several with spaces or commas between. */
static bool has_suffix(const char *suffixes, const char *suffix) {
    size_t bytes = strlen(suffix);
    for (const char *item = suffixes; item && *item;) {
        item += strspn(item, " ,");
        size_t item_bytes = strcspn(item, " ,");
        if (item_bytes == bytes && strncasecmp(item, suffix, bytes) == 0)
            return true;
        item += item_bytes;
    }
    return false;
}

static const char *format_of_suffix(const char *suffix) {
    for (size_t i = 0; *suffix && i < gputime_registry_count(GPUTIME_OUTPUTS); i++) {
        struct gputime_entry entry = gputime_registry_entry(GPUTIME_OUTPUTS, i);
        if (has_suffix(entry.detail, suffix))
            return entry.key;
    }
    return NULL;
}

/* Formats that write one file per table: the asked one if it does, else the first; text, if there is none. */
static const char *format_of_directory(const char *asked) {
    if (asked && gputime_registry_find(GPUTIME_OUTPUTS, asked).fills_folders)
        return asked;
    for (size_t i = 0; i < gputime_registry_count(GPUTIME_OUTPUTS); i++)
        if (gputime_registry_entry(GPUTIME_OUTPUTS, i).fills_folders)
            return gputime_registry_entry(GPUTIME_OUTPUTS, i).key;
    return "text";
}

static enum gputime_status fail_suffix(const char *path, struct gputime_error *err) {
    char formats[256];
    const struct cli_option *option = cli_option_find("format", strlen("format"), CLI_GROUP_FORMAT);
    return cli_fail_usage(err, "unknown suffix of '%s'; use --format %s", path,
                          cli_option_choices(option, formats, sizeof formats));
}

/* layout: of the detailed list that a file without a data suffix gets; NULL: the file gets the printed text. */
static enum gputime_status plan_file(const char *path, const char *asked, const char *layout, bool prints_too,
                                     struct cli_destination *destination, struct gputime_error *err) {
    const char *suffix = suffix_of(path);
    const char *format = format_of_suffix(suffix);
    bool is_plain = !*suffix || (format && strcmp(format, "text") == 0);

    *destination = (struct cli_destination){.path = path, .is_complete = prints_too};
    if (cli_target_is_directory(path)) {
        const char *filler = format_of_directory(asked);
        if (asked && !prints_too && strcmp(asked, filler) != 0)
            return cli_fail_usage(
                err, "a directory gets csv or parquet files, not %s; remove the '/' at the end of '%s'", asked, path);
        destination->format = filler;
    } else if (asked) {
        destination->format = asked;
    } else if (is_plain) {
        destination->format = layout ? layout : "text";
        destination->is_layout = layout != NULL;
    } else if (format) {
        destination->format = format;
    } else {
        return fail_suffix(path, err);
    }
    return GPUTIME_OK;
}

/* The files that a command writes without --output. */
static enum gputime_status plan_own_files(const struct cli_command *command, const struct cli_options *options,
                                          struct cli_destination *destinations, size_t *count,
                                          struct gputime_error *err) {
    const char *directory = options->out_dir ? options->out_dir : ".";
    bool is_wanted = options->out_dir || (!options->writing.format && !options->output);
    for (size_t i = 0; i < CLI_MAX_FILES && command->files[i].name && is_wanted; i++) {
        const struct cli_file *file = &command->files[i];
        if (!file->is_layout && cli_format_is_missing(file->format))
            continue;
        struct cli_destination *destination = &destinations[(*count)++];
        *destination = (struct cli_destination){
            .format = file->format, .is_complete = true, .is_layout = file->is_layout, .makes_directory = true};
        size_t bytes = (size_t)snprintf(destination->file, sizeof destination->file, "%s%s%s",
                                        options->out_dir ? directory : "", options->out_dir ? "/" : "", file->name);
        if (bytes >= sizeof destination->file)
            return cli_fail_usage(err, "--out-dir '%.100s...' is too long", directory);
        destination->path = destination->file;
    }
    return GPUTIME_OK;
}

/* The directory of an older tool, and what is printed about it. */
static enum gputime_status plan_directory(const struct cli_command *command, const struct cli_options *options,
                                          struct cli_destination *destinations, size_t *count,
                                          struct gputime_error *err) {
    size_t bytes = strlen(options->directory);
    struct cli_destination *destination = &destinations[(*count)++];
    *destination = (struct cli_destination){
        .format = command->directory_layout, .is_layout = true, .makes_itself = true, .path = destination->file};
    if ((size_t)snprintf(destination->file, sizeof destination->file, "%s%s", options->directory,
                         bytes && options->directory[bytes - 1] == '/' ? "" : "/") >= sizeof destination->file)
        return cli_fail_usage(err, "--out '%.100s...' is too long", options->directory);
    for (size_t i = CLI_MAX_PARTS; i-- > 0 && !options->quiet && !options->writing.format;)
        if (cli_part_applies(&command->parts[i], options) && command->parts[i].print_layout)
            destinations[(*count)++] =
                (struct cli_destination){.format = command->parts[i].print_layout, .is_layout = true};
    if (options->writing.format && !options->quiet)
        destinations[(*count)++] = (struct cli_destination){.format = options->writing.format};
    return GPUTIME_OK;
}

/* A page or a binary format is not printed if it is written to a file. */
static const char *printed_format(const char *asked, const char *output) {
    bool is_for_file = asked && (cli_format_is_page(asked) || cli_format_is_binary(asked));
    return asked && !(output && is_for_file) ? asked : "text";
}

enum gputime_status cli_destinations_plan(const struct cli_command *command, const struct cli_options *options,
                                          struct cli_destination destinations[CLI_MAX_DESTINATIONS], size_t *count,
                                          struct gputime_error *err) {
    const char *output_layout = NULL, *gap_layout = NULL, *asked = options->writing.format;
    enum gputime_status status = GPUTIME_OK;
    bool has_other_parts = false;
    *count = 0;
    for (size_t i = 0; i < CLI_MAX_PARTS; i++) {
        if (!cli_part_applies(&command->parts[i], options) || command->parts[i].for_page)
            continue;
        if (command->parts[i].output_layout)
            output_layout = command->parts[i].output_layout;
        if (command->parts[i].gap_layout)
            gap_layout = command->parts[i].gap_layout;
        else
            has_other_parts = true;
    }
    if (options->directory && options->output)
        return cli_fail_usage(err,
                              "--out and --output cannot be combined; --out writes a directory, --output one file");
    if (options->directory)
        return plan_directory(command, options, destinations, count, err);
    if (options->output)
        status = plan_file(options->output, asked, output_layout, command->prints_too, &destinations[(*count)++], err);
    if (!status && options->gap_output) {
        struct cli_destination *destination = &destinations[(*count)++];
        status = plan_file(options->gap_output, asked, gap_layout, true, destination, err);
        destination->is_gap_part = gap_layout && has_other_parts;
    }
    if (!status && options->output && options->gap_output && cli_targets_overlap(options->output, options->gap_output))
        status = cli_fail_usage(err, "--output '%s' and --gap-output '%s' are the same file", options->output,
                                options->gap_output);
    if (!status)
        status = plan_own_files(command, options, destinations, count, err);
    if (!status && !options->quiet && (!options->output || command->prints_too))
        destinations[(*count)++] = (struct cli_destination){.format = printed_format(asked, options->output)};
    if (!status && options->second_format)
        destinations[(*count)++] = (struct cli_destination){.format = options->second_format};
    if (!status && *count == 0) /* quiet: the report is still made, so that errors are found */
        destinations[(*count)++] = (struct cli_destination){.path = "/dev/null", .format = "text"};
    return status;
}
