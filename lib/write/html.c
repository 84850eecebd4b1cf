/* The report as one page that needs nothing else: the constant page of web/ with the report as JSON inside. Whatever
   names a trace has, they stay inside the strings of that JSON (gt_escape_json), and the page shows them as text. */
#include "write/json.h"
#include "write/page.h"
#include "write/writer.h"

#define PAGE_ROWS 2000 /* of a table: nobody reads more, and what is not there opens faster */

enum gt_status gt_write_html(const struct gt_report *report, const struct gputime_write_options *options,
                             struct gt_out *out, struct gt_error *err) {
    (void)options;
    if (gt_page_head_bytes == 0)
        return gt_fail(err, "this gputime was built without the page; 'make WEB=1' builds it in and needs npm");
    gt_out_write(out, gt_page_head, gt_page_head_bytes);
    enum gt_status status =
        gt_json_report(report, &(struct gt_json_how){.audience = GT_FOR_PAGE, .row_limit = PAGE_ROWS}, out, err);
    gt_out_write(out, gt_page_tail, gt_page_tail_bytes);
    return status;
}
