/* Steps of runs and copies become bytes: no codes have to be looked up any more, so this is short work. */
#include "base/deflate_steps.h"

#include <string.h>

#include "base/crc.h"
#include "base/mem.h"

bool gt_deflate_steps_make_room(struct gt_steps *text, size_t steps, size_t bytes) {
    if (steps > text->room) {
        size_t room = steps + steps / 4;
        uint32_t *grown = gt_mem_realloc(text->steps, room * sizeof *grown);
        if (!grown)
            return false;
        text->steps = grown;
        text->room = room;
    }
    if (bytes > text->byte_room) {
        size_t room = bytes + bytes / 4;
        unsigned char *grown = gt_mem_realloc(text->bytes, room + GT_STEPS_BYTE_SLACK);
        if (!grown)
            return false;
        text->bytes = grown;
        text->byte_room = room;
    }
    return true;
}

void gt_deflate_steps_clear(struct gt_steps *text) {
    text->count = text->byte_count = text->text_bytes = 0;
}

void gt_deflate_steps_release(struct gt_steps *text) {
    gt_mem_free(text->steps);
    gt_mem_free(text->bytes);
    *text = (struct gt_steps){0};
}

/* Up to 63 bytes more than asked for are written: nine of ten copies end with the first 64, whatever their length, so
   that the CPU hardly ever guesses wrong how often a loop runs. */
static inline void copy(unsigned char *to, unsigned distance, unsigned length) {
    enum { AT_ONCE = 64 };
    const unsigned char *from = to - distance, *end = to + length;
    if (distance >= AT_ONCE) {
        do {
            memcpy(to, from, AT_ONCE);
            to += AT_ONCE;
            from += AT_ONCE;
        } while (to < end);
        return;
    }
    if (distance >= 8) {
        for (; to < end; to += 8, from += 8)
            memcpy(to, from, 8);
        return;
    }
    while (to < end)
        *to++ = *from++;
}

/* Some steps; moves *bytes on. The end of what was written. */
static unsigned char *write_steps(const uint32_t *step, const uint32_t *end, const unsigned char **bytes,
                                  unsigned char *out) {
    const unsigned char *from = *bytes;
    for (; step < end; step++) {
        unsigned run = gt_deflate_steps_run(*step), length = gt_deflate_steps_length(*step);
        memcpy(out, from, GT_STEPS_BYTE_SLACK);
        if (run > GT_STEPS_BYTE_SLACK)
            memcpy(out + GT_STEPS_BYTE_SLACK, from + GT_STEPS_BYTE_SLACK, run - GT_STEPS_BYTE_SLACK);
        out += run;
        from += run;
        copy(out, gt_deflate_steps_distance(*step), length);
        out += length;
    }
    *bytes = from;
    return out;
}

uint32_t gt_deflate_steps_write(const struct gt_steps *text, unsigned char *out) {
    enum { AT_ONCE = 1024 }; /* the checksum takes bytes that are still in the cache */
    const unsigned char *bytes = text->bytes;
    uint32_t crc = 0;
    for (size_t i = 0; i < text->count; i += AT_ONCE) {
        size_t end = text->count - i < AT_ONCE ? text->count : i + AT_ONCE;
        unsigned char *after = write_steps(text->steps + i, text->steps + end, &bytes, out);
        crc = gt_crc_more(crc, out, (size_t)(after - out));
        out = after;
    }
    return crc;
}

size_t gt_deflate_steps_reach(const struct gt_steps *text) {
    size_t at = 0, reach = 0;
    for (size_t i = 0; i < text->count && at < GT_STEPS_WINDOW; i++) {
        at += gt_deflate_steps_run(text->steps[i]);
        size_t distance = gt_deflate_steps_length(text->steps[i]) ? gt_deflate_steps_distance(text->steps[i]) : 0;
        if (distance > at && distance - at > reach)
            reach = distance - at;
        at += gt_deflate_steps_length(text->steps[i]);
    }
    return reach;
}
