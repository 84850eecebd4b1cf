/* The container of an Nsight Systems report (.nsys-rep, .qdrep): where in the file its parts lie and what its index
   promises, from the section table or, when the file is cut, from its beginning alone. */
#ifndef GT_DECODE_NSYS_NSYS_REP_FILE_H
#define GT_DECODE_NSYS_NSYS_REP_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fail.h"
#include "base/source.h"

#define GT_NSYS_REP_MAGIC        "NVIDIA Tegra Profiler Report "
#define GT_NSYS_REP_MAGIC_OFFSET 4 /* where the magic of some old reports is, whose layout is not known */
#define GT_NSYS_REP_NOWHERE      UINT64_MAX
#define GT_NSYS_REP_UNKNOWN      UINT64_MAX /* a count that the index does not give */

/* Messages that are read in one piece are no larger, nor is a chunk when inflated: about fifty times what was seen. */
#define GT_NSYS_REP_PIECE_MAX ((size_t)64 << 20)

/* Bytes of the file. */
struct gt_nsys_rep_span {
    uint64_t offset, size;
};

struct gt_nsys_rep_file {
    const struct gt_source *source;
    uint64_t size;
    bool is_cut;                         /* no end marker: the file ends in the middle */
    bool is_index_damaged;               /* the section table is there, but is not to be trusted */
    struct gt_nsys_rep_span ui, clocks;  /* sections; size 0 if there is none */
    struct gt_nsys_rep_span head, index; /* messages of the raw section; size 0 if cut off or absurd */
    uint64_t events, end;                /* where the chunks begin; where the raw section ends */
    uint64_t strings, schemas;           /* the chunks of these; GT_NSYS_REP_NOWHERE: after what comes before them */
    uint64_t event_count, generic_count, string_count, thread_count; /* GT_NSYS_REP_UNKNOWN if absent */
    bool has_schemas;
    char unknown[128]; /* what is unknown about the layout; empty: it is as it should be */
};

/* Finds the parts of a seekable source, which is borrowed. A layout that is not known is no error, but said in
   `unknown`; then nothing else of *file is to be used. Errors are failures to read. */
enum gt_status gt_nsys_rep_file_init(struct gt_nsys_rep_file *file, const struct gt_source *source, uint64_t size,
                                     struct gt_error *err);

/* Reads a piece of the file with padding for the proto reader. *bytes is shorter than asked for where the file ends,
   and empty for pieces above GT_NSYS_REP_PIECE_MAX. Free bytes->ptr with gt_mem_free. */
enum gt_status gt_nsys_rep_file_read(const struct gt_nsys_rep_file *file, struct gt_nsys_rep_span span,
                                     struct gt_str *bytes, struct gt_error *err);

/* The message at an offset of the raw section, which is after its length. size 0 at an offset of
   GT_NSYS_REP_NOWHERE: it does not fit into the section. */
enum gt_status gt_nsys_rep_file_message(const struct gt_nsys_rep_file *file, uint64_t offset,
                                        struct gt_nsys_rep_span *message, struct gt_error *err);

#endif
