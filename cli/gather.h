/* Directories and patterns on the command line: the traces that they mean. */
#ifndef CLI_GATHER_H
#define CLI_GATHER_H

#include "actions.h"

struct cli_gathered {
    const char **items; /* the words, with the files of a directory in its place */
    size_t count, capacity;
    char **paths; /* that it owns */
    size_t path_count, path_capacity;
    const char *directory;  /* the first word that is one; NULL: none is */
    bool keeps_directories; /* their names stay as they are: only patterns are replaced */
};

/* Files of a directory and of those in it, up to 8 deep and 100,000 entries, are those whose names end as those of
   inputs do, sorted by path; hidden directories and links to directories are left out; an export next to the report
   that it is of is left out. A directory without any is an error. A word that is no file but a pattern
   ('traces/rank*.json.gz') is replaced by the files that match, in the same order, and an error where none does.
   Release also after a failure. */
enum gputime_status cli_gather(struct cli_gathered *gathered, struct cli_words words, bool keeps_directories,
                               struct gputime_error *err);
/* Adds those of more words, such as the other side of a comparison. */
enum gputime_status cli_gather_more(struct cli_gathered *gathered, struct cli_words words, struct gputime_error *err);
void cli_gather_release(struct cli_gathered *gathered);

#endif
