/* What a file is that no decoder reads: its first bytes come in, an error that names it and says what helps goes out.
 */
#include "decode/foreign.h"

#include <stdio.h>
#include <string.h>

#define INSTEAD_OF_PICKLES "; record a timeline with torch.profiler (export_chrome_trace)"
#define CUT_REPORT         "an Nsight Systems report; it is damaged or cut, copy it again"

/* Files that people mistake for traces, or that no decoder reads. Advice follows a semicolon; all others get the
   general one. */
static const struct {
    struct gt_str magic;
    size_t offset;
    const char *what;
} kinds[] = {
    {GT_STR("SQLite format 3"), 0, "an SQLite database"},
    {GT_STR("NVIDIA Tegra Profiler Report"), 0, CUT_REPORT},
    {GT_STR("NVIDIA Tegra Profiler Report"), 4, CUT_REPORT},
    {GT_STR("NVR\0"), 0, "an Nsight Compute report; record a timeline with Nsight Systems ('nsys profile')"},
    {GT_STR("\x89PNG"), 0, "a PNG image"},
    {GT_STR("\xff\xd8\xff"), 0, "a JPEG image"},
    {GT_STR("%PDF-"), 0, "a PDF document"},
    {GT_STR("\x7f"
            "ELF"),
     0, "a program or library"},
    {GT_STR("PAR1"), 0, "a Parquet file; give the trace that it was made from"},
    {GT_STR("ARROW1"), 0, "an Arrow file; give the trace that it was made from"},
    {GT_STR("\x89HDF"), 0, "an HDF5 file; export the report with 'nsys export --type sqlite'"},
    {GT_STR("7z\xbc\xaf\x27\x1c"), 0, "a 7-Zip archive; extract it first"},
    {GT_STR("Rar!"), 0, "a RAR archive; extract it first"},
    {GT_STR("BZh"), 0, "bzip2 data; decompress it first"},
    {GT_STR("\x1f\x8b"), 0, "gzip data; decompress it first"},
    {GT_STR("\x28\xb5\x2f\xfd"), 0, "zstd data; decompress it first"},
    {GT_STR("\xfd"
            "7zXZ"),
     0, "xz data; decompress it first"},
    {GT_STR("PK\x03\x04"), 0, "zip data; extract it first"},
    {GT_STR("\x04\x22\x4d\x18"), 0, "LZ4 data; decompress it first"},
    {GT_STR("\xff\xfe"), 0, "UTF-16 text; save it as UTF-8"},
    {GT_STR("\xfe\xff"), 0, "UTF-16 text; save it as UTF-8"},
    {GT_STR("version https://git-lfs"), 0, "a Git LFS pointer; fetch the file with 'git lfs pull'"},
};

static struct gt_str from(struct gt_str text, size_t offset) {
    return offset < text.len ? (struct gt_str){text.ptr + offset, text.len - offset} : (struct gt_str){"", 0};
}

static struct gt_str skip_space(struct gt_str head) {
    while (head.len && strchr(" \t\r\n", head.ptr[0]))
        head = from(head, 1);
    return head;
}

static bool begins_with_any(struct gt_str head, const struct gt_str *begins, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (gt_str_starts_nocase(head, begins[i]))
            return true;
    return false;
}

static bool has_all(struct gt_str head, const char *const *marks, size_t count) {
    for (size_t i = 0; i < count && marks[i]; i++)
        if (!gt_str_contains(head, gt_str_of(marks[i])))
            return false;
    return true;
}

/* ---- JSON ---- */

/* JSON of tools around PyTorch, by keys and values that it has and traces do not. */
static const struct {
    char bracket;         /* the first sign */
    const char *marks[3]; /* all of them are there */
    const char *what;
} documents[] = {
    {'{',
     {"\"schema\"", "chakra"},
     "a PyTorch execution trace; it has no times, record a timeline with torch.profiler"},
    {'{',
     {"\"schema\"", "\"nodes\"", "\"ctrl\""},
     "a PyTorch execution trace; it has no times, record a timeline with "
     "torch.profiler"},
    {'{',
     {"\"pg_config\"", "\"entries\""},
     "a dump of PyTorch's Flight Recorder; record a timeline with torch.profiler"},
    {'[',
     {"\"frame\"", "\"children\"", "\"metrics\""},
     "a profile of Triton's Proton, which has only sums; record a timeline with torch.profiler or Nsight Systems"},
};

