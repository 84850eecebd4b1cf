/* What the targets of single decoders share: bytes come in, a store goes out and is looked over. No file, no thread, no
   analysis. Files of one capture are between bytes 0xff where the format has several. */
#ifndef TESTS_FUZZ_DECODE_ALONE_H
#define TESTS_FUZZ_DECODE_ALONE_H

#include <stdlib.h>
#include <string.h>

#include "decode/decoder.h"
#include "fuzz.h"
#include "in_memory.h"
#include "whole_store.h"

static inline const struct gt_decoder *fuzz_decoder(const char *key) {
    for (size_t i = 0; i < gt_decoder_count; i++)
        if (strcmp(gt_decoders[i].key, key) == 0)
            return &gt_decoders[i];
    abort();
}

/* What is asked for follows from the size: mostly everything, so that all code is met. */
static inline uint32_t fuzz_facts(size_t size) {
    uint32_t some = UINT32_C(2654435761) * (uint32_t)size >> (32 - GT_FACT_COUNT);
    return size % 4 == 0 ? GT_FACTS_USUAL : size % 4 == 1 ? some | GT_FACT_OPS : GT_FACTS_ALL;
}

static inline void fuzz_expect_message(const struct gt_error *err) {
    if (!err->message[0])
        abort();
}

static inline void fuzz_decode_sources(const struct gt_decoder *decoder, struct gt_source **sources, size_t count,
                                       size_t size) {
    const struct gt_decode_options options = {.threads = 1, .facts = fuzz_facts(size), .reader = GT_READER_NATIVE};
    struct gt_store *store = NULL;
    struct gt_error err = {0};
    struct gt_str head;
    if (gt_source_peek(sources[0], &head, &err) != GT_OK) {
        fuzz_expect_message(&err);
        return;
    }
    int score = decoder->sniff(head, gt_source_path(sources[0]));
    fuzz_expect(score >= 0 && score <= 100);
    if (decoder->decode(sources, count, &options, &store, &err) != GT_OK)
        fuzz_expect_message(&err);
    else
        fuzz_whole_store(store);
    gt_store_free(store);
}

/* The bytes as up to file_count files. */
static inline int fuzz_decode_alone(const char *key, const uint8_t *data, size_t size, size_t file_count) {
    struct gt_source *sources[FUZZ_MEMORY_FILES] = {NULL};
    struct gt_error err = {0};
    size_t count = 0, begin = 0;
    bool are_open = true;
    while (count < file_count && begin <= size && are_open) {
        const uint8_t *stop = count + 1 < file_count && begin < size ? memchr(data + begin, 0xff, size - begin) : NULL;
        size_t end = stop ? (size_t)(stop - data) : size;
        const char *path = fuzz_memory_file(count, data + begin, end - begin);
        are_open = gt_source_open(path, &sources[count], &err) == GT_OK; /* an archive may be damaged */
        count += are_open;
        begin = end + 1;
    }
    if (are_open)
        fuzz_decode_sources(fuzz_decoder(key), sources, count, size);
    else
        fuzz_expect_message(&err);
    while (count)
        gt_source_close(sources[--count]);
    return 0;
}

#endif
