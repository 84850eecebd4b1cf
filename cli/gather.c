/* Lists the traces of directories. */
#include "gather.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "error.h"

static bool ends_with(const char *name, const char *suffix, size_t suffix_bytes) {
    size_t bytes = strlen(name);
    return suffix_bytes && bytes > suffix_bytes && strncasecmp(name + bytes - suffix_bytes, suffix, suffix_bytes) == 0;
}

/* The suffixes of all inputs, as the registry lists them. */
static bool is_trace_name(const char *name) {
    for (size_t i = 0; i < gputime_registry_count(GPUTIME_INPUTS); i++)
        for (const char *item = gputime_registry_entry(GPUTIME_INPUTS, i).detail; item && *item;) {
            size_t bytes = strcspn(item, " ");
            if (ends_with(name, item, bytes))
                return true;
            item += bytes + strspn(item + bytes, " ");
        }
    return false;
}

/* Programs call all kinds of texts logs; those that are traces hold JSON from their first byte on. What cannot be
   opened is left to whoever reads it. */
static bool is_plain_log(const char *path) {
    int first = ' ';
    FILE *file = ends_with(path, ".log", 4) ? fopen(path, "re") : NULL;
    if (!file)
        return false;
    while (first == ' ' || first == '\t' || first == '\r' || first == '\n')
        first = fgetc(file);
    fclose(file);
    return first != '{' && first != '[';
}

/* Numbers in names are compared as such: rank2 before rank10. */
static int by_name(const void *a, const void *b) {
    return strverscmp(*(char *const *)a, *(char *const *)b);
}

static enum gputime_status add_word(struct cli_gathered *gathered, const char *word, struct gputime_error *err) {
    if (gathered->count == gathered->capacity) {
        size_t capacity = 2 * gathered->capacity + 16;
        const char **items = realloc(gathered->items, capacity * sizeof *items);
        if (!items)
            return cli_fail_memory(err);
        gathered->items = items;
        gathered->capacity = capacity;
    }
    gathered->items[gathered->count++] = word;
    return GPUTIME_OK;
}

/* Owned by the caller; NULL: memory was short. */
static char *new_path(const char *directory, const char *name) {
    size_t bytes = strlen(directory);
    const char *slash = bytes == 0 || directory[bytes - 1] == '/' ? "" : "/";
    char *path;
    return asprintf(&path, "%s%s%s", directory, slash, name) < 0 ? NULL : path;
}

static enum gputime_status add_path(struct cli_gathered *gathered, const char *directory, const char *name,
                                    struct gputime_error *err) {
    if (gathered->path_count == gathered->path_capacity) {
        size_t capacity = 2 * gathered->path_capacity + 16;
        char **paths = realloc(gathered->paths, capacity * sizeof *paths);
        if (!paths)
            return cli_fail_memory(err);
        gathered->paths = paths;
        gathered->path_capacity = capacity;
    }
    char *path = new_path(directory, name);
    if (!path)
        return cli_fail_memory(err);
    gathered->paths[gathered->path_count++] = path;
    return GPUTIME_OK;
}

/* A pattern that the shell left alone, because it was in quotes or nothing matched. A file may have such a name. */
static bool is_pattern(const char *word) {
    return strpbrk(word, "*?[") != NULL;
}

/* Not directories, which a pattern meets by chance. */
static enum gputime_status add_files(struct cli_gathered *gathered, const glob_t *found, struct gputime_error *err) {
    enum gputime_status status = GPUTIME_OK;
    for (size_t i = 0; !status && i < found->gl_pathc; i++)
        if (found->gl_pathv[i][strlen(found->gl_pathv[i]) - 1] != '/')
            status = add_path(gathered, "", found->gl_pathv[i], err);
    return status;
}

static enum gputime_status add_matches(struct cli_gathered *gathered, const char *word, struct gputime_error *err) {
    glob_t found = {0};
    size_t first = gathered->path_count;
    int reason = glob(word, GLOB_NOSORT | GLOB_MARK, NULL, &found);
    enum gputime_status status = reason == GLOB_NOSPACE ? cli_fail_memory(err) : add_files(gathered, &found, err);
    globfree(&found);
    size_t count = gathered->path_count - first;
    if (!status && count == 0)
        return cli_fail(err, "no files match '%s'", word);
    if (!status)
        qsort(gathered->paths + first, count, sizeof *gathered->paths, by_name);
    for (size_t i = 0; !status && i < count; i++)
        status = add_word(gathered, gathered->paths[first + i], err);
    return status;
}

/* Tables of an Nsight export, each in a file of its own. */
static bool has_tables(const char *directory) {
    DIR *handle = opendir(directory);
    bool is_found = false;
    for (struct dirent *entry; handle && !is_found && (entry = readdir(handle)) != NULL;)
        is_found = strcmp(entry->d_name, "StringIds.parquet") == 0 || strcmp(entry->d_name, "StringIds.arrow") == 0;
    if (handle)
        closedir(handle);
    return is_found;
}

