/* Reads an input from the front to the back: documents and the events in them, by turns. The one reader whose answer
   counts; chunks read by other threads are only taken where it would have read the same. */
#ifndef GT_DECODE_TORCH_TORCH_READER_H
#define GT_DECODE_TORCH_TORCH_READER_H

#include "decode/json/json_window.h"
#include "decode/torch/torch_document.h"

struct gt_torch_reader {
    struct gt_json_window window;
    struct gt_torch_document document;
    struct gt_torch_region region;
    struct gt_torch_sink *sink;
    bool is_in_array;
    bool has_ended; /* all of the input is read */
};

enum gt_status gt_torch_reader_init(struct gt_torch_reader *reader, struct gt_source *source,
                                    struct gt_torch_sink *sink, const struct gt_torch_sizes *sizes,
                                    const struct gt_decode_options *options, struct gt_error *err);
void gt_torch_reader_release(struct gt_torch_reader *reader); /* source and sink stay */

/* Reads up to the next array of events, or to the end. */
enum gt_status gt_torch_reader_find_array(struct gt_torch_reader *reader, struct gt_error *err);

/* Reads until an event begins at or after the limit, or to the end. */
enum gt_status gt_torch_reader_run(struct gt_torch_reader *reader, uint64_t limit, struct gt_error *err);

/* Where the next byte to read is in the input, and going on elsewhere, between two elements or after the array. */
uint64_t gt_torch_reader_offset(const struct gt_torch_reader *reader);
bool gt_torch_reader_is_at_element(const struct gt_torch_reader *reader);
void gt_torch_reader_skip_to(struct gt_torch_reader *reader, uint64_t offset, bool is_in_array);

/* At the end: counts what is wrong with the end of the input. */
void gt_torch_reader_finish(struct gt_torch_reader *reader);

#endif
