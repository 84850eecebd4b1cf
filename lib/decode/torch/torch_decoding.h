/* One decoding of a PyTorch trace, however it is divided: a builder and a sink for each worker and for the reader, who
   reads what comes before and after the chunks. */
#ifndef GT_DECODE_TORCH_TORCH_DECODING_H
#define GT_DECODE_TORCH_TORCH_DECODING_H

#include "base/tape.h"
#include "decode/torch/torch_chunk.h"
#include "decode/torch/torch_reader.h"
#include "events/builder.h"

/* Zeroed but for the first four is none yet. */
struct gt_torch_decoding {
    struct gt_source *source;
    const struct gt_decode_options *options;
    const struct gt_torch_sizes *sizes;
    struct gt_tape *tape; /* that workers, then the reader, read; NULL: the source */

    struct gt_builder *builders; /* one for each worker, all zeros before it runs, then the reader's */
    struct gt_torch_sink *sinks; /* the same */
    size_t count;                /* of both */
    struct gt_torch_reader reader;
    struct gt_torch_worker *workers;
    struct gt_torch_chunk *chunks;
    size_t chunk_count;
};

static inline struct gt_builder *gt_torch_decoding_reader_builder(const struct gt_torch_decoding *decoding) {
    return &decoding->builders[decoding->count - 1];
}

static inline struct gt_torch_sink *gt_torch_decoding_reader_sink(const struct gt_torch_decoding *decoding) {
    return &decoding->sinks[decoding->count - 1];
}

/* With so many workers; none reads the file from front to back. Release in any case. */
enum gt_status gt_torch_decoding_begin(struct gt_torch_decoding *decoding, size_t workers, struct gt_error *err);
void gt_torch_decoding_release(struct gt_torch_decoding *decoding);

/* Runs task(context, worker) for each worker, on as many threads. */
enum gt_status gt_torch_decoding_run(struct gt_torch_decoding *decoding, void (*task)(void *context, size_t worker),
                                     void *context, struct gt_error *err);

/* Whether what a worker made of a chunk is gone. */
bool gt_torch_decoding_is_forgotten(const struct gt_torch_decoding *decoding, const struct gt_torch_chunk *chunk);

/* Reads what is left, all of it or what follows the chunks; then nothing is read any more. */
enum gt_status gt_torch_decoding_read_rest(struct gt_torch_decoding *decoding, struct gt_error *err);
enum gt_status gt_torch_decoding_seal(struct gt_torch_decoding *decoding, struct gt_store **out, struct gt_error *err);

#endif
