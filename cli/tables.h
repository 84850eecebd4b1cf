/* The tables that the library's analyses make, from its registry. */
#ifndef CLI_TABLES_H
#define CLI_TABLES_H

#include <stddef.h>

#include "gputime.h"

enum { CLI_TABLE_KEY_MAX = 64 };

#define CLI_TABLE_LIMITS "limits" /* the verdicts on limits, which no analysis makes */

/* Zero-initialise, then call cli_table_next until it gives NULL. */
struct cli_table_walk {
    size_t next;      /* analysis */
    const char *rest; /* of the list of the one before */
    char key[CLI_TABLE_KEY_MAX];
};

const char *cli_table_next(struct cli_table_walk *walk); /* good until the next call */

/* The analysis that makes the table; its key is NULL where there is none. */
struct gputime_entry cli_table_analysis(const char *table);

#endif
