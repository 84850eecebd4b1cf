/* The table of all input formats, and the choice among them by an input's first bytes. */
#include "decode/csv/nsys_csv.h"
#include "decode/decoder.h"
#include "decode/nccl/nccl_inspector.h"
#include "decode/nsys/nsys_rep.h"
#include "decode/nsys/nsys_sqlite.h"
#include "decode/proto/pftrace.h"
#include "decode/torch/torch_json.h"
#include "decode/xla/xla_json.h"
#include "decode/xla/xplane.h"

#define USUAL_FACTS (GT_FACT_OPS | GT_FACT_CORRELATION | GT_FACT_BYTES)
#define NSYS_FACTS                                                                                                     \
    (USUAL_FACTS | GT_FACT_CALLS | GT_FACT_RANGES | GT_FACT_OVERHEADS | GT_FACT_GRAPHS | GT_FACT_RANGE_TEXTS |         \
     GT_FACT_METRICS | GT_FACT_COUNTERS | GT_FACT_COMMS | GT_FACT_SYNCS | GT_FACT_CONFIGS | GT_FACT_MEMORY |           \
     GT_FACT_HOST_CALLS)
#define TORCH_FACTS                                                                                                    \
    (USUAL_FACTS | GT_FACT_CALLS | GT_FACT_RANGES | GT_FACT_CPU_OPS | GT_FACT_OVERHEADS | GT_FACT_METRICS |            \
     GT_FACT_COUNTERS | GT_FACT_COMMS | GT_FACT_SYNCS | GT_FACT_FLOWS | GT_FACT_ARGUMENTS | GT_FACT_CONFIGS |          \
     GT_FACT_MEMORY | GT_FACT_STACKS)

#define PERFETTO_FACTS                                                                                                 \
    (USUAL_FACTS | GT_FACT_CALLS | GT_FACT_RANGES | GT_FACT_CPU_OPS | GT_FACT_OVERHEADS | GT_FACT_GRAPHS |             \
     GT_FACT_METRICS | GT_FACT_COUNTERS | GT_FACT_CONFIGS | GT_FACT_STACKS)
#define XLA_FACTS                                                                                                      \
    (USUAL_FACTS | GT_FACT_CALLS | GT_FACT_RANGES | GT_FACT_OVERHEADS | GT_FACT_GRAPHS | GT_FACT_METRICS |             \
     GT_FACT_COUNTERS | GT_FACT_CONFIGS | GT_FACT_STACKS)

/* A suffix, and that of files that were compressed since: every decoder reads what a source unpacks. */
#define PACKED(suffix) suffix " " suffix ".gz " suffix ".zst " suffix ".xz"

const struct gt_decoder gt_decoders[] = {
    {GT_TORCH_JSON_KEY, "torch-json", "PyTorch profiler (Kineto) / Chrome trace JSON", PACKED(".json"), TORCH_FACTS,
     gt_torch_json_sniff, gt_torch_json_decode, NULL},
    {GT_NSYS_REP_KEY, "nsys-rep", "Nsight Systems report", PACKED(".nsys-rep") " .qdrep", NSYS_FACTS, gt_nsys_rep_sniff,
     gt_nsys_rep_decode, NULL},
    {GT_NSYS_SQLITE_KEY, "sqlite", "Nsight Systems SQLite export", PACKED(".sqlite"), NSYS_FACTS | GT_FACT_SOURCE,
     gt_nsys_sqlite_sniff, gt_nsys_sqlite_decode, NULL},
    {GT_NSYS_CSV_KEY, "csv", "Nsight Systems 'nsys stats' CSV", PACKED(".csv"),
     USUAL_FACTS | GT_FACT_GROUPS | GT_FACT_PROJECTIONS | GT_FACT_CONFIGS, gt_nsys_csv_sniff, gt_nsys_csv_decode,
     gt_nsys_csv_capture_prefix},
    {GT_PFTRACE_KEY, "perfetto", "Perfetto trace (of gputime, PyTorch, rocprofv3)",
     PACKED(".pftrace") " .perfetto-trace", PERFETTO_FACTS, gt_pftrace_sniff, gt_pftrace_decode, NULL},
    {GT_XPLANE_KEY, "xplane", "JAX / XLA profiler (XSpace protobuf)", PACKED(".xplane.pb"), XLA_FACTS | GT_FACT_MEMORY,
     gt_xplane_sniff, gt_xplane_decode, NULL},
    {GT_XLA_JSON_KEY, "xla-json", "JAX / XLA profiler (Chrome trace JSON)", PACKED(".json"), XLA_FACTS,
     gt_xla_json_sniff, gt_xla_json_decode, NULL},
    {GT_NCCL_INSPECTOR_KEY, "nccl-inspector", "NCCL Inspector log (NDJSON)",
     PACKED(".jsonl") " .ndjson " PACKED(".log"), GT_FACT_COMM_LOGS, gt_nccl_inspector_sniff, gt_nccl_inspector_decode,
     NULL},
};
const size_t gt_decoder_count = sizeof gt_decoders / sizeof *gt_decoders;

