/* Arrow streams: memory stays valid in every order of release, with parts moved away, after report and trace are gone.
   Meant for AddressSanitizer, which sees what is used too late and what is never freed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <string.h>

#include "columns/arrow.h"
#include "gputime.h"

enum { ROWS = 3, COLUMNS = 4 };

static int freed;

static void note_free(void *object) {
    free(object);
    freed++;
}

/* A table whose values are freed by its owner: numbers with a null, texts, reals, all null. */
struct values {
    int64_t numbers[ROWS];
    uint32_t texts[ROWS];
    double reals[ROWS];
    uint8_t none[ROWS];
    struct gt_str words[2];
    struct gt_batch_texts list;
};

static struct ArrowArrayStream make_stream(void) {
    static const struct values example = {{-5, INT64_MIN, INT64_MAX},    {1, 0, 1}, {0.5, -0.0, 1e300}, {255, 255, 255},
                                          {{"a\xff", 2}, {"second", 6}}, {NULL, 0}};
    struct values *values = malloc(sizeof *values);
    struct ArrowArrayStream stream;
    struct gt_error err = {0};
    assert_non_null(values);
    *values = example;
    values->list = (struct gt_batch_texts){values->words, 2};
    const struct gt_batch_column columns[COLUMNS] = {
        {.key = "number", .unit = "ns", .type = GPUTIME_FIELD_I64, .null = GPUTIME_NULL_MIN, .values = values->numbers},
        {.key = "text", .type = GPUTIME_FIELD_U32, .values = values->texts, .texts = &values->list},
        {.key = "real", .type = GPUTIME_FIELD_F64, .values = values->reals},
        {.key = "none", .type = GPUTIME_FIELD_U8, .null = GPUTIME_NULL_MAX, .values = values->none}};
    const struct gt_batch batch = {.columns = columns, .column_count = COLUMNS, .row_count = ROWS};
    const struct gt_arrow_pair pair = {"key", "value"};
    const struct gt_arrow_table table = {"table", "A table", &pair, 1};
    freed = 0;
    assert_int_equal(gt_arrow_stream(&table, &batch, (struct gt_arrow_owner){values, note_free}, &stream, &err), GT_OK);
    return stream;
}

static void check_schema(const struct ArrowSchema *schema) {
    static const char *const formats[] = {"l", "i", "g", "C"}, *const names[] = {"number", "text", "real", "none"};
    assert_string_equal(schema->format, "+s");
    assert_int_equal(schema->n_children, COLUMNS);
    for (int64_t c = 0; c < COLUMNS; c++) {
        assert_string_equal(schema->children[c]->format, formats[c]);
        assert_string_equal(schema->children[c]->name, names[c]);
        assert_int_equal(schema->children[c]->flags, c == 0 || c == 3 ? ARROW_FLAG_NULLABLE : 0);
    }
    assert_string_equal(schema->children[1]->dictionary->format, "u");
    assert_null(schema->children[0]->dictionary);
}

static void check_number(const struct ArrowArray *array) {
    const int64_t *numbers = array->buffers[1];
    assert_int_equal(array->null_count, 1);
    assert_int_equal(((const uint8_t *)array->buffers[0])[0], 5);
    assert_true(numbers[0] == -5 && numbers[2] == INT64_MAX);
}

static void check_text(const struct ArrowArray *array) {
    const uint32_t *texts = array->buffers[1];
    const int32_t *offsets = array->dictionary->buffers[1];
    const char *bytes = array->dictionary->buffers[2];
    assert_null(array->buffers[0]);
    assert_true(texts[0] == 1 && texts[1] == 0);
    assert_int_equal(array->dictionary->length, 2);
    assert_true(offsets[0] == 0 && offsets[1] == 4 && offsets[2] == 10);
    assert_memory_equal(bytes, "a\xef\xbf\xbdsecond", 10);
}

static void check_array(const struct ArrowArray *array) {
    assert_int_equal(array->length, ROWS);
    assert_int_equal(array->n_children, COLUMNS);
    check_number(array->children[0]);
    check_text(array->children[1]);
    assert_true(((const double *)array->children[2]->buffers[1])[2] == 1e300);
    assert_int_equal(array->children[3]->null_count, ROWS);
}

struct parts {
    struct ArrowArrayStream stream;
    struct ArrowSchema schema;
    struct ArrowArray array;
};

static struct parts make_parts(void) {
    struct parts parts = {.stream = make_stream()};
    struct ArrowArray end;
    assert_int_equal(parts.stream.get_schema(&parts.stream, &parts.schema), 0);
    assert_int_equal(parts.stream.get_next(&parts.stream, &parts.array), 0);
    assert_int_equal(parts.stream.get_next(&parts.stream, &end), 0);
    assert_null(end.release);
    assert_null(parts.stream.get_last_error(&parts.stream));
    return parts;
}

static void release_part(struct parts *parts, int part) {
    if (part == 0)
        parts->stream.release(&parts->stream);
    else if (part == 1)
        parts->schema.release(&parts->schema);
    else
        parts->array.release(&parts->array);
}

