/* What a rocpd database is made of: its tables come in, rows of source_columns go out. */
#include "decode/rocm/rocpd.h"

static const char *role_of(const struct gt_rocpd_schema *schema, const struct gt_sqlite_table *table) {
    for (size_t set = 0; set < schema->count; set++)
        for (int role = 0; role < GT_ROCPD_ROLE_COUNT; role++)
            if (schema->sets[set].tables[role].table == table)
                return gt_rocpd_schema_role_name((enum gt_rocpd_role)role);
    return "";
}

enum gt_status gt_rocpd_describe(struct gt_builder *builder, const struct gt_sqlite_db *db,
                                 const struct gt_rocpd_schema *schema, struct gt_error *err) {
    for (size_t t = 0; t < db->table_count; t++) {
        const struct gt_sqlite_table *table = &db->tables[t];
        struct gt_source_columns_row row = {
            .table = gt_builder_string(builder, table->name),
            .role = gt_builder_string(builder, gt_str_of(role_of(schema, table))),
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
