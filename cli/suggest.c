/* "Did you mean": edit distance in which swapped neighbours cost least; '-' and '_' are the same. */
#include "suggest.h"

#include <string.h>

enum { LONGEST = 48, SWAP = 2, EDIT = 3 };

static size_t smaller(size_t a, size_t b) {
    return a < b ? a : b;
}

static char plain(char c) {
    return c == '_' ? '-' : c;
}

static size_t edit_distance(const char *a, size_t a_bytes, const char *b, size_t b_bytes) {
    size_t rows[3][LONGEST + 1];
    size_t *before = rows[0], *above = rows[1], *row = rows[2];

    for (size_t j = 0; j <= b_bytes; j++)
        above[j] = j * EDIT;
    for (size_t i = 1; i <= a_bytes; i++) {
        row[0] = i * EDIT;
        for (size_t j = 1; j <= b_bytes; j++) {
            char x = plain(a[i - 1]), y = plain(b[j - 1]);
            row[j] = smaller(smaller(above[j], row[j - 1]) + EDIT, above[j - 1] + (x != y ? EDIT : 0));
            if (i > 1 && j > 1 && x == plain(b[j - 2]) && y == plain(a[i - 2]))
                row[j] = smaller(row[j], before[j - 2] + SWAP);
        }
        size_t *oldest = before;
        before = above;
        above = row;
        row = oldest;
    }
    return above[b_bytes];
}

void cli_suggestion_init(struct cli_suggestion *suggestion, const char *given, size_t bytes) {
    /* Up to a third of the letters may be wrong, so that short names do not match everything. */
    *suggestion = (struct cli_suggestion){.given = given, .bytes = bytes, .distance = (bytes + 2) / 3 * EDIT + 1};
}

void cli_suggestion_offer(struct cli_suggestion *suggestion, const char *name) {
    if (!name || suggestion->bytes > LONGEST || strlen(name) > LONGEST)
        return;
    size_t distance = edit_distance(suggestion->given, suggestion->bytes, name, strlen(name));
    if (distance < suggestion->distance && distance < strlen(name) * EDIT) {
        suggestion->distance = distance;
        suggestion->nearest = name;
    }
}