static const char *name_document(struct gt_str head) {
    struct gt_str text = skip_space(head);
    if (!text.len || gt_str_contains(head, GT_STR("\"traceEvents\"")) || gt_str_contains(head, GT_STR("\"ph\"")))
        return NULL;
    for (size_t i = 0; i < sizeof documents / sizeof *documents; i++)
        if (text.ptr[0] == documents[i].bracket &&
            has_all(head, documents[i].marks, sizeof documents[i].marks / sizeof *documents[i].marks))
            return documents[i].what;
    return NULL;
}

/* ---- text ---- */

static bool is_text(struct gt_str head) {
    for (size_t i = 0; i < head.len; i++) {
        unsigned char c = (unsigned char)head.ptr[i];
        if (c < ' ' && c != '\n' && c != '\r' && c != '\t')
            return false;
    }
    return true;
}

static bool is_page(struct gt_str head) {
    static const struct gt_str begins[] = {GT_STR("<!doctype html"), GT_STR("<html"), GT_STR("<?xml"), GT_STR("<head")};
    return begins_with_any(skip_space(head), begins, sizeof begins / sizeof *begins);
}

/* Its metrics, with or without the lines that explain them. */
static bool is_inspector_snapshot(struct gt_str head) {
    static const struct gt_str begins[] = {GT_STR("nccl_"), GT_STR("# HELP nccl_"), GT_STR("# TYPE nccl_")};
    return begins_with_any(skip_space(head), begins, sizeof begins / sizeof *begins);
}

/* What 'ncu --csv' prints: a row for each kernel or metric, in either order of columns. */
static bool is_of_nsight_compute(struct gt_str head) {
    static const char *const names[] = {"Metric Name", "gpu__", "launch__", "sm__"};
    const char *title = memmem(head.ptr, head.len, "Kernel Name", strlen("Kernel Name"));
    if (!title)
        return false;
    const char *begin = title, *end = memchr(title, '\n', head.len - (size_t)(title - head.ptr));
    while (begin > head.ptr && begin[-1] != '\n')
        begin--;
    struct gt_str line = {begin, (size_t)((end ? end : head.ptr + head.len) - begin)};
    return gt_str_has_any_nocase(line, names, sizeof names / sizeof *names);
}

/* Name, Calls, TotalDurationNs ... */
static bool is_summary_of_rocprof(struct gt_str head) {
    const char *end = memchr(head.ptr, '\n', head.len);
    struct gt_str line = {head.ptr, end ? (size_t)(end - head.ptr) : head.len};
    return gt_str_contains(line, GT_STR("TotalDurationNs")) && gt_str_contains(line, GT_STR("Calls"));
}

/* So little of a report that its mark is not whole. */
static bool is_cut_report(struct gt_str head) {
    static const struct gt_str mark = GT_STR("NVIDIA Tegra Profiler Report");
    enum { LEAST = 6 };
    return head.len >= LEAST && gt_str_starts(mark, head);
}

static const char *name_text(struct gt_str head) {
    if (is_page(head))
        return "a web page; a download may have given an error or a login page instead";
    if (is_cut_report(head))
        return "the beginning of an Nsight Systems report; it is cut, copy it again";
    if (!is_text(head))
        return NULL;
    if (is_inspector_snapshot(head))
        return "Prometheus metrics of NCCL Inspector; NCCL_INSPECTOR_PROM_DUMP=0 makes it log every collective as JSON";
    if (is_of_nsight_compute(head))
        return "a table of Nsight Compute; record a timeline with Nsight Systems ('nsys profile')";
    if (is_summary_of_rocprof(head))
        return "a summary of a ROCm profiler; give the results.csv, results.db or kernel_trace.csv beside it";
    return "text";
}

