/* Redaction of a trace in memory, whatever file it is from: a store as decoded comes in, the same with nothing in it
   about the machine, its user and the time of day goes out. */
#ifndef GT_REDACT_REDACT_STORE_H
#define GT_REDACT_REDACT_STORE_H

#include <stdbool.h>

#include "events/store.h"

/* Only texts whose column is on a list (redact_store.c) stay, each cleaned as the list says; all others become empty.
   Processes and threads get new numbers, times begin with the first op. hides_names: names are hashes. Before labels
   are made; columns must not be those of a mapped file. After a failure the store can only be freed. */
enum gt_status gt_redact_store(struct gt_store *store, bool hides_names, struct gt_error *err);

#endif
