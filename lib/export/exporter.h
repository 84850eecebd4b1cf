/* A format that events are exported to: reads selected traces, writes files. exporters.def has the table of all. */
#ifndef GT_EXPORT_EXPORTER_H
#define GT_EXPORT_EXPORTER_H

#include "base/fail.h"
#include "events/trace_rank.h"
#include "events/view.h"

/* One trace of an export. */
struct gt_export_input {
    const struct gt_view *view; /* the selected ops, of view->store and view->labels */
    struct gt_str label;        /* its name among the inputs; no two have the same */
    const char *path;           /* its first file, as reports show it */
    const char *real_path;      /* where it is; may say its rank. Never written: of a redacted trace it is private */
    struct gt_trace_rank rank;
};

/* What is exported. */
struct gt_export {
    const struct gt_export_input *inputs;
    size_t input_count;
    size_t threads;
    const char *const *tables; /* table_count keys; NULL: all. Only of formats that have tables */
    size_t table_count;
};

struct gt_exporter {
    const char *key, *title;
    const char *suffix; /* "/": a directory */
    uint32_t facts;     /* enum gt_fact */
    /* path: of the file, or of the directory with a slash at its end, which may be missing. Writes all or nothing. */
    enum gt_status (*write)(const struct gt_export *export, const char *path, struct gt_error *err);
};

#define GT_EXPORTER(name, key, title, suffix, facts)                                                                   \
    enum gt_status gt_export_##name(const struct gt_export *export, const char *path, struct gt_error *err);
#include "export/exporters.def"
#undef GT_EXPORTER

extern const struct gt_exporter gt_exporters[];
extern const size_t gt_exporter_count;

const struct gt_exporter *gt_exporter_find(const char *key);      /* NULL if there is none */
const struct gt_exporter *gt_exporter_for_path(const char *path); /* by suffix, "/" for a directory; NULL likewise */
bool gt_exporter_is_directory(const struct gt_exporter *exporter);

#endif
