/* Peaks of GPUs: rate x multiprocessors x clock. */
#include "measure/efficiency/gpu_peaks.h"

#include <stdio.h>

#include "base/mem.h"
#include "base/num.h"
#include "measure/options.h"

const char *const gt_peak_unit_keys[GT_PEAK_COUNT] = {
#define GT_PEAK_UNIT(key, name, clock) [GT_PEAK_##key] = name,
#include "measure/efficiency/peak_units.def"
#undef GT_PEAK_UNIT
};

const char *const gt_peak_source_names[] = {[GT_PEAK_OF_NOTHING] = "",
                                            [GT_PEAK_OF_USER] = "user",
                                            [GT_PEAK_OF_DATA_SHEET] = "data sheet",
                                            [GT_PEAK_OF_TRACE] = "trace"};

struct arch {
    const char *name;
    int64_t rates[GT_PEAK_COUNT];
    uint32_t blocks, block_shared_bytes;
};

static const struct arch archs[] = {
#define GT_ARCH(name, bf16, tf32, fp8, int8, fp64t, fp32, fp64, blocks, shared_bytes)                                  \
    {name, {bf16, tf32, fp8, int8, fp64t, fp32, fp64}, blocks, shared_bytes},
#include "measure/efficiency/arch_rates.def"
#undef GT_ARCH
};

static const struct sheet {
    struct gt_str name;
    const char *arch;
    int64_t multiprocessors, matrix_mhz, vector_mhz, gigabytes;
} sheets[] = {
#define GT_GPU(name, vendor, arch, sms, matrix_mhz, vector_mhz, gigabytes, source)                                     \
    {{name, sizeof(name) - 1}, arch, sms, matrix_mhz, vector_mhz, gigabytes},
#include "measure/efficiency/data_sheets.def"
#undef GT_GPU
};

/* ---- rows ---- */

static const struct arch *find_arch(const char *name) {
    for (size_t i = 0; i < GT_ARRAY_COUNT(archs) && name; i++)
        if (gt_str_eq(gt_str_of(archs[i].name), gt_str_of(name)))
            return &archs[i];
    return NULL;
}

/* The row of a GPU by its name, with or without its vendor. */
static const struct sheet *find_sheet(struct gt_str name) {
    static const struct gt_str vendors[] = {GT_STR("NVIDIA "), GT_STR("Tesla "), GT_STR("AMD "), GT_STR("Instinct ")};
    for (size_t i = 0; i < GT_ARRAY_COUNT(vendors); i++)
        if (gt_str_starts_nocase(name, vendors[i]))
            name = (struct gt_str){name.ptr + vendors[i].len, name.len - vendors[i].len};
    for (size_t i = 0; i < GT_ARRAY_COUNT(sheets); i++)
        if (gt_str_eq_nocase(name, sheets[i].name))
            return &sheets[i];
    return NULL;
}

/* Cards of one architecture have different rates: GeForce and some others sum products at half the rate, H20 and H800
   are cut further. These words in names are of cards with all of it, those without a row included. */
static bool has_full_rate(struct gt_str name) {
    static const struct gt_str words[] = {
        GT_STR("V100"), GT_STR("V100S"), GT_STR("T4"),   GT_STR("A2"),    GT_STR("A10"),
        GT_STR("A10G"), GT_STR("A16"),   GT_STR("A30"),  GT_STR("A40"),   GT_STR("A100"),
        GT_STR("A800"), GT_STR("A6000"), GT_STR("L4"),   GT_STR("L40S"),  GT_STR("H100"),
        GT_STR("H200"), GT_STR("GH200"), GT_STR("B200"), GT_STR("GB200"),
    };
    for (size_t at = 0, end; at < name.len; at = end + 1) {
        for (end = at; end < name.len && name.ptr[end] != ' ' && name.ptr[end] != '-';)
            end++;
        for (size_t i = 0; i < GT_ARRAY_COUNT(words); i++)
            if (gt_str_eq_nocase((struct gt_str){name.ptr + at, end - at}, words[i]))
                return true;
    }
    return false;
}

