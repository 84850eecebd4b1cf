/* The bytes of the page in the library. GT_PAGE_HEAD and GT_PAGE_TAIL name the files that web/build.mjs makes; without
   them the page is empty. */
#define VISIBLE_INSIDE(name) .global name; .hidden name

    VISIBLE_INSIDE(gt_page_head)
    VISIBLE_INSIDE(gt_page_tail)
    VISIBLE_INSIDE(gt_page_head_bytes)
    VISIBLE_INSIDE(gt_page_tail_bytes)

    .section .rodata
gt_page_head:
#ifdef GT_PAGE_HEAD
    .incbin GT_PAGE_HEAD
#endif
head_end:
gt_page_tail:
#ifdef GT_PAGE_TAIL
    .incbin GT_PAGE_TAIL
#endif
tail_end:
    .balign 8
gt_page_head_bytes:
    .quad head_end - gt_page_head
gt_page_tail_bytes:
    .quad tail_end - gt_page_tail

    .section .note.GNU-stack, "", %progbits
