/* Text as deflate packs it: runs of bytes, each followed by a copy of what came before. Bytes come out of it as soon as
   the 32 KiB before the text are known, and at no more cost than the copies. */
#ifndef GT_BASE_DEFLATE_STEPS_H
#define GT_BASE_DEFLATE_STEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How far a copy can reach back; the most bytes of a run in one step; how many bytes may be overwritten after the end
   of the text, and read after the end of the bytes. */
enum { GT_STEPS_WINDOW = 32768, GT_STEPS_MAX_RUN = 255, GT_STEPS_SLACK = 64, GT_STEPS_BYTE_SLACK = 16 };

struct gt_steps {
    uint32_t *steps; /* each a run and a copy: gt_step */
    size_t count, room;
    unsigned char *bytes; /* those of all runs; GT_STEPS_BYTE_SLACK more of them can be read */
    size_t byte_count, byte_room;
    size_t text_bytes; /* what comes out */
};

/* A run of up to GT_STEPS_MAX_RUN bytes, then a copy of a length up to 258 from a distance of 1 to GT_STEPS_WINDOW. */
static inline uint32_t gt_deflate_steps_code(size_t run, unsigned length, unsigned distance) {
    return (uint32_t)run | length << 8 | (distance - 1) << 17;
}
static inline unsigned gt_deflate_steps_run(uint32_t step) {
    return step & 0xff;
}
static inline unsigned gt_deflate_steps_length(uint32_t step) {
    return step >> 8 & 0x1ff;
}
static inline unsigned gt_deflate_steps_distance(uint32_t step) {
    return (step >> 17) + 1;
}

/* A run without a copy, which may be long: steps from here on; what follows the last one. The distance is one that
   needs no care. */
static inline uint32_t *gt_deflate_steps_put_run(uint32_t *step, size_t run) {
    for (; run > GT_STEPS_MAX_RUN; run -= GT_STEPS_MAX_RUN)
        *step++ = gt_deflate_steps_code(GT_STEPS_MAX_RUN, 0, GT_STEPS_WINDOW);
    *step++ = gt_deflate_steps_code(run, 0, GT_STEPS_WINDOW);
    return step;
}

/* How many steps gt_deflate_steps_put_run may write for a run of up to so many bytes. */
static inline size_t gt_deflate_steps_of_run(size_t run) {
    return run / GT_STEPS_MAX_RUN + 1;
}

/* Room for at least so many steps and bytes, with a part more; false: no memory. */
bool gt_deflate_steps_make_room(struct gt_steps *text, size_t steps, size_t bytes);
void gt_deflate_steps_clear(struct gt_steps *text); /* keeps the memory */
void gt_deflate_steps_release(struct gt_steps *text);

/* Writes the text after the bytes before it, which must be GT_STEPS_WINDOW or as many as gt_deflate_steps_reach says;
   room for GT_STEPS_SLACK more. Its checksum (CRC-32). */
uint32_t gt_deflate_steps_write(const struct gt_steps *text, unsigned char *out);

/* How many bytes before the text its copies reach to. */
size_t gt_deflate_steps_reach(const struct gt_steps *text);

#endif
