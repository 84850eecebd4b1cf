/* Chunks of a report: LZ4 blocks, each of which decodes alone to one message. They are found by going from header to
   header and handed out in batches, so that threads can inflate them independently. */
#ifndef GT_DECODE_NSYS_NSYS_REP_CHUNK_H
#define GT_DECODE_NSYS_NSYS_REP_CHUNK_H

#include "decode/nsys/nsys_rep_file.h"

/* Chunks side by side in the file: one, or several small ones. */
struct gt_nsys_rep_batch {
    uint64_t offset;
    size_t size;
    uint64_t first_event, first_generic; /* events of both kinds before it; 0 where they were not counted */
};

/* All event chunks. */
struct gt_nsys_rep_batches {
    struct gt_nsys_rep_batch *list;
    size_t count, capacity;
    uint64_t end;           /* after the last chunk that was found */
    bool is_counted;        /* the events were counted on the way */
    bool is_broken;         /* the chunks do not end where they should: later ones are lost */
    uint64_t refused_count; /* chunks with sizes that cannot be */
    uint64_t first_refused; /* offset */
};

/* Buffers to inflate one chunk after the other; one for each thread. Zeroed is empty. */
struct gt_nsys_rep_inflater {
    unsigned char *packed, *plain;
    size_t packed_capacity, plain_capacity;
    struct gt_str batch; /* what is left of the current batch */
    uint64_t offset;     /* of that in the file */
    size_t entries_max;  /* events and other entries that are taken from the current chunk */
};

enum gt_nsys_rep_chunk_status {
    GT_NSYS_REP_CHUNK_OK,
    GT_NSYS_REP_CHUNK_DAMAGED, /* its bytes do not inflate to what its header says; go on with the next */
    GT_NSYS_REP_CHUNK_END,     /* the batch is done */
    GT_NSYS_REP_CHUNK_NO_MEMORY,
};

/* Finds the event chunks, without inflating them where the file says where its strings begin. Otherwise, and where
   must_count is set, they are inflated and counted until the index is satisfied. */
enum gt_status gt_nsys_rep_chunk_batches_find(struct gt_nsys_rep_batches *batches, const struct gt_nsys_rep_file *file,
                                              bool must_count, struct gt_error *err);
void gt_nsys_rep_chunk_batches_release(struct gt_nsys_rep_batches *batches);

void gt_nsys_rep_chunk_inflater_release(struct gt_nsys_rep_inflater *inflater);

/* Reads a batch; *is_whole: all its bytes are there (a file may shrink while it is read). */
enum gt_status gt_nsys_rep_chunk_inflater_load(struct gt_nsys_rep_inflater *inflater,
                                               const struct gt_nsys_rep_file *file,
                                               const struct gt_nsys_rep_batch *batch, bool *is_whole,
                                               struct gt_error *err);

/* The message of the next chunk of the batch, padded, borrowed until the next call. */
enum gt_nsys_rep_chunk_status gt_nsys_rep_chunk_inflater_next(struct gt_nsys_rep_inflater *inflater,
                                                              struct gt_str *message);

/* The one chunk at an offset as a batch. false: there is none, or its sizes cannot be; *next is after it then too, or
   GT_NSYS_REP_NOWHERE. */
enum gt_status gt_nsys_rep_chunk_at(const struct gt_nsys_rep_file *file, uint64_t offset,
                                    struct gt_nsys_rep_batch *batch, uint64_t *next, bool *is_there,
                                    struct gt_error *err);

#endif