/* ---- what the user gives ---- */

/* "989T" or "4.8e12" per second. Less than any GPU has is a number without its letter. */
static bool parse_rate(struct gt_str text, int64_t *rate) {
    static const struct {
        char letter;
        int digits;
    } letters[] = {{'k', 3}, {'K', 3}, {'M', 6}, {'G', 9}, {'T', 12}, {'P', 15}};
    enum { LEAST = 1000000000 };
    int digits = 0;
    for (size_t i = 0; i < GT_ARRAY_COUNT(letters) && text.len; i++)
        if (text.ptr[text.len - 1] == letters[i].letter)
            digits = letters[i].digits;
    text.len -= digits > 0;
    return gt_num_parse_decimal(text, digits, rate) && *rate >= LEAST;
}

static enum gt_status give_peak(struct gt_str item, struct gt_gpu_given *given, struct gt_error *err) {
    const char *equals = memchr(item.ptr, '=', item.len);
    struct gt_str key = {item.ptr, equals ? (size_t)(equals - item.ptr) : 0};
    struct gt_str value = {item.ptr + key.len + 1, equals ? item.len - key.len - 1 : 0};
    for (size_t i = 0; i < GT_PEAK_COUNT; i++)
        if (gt_str_eq_nocase(key, gt_str_of(gt_peak_unit_keys[i])) && parse_rate(value, &given->flops[i]))
            return GT_OK;
    return gt_fail_usage(err,
                         "invalid --peak '%.*s'; expected UNIT=FLOP/s, such as bf16=989T (units: bf16, tf32, fp8, "
                         "int8, fp64t, fp32, fp64)",
                         (int)(item.len < 100 ? item.len : 100), item.ptr);
}

/* Names that hold what was asked for, or else the nearest one: "A100" has four rows. */
static enum gt_status fail_name(const char *gpu, struct gt_error *err) {
    char names[300] = "";
    size_t used = 0, nearest = 0, distance = SIZE_MAX;
    struct gt_str wanted = gt_str_of(gpu);
    for (size_t i = 0; i < GT_ARRAY_COUNT(sheets); i++) {
        size_t far = gt_str_distance_nocase(wanted, sheets[i].name);
        nearest = far < distance ? i : nearest;
        distance = far < distance ? far : distance;
        if (wanted.len && gt_str_find_nocase(sheets[i].name, wanted) && used + sheets[i].name.len + 6 < sizeof names)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s'%s'", used ? ", " : "", sheets[i].name.ptr);
    }
    if (!used)
        snprintf(names, sizeof names, "'%s'", sheets[nearest].name.ptr);
    return gt_fail_usage(err, "--gpu: no data sheet of '%.100s'; did you mean %s? Else give --peak and --bandwidth",
                         gpu, names);
}

enum gt_status gt_gpu_peaks_parse(const char *peaks, const char *bandwidth, const char *gpu, struct gt_gpu_given *given,
                                  struct gt_error *err) {
    struct gt_str rest = gt_str_of(peaks), item;
    *given = (struct gt_gpu_given){.common_device = GT_NO_TRACK};
    while (gt_str_next_item(&rest, &item)) {
        enum gt_status status = give_peak(item, given, err);
        if (status != GT_OK)
            return status;
    }
    if (bandwidth && !parse_rate(gt_str_of(bandwidth), &given->bandwidth))
        return gt_fail_usage(err, "invalid --bandwidth '%.100s'; expected bytes per second, such as 4.8T", bandwidth);
    const struct sheet *sheet = gpu ? find_sheet(gt_str_of(gpu)) : NULL;
    if (gpu && !sheet)
        return fail_name(gpu, err);
    given->sheet = sheet ? (size_t)(sheet - sheets) + 1 : 0;
    return GT_OK;
}

/* The last device with a name if all have the same one; else GT_NO_TRACK. */
static uint32_t find_common_device(const struct gt_devices *devices) {
    uint32_t found = GT_NO_TRACK;
    for (uint32_t i = 0; i < devices->count; i++) {
        if (devices->name[i] == GT_STRID_EMPTY)
            continue;
        if (found != GT_NO_TRACK && devices->name[found] != devices->name[i])
            return GT_NO_TRACK;
        found = i;
    }
    return found;
}

