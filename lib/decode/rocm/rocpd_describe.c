/* What a rocpd database is made of: its tables come in, rows of source_columns go out. */
#include "decode/rocm/rocpd.h"
#include "decode/sqlite/sqlite_input.h"

static const char *role_of(const void *context, const struct gt_sqlite_table *table) {
    const struct gt_rocpd_schema *schema = context;
    for (size_t set = 0; set < schema->count; set++)
        for (int role = 0; role < GT_ROCPD_ROLE_COUNT; role++)
            if (schema->sets[set].tables[role].table == table)
                return gt_rocpd_schema_role_name((enum gt_rocpd_role)role);
    return "";
}

enum gt_status gt_rocpd_describe(struct gt_builder *builder, const struct gt_sqlite_db *db,
                                 const struct gt_rocpd_schema *schema, struct gt_error *err) {
    return gt_sqlite_input_describe(builder, db, role_of, schema, err);
}
