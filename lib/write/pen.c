/* What a pen does rarely, and text as JSON and CSV. */
#include "write/pen.h"

#include "write/escape.h"

enum { USUAL_ROOM = 16 * 1024, SHORT_TEXT = 1024, LONGEST_ESCAPE = 6 /* \u001f of one byte */ };

static void drop_room(struct gt_pen *pen) {
    pen->begin = pen->at = pen->end = pen->no_room;
}

void gt_pen_init(struct gt_pen *pen, struct gt_out *out) {
    *pen = (struct gt_pen){.out = out};
    drop_room(pen);
}

void gt_pen_lift(struct gt_pen *pen) {
    if (pen->at > pen->begin)
        gt_out_advance(pen->out, (size_t)(pen->at - pen->begin));
    drop_room(pen);
}

void gt_pen_refill(struct gt_pen *pen, size_t size) {
    size = size > USUAL_ROOM ? size : USUAL_ROOM;
    gt_pen_lift(pen);
    pen->begin = pen->at = gt_out_room(pen->out, size);
    pen->end = pen->at + size;
}

void gt_pen_long_text(struct gt_pen *pen, struct gt_str text) {
    gt_pen_lift(pen);
    gt_out_str(pen->out, text);
}

/* Copies to `at` up to the first byte that may have to be escaped, eight at a time where there are so many; the room
   is large enough. Gives how many. */
static size_t copy_plain(char *at, const char *from, size_t size) {
    size_t done = 0;
    for (uint64_t bytes; size - done >= sizeof bytes; done += sizeof bytes) {
        memcpy(&bytes, from + done, sizeof bytes);
        if (!gt_escape_are_plain_json(bytes))
            break;
        memcpy(at + done, &bytes, sizeof bytes);
    }
    for (; done < size && gt_escape_is_plain_json((unsigned char)from[done]); done++)
        at[done] = from[done];
    return done;
}

/* Names of templates are full of them; one matters only before '/' or '!', where it could end or begin something in a
   page. */
static bool is_harmless_less(struct gt_str text) {
    return text.ptr[0] == '<' && (text.len == 1 || (text.ptr[1] != '/' && text.ptr[1] != '!'));
}

void gt_pen_json(struct gt_pen *pen, struct gt_str text) {
    if (text.len > SHORT_TEXT) {
        gt_pen_lift(pen);
        gt_escape_json(pen->out, text);
        return;
    }
    gt_pen_need(pen, text.len * LONGEST_ESCAPE + 2);
    *pen->at++ = '"';
    while (text.len) {
        size_t plain = copy_plain(pen->at, text.ptr, text.len);
        pen->at += plain;
        text = (struct gt_str){text.ptr + plain, text.len - plain};
        if (!text.len)
            break;
        if (!is_harmless_less(text)) {
            gt_pen_lift(pen);
            gt_escape_json_inside(pen->out, text);
            gt_pen_need(pen, 1);
            break;
        }
        *pen->at++ = '<';
        text = (struct gt_str){text.ptr + 1, text.len - 1};
    }
    *pen->at++ = '"';
}

/* Letters, digits and what names of code are made of, but for the comma. */
static bool is_usual(unsigned char byte) {
    return byte > ' ' && byte < 0x7f && byte != ',' && byte != '"';
}

void gt_pen_csv(struct gt_pen *pen, struct gt_str text) {
    size_t usual = 0;
    while (usual < text.len && (is_usual((unsigned char)text.ptr[usual]) || (usual && text.ptr[usual] == ' ')))
        usual++;
    bool is_plain = usual == text.len && usual && text.ptr[usual - 1] != ' ' && !strchr("=+-@", text.ptr[0]);
    if (is_plain || !text.len) {
        gt_pen_text(pen, text);
        return;
    }
    gt_pen_lift(pen);
    gt_escape_csv(pen->out, text);
}
