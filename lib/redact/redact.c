/* Redaction: rows that the allow-list names are read twice, once for the numbers of processes and threads, once to be
   written under new numbers with the strings they refer to. Nothing else of the input is ever copied. */
#include "redact/redact.h"

#include <string.h>
#include <sys/stat.h>

#include "decode/decoder.h"
#include "decode/nsys/nsys_rep.h"
#include "decode/nsys/nsys_sqlite.h"
#include "redact/redact_copy.h"
#include "redact/redact_file.h"

static enum gt_status fail_kind(const char *path, const struct gt_decoder *decoder, struct gt_error *err) {
    if (strcmp(decoder->key, GT_NSYS_REP_KEY) == 0)
        return gt_fail(err, "'%s' is an Nsight Systems report; export it first: nsys export --type sqlite '%s'", path,
                       path);
    return gt_fail(err, "cannot redact '%s': format '%s' is not supported; only Nsight Systems SQLite exports are",
                   path, decoder->title);
}

static enum gt_status open_input(struct gt_sqlite_db *db, struct gt_nsys_schema *schema, struct gt_source *source,
                                 struct gt_error *err) {
    const struct gt_decoder *decoder;
    const char *path = gt_source_path(source);
    if (gt_decoder_choose(source, &decoder, err) != GT_OK)
        return GT_ERR;
    if (strcmp(decoder->key, GT_NSYS_SQLITE_KEY) != 0)
        return fail_kind(path, decoder, err);
    if (gt_sqlite_db_open(db, source, err) != GT_OK)
        return GT_ERR;
    enum gt_status status = gt_nsys_schema_find(schema, db, GT_FACTS_USUAL, path, err);
    if (status == GT_OK && (db->is_schema_damaged || db->file.is_cut))
        status = gt_fail(err, "'%s' is damaged or cut short; export it again", path);
    return status == GT_OK ? gt_sqlite_db_connect(db, err) : status;
}

/* Tables of the input in its order. */
static enum gt_status copy_tables(struct gt_redact_copy *copy, struct gt_error *err) {
    enum gt_status status = GT_OK;
    for (size_t i = 0; i < copy->input->table_count && status == GT_OK; i++)
        status = gt_redact_copy_see(copy, &copy->input->tables[i], err);
    gt_redact_numbers_seal(&copy->numbers);
    for (size_t i = 0; i < copy->input->table_count && status == GT_OK; i++)
        status = gt_redact_copy_table(copy, &copy->input->tables[i], err);
    return status == GT_OK ? gt_redact_copy_strings(copy, err) : status;
}

static enum gt_status write_output(struct gt_redact_copy *copy, const char *output, bool hides_names,
                                   struct gt_error *err) {
    enum gt_status status = gt_redact_copy_init(copy, hides_names, err);
    if (status == GT_OK)
        status = gt_redact_file_open(&copy->output, output, err);
    if (status == GT_OK)
        status = copy_tables(copy, err);
    if (status == GT_OK)
        status = gt_redact_file_commit(&copy->output, err);
    gt_redact_file_close(&copy->output);
    gt_redact_copy_release(copy);
    return status;
}

/* A database needs a file name, and the input must not be overwritten. */
static enum gt_status check_output(const char *input, const char *output, struct gt_error *err) {
    struct stat in, out;
    if (strcmp(output, "-") == 0)
        return gt_fail_usage(err, "cannot write a database to standard output; give a file");
    if (stat(output, &out) != 0)
        return GT_OK;
    if (stat(input, &in) == 0 && in.st_dev == out.st_dev && in.st_ino == out.st_ino)
        return gt_fail_usage(err, "cannot write '%s': it is the file to redact", output);
    if (!S_ISREG(out.st_mode))
        return gt_fail_usage(err, "cannot write a database to '%s': not a regular file", output);
    return GT_OK;
}

enum gt_status gt_redact(const char *input, const char *output, bool hides_names, struct gt_redact_counts *counts,
                         struct gt_error *err) {
    struct gt_source *source = NULL;
    struct gt_sqlite_db db = {0};
    struct gt_nsys_schema schema;
    *counts = (struct gt_redact_counts){0};
    enum gt_status status = check_output(input, output, err);
    if (status == GT_OK)
        status = gt_source_open(input, &source, err);
    if (status == GT_OK)
        status = open_input(&db, &schema, source, err);
    if (status == GT_OK) {
        struct gt_redact_copy copy = {
            .input = &db,
            .input_path = input,
            .strings = gt_nsys_schema_first(&schema, GT_NSYS_STRINGS),
            .counts = counts,
        };
        status = write_output(&copy, output, hides_names, err);
    }
    gt_sqlite_db_close(&db);
    gt_source_close(source);
    return status;
}