/* What is left can be read after each release, and the last one frees. */
static void test_every_order(void **state) {
    static const int orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        struct parts parts = make_parts();
        for (int k = 0; k < 3; k++) {
            if (parts.schema.release)
                check_schema(&parts.schema);
            if (parts.array.release)
                check_array(&parts.array);
            assert_int_equal(freed, 0);
            release_part(&parts, orders[i][k]);
        }
        assert_int_equal(freed, 1);
        assert_true(!parts.stream.release && !parts.schema.release && !parts.array.release);
    }
}

/* Children and dictionaries that were moved away live on. */
static void test_moved_children(void **state) {
    (void)state;
    struct parts parts = make_parts();
    struct ArrowArray text = *parts.array.children[1], dictionary = *text.dictionary;
    struct ArrowSchema schema = *parts.schema.children[1];
    parts.array.children[1]->release = NULL;
    parts.schema.children[1]->release = NULL;
    for (int part = 0; part < 3; part++)
        release_part(&parts, part);
    check_text(&text);
    assert_string_equal(schema.dictionary->format, "u");
    schema.release(&schema);
    text.dictionary->release = NULL;
    text.release(&text);
    assert_int_equal(freed, 0);
    assert_memory_equal(dictionary.buffers[2], "a\xef\xbf\xbdsecond", 10);
    dictionary.release(&dictionary);
    assert_int_equal(freed, 1);
}

/* Two schemas of one stream are independent, and so are two streams. */
static void test_several(void **state) {
    (void)state;
    struct parts parts = make_parts();
    struct ArrowSchema other;
    assert_int_equal(parts.stream.get_schema(&parts.stream, &other), 0);
    release_part(&parts, 1);
    check_schema(&other);
    release_part(&parts, 0);
    other.release(&other);
    release_part(&parts, 2);
    assert_int_equal(freed, 1);
}

static void test_no_rows(void **state) {
    (void)state;
    const struct gt_batch_column column = {.key = "empty", .type = GPUTIME_FIELD_I64};
    const struct gt_batch batch = {.columns = &column, .column_count = 1};
    const struct gt_arrow_table table = {.key = "table"};
    struct ArrowArrayStream stream;
    struct ArrowArray array;
    struct gt_error err = {0};
    freed = 0;
    assert_int_equal(gt_arrow_stream(&table, &batch, (struct gt_arrow_owner){malloc(1), note_free}, &stream, &err),
                     GT_OK);
    assert_int_equal(stream.get_next(&stream, &array), 0);
    assert_non_null(array.release);
    assert_int_equal(array.length, 0);
    assert_int_equal(array.n_children, 1);
    array.release(&array);
    assert_int_equal(stream.get_next(&stream, &array), 0);
    assert_null(array.release);
    stream.release(&stream);
    assert_int_equal(freed, 1);
}

/* Arrays of a trace and of a report that are gone. */
static void test_after_the_trace(void **state) {
    (void)state;
    const char *path = "tests/data/devices.json", *analysis = "kernels", *keys[] = {"name", "dur_ns"};
    struct gputime_trace *trace;
    struct gputime_report *report;
    struct gputime_report_options options = GPUTIME_REPORT_OPTIONS_INIT;
    struct gputime_open_options opening = GPUTIME_OPEN_OPTIONS_INIT;
    struct ArrowArrayStream streams[2];
    struct ArrowArray arrays[2];
    options.analyses = &analysis;
    options.analysis_count = 1;
    options.threads = opening.threads = 1;
    opening.no_cache = 1;
    assert_int_equal(gputime_trace_open(&path, 1, &opening, NULL, &trace, NULL), GPUTIME_OK);
    assert_int_equal(gputime_report_new(&trace, 1, &options, &report, NULL), GPUTIME_OK);
    assert_int_equal(gputime_table_arrow(gputime_report_table(report, 0, "kernels"), &streams[0], NULL), GPUTIME_OK);
    assert_int_equal(gputime_trace_arrow(trace, "ops", keys, 2, &streams[1], NULL), GPUTIME_OK);
    gputime_report_free(report);
    gputime_trace_free(trace);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(streams[i].get_next(&streams[i], &arrays[i]), 0);
        streams[i].release(&streams[i]);
        assert_true(arrays[i].length > 0);
        int64_t column = i == 0 ? 0 : 1, sum = 0;
        for (int64_t r = 0; r < arrays[i].length && i == 1; r++)
            sum += ((const int64_t *)arrays[i].children[column]->buffers[1])[r];
        assert_true(i == 0 || sum > 0);
        arrays[i].release(&arrays[i]);
    }
}

static void test_wrong_requests(void **state) {
    (void)state;
    struct ArrowArrayStream stream;
    struct gputime_error err = {0};
    assert_int_equal(gputime_table_arrow(NULL, &stream, &err), GPUTIME_USAGE);
    assert_null(stream.release);
    assert_string_equal(err.message, "there is no such table");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_order),     cmocka_unit_test(test_moved_children),
        cmocka_unit_test(test_several),         cmocka_unit_test(test_no_rows),
        cmocka_unit_test(test_after_the_trace), cmocka_unit_test(test_wrong_requests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
