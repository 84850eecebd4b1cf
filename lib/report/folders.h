/* The folders of older tools as data: which files, and for each what of a report is where. */
#ifndef GT_REPORT_FOLDERS_H
#define GT_REPORT_FOLDERS_H

#include <stdbool.h>
#include <stddef.h>

#include "report/layouts.h"

enum gt_key_kind {
    GT_KEY_END,     /* of what began with the last open one of those with members */
    GT_KEY_OBJECT,  /* has members */
    GT_KEY_ROWS,    /* array of objects, one for each row: has members */
    GT_KEY_ROW,     /* object of the first row, null if there is none: has members */
    GT_KEY_AMOUNTS, /* the same, but of zeros if there is no row */
    GT_KEY_MAP,     /* object with a member for each row, called as the cell in `name`: has members */
    GT_KEY_LIST,    /* array of `value`, one for each row */
    GT_KEY_LOOKUP,  /* object of `value`, one for each row, called as the cell in `name` */
    GT_KEY_FLAGS,   /* the same of whether it is neither null nor 0 */
    GT_KEY_VALUE,   /* `value`; where it is null and the fact `rows.known` is not, `name` */
    GT_KEY_FLAG,    /* whether `value` is neither null nor 0 */
    GT_KEY_HAS,     /* whether there is a row */
    GT_KEY_COUNT,   /* how many rows there are */
    GT_KEY_LITERAL, /* `value` as it is: JSON */
    GT_KEY_NOTES,   /* array of the section's notes for people and the meanings of its issues */
};

/* Keys of a JSON file. Values are places as in layouts.h without their braces: a cell of the current row or of a row
   around it, else a fact of the section; "@path" is that of the input. */
struct gt_key {
    enum gt_key_kind kind;
    const char *key;
    const char *value;
    const char *name;
    struct gt_pick rows;
};

struct gt_folder_file {
    const char *path;                /* below the folder */
    const char *format;              /* key of a writer; a file whose writer this build has not is left out */
    const struct gt_csv_layout *csv; /* instead */
    bool needs_rows;                 /* csv: no file without rows */
    const struct gt_key *keys;       /* json: these too, up to a GT_KEY_END that ends nothing */
};

struct gt_folder {
    const char *key;
    const struct gt_folder_file *files; /* up to one without a path */
};

extern const struct gt_folder_file gt_explain_files[];
extern const struct gt_key gt_explain_keys[];

const struct gt_folder *gt_folder_find(const char *key); /* NULL if there is none */

#endif
