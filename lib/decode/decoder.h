/* An input format: recognises it by its first bytes and decodes it into a store. decoders.c has the table of all. */
#ifndef GT_DECODE_DECODER_H
#define GT_DECODE_DECODER_H

#include "base/fail.h"
#include "base/source.h"
#include "events/store.h"

/* How Nsight reports are read. */
enum gt_reader {
    GT_READER_AUTO, /* here; what cannot be read here by nsys, where there is one */
    GT_READER_NATIVE,
    GT_READER_NSYS,
};

struct gt_decode_options {
    size_t threads; /* 1 or more */
    enum gt_reader reader;
    const char *nsys_command; /* NULL: the one on PATH */
    uint32_t facts;           /* enum gt_fact: what to read; 0: GT_FACTS_USUAL */
    void (*progress)(void *context, uint64_t done_bytes, uint64_t total_bytes);
    void *progress_context;
};

struct gt_decoder {
    const char *key;
    const char *short_key; /* what configuration files call it */
    const char *title;
    const char *suffixes; /* for people: ".json .json.gz" */
    uint32_t facts;       /* enum gt_fact: what a file of this format can hold, or note; others are not looked for */
    /* How sure it is that this is its format, 0 (no) .. 100, from the first bytes after inflating and the path. */
    int (*sniff)(struct gt_str head, const char *path);
    /* Sources of one capture; most formats take exactly one. Broken input with anything usable gives a store with
       issues; an error only when nothing is. */
    enum gt_status (*decode)(struct gt_source *const *sources, size_t count, const struct gt_decode_options *options,
                             struct gt_store **out, struct gt_error *err);
    /* Length of the beginning that the paths of one capture share; 0: the file is a whole capture, as with NULL. */
    size_t (*capture_prefix)(const char *path);
};

/* What is to be read, with all that it cannot be read without. */
static inline uint32_t gt_decoder_facts(const struct gt_decode_options *options) {
    return gt_store_facts_closed(options->facts ? options->facts : GT_FACTS_USUAL);
}
static inline bool gt_decoder_reads(const struct gt_decode_options *options, uint32_t facts) {
    return gt_decoder_facts(options) & facts;
}

extern const struct gt_decoder gt_decoders[];
extern const size_t gt_decoder_count;

/* The decoder with the highest score. If no decoder matches, an error that says what the file looks like. */
enum gt_status gt_decoder_choose(struct gt_source *source, const struct gt_decoder **out, struct gt_error *err);

#endif
