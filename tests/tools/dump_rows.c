/* Prints the rows of a trace's event store, for tests that compare them with what another program reads:

       dump_rows [--facts ops,calls,...|all|usual] [--threads N] [--reader auto|native|nsys] [--with FILE]... FILE
   [TABLE...]

   --with: another file of the same capture.
   One JSON object for each row, with the table's name and the row's number first; without tables all of them. "meta"
   and "issues" are tables of this program. Strings are resolved, codes are words, what is not known is null; references
   to rows are numbers. Bytes that are no UTF-8 stay as they are. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/source.h"
#include "decode/decoder.h"

_Noreturn static void fail(const char *what) {
    fprintf(stderr, "dump_rows: %s\n", what);
    exit(1);
}

/* ---- values ---- */

static void print_text(struct gt_str text) {
    putchar('"');
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        if (c < ' ')
            printf("\\u%04x", c);
        else
            printf(c == '"' || c == '\\' ? "\\%c" : "%c", c);
    }
    putchar('"');
}

static void print_choice(const char *choices, uint64_t code) {
    for (; code > 0 && choices; code--) {
        choices = strchr(choices, '|');
        choices = choices ? choices + 1 : NULL;
    }
    if (!choices)
        fail("a code has no word");
    print_text((struct gt_str){choices, strcspn(choices, "|")});
}

static void print_real(double value, enum gt_refers refers) {
    char buf[GT_NUM_MAX];
    size_t length = gt_num_format_real(buf, value);
    if (refers == GT_REFERS_OR_NEGATIVE && value < 0)
        printf("null");
    else
        printf("%.*s", (int)length, buf);
}

static void print_signed(int64_t value, enum gt_refers refers) {
    if ((refers == GT_REFERS_OR_NEGATIVE && value < 0) || (refers == GT_REFERS_OR_MIN && value == INT64_MIN))
        printf("null");
    else
        printf("%" PRId64, value);
}

static void print_unsigned(const struct gt_store *store, const struct gt_column_info *info, uint64_t value) {
    uint64_t largest = UINT64_MAX >> (64 - 8 * info->elem_bytes);
    if (gt_store_choices(info->refers))
        print_choice(gt_store_choices(info->refers), value);
    else if (info->refers == GT_REFERS_STRING)
        print_text(gt_store_string(store, (gt_strid)value));
    else if (value == largest && (gt_store_column_refers(info) || info->refers == GT_REFERS_OR_MAX))
        printf("null");
    else
        printf("%" PRIu64, value);
}

static void print_value(struct gt_store *store, const struct gt_column_info *info, size_t row) {
    const char *value = (const char *)*gt_store_column(store, info) + row * info->elem_bytes;
    switch (info->element) {
    case GT_ELEMENT_U8:
        print_unsigned(store, info, *(const uint8_t *)value);
        break;
    case GT_ELEMENT_U16:
        print_unsigned(store, info, *(const uint16_t *)(const void *)value);
        break;
    case GT_ELEMENT_U32:
        print_unsigned(store, info, *(const uint32_t *)(const void *)value);
        break;
    case GT_ELEMENT_U64:
        print_unsigned(store, info, *(const uint64_t *)(const void *)value);
        break;
    case GT_ELEMENT_I64:
        print_signed(*(const int64_t *)(const void *)value, info->refers);
        break;
    case GT_ELEMENT_F64:
        print_real(*(const double *)(const void *)value, info->refers);
        break;
    }
}

/* ---- tables ---- */

static void print_table(struct gt_store *store, const struct gt_column_info *first) {
    size_t rows = *gt_store_row_count(store, first->table);
    for (size_t row = 0; row < rows; row++) {
        printf("{\"table\": \"%s\", \"row\": %zu", first->table_name, row);
        for (const struct gt_column_info *info = first;
             info < gt_column_infos + gt_column_count && info->table == first->table; info++) {
            printf(", \"%s\": ", info->name);
            print_value(store, info, row);
        }
        printf("}\n");
    }
}

static void print_facts(uint32_t facts) {
    const char *separator = "";
    putchar('[');
    for (unsigned bit = 0; bit < GT_FACT_COUNT; bit++)
        if (facts >> bit & 1) {
            printf("%s\"%s\"", separator, gt_store_fact_key((enum gt_fact)(1 << bit)));
            separator = ", ";
        }
    putchar(']');
}

