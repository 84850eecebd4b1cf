/* What a GPU could do at most: FLOP/s of its units and bandwidth of its memory. From the user, the vendor's data sheet
   by exact name, or the clock that the trace has; data_sheets.def and arch_rates.def have the numbers. */
#ifndef GT_MEASURE_EFFICIENCY_GPU_PEAKS_H
#define GT_MEASURE_EFFICIENCY_GPU_PEAKS_H

#include "events/view.h"
#include "measure/efficiency/work_args.h"

enum gt_peak_unit {
#define GT_PEAK_UNIT(key, name, clock) GT_PEAK_##key,
#include "measure/efficiency/peak_units.def"
#undef GT_PEAK_UNIT
    GT_PEAK_NONE,
    GT_PEAK_COUNT = GT_PEAK_NONE,
};
extern const char *const gt_peak_unit_keys[GT_PEAK_COUNT];

enum gt_peak_source { GT_PEAK_OF_NOTHING, GT_PEAK_OF_USER, GT_PEAK_OF_DATA_SHEET, GT_PEAK_OF_TRACE };
extern const char *const gt_peak_source_names[];

/* Limits of one multiprocessor; 0: not known. */
struct gt_multiprocessor {
    uint32_t warps, blocks, registers, shared_bytes;
    uint32_t block_shared_bytes; /* that each block takes beside its own */
};

struct gt_gpu_peaks {
    struct gt_str name;                       /* as the trace has it, or as the user says */
    struct gt_str given_name;                 /* of the GPU whose data sheet the user wants; empty: its own */
    const char *arch;                         /* of a row: "sm_90"; NULL: there is none */
    char other_arch[16];                      /* "sm_120", where no row has it; empty: not known */
    int64_t multiprocessors;                  /* of the GPU that the kernels ran on; 0: not known */
    int64_t peak_multiprocessors;             /* that the peaks are of: those of the GPU whose sheet is wanted */
    int64_t matrix_clock_hz, vector_clock_hz; /* 0: not known */
    int64_t flops[GT_PEAK_COUNT];             /* per second, dense; 0: not known */
    int64_t bandwidth;                        /* bytes per second; 0: not known */
    enum gt_peak_source source;               /* of the clocks */
    struct gt_multiprocessor limits;          /* of GPUs of NVIDIA; else 0 */
    bool is_known;                            /* it has peaks */
};

/* What the user gave: "bf16=989T,fp8=1979T", "4.8T", a name of data_sheets.def. */
struct gt_gpu_given {
    int64_t flops[GT_PEAK_COUNT]; /* 0: not given */
    int64_t bandwidth;
    size_t sheet;           /* number of a row + 1; 0: not given */
    uint32_t common_device; /* of the trace: the one that describes those without a name; GT_NO_TRACK: none */
};
/* From the texts of the options; NULL: not given. What cannot be read is an error of usage. */
enum gt_status gt_gpu_peaks_parse(const char *peaks, const char *bandwidth, const char *gpu, struct gt_gpu_given *given,
                                  struct gt_error *err);
enum gt_status gt_gpu_peaks_given(const struct gt_view *view, struct gt_gpu_given *given, struct gt_error *err);

/* "sm_90"; empty: not known */
static inline const char *gt_gpu_peaks_arch(const struct gt_gpu_peaks *peaks) {
    return peaks->arch ? peaks->arch : peaks->other_arch;
}

/* Of a device track. */
void gt_gpu_peaks_of(struct gt_gpu_peaks *peaks, const struct gt_store *store, uint32_t device,
                     const struct gt_gpu_given *given);

/* The unit that does products of a type; tf32 where the kernels use it for 32-bit factors. */
enum gt_peak_unit gt_gpu_peaks_unit(uint8_t dtype, bool is_tf32);
/* Peak of products on this unit; 0: not known. */
int64_t gt_gpu_peaks_of_products(const struct gt_gpu_peaks *peaks, enum gt_peak_unit unit);

#endif
