/* Reads one JSON text of bounded size and depth into a tree. For what comes from outside: requests of clients. */
#ifndef CLI_JSON_READ_H
#define CLI_JSON_READ_H

#include <stdbool.h>
#include <stddef.h>

enum cli_json_type {
    CLI_JSON_NULL,
    CLI_JSON_FALSE,
    CLI_JSON_TRUE,
    CLI_JSON_NUMBER,
    CLI_JSON_TEXT,
    CLI_JSON_ARRAY,
    CLI_JSON_OBJECT
};

/* A value. Texts are valid UTF-8, terminated, and may have NULs inside. */
struct cli_json {
    enum cli_json_type type;
    const char *key;  /* of a member of an object; NULL: not one */
    const char *text; /* CLI_JSON_TEXT, and CLI_JSON_NUMBER as it was written */
    size_t bytes;
    const struct cli_json *first, *next; /* members or elements; the next one next to this */
};

struct cli_json_tree {
    struct cli_json *nodes; /* the first is the root */
    size_t count, capacity;
};

enum { CLI_JSON_DEPTH = 64, CLI_JSON_NODES = 100000 };

/* Reads all of the text, which is changed and must live as long as the tree. NULL: done; else why not, a constant.
   Release also then. */
const char *cli_json_read(struct cli_json_tree *tree, char *text, size_t bytes);
void cli_json_release(struct cli_json_tree *tree);

/* The member of an object; NULL: there is none, or it is not an object. The last of equal keys counts. */
const struct cli_json *cli_json_member(const struct cli_json *object, const char *key);
bool cli_json_is_text(const struct cli_json *value, const char *text); /* value may be NULL */

/* Bytes of the UTF-8 character at text; 0: it is not valid. */
size_t cli_json_character(const unsigned char *text, size_t bytes);

#endif
