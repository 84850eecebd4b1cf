/* Frames as virtual tables of SQLite. */
#ifndef GT_SQL_SQL_FRAMES_H
#define GT_SQL_SQL_FRAMES_H

#include "sql/sql_host.h"
#include "sql/sql_world.h"

/* A table of the frame on this connection. *out is SQLite's then. Codes of SQLite; *message, of sqlite3_mprintf, says
   more. The world must outlive the connection. */
int gt_sql_frames_connect(sqlite3 *db, const struct gt_sql_world *world, size_t frame, sqlite3_vtab **out,
                          char **message);

/* Everything else that SQLite does with such tables; how they are made is up to those who register a module. */
extern const sqlite3_module gt_sql_frames_methods;

/* Columns that a table has in addition to those of its frame, for people and for other tables: another name of one that
   is there, or the number of a text. */
struct gt_sql_frames_extra {
    const char *key, *of;
    bool is_number; /* of the text; else it is the same column */
};
extern const struct gt_sql_frames_extra gt_sql_frames_extras[];
extern const size_t gt_sql_frames_extra_count;

#endif
