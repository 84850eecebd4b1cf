/* Which facts a sealed store has. */
#ifndef GT_EVENTS_SEAL_FACTS_H
#define GT_EVENTS_SEAL_FACTS_H

#include "events/store.h"

/* Fills in facts and origin_ns, with so many threads. */
void gt_seal_facts_find(struct gt_store *store, size_t threads);

#endif
