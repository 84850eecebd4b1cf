/* Writes the page of a view. It is the same for all traces but for a small object that says what there is to ask. */
#include "viewing_page.h"

#include <inttypes.h>

#include "base/definitions.h"
#include "write/escape.h"
#include "write/json_value.h"
#include "write/page.h"

/* The page's own policy forbids all connections. */
#define POLICY       "Content-Security-Policy\" content=\""
#define WITH_SERVER  "connect-src 'self'; "
#define NOT_IN_FRAME "; frame-ancestors 'none'"

static struct gt_str page(void) {
    return (struct gt_str){gt_page, gt_page_bytes};
}

/* What is before the mark in *rest, which then begins after it; all of it where the mark is not there. */
static struct gt_str take_until(struct gt_str *rest, const char *mark) {
    const char *found = memmem(rest->ptr, rest->len, mark, strlen(mark));
    size_t before = found ? (size_t)(found - rest->ptr) : rest->len, taken = before + (found ? strlen(mark) : 0);
    struct gt_str text = {rest->ptr, before};
    *rest = (struct gt_str){rest->ptr + taken, rest->len - taken};
    return text;
}

enum gt_status gt_viewing_page_init(struct gputime_view *view, struct gt_error *err) {
    struct gt_str rest = page();
    if (rest.len == 0)
        return gt_fail(err, "no page to view: this gputime was built without it; build with 'make WEB=1'");
    take_until(&rest, POLICY);
    struct gt_str policy = take_until(&rest, "\"");
    view->policy = gt_arena_printf(&view->arena, WITH_SERVER "%.*s" NOT_IN_FRAME, (int)policy.len, policy.ptr);
    return gt_arena_failed(&view->arena) ? gt_fail_memory(err) : GT_OK;
}

static void write_number(struct gt_out *out, const char *key, int64_t value) {
    gt_out_text(out, ", ");
    gt_json_value_key(out, key);
    if (value >= 0)
        gt_out_printf(out, "%" PRId64, value);
    else
        gt_out_text(out, "null");
}

static void write_input(struct gt_out *out, const struct gt_viewing_input *input) {
    struct gputime_trace_info info = gputime_trace_describe(input->trace);
    struct gt_store *store = input->trace->shown->store;
    gt_out_char(out, '{');
    gt_json_value_text(out, "input", input->label);
    gt_out_text(out, ", ");
    gt_json_value_text(out, "path", gt_str_of(info.path));
    gt_out_text(out, ", ");
    gt_json_value_text(out, "format", gt_str_of(info.format));
    gt_out_text(out, ", ");
    gt_json_value_text(out, "producer", (struct gt_str){info.producer.bytes, info.producer.size});
    gt_out_text(out, ", ");
    gt_json_value_text(out, "host", (struct gt_str){info.host.bytes, info.host.size});
    gt_out_printf(out, ", \"ops\": %zu", store->ops.count);
    write_number(out, "rank", info.rank);
    write_number(out, "world_size", info.world_size);
    gt_out_char(out, '}');
}

static void write_inputs(struct gt_out *out, const struct gputime_view *view) {
    gt_out_text(out, "{\"view\": {\"version\": 1, ");
    gt_json_value_text(out, "title", view->title ? gt_str_of(view->title) : view->inputs[0].label);
    gt_out_text(out, ", ");
    gt_json_value_text(out, "command", gt_str_of(view->command));
    gt_out_text(out, ", \"inputs\": [");
    for (size_t i = 0; i < view->count; i++) {
        gt_out_text(out, i ? ", " : "");
        write_input(out, &view->inputs[i]);
    }
    gt_out_text(out, "]}}");
}

enum gt_status gt_viewing_page_write(struct gt_viewing_question *question, struct gt_error *err) {
    struct gt_out *out = question->out;
    struct gt_str rest = page();
    (void)err;
    gt_out_str(out, take_until(&rest, POLICY));
    gt_out_text(out, POLICY WITH_SERVER);
    gt_out_str(out, take_until(&rest, GT_PAGE_DEFINITIONS));
    gt_escape_json(out, (struct gt_str){gt_definitions, gt_definitions_bytes});
    gt_out_str(out, take_until(&rest, GT_PAGE_REPORT));
    write_inputs(out, question->view);
    gt_out_str(out, rest);
    return GT_OK;
}
