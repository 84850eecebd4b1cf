/* The bytes of the page in the library; without GT_HAVE_PAGE there are none. */
#define VISIBLE_INSIDE(name) .global name; .hidden name

    VISIBLE_INSIDE(gt_page)
    VISIBLE_INSIDE(gt_page_bytes)

    .section .rodata
gt_page:
#ifdef GT_HAVE_PAGE
    .incbin "web/dist/page.html"
#endif
page_end:
    .balign 8
gt_page_bytes:
    .quad page_end - gt_page

    .section .note.GNU-stack, "", %progbits
