/* The memory that queries of one connection may take, SQLite's own and that of our functions. */
#ifndef GT_SQL_SQL_MEMORY_H
#define GT_SQL_SQL_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

#define GT_SQL_MEMORY_MOST ((long long)4 << 30)

/* One for each connection, held by all that use it: functions may outlive whoever added them. */
struct gt_sql_memory;
/* counts_sqlite: what SQLite takes from now on counts too. It keeps one sum for the whole process, so this is for
   connections of our own. NULL: memory was short. */
struct gt_sql_memory *gt_sql_memory_new(bool counts_sqlite);
void gt_sql_memory_hold(struct gt_sql_memory *memory);
void gt_sql_memory_release(void *memory); /* NULL is fine */

/* Asks for bytes before they are taken, and says that they were given back. false: they would be too many, and the
   query must end. */
bool gt_sql_memory_take(struct gt_sql_memory *memory, size_t bytes);
void gt_sql_memory_give(struct gt_sql_memory *memory, size_t bytes);
/* Whether more is in use than may be, or was asked for: now, or when this was asked before. */
bool gt_sql_memory_is_over(struct gt_sql_memory *memory);
bool gt_sql_memory_was_over(const struct gt_sql_memory *memory);

#endif
