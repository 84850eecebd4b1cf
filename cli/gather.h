/* Directories on the command line: the traces in them. */
#ifndef CLI_GATHER_H
#define CLI_GATHER_H

#include "actions.h"

struct cli_gathered {
    const char **items; /* the words, with the files of a directory in its place */
    size_t count, capacity;
    char **paths; /* that it owns */
    size_t path_count, path_capacity;
    const char *directory; /* the first word that is one; NULL: none is */
};

/* Files of a directory are those whose names end as those of inputs do, sorted; an export next to the report that it is
   of is left out. A directory without any is an error. Release also after a failure. */
enum gputime_status cli_gather(struct cli_gathered *gathered, struct cli_words words, struct gputime_error *err);
/* Adds those of more words, such as the other side of a comparison. */
enum gputime_status cli_gather_more(struct cli_gathered *gathered, struct cli_words words, struct gputime_error *err);
void cli_gather_release(struct cli_gathered *gathered);

#endif
