/* What commands leave to their host, if they have one. */
#include "host.h"

void cli_host_close(const struct cli_options *options, struct gputime_trace *trace) {
    if (options->host && trace) {
        options->host->close(options->host->context, trace);
        return;
    }
    if (trace && !options->opening.no_cache)
        gputime_trace_store_cache(trace);
    gputime_trace_free(trace);
}

enum gputime_status cli_host_write(const struct cli_options *options, const struct gputime_report *report,
                                   const struct gputime_write_options *writing, const char *path,
                                   struct gputime_error *err) {
    return options->host && !path ? options->host->write(options->host->context, report, writing, err)
                                  : gputime_report_write(report, writing, path, err);
}