static void print_meta(const struct gt_store *store) {
    const struct gt_meta *meta = &store->meta;
    printf("{\"table\": \"meta\", \"row\": 0, \"format\": \"%s\", \"base_ns\": %" PRId64 ", \"rank\": %" PRId64
           ", \"world_size\": %" PRId64 ", \"duration_ns\": %" PRId64 ", \"skipped_events\": %" PRIu64
           ", \"read_rows\": %" PRIu64 ", \"read_bytes\": %" PRIu64 ", \"producer\": ",
           meta->format, meta->base_ns, meta->rank, meta->world_size, meta->duration_ns, store->skipped_events,
           meta->read_rows, meta->read_bytes);
    print_text(gt_store_string(store, meta->producer));
    printf(", \"host\": ");
    print_text(gt_store_string(store, meta->host));
    printf(", \"facts\": ");
    print_facts(store->facts);
    printf("}\n");
}

static void print_issues(const struct gt_store *store) {
    for (size_t i = 0; i < GT_ISSUE_COUNT; i++)
        if (gt_store_issue(store, (enum gt_issue_id)i, GT_FACTS_ALL).count)
            printf("{\"table\": \"issues\", \"row\": %zu, \"id\": \"%s\", \"count\": %" PRIu64 "}\n", i,
                   gt_issue_infos[i].id, gt_store_issue(store, (enum gt_issue_id)i, GT_FACTS_ALL).count);
}

static bool is_asked(char **tables, const char *name) {
    bool found = !*tables;
    for (; *tables; tables++)
        found |= strcmp(*tables, name) == 0;
    return found;
}

static void check_tables(char **tables) {
    for (; *tables; tables++) {
        bool found = strcmp(*tables, "meta") == 0 || strcmp(*tables, "issues") == 0;
        for (size_t i = 0; i < gt_column_count; i++)
            found |= strcmp(*tables, gt_column_infos[i].table_name) == 0;
        if (!found)
            fail("there is no table of that name");
    }
}

static void print_store(struct gt_store *store, char **tables) {
    if (is_asked(tables, "meta"))
        print_meta(store);
    if (is_asked(tables, "issues"))
        print_issues(store);
    for (size_t i = 0; i < gt_column_count; i++) {
        const struct gt_column_info *info = &gt_column_infos[i];
        bool is_first = i == 0 || info[-1].table != info->table;
        if (is_first && is_asked(tables, info->table_name))
            print_table(store, info);
    }
}

/* ---- the command line ---- */

static uint32_t parse_facts(const char *list) {
    struct gt_str rest = gt_str_of(list), key;
    uint32_t facts = 0;
    while (gt_str_next_item(&rest, &key)) {
        uint32_t fact = gt_str_eq(key, GT_STR("all"))     ? GT_FACTS_ALL
                        : gt_str_eq(key, GT_STR("usual")) ? GT_FACTS_USUAL
                                                          : gt_store_fact_find(key);
        if (!fact)
            fail("there is no fact of that name");
        facts |= fact;
    }
    return facts;
}

static enum gt_reader parse_reader(const char *word) {
    return strcmp(word, "native") == 0 ? GT_READER_NATIVE : strcmp(word, "nsys") == 0 ? GT_READER_NSYS : GT_READER_AUTO;
}

enum { FILES_MAX = 16 };

static struct gt_store *decode(const char *const *paths, size_t count, const struct gt_decode_options *options) {
    const struct gt_decoder *decoder;
    struct gt_source *sources[FILES_MAX];
    struct gt_store *store;
    struct gt_error error = {0};
    for (size_t i = 0; i < count; i++)
        if (gt_source_open(paths[i], &sources[i], &error) != GT_OK)
            fail(error.message);
    if (gt_decoder_choose(sources[0], &decoder, &error) != GT_OK ||
        decoder->decode(sources, count, options, &store, &error) != GT_OK)
        fail(error.message);
    for (size_t i = 0; i < count; i++)
        gt_source_close(sources[i]);
    return store;
}

int main(int argc, char **argv) {
    struct gt_decode_options options = {.threads = 1};
    const char *paths[FILES_MAX] = {NULL};
    size_t count = 1;
    char **next = argv + 1;
    for (; argv + argc - next >= 2 && strncmp(*next, "--", 2) == 0; next += 2) {
        if (strcmp(*next, "--facts") == 0)
            options.facts = parse_facts(next[1]);
        else if (strcmp(*next, "--threads") == 0)
            options.threads = (size_t)strtoul(next[1], NULL, 10);
        else if (strcmp(*next, "--reader") == 0)
            options.reader = parse_reader(next[1]);
        else if (strcmp(*next, "--with") == 0 && count < FILES_MAX)
            paths[count++] = next[1];
        else
            fail("there is no such option");
    }
    if (next == argv + argc || options.threads == 0)
        fail("[--facts LIST] [--threads N] [--reader WORD] FILE [TABLE...]");
    check_tables(next + 1);
    paths[0] = *next;
    struct gt_store *store = decode(paths, count, &options);
    print_store(store, next + 1);
    gt_store_free(store);
    return 0;
}
