/* The text of docs/measures.md in the library. */
#define VISIBLE_INSIDE(name) .global name; .hidden name

    VISIBLE_INSIDE(gt_definitions)
    VISIBLE_INSIDE(gt_definitions_bytes)

    .section .rodata
gt_definitions:
    .incbin "docs/measures.md"
definitions_end:
    .balign 8
gt_definitions_bytes:
    .quad definitions_end - gt_definitions

    .section .note.GNU-stack, "", %progbits
