/* Writes structures in Thrift's compact protocol, the form of everything in a Parquet file that is not data. */
#ifndef GT_COLUMNS_THRIFT_H
#define GT_COLUMNS_THRIFT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/out.h"

enum { GT_THRIFT_DEPTH = 8 };

/* Types of list elements. */
enum gt_thrift_type { GT_THRIFT_I32 = 5, GT_THRIFT_BINARY = 8, GT_THRIFT_STRUCT = 12 };

/* Failures stick in the output. */
struct gt_thrift {
    struct gt_out *out;
    int16_t last_field[GT_THRIFT_DEPTH]; /* by level of structs: fields are numbered from the one before */
    int depth;
};

void gt_thrift_init(struct gt_thrift *thrift, struct gt_out *out);

/* Fields of the present struct, in ascending order. */
void gt_thrift_bool(struct gt_thrift *thrift, int16_t field, bool value);
void gt_thrift_i8(struct gt_thrift *thrift, int16_t field, int8_t value);
void gt_thrift_i16(struct gt_thrift *thrift, int16_t field, int16_t value);
void gt_thrift_i32(struct gt_thrift *thrift, int16_t field, int32_t value);
void gt_thrift_i64(struct gt_thrift *thrift, int16_t field, int64_t value);
void gt_thrift_text(struct gt_thrift *thrift, int16_t field, struct gt_str text);
/* A field that is a struct: its fields follow, then its end. */
void gt_thrift_begin(struct gt_thrift *thrift, int16_t field);
/* A struct that is an element of a list. */
void gt_thrift_begin_element(struct gt_thrift *thrift);
void gt_thrift_end(struct gt_thrift *thrift);
/* A field that is a list: so many elements follow. */
void gt_thrift_list(struct gt_thrift *thrift, int16_t field, enum gt_thrift_type type, size_t count);
void gt_thrift_item_i32(struct gt_thrift *thrift, int32_t value);
void gt_thrift_item_text(struct gt_thrift *thrift, struct gt_str text);

#endif