enum gt_status gt_gpu_peaks_given(const struct gt_view *view, struct gt_gpu_given *given, struct gt_error *err) {
    enum gt_status status =
        gt_gpu_peaks_parse(gt_option_text(view, GT_OPTION_peak), gt_option_text(view, GT_OPTION_bandwidth),
                           gt_option_text(view, GT_OPTION_gpu), given, err);
    given->common_device = find_common_device(&view->store->devices);
    return status;
}

/* ---- a device ---- */

/* ROCm's kernels may be on devices that the list of GPUs lacks: if all GPUs of the list have one name, it is theirs. */
static uint32_t described_device(const struct gt_devices *devices, uint32_t device, const struct gt_gpu_given *given) {
    bool has_name = devices->name[device] != GT_STRID_EMPTY;
    return has_name || given->common_device == GT_NO_TRACK ? device : given->common_device;
}

/* GPUs of AMD give compute capabilities, too: an MI210 says 9.0 like an H100. Its waves have 64 threads, so that half
   as many fit a compute unit. */
static bool is_amd(const struct gt_devices *devices, uint32_t device, struct gt_str name) {
    return gt_str_find_nocase(name, GT_STR("AMD")) || gt_str_find_nocase(name, GT_STR("Instinct")) ||
           (devices->compute_major[device] >= 9 && devices->max_warps[device] == 32);
}

static void set_arch(struct gt_gpu_peaks *peaks, const struct gt_devices *devices, uint32_t device,
                     const struct sheet *sheet) {
    uint32_t major = devices->compute_major[device], minor = devices->compute_minor[device];
    if (sheet) {
        peaks->arch = sheet->arch;
    } else if (major && !is_amd(devices, device, peaks->name)) {
        snprintf(peaks->other_arch, sizeof peaks->other_arch, "sm_%u%u", major % 1000, minor % 1000);
    }
}

static void set_limits(struct gt_gpu_peaks *peaks, const struct gt_devices *devices, uint32_t device,
                       const struct arch *arch) {
    if (is_amd(devices, device, peaks->name))
        return;
    peaks->limits = (struct gt_multiprocessor){
        .warps = devices->max_warps[device],
        .blocks = arch ? arch->blocks : devices->max_blocks[device],
        .registers = devices->max_registers[device],
        .shared_bytes = devices->max_shared_bytes[device],
        .block_shared_bytes = arch ? arch->block_shared_bytes : 1024,
    };
}

static void set_clocks(struct gt_gpu_peaks *peaks, const struct gt_devices *devices, uint32_t device,
                       const struct sheet *sheet, bool is_given) {
    if (sheet) {
        peaks->matrix_clock_hz = sheet->matrix_mhz * 1000000;
        peaks->vector_clock_hz = sheet->vector_mhz * 1000000;
        peaks->source = is_given ? GT_PEAK_OF_USER : GT_PEAK_OF_DATA_SHEET;
    } else if (devices->clock_hz[device] && devices->clock_hz[device] <= INT64_MAX) {
        peaks->matrix_clock_hz = peaks->vector_clock_hz = (int64_t)devices->clock_hz[device];
        peaks->source = GT_PEAK_OF_TRACE;
    }
}

/* Of the GPU that kernels ran on, whatever GPU their peaks are taken from; NULL: not known. */
static const struct arch *own_arch(const struct gt_devices *devices, uint32_t device, struct gt_str name) {
    struct gt_gpu_peaks own = {.name = name};
    set_arch(&own, devices, device, find_sheet(name));
    return find_arch(gt_gpu_peaks_arch(&own));
}

