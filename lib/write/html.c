/* The report as one page that needs nothing else: the constant page of web/ with the definitions of the numbers and the
   report as JSON inside. Whatever names a trace has, they stay inside the strings of that JSON (gt_escape_json), and
   the page shows them as text. */
#include <assert.h>
#include <string.h>

#include "base/definitions.h"
#include "write/escape.h"
#include "write/json.h"
#include "write/page.h"
#include "write/writer.h"

#define PAGE_ROWS 2000 /* of a table: nobody reads more, and what is not there opens faster */

/* Writes the page up to the mark; rest is what follows it. */
static void write_until(struct gt_out *out, struct gt_str *rest, const char *mark) {
    const char *found = memmem(rest->ptr, rest->len, mark, strlen(mark));
    assert(found);
    size_t before = (size_t)(found - rest->ptr), taken = before + strlen(mark);
    gt_out_write(out, rest->ptr, before);
    *rest = (struct gt_str){rest->ptr + taken, rest->len - taken};
}

enum gt_status gt_write_html(const struct gt_report *report, const struct gputime_write_options *options,
                             struct gt_out *out, struct gt_error *err) {
    struct gt_str page = {gt_page, gt_page_bytes};
    (void)options;
    if (page.len == 0)
        return gt_fail(
            err, "HTML output is not available: this gputime was built without the page; build with 'make WEB=1'");
    write_until(out, &page, GT_PAGE_DEFINITIONS);
    gt_escape_json(out, (struct gt_str){gt_definitions, gt_definitions_bytes});
    write_until(out, &page, GT_PAGE_REPORT);
    enum gt_status status =
        gt_json_report(report, &(struct gt_json_how){.audience = GT_FOR_PAGE, .row_limit = PAGE_ROWS}, out, err);
    gt_out_write(out, page.ptr, page.len);
    return status;
}
