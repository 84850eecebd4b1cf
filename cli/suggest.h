/* "Did you mean": the nearest of several names. */
#ifndef CLI_SUGGEST_H
#define CLI_SUGGEST_H

#include <stddef.h>

struct cli_suggestion {
    const char *given; /* bytes long */
    size_t bytes;
    const char *nearest; /* NULL: nothing is similar */
    size_t distance;
};

void cli_suggestion_init(struct cli_suggestion *suggestion, const char *given, size_t bytes);
void cli_suggestion_offer(struct cli_suggestion *suggestion, const char *name); /* may be NULL; borrowed */

#endif