/* ---- pickles ---- */

/* Protocols 2 to 5. Their keys are text. */
static const char *name_pickle(struct gt_str head) {
    if (head.len < 2 || head.ptr[0] != '\x80' || head.ptr[1] < 2 || head.ptr[1] > 5)
        return NULL;
    if (gt_str_contains(head, GT_STR("pg_config")) || gt_str_contains(head, GT_STR("pg_status")) ||
        gt_str_contains(head, GT_STR("entries")))
        return "a Python pickle: a dump of PyTorch's Flight Recorder" INSTEAD_OF_PICKLES;
    if (gt_str_contains(head, GT_STR("segments")) || gt_str_contains(head, GT_STR("device_traces")))
        return "a Python pickle: a memory snapshot of PyTorch" INSTEAD_OF_PICKLES;
    return "a Python pickle, as PyTorch's Flight Recorder dumps and memory snapshots are" INSTEAD_OF_PICKLES;
}

static const char *describe(struct gt_str head) {
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (gt_str_starts(from(head, kinds[i].offset), kinds[i].magic))
            return kinds[i].what;
    const char *what = name_pickle(head);
    if (!what)
        what = name_document(head);
    if (!what)
        what = name_text(head);
    return what ? what : "unknown binary data";
}

/* ---- tar ---- */

/* Where things are in the header of a member, and how many bytes they have at most. */
enum {
    TAR_BLOCK = 512,
    TAR_NAME_BYTES = 100,
    TAR_SIZE_AT = 124,
    TAR_SIZE_BYTES = 12,
    TAR_KIND_AT = 156,
    TAR_MARK_AT = 257,
    TAR_PREFIX_AT = 345,
    TAR_PREFIX_BYTES = 155,
};

static bool is_tar(struct gt_str head) {
    return gt_str_starts(from(head, TAR_MARK_AT), GT_STR("ustar"));
}

static struct gt_str field(struct gt_str header, size_t at, size_t bytes) {
    return (struct gt_str){header.ptr + at, strnlen(header.ptr + at, bytes)};
}

/* Octal digits. UINT64_MAX: it is written in another way, as sizes above 8 GiB are. */
static uint64_t size_of(struct gt_str header) {
    struct gt_str digits = field(header, TAR_SIZE_AT, TAR_SIZE_BYTES);
    uint64_t size = 0;
    for (size_t i = 0; i < digits.len && digits.ptr[i] != ' '; i++) {
        if (digits.ptr[i] < '0' || digits.ptr[i] > '7')
            return UINT64_MAX;
        size = size * 8 + (uint64_t)(digits.ptr[i] - '0');
    }
    return size;
}

/* The record "LENGTH path=NAME" of what pax writes before a member; empty: there is none. */
static struct gt_str pax_path(struct gt_str records) {
    static const struct gt_str mark = GT_STR(" path=");
    const char *at = memmem(records.ptr, records.len, mark.ptr, mark.len);
    if (!at)
        return (struct gt_str){"", 0};
    struct gt_str name = from(records, (size_t)(at - records.ptr) + mark.len);
    const char *end = memchr(name.ptr, '\n', name.len);
    return (struct gt_str){name.ptr, end ? (size_t)(end - name.ptr) : name.len};
}

