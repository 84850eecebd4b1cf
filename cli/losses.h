/* What a report on a job was made without, as messages of the program. */
#ifndef CLI_LOSSES_H
#define CLI_LOSSES_H

#include <stdbool.h>

#include "gputime.h"

/* Traces that were only partly read, ranks without a trace. The report's notes say it too, so that only limits
 * (is_gate) and --strict need lines of their own. With --strict each is a failure: the last one is *failure, which was
 * that of something else or none before; all others are printed. */
void cli_losses_tell(const struct gputime_report *report, bool is_strict, bool is_gate, struct gputime_error *failure);

#endif
