/* Places of layouts: where a value comes from and what is done to it. report/layouts.h has the grammar. */
#ifndef GT_WRITE_PLACE_H
#define GT_WRITE_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "report/report.h"

struct gt_place {
    struct gt_str text; /* instead of a value; NULL: none */
    struct gt_str keys; /* "full_name|name" */
    char operation;     /* '/', '*', '+' or 0 */
    int64_t operand;
    size_t width;
    bool is_left; /* aligned in the width of a table's column */
    bool is_cut;  /* to the width */
    int decimals; /* -1: as the value has them */
};

/* text is after the opening brace; gives what follows the closing one. The end of the text closes too. Layouts are
   ours: a bad one is a bug. */
const char *gt_place_parse(const char *text, struct gt_place *place);

/* Takes the first key off a place's keys; false: there is none. */
bool gt_place_next_key(struct gt_str *keys, struct gt_str *key);

/* The first of the place's keys that has a value; `find` knows what a key represents. */
struct gt_cell gt_place_value(const struct gt_place *place,
                              struct gt_cell (*find)(const void *context, struct gt_str key), const void *context);

double gt_place_calculate(char operation, int64_t operand, double value);

#endif
