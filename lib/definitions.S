/* The texts of docs/measures.md and docs/words.md in the library. */
#define VISIBLE_INSIDE(name) .global name; .hidden name

    VISIBLE_INSIDE(gt_definitions)
    VISIBLE_INSIDE(gt_definitions_bytes)
    VISIBLE_INSIDE(gt_words)
    VISIBLE_INSIDE(gt_words_bytes)

    .section .rodata
gt_definitions:
    .incbin "docs/measures.md"
definitions_end:
gt_words:
    .incbin "docs/words.md"
words_end:
    .balign 8
gt_definitions_bytes:
    .quad definitions_end - gt_definitions
gt_words_bytes:
    .quad words_end - gt_words

    .section .note.GNU-stack, "", %progbits
