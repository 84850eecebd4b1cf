/* The trace decoder on files that others change while it looks at them through a mapping: what was read stays, what is
   lost is counted, and nothing crashes. */
#include "torch_text.h"

#include <pthread.h>
#include <stdatomic.h>

/* Enough for several calls of the progress callback. */
enum { EVENTS = 60000 };

static const struct gt_torch_sizes mapped_sizes = {1 << 20, 64 << 10, 1 << 20, GT_TORCH_USUAL, 256 << 10};
static const struct gt_torch_sizes read_sizes = {1 << 20, 64 << 10, 1 << 20, GT_TORCH_PORTABLE, 0};

static void put_event(FILE *out, int i) {
    const char *const names[] = {"aten::mul", "aten::_to_copy", "autograd::engine::evaluate_function: MulBackward0"};
    fprintf(
        out,
        "%s\n  {\n    \"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"%s%d\", \"pid\": 9, \"tid\": %d,\n"
        "    \"ts\": %d.%03d, \"dur\": %d.5,\n    \"args\": {\n      \"External id\": %d, \"Input Dims\": [[%d], []]",
        i ? "," : "", names[i % 3], i % 500, 9 + i % 2, 1000000 + i * 20, i % 1000, i % 19, i, i % 7);
    fprintf(out, ", \"Ev Idx\": %d\n    }\n  }", i);
}

static size_t write_trace(char *path) {
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    fputs("{\"traceEvents\": [", out);
    for (int i = 0; i < EVENTS; i++)
        put_event(out, i);
    fputs("\n]}\n", out);
    fclose(out);
    write_file(path, text, size);
    free(text);
    return size;
}

/* Facts with which every part of the fast reader is used. */
static const uint32_t asked[] = {0, GT_FACTS_USUAL | GT_FACT_ARGUMENTS};

static void whole_files_are_read_alike(void **state) {
    (void)state;
    char path[32];
    write_trace(path);
    for (size_t f = 0; f < sizeof asked / sizeof *asked; f++) {
        char *expected = decode_facts(path, 1, &read_sizes, asked[f]);
        for (size_t i = 0; i < THREAD_COUNTS; i++) {
            char *found = decode_facts(path, thread_counts[i], &mapped_sizes, asked[f]);
            assert_string_equal(found, expected);
            free(found);
        }
        free(expected);
    }
    unlink(path);
}

struct cutting {
    const char *path;
    off_t size;
    bool is_done;
};

static void cut_once(void *context, uint64_t done_bytes, uint64_t total_bytes) {
    struct cutting *cutting = context;
    (void)total_bytes;
    if (!cutting->is_done) {
        assert_true(done_bytes < (uint64_t)cutting->size);
        assert_int_equal(truncate(cutting->path, cutting->size), 0);
    }
    cutting->is_done = true;
}

/* One thread, whose file becomes shorter after a third of it was read. */
static char *decode_while_cut(const char *path, const struct gt_torch_sizes *sizes, off_t size) {
    struct cutting cutting = {path, size, false};
    struct gt_decode_options options = {.threads = 1, .progress = cut_once, .progress_context = &cutting};
    struct gt_source *source;
    struct gt_store *store = NULL;
    struct gt_error error = {0};
    char *text = NULL;
    size_t text_size;
    assert_int_equal(gt_source_open(path, &source, &error), GT_OK);
    assert_int_equal(gt_torch_json_decode_sized(source, &options, sizes, &store, &error), GT_OK);
    assert_true(cutting.is_done);
    FILE *out = open_memstream(&text, &text_size);
    print_store(out, store);
    fclose(out);
    gt_store_free(store);
    gt_source_close(source);
    return text;
}

/* As if the file had been that short from the beginning. */
static void a_file_that_shrinks_is_cut(void **state) {
    (void)state;
    for (off_t extra = 0; extra < 9000; extra += 1733) {
        char path[32];
        size_t size = write_trace(path);
        off_t cut = (off_t)(size * 2 / 3) + extra;
        assert_true(size > 12 << 20);
        char *found = decode_while_cut(path, &mapped_sizes, cut), *expected = decode_facts(path, 1, &read_sizes, 0);
        assert_string_equal(found, expected);
        assert_non_null(strstr(found, "issue input_cut 1"));
        free(found);
        free(expected);
        unlink(path);
    }
}

struct changing {
    char path[32];
    size_t size;
    bool shrinks;
    atomic_bool is_over;
};

static void *change(void *context) {
    struct changing *changing = context;
    FILE *file = fopen(changing->path, "r+");
    char other[4096];
    memset(other, '{', sizeof other);
    memcpy(other + 1000, "\"name\": \"", 9);
    for (unsigned i = 1; !atomic_load(&changing->is_over); i++) {
        off_t at = (off_t)((uint64_t)i * 7654321 % changing->size);
        if (changing->shrinks)
            assert_int_equal(ftruncate(fileno(file), at), 0);
        (void)!pwrite(fileno(file), other, i % sizeof other, at);
        assert_int_equal(ftruncate(fileno(file), (off_t)changing->size), 0);
    }
    fclose(file);
    return NULL;
}

/* Whatever comes out, the sanitizers have nothing to say about it. */
static void survives(bool shrinks) {
    struct changing changing = {.shrinks = shrinks};
    pthread_t thread;
    changing.size = write_trace(changing.path);
    assert_int_equal(pthread_create(&thread, NULL, change, &changing), 0);
    for (size_t i = 0; i < 12; i++)
        free(decode_facts(changing.path, thread_counts[i % THREAD_COUNTS], &mapped_sizes, asked[i % 2]));
    atomic_store(&changing.is_over, true);
    pthread_join(thread, NULL);
    unlink(changing.path);
}

static void a_file_written_anew_does_no_harm(void **state) {
    (void)state;
    survives(false);
}

static void a_file_that_comes_and_goes_does_no_harm(void **state) {
    (void)state;
    survives(true);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_files_are_read_alike),
        cmocka_unit_test(a_file_that_shrinks_is_cut),
        cmocka_unit_test(a_file_written_anew_does_no_harm),
        cmocka_unit_test(a_file_that_comes_and_goes_does_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