/* Files that people mistake for traces, or that no decoder reads. */
static const struct {
    struct gt_str magic;
    size_t offset;
    const char *what;
} kinds[] = {
    {GT_STR("SQLite format 3"), 0, "an SQLite database"},
    {GT_STR("NVIDIA Tegra Profiler Report"), 0, "an Nsight Systems report"},
    {GT_STR("NVIDIA Tegra Profiler Report"), 4, "an Nsight Systems report"},
    {GT_STR("\x89PNG"), 0, "a PNG image"},
    {GT_STR("\xff\xd8\xff"), 0, "a JPEG image"},
    {GT_STR("%PDF-"), 0, "a PDF document"},
    {GT_STR("\x7f"
            "ELF"),
     0, "a program or library"},
    {GT_STR("PK\x03\x04"), 0, "a zip archive; extract it first"},
    {GT_STR("BZh"), 0, "bzip2 data; decompress it first"},
    {GT_STR("\xfd"
            "7zXZ"),
     0, "xz data; decompress it first"},
    {GT_STR("\x04\x22\x4d\x18"), 0, "LZ4 data; decompress it first"},
    {GT_STR("ustar"), 257, "a tar archive; extract it first"},
    {GT_STR("<!DOCTYPE"), 0, "a web page"},
    {GT_STR("<html"), 0, "a web page"},
    {GT_STR("version https://git-lfs"), 0, "a Git LFS pointer; fetch the file with 'git lfs pull'"},
};

static bool is_text(struct gt_str head) {
    for (size_t i = 0; i < head.len; i++) {
        unsigned char c = (unsigned char)head.ptr[i];
        if (c < ' ' && c != '\n' && c != '\r' && c != '\t')
            return false;
    }
    return true;
}

static const char *describe(struct gt_str head) {
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (head.len > kinds[i].offset &&
            gt_str_starts((struct gt_str){head.ptr + kinds[i].offset, head.len - kinds[i].offset}, kinds[i].magic))
            return kinds[i].what;
    return is_text(head) ? "text" : "unknown binary data";
}

static enum gt_status fail_unknown(const struct gt_source *source, struct gt_str head, struct gt_error *err) {
    const char *path = gt_source_path(source), *damage = gt_source_damage(source);
    if (head.len == 0 && damage)
        return gt_fail(err, "'%s': no readable data: %s", path, damage);
    if (head.len == 0)
        return gt_fail(err, "'%s' is empty", path);
    const char *what = describe(head);
    size_t kind_bytes = strcspn(what, ";"); /* advice follows */
    return gt_fail(err, "'%s': unrecognized trace format (looks like %.*s)%s", path, (int)kind_bytes, what,
                   what + kind_bytes);
}

enum gt_status gt_decoder_choose(struct gt_source *source, const struct gt_decoder **out, struct gt_error *err) {
    struct gt_str head;
    int best = 0;
    *out = NULL;
    enum gt_status status = gt_source_peek(source, &head, err);
    if (status != GT_OK)
        return status;
    for (size_t i = 0; i < gt_decoder_count; i++) {
        int score = gt_decoders[i].sniff(head, gt_source_path(source));
        if (score > best) {
            best = score;
            *out = &gt_decoders[i];
        }
    }
    return *out ? GT_OK : fail_unknown(source, head, err);
}
