/* Inputs that are SQLite databases: a source of any kind comes in, one that pages can be read from goes out. */
#include "decode/sqlite/sqlite_input.h"

#include <unistd.h>

#include "base/spool.h"

static enum gt_status decode_copy(struct gt_source *source, gt_sqlite_input_fn *decode,
                                  const struct gt_decode_options *options, struct gt_store **out,
                                  struct gt_error *err) {
    struct gt_spool *spool;
    uint64_t size_bytes;
    enum gt_status status = gt_spool_open(source, &spool, err);
    if (status != GT_OK)
        return status;
    if (gt_source_is_seekable(gt_spool_source(spool), &size_bytes))
        status = decode(gt_spool_source(spool), gt_source_path(source), gt_source_damage(source), options, out, err);
    else
        status = gt_fail(err, "'%s' is empty", gt_source_path(source));
    gt_spool_close(spool);
    return status;
}

enum gt_status gt_sqlite_input_decode(struct gt_source *source, gt_sqlite_input_fn *decode,
                                      const struct gt_decode_options *options, struct gt_store **out,
                                      struct gt_error *err) {
    uint64_t size_bytes;
    bool is_file = gt_source_is_seekable(source, &size_bytes) && access(gt_source_path(source), F_OK) == 0;
    return is_file ? decode(source, gt_source_path(source), NULL, options, out, err)
                   : decode_copy(source, decode, options, out, err);
}

enum gt_status gt_sqlite_input_describe(struct gt_builder *builder, const struct gt_sqlite_db *db,
                                        gt_sqlite_input_role_fn *role, const void *schema, struct gt_error *err) {
    for (size_t t = 0; t < db->table_count; t++) {
        const struct gt_sqlite_table *table = &db->tables[t];
        struct gt_source_columns_row row = {
            .table = gt_builder_string(builder, table->name),
            .role = gt_builder_string(builder, gt_str_of(role(schema, table))),
        };
        if (gt_sqlite_db_table_rows(db, table, &row.rows, err) != GT_OK)
            return GT_ERR;
        if (table->column_count == 0)
            gt_builder_source_column(builder, &row);
        for (size_t c = 0; c < table->column_count; c++) {
            row.name = gt_builder_string(builder, table->columns[c].name);
            row.type = gt_builder_string(builder, table->columns[c].type);
            gt_builder_source_column(builder, &row);
        }
    }
    return GT_OK;
}
