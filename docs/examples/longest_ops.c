/* The ten longest ops of a trace with their categories, and the kinds of rows it has: reads the events, no report.
 *
 *   cc -o longest_ops longest_ops.c $(pkg-config --cflags --libs gputime)
 *   ./longest_ops TRACE */
#include <gputime.h>
#include <stdio.h>

enum { MOST = 10 };

/* Constant arrays with an element for each op, as long as the trace is open. */
struct ops {
    const struct gputime_rows *rows;
    const int64_t *start_ns, *end_ns;
    const uint8_t *category; /* rows of the kind "categories" */
    size_t name;             /* number of the field */
};

static int64_t length_ns(const struct ops *ops, size_t row) {
    return ops->end_ns[row] - ops->start_ns[row];
}

/* Rows of the longest ops, the longest first; how many these are. */
static size_t find_longest(const struct ops *ops, size_t longest[MOST]) {
    size_t count = 0;
    for (size_t row = 0; row < gputime_rows_count(ops->rows); row++) {
        size_t place = count < MOST ? count++ : MOST;
        while (place > 0 && length_ns(ops, longest[place - 1]) < length_ns(ops, row)) {
            if (place < MOST)
                longest[place] = longest[place - 1];
            place--;
        }
        if (place < MOST)
            longest[place] = row;
    }
    return count;
}

static void print_longest(const struct gputime_trace *trace) {
    const struct gputime_rows *rows = gputime_trace_rows(trace, "ops");
    const struct gputime_rows *categories = gputime_trace_rows(trace, "categories");
    const struct ops ops = {
        .rows = rows,
        .start_ns = gputime_rows_field(rows, gputime_rows_find_field(rows, "start_ns")).data,
        .end_ns = gputime_rows_field(rows, gputime_rows_find_field(rows, "end_ns")).data,
        .category = gputime_rows_field(rows, gputime_rows_find_field(rows, "category")).data,
        .name = gputime_rows_find_field(rows, "name"),
    };
    size_t key = gputime_rows_find_field(categories, "key"), longest[MOST];
    size_t count = find_longest(&ops, longest);
    for (size_t i = 0; i < count; i++) {
        struct gputime_text name = gputime_rows_text(rows, longest[i], ops.name);
        struct gputime_text category = gputime_rows_text(categories, ops.category[longest[i]], key);
        printf("%10lld ns  %.*s  %.*s\n", (long long)length_ns(&ops, longest[i]), (int)category.size, category.bytes,
               (int)name.size, name.bytes);
    }
}

/* What there is to read: every kind of rows with its fields. */
static void print_kinds(const struct gputime_trace *trace) {
    for (size_t i = 0; i < gputime_trace_rows_count(trace); i++) {
        const struct gputime_rows *rows = gputime_trace_rows_at(trace, i);
        if (gputime_rows_count(rows) == 0)
            continue;
        printf("%s (%zu):", gputime_rows_key(rows), gputime_rows_count(rows));
        for (size_t f = 0; f < gputime_rows_field_count(rows); f++) {
            struct gputime_field field = gputime_rows_field(rows, f);
            printf(" %s%s%s", field.key, field.refers_to ? "->" : "", field.refers_to ? field.refers_to : "");
        }
        putchar('\n');
    }
}

int main(int argc, char **argv) {
    struct gputime_trace *trace = NULL;
    struct gputime_error error;
    if (argc != 2) {
        fprintf(stderr, "usage: longest_ops TRACE\n");
        return 2;
    }
    const char *path = argv[1];
    enum gputime_status status = gputime_trace_open(&path, 1, NULL, NULL, &trace, &error);
    if (status) {
        fprintf(stderr, "longest_ops: %s\n", error.message);
        return (int)status;
    }
    print_longest(trace);
    print_kinds(trace);
    gputime_trace_free(trace);
    return 0;
}