/* What a directory and those in it have is looked at up to a bound, so that '/' is an error and no search for ever. */
enum { DEEPEST = 8, MOST_ENTRIES = 100000 };
struct walk {
    struct cli_gathered *gathered;
    const char *root;
    size_t entries;
};

enum kind { KIND_FILE, KIND_DIRECTORY, KIND_LINKED_DIRECTORY };

static enum kind kind_of(const struct dirent *entry, DIR *handle) {
    struct stat info;
    if (entry->d_type != DT_DIR && entry->d_type != DT_LNK && entry->d_type != DT_UNKNOWN)
        return KIND_FILE;
    if (fstatat(dirfd(handle), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0)
        return KIND_FILE; /* gone, which whoever reads it says */
    if (S_ISDIR(info.st_mode))
        return KIND_DIRECTORY;
    bool leads_to_one = S_ISLNK(info.st_mode) && fstatat(dirfd(handle), entry->d_name, &info, 0) == 0;
    return leads_to_one && S_ISDIR(info.st_mode) ? KIND_LINKED_DIRECTORY : KIND_FILE;
}

static enum gputime_status walk_directory(struct walk *walk, const char *directory, size_t depth,
                                          struct gputime_error *err);

static enum gputime_status take_entry(struct walk *walk, const struct dirent *entry, DIR *handle, const char *directory,
                                      size_t depth, struct gputime_error *err) {
    if (entry->d_name[0] == '.')
        return GPUTIME_OK;
    if (walk->entries++ == MOST_ENTRIES)
        return cli_fail(err, "'%s' has more than %d entries; name the traces or a directory in it", walk->root,
                        MOST_ENTRIES);
    enum kind kind = kind_of(entry, handle);
    if (kind == KIND_FILE)
        return is_trace_name(entry->d_name) ? add_path(walk->gathered, directory, entry->d_name, err) : GPUTIME_OK;
    if (kind == KIND_LINKED_DIRECTORY || depth == DEEPEST)
        return GPUTIME_OK;
    char *inner = new_path(directory, entry->d_name);
    enum gputime_status status = inner ? walk_directory(walk, inner, depth + 1, err) : cli_fail_memory(err);
    free(inner);
    return status;
}

static enum gputime_status walk_directory(struct walk *walk, const char *directory, size_t depth,
                                          struct gputime_error *err) {
    enum gputime_status status = GPUTIME_OK;
    DIR *handle = opendir(directory);
    if (!handle)
        return cli_fail_system(err, errno, "cannot read '%s'", directory);
    for (struct dirent *entry; !status && (entry = readdir(handle)) != NULL;)
        status = take_entry(walk, entry, handle, directory, depth, err);
    closedir(handle);
    return status;
}

static enum gputime_status add_directory(struct cli_gathered *gathered, const char *directory,
                                         struct gputime_error *err) {
    size_t first = gathered->path_count, kept = gathered->count;
    struct walk walk = {.gathered = gathered, .root = directory};
    enum gputime_status status = walk_directory(&walk, directory, 0, err);
    if (status)
        return status;
    size_t count = gathered->path_count - first;
    char **paths = gathered->paths + first;
    if (count)
        qsort(paths, count, sizeof *paths, by_name);
    for (size_t i = 0; !status && i < count; i++)
        if (!is_plain_log(paths[i]) && !gputime_capture_is_copy(paths[i], (const char *const *)paths, count))
            status = add_word(gathered, paths[i], err);
    if (!status && gathered->count == kept)
        return cli_fail(err,
                        has_tables(directory) ? "'%s' is a Parquet or Arrow directory of 'nsys export'; export the "
                                                "report with '-t sqlite', or read the .nsys-rep itself"
                                              : "no traces in '%s'; see 'gputime list inputs'",
                        directory);
    return status;
}

enum gputime_status cli_gather(struct cli_gathered *gathered, struct cli_words words, bool keeps_directories,
                               struct gputime_error *err) {
    *gathered = (struct cli_gathered){.keeps_directories = keeps_directories};
    return cli_gather_more(gathered, words, err);
}

enum gputime_status cli_gather_more(struct cli_gathered *gathered, struct cli_words words, struct gputime_error *err) {
    enum gputime_status status = GPUTIME_OK;
    for (size_t i = 0; !status && i < words.count; i++) {
        struct stat info;
        const char *word = words.items[i];
        bool is_there = strcmp(word, "-") == 0 || stat(word, &info) == 0;
        bool is_directory = !gathered->keeps_directories && is_there && strcmp(word, "-") != 0 && S_ISDIR(info.st_mode);
        if (is_directory && !gathered->directory)
            gathered->directory = word;
        if (is_directory)
            status = add_directory(gathered, word, err);
        else if (!is_there && is_pattern(word))
            status = add_matches(gathered, word, err);
        else
            status = add_word(gathered, word, err);
    }
    return status;
}

void cli_gather_release(struct cli_gathered *gathered) {
    for (size_t i = 0; i < gathered->path_count; i++)
        free(gathered->paths[i]);
    free(gathered->paths);
    free(gathered->items);
    *gathered = (struct cli_gathered){0};
}