/* The name of the first file among the members that are at hand, in parts; its long name, where one comes before it. */
static bool find_file(struct gt_str head, struct gt_str *folder, struct gt_str *name) {
    struct gt_str long_name = {"", 0};
    while (head.len >= TAR_BLOCK && is_tar(head)) {
        struct gt_str header = {head.ptr, TAR_BLOCK};
        char kind = header.ptr[TAR_KIND_AT];
        uint64_t size = size_of(header);
        struct gt_str content = from(head, TAR_BLOCK);
        if (kind == '0' || kind == '\0' || kind == '7') {
            bool is_long = long_name.len > 0;
            *folder = is_long ? (struct gt_str){"", 0} : field(header, TAR_PREFIX_AT, TAR_PREFIX_BYTES);
            /* GNU's own headers have times there. */
            if (header.ptr[TAR_MARK_AT + 5] == ' ')
                *folder = (struct gt_str){"", 0};
            *name = is_long ? long_name : field(header, 0, TAR_NAME_BYTES);
            return name->len > 0;
        }
        if (size > content.len)
            return false;
        content.len = (size_t)size;
        if (kind == 'L')
            long_name = (struct gt_str){content.ptr, strnlen(content.ptr, content.len)};
        else if (kind == 'x' && pax_path(content).len)
            long_name = pax_path(content);
        else if (kind != 'x' && kind != 'g' && kind != 'K')
            long_name = (struct gt_str){"", 0};
        head = from(head, TAR_BLOCK + ((size_t)size + TAR_BLOCK - 1) / TAR_BLOCK * TAR_BLOCK);
    }
    return false;
}

/* Appends it, without signs that a terminal would act on. */
static void append(char *shown, size_t bytes, struct gt_str text) {
    size_t used = strlen(shown);
    for (size_t i = 0; i < text.len && used + 1 < bytes; i++)
        shown[used++] = (unsigned char)text.ptr[i] < ' ' || text.ptr[i] == 0x7f ? '?' : text.ptr[i];
    shown[used] = '\0';
}

static enum gt_status fail_tar(const char *path, struct gt_str head, struct gt_error *err) {
    struct gt_str folder, name;
    char shown[61] = "", first[100] = "";
    if (find_file(head, &folder, &name)) {
        append(shown, sizeof shown, folder);
        append(shown, sizeof shown, folder.len ? GT_STR("/") : GT_STR(""));
        append(shown, sizeof shown, name);
        snprintf(first, sizeof first, " (its first file is '%s')", shown);
    }
    return gt_fail(err, "'%s': a tar archive%s; extract it ('tar -xf') and name the trace in it", path, first);
}

/* ---- all ---- */

bool gt_foreign_is_known(struct gt_str head) {
    return is_tar(head) || name_document(head);
}

/* What was packed twice: sources take off one packing. NULL: it was not. */
static const char *name_inner_packing(const struct gt_source *source, struct gt_str head) {
    if (gt_source_packing(source) == GT_PACKING_NONE)
        return NULL;
    return gt_str_starts(head, GT_STR("\x1f\x8b"))           ? "gzip"
           : gt_str_starts(head, GT_STR("\x28\xb5\x2f\xfd")) ? "zstd"
           : gt_str_starts(head, GT_STR("\xfd"
                                        "7zXZ"))
               ? "xz"
           : gt_str_starts(head, GT_STR("PK\x03\x04")) ? "zip"
                                                       : NULL;
}

enum gt_status gt_foreign_fail(const struct gt_source *source, struct gt_str head, struct gt_error *err) {
    static const char *const packings[] = {[GT_PACKING_NONE] = "",
                                           [GT_PACKING_GZIP] = "gzip",
                                           [GT_PACKING_ZSTD] = "zstd",
                                           [GT_PACKING_XZ] = "xz",
                                           [GT_PACKING_ZIP] = "zip"};
    const char *path = gt_source_path(source), *damage = gt_source_damage(source);
    if (head.len == 0 && damage)
        return gt_fail(err, "'%s': no readable data: %s", path, damage);
    if (head.len == 0)
        return gt_fail(err, "'%s' is empty", path);
    if (is_tar(head))
        return fail_tar(path, head, err);
    const char *inner = name_inner_packing(source, head);
    if (inner)
        return gt_fail(err, "'%s': %s inside %s; decompress it once", path, inner, packings[gt_source_packing(source)]);
    const char *what = describe(head);
    size_t kind_bytes = strcspn(what, ";");
    return gt_fail(err, "'%s': unrecognized trace format (looks like %.*s)%s", path, (int)kind_bytes, what,
                   what[kind_bytes] ? what + kind_bytes : "; see 'gputime list inputs'");
}
