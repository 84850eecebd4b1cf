/* What all inputs that are SQLite databases do alike: packed ones and pipes are copied first, and what a database is
   made of becomes rows of source_columns. */
#ifndef GT_DECODE_SQLITE_SQLITE_INPUT_H
#define GT_DECODE_SQLITE_SQLITE_INPUT_H

#include "decode/decoder.h"
#include "decode/sqlite/sqlite_db.h"
#include "events/builder.h"

/* Decodes the database in a seekable source, which errors call subject. packing_damage: what was wrong with the packed
   file that it is a copy of; NULL: nothing. */
typedef enum gt_status gt_sqlite_input_fn(struct gt_source *source, const char *subject, const char *packing_damage,
                                          const struct gt_decode_options *options, struct gt_store **out,
                                          struct gt_error *err);

/* Pages are read from any place, and libsqlite3 wants a path: calls `decode` with the file, or with a copy. */
enum gt_status gt_sqlite_input_decode(struct gt_source *source, gt_sqlite_input_fn *decode,
                                      const struct gt_decode_options *options, struct gt_store **out,
                                      struct gt_error *err);

/* Rows of source_columns of every table, in the current segment. role: what a table is read for, "": it is not. */
typedef const char *gt_sqlite_input_role_fn(const void *schema, const struct gt_sqlite_table *table);
enum gt_status gt_sqlite_input_describe(struct gt_builder *builder, const struct gt_sqlite_db *db,
                                        gt_sqlite_input_role_fn *role, const void *schema, struct gt_error *err);

#endif