/* Kernels ran on the multiprocessors of the trace, but the peaks of another GPU are of its own. */
static void set_flops(struct gt_gpu_peaks *peaks, const struct arch *arch, const struct gt_gpu_given *given) {
    static const bool is_matrix[GT_PEAK_COUNT] = {
#define MATRIX                         1
#define VECTOR                         0
#define GT_PEAK_UNIT(key, name, clock) [GT_PEAK_##key] = clock,
#include "measure/efficiency/peak_units.def"
#undef GT_PEAK_UNIT
#undef MATRIX
#undef VECTOR
    };
    for (size_t i = 0; i < GT_PEAK_COUNT; i++) {
        int64_t clock_hz = is_matrix[i] ? peaks->matrix_clock_hz : peaks->vector_clock_hz;
        int64_t rate = arch ? arch->rates[i] : 0;
        gt_big flops = gt_work_math_mul(gt_work_math_mul(rate, peaks->peak_multiprocessors), clock_hz);
        peaks->flops[i] = given->flops[i] ? given->flops[i] : gt_work_math_fits(flops) ? (int64_t)flops : 0;
        peaks->is_known |= peaks->flops[i] > 0;
        if (given->flops[i])
            peaks->source = GT_PEAK_OF_USER;
    }
}

static int64_t bandwidth_of(const struct gt_devices *devices, uint32_t device, const struct sheet *sheet,
                            const struct gt_gpu_given *given) {
    uint64_t recorded = devices->bandwidth[device];
    if (given->bandwidth)
        return given->bandwidth;
    if (given->sheet)
        return sheet->gigabytes * 1000000000;
    if (recorded && recorded <= INT64_MAX)
        return (int64_t)recorded;
    return sheet ? sheet->gigabytes * 1000000000 : 0;
}

void gt_gpu_peaks_of(struct gt_gpu_peaks *peaks, const struct gt_store *store, uint32_t device,
                     const struct gt_gpu_given *given) {
    const struct gt_devices *devices = &store->devices;
    uint32_t described = described_device(devices, device, given);
    *peaks = (struct gt_gpu_peaks){.name = gt_store_string(store, devices->name[described])};
    const struct sheet *asked = given->sheet ? &sheets[given->sheet - 1] : NULL;
    const struct sheet *sheet = asked ? asked : find_sheet(peaks->name);
    if (asked)
        peaks->given_name = asked->name;
    if (asked && !peaks->name.len)
        peaks->name = asked->name;
    set_arch(peaks, devices, described, sheet);
    const struct arch *arch = find_arch(gt_gpu_peaks_arch(peaks));
    peaks->multiprocessors = devices->multiprocessors[described];
    if (!peaks->multiprocessors && sheet)
        peaks->multiprocessors = sheet->multiprocessors;
    peaks->peak_multiprocessors = asked ? asked->multiprocessors : peaks->multiprocessors;
    set_limits(peaks, devices, described, asked ? own_arch(devices, described, peaks->name) : arch);
    set_clocks(peaks, devices, described, sheet, asked != NULL);
    set_flops(peaks, sheet || has_full_rate(peaks->name) ? arch : NULL, given);
    peaks->bandwidth = bandwidth_of(devices, described, sheet, given);
}

/* ---- units ---- */

enum gt_peak_unit gt_gpu_peaks_unit(uint8_t dtype, bool is_tf32) {
    static const uint8_t units[GT_DTYPE_COUNT] = {
#define GT_DTYPE(key, name, bytes, rank, unit) [GT_DTYPE_##key] = GT_PEAK_##unit,
#include "measure/efficiency/dtypes.def"
#undef GT_DTYPE
        [GT_DTYPE_NONE] = GT_PEAK_NONE,
        [GT_DTYPE_OTHER] = GT_PEAK_NONE,
    };
    enum gt_peak_unit unit = units[dtype];
    return unit == GT_PEAK_FP32 && is_tf32 ? GT_PEAK_TF32 : unit;
}

int64_t gt_gpu_peaks_of_products(const struct gt_gpu_peaks *peaks, enum gt_peak_unit unit) {
    if (unit == GT_PEAK_NONE)
        return 0;
    bool has_matrix_unit = unit == GT_PEAK_FP64 && peaks->flops[GT_PEAK_FP64T];
    return peaks->flops[has_matrix_unit ? GT_PEAK_FP64T : unit];
}
