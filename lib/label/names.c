/* Kernel names for people: in comes a C++ signature or a mangled name, out goes the part of it that names the kernel.
   Anything that does not read as one of these (copies, plain text) stays whole. */
#include "base/mangled.h"
#include "label/label.h"

/* Real names nest some fifty deep; what lies deeper is taken as cut off, which bounds the work for hostile names. */
#define DEPTH_MAX 512

enum bracket { ROUND, ANGLE, SQUARE, CURLY, BRACKET_COUNT, NO_BRACKET = BRACKET_COUNT };

static enum bracket opening(char c) {
    return c == '(' ? ROUND : c == '<' ? ANGLE : c == '[' ? SQUARE : c == '{' ? CURLY : NO_BRACKET;
}

static enum bracket closing(char c) {
    return c == ')' ? ROUND : c == '>' ? ANGLE : c == ']' ? SQUARE : c == '}' ? CURLY : NO_BRACKET;
}

/* ASCII only: the answer must not depend on the locale. */
static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' || c == '$';
}

static char char_at(struct gt_str text, size_t at) {
    return at < text.len ? text.ptr[at] : '\0';
}

static bool has_at(struct gt_str text, size_t at, struct gt_str what) {
    return at <= text.len && gt_str_starts((struct gt_str){text.ptr + at, text.len - at}, what);
}

static bool has_word_at(struct gt_str text, size_t at, struct gt_str word) {
    return has_at(text, at, word) && !is_word(char_at(text, at + word.len));
}

/* After "operator" and its symbols when an operator's name is at `at`, else `at`. Its brackets are no brackets.
   Nsight writes `operator ()`. */
static size_t skip_operator(struct gt_str text, size_t at) {
    static const struct gt_str symbols[] = {
        GT_STR(" ()"), GT_STR("()"),  GT_STR(" []"), GT_STR("[]"), GT_STR("<=>"),
        GT_STR("<<="), GT_STR(">>="), GT_STR("->*"), GT_STR("<<"), GT_STR(">>"),
        GT_STR("<="),  GT_STR(">="),  GT_STR("->"),  GT_STR("<"),  GT_STR(">"),
    };
    if (text.ptr[at] != 'o' || !has_word_at(text, at, GT_STR("operator")) || (at > 0 && is_word(text.ptr[at - 1])))
        return at;
    at += GT_STR("operator").len;
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++)
        if (has_at(text, at, symbols[i]))
            return at + symbols[i].len;
    return at;
}

struct nesting {
    unsigned char open[DEPTH_MAX]; /* enum bracket */
    size_t depth;
    size_t open_count[BRACKET_COUNT];
};

/* A closing bracket ends the innermost of its kind and what is still open inside it. `>` is the exception: inside
   round brackets it compares, so it only ever ends a `<` right at the top. */
static void close_bracket(struct nesting *nesting, enum bracket kind) {
    if (nesting->open_count[kind] == 0 || (kind == ANGLE && nesting->open[nesting->depth - 1] != ANGLE))
        return;
    enum bracket last;
    do {
        last = (enum bracket)nesting->open[--nesting->depth];
        nesting->open_count[last]--;
    } while (last != kind);
}

/* The place after the group that opens at `at`; text.len + 1 when it never closes. Linear. */
static size_t skip_group(struct gt_str text, size_t at) {
    struct nesting nesting;
    nesting.depth = 0;
    memset(nesting.open_count, 0, sizeof nesting.open_count);
    while (at < text.len) {
        size_t after_operator = skip_operator(text, at);
        if (after_operator != at) {
            at = after_operator;
            continue;
        }
        char c = text.ptr[at];
        if (opening(c) != NO_BRACKET) {
            if (nesting.depth == DEPTH_MAX)
                break;
            nesting.open[nesting.depth++] = (unsigned char)opening(c);
            nesting.open_count[opening(c)]++;
        } else if (closing(c) != NO_BRACKET && !(c == '>' && text.ptr[at - 1] == '-')) {
            close_bracket(&nesting, closing(c));
        }
        at++;
        if (nesting.depth == 0)
            return at;
    }
    return text.len + 1;
}

/* One part of a qualified name, between two `::`. */
struct part {
    size_t begin, end;               /* its identifier; equal for `(anonymous namespace)` and lambdas */
    size_t arguments, arguments_end; /* what is between its first < and >; equal if it has none */
    size_t outer_begin, outer_end;   /* the identifier of the part before it */
    bool is_open;                    /* no bracket or space has ended the identifier yet */
};

struct parser {
    struct gt_str text;
    size_t at;
    struct part part;  /* being read */
    struct part named; /* the last one that can represent the kernel; begin == end: none yet */
    bool has_brackets; /* some part has arguments or parameters */
    bool is_prose;     /* not a signature after all */
};

static void begin_part(struct parser *parser) {
    while (char_at(parser->text, parser->at) == '*' || char_at(parser->text, parser->at) == '&')
        parser->at++;
    size_t outer_begin = parser->part.begin, outer_end = parser->part.end;
    parser->part = (struct part){
        .begin = parser->at, .end = parser->at, .outer_begin = outer_begin, .outer_end = outer_end, .is_open = true};
}

static void end_identifier(struct parser *parser) {
    if (parser->part.is_open)
        parser->part.end = parser->at;
    parser->part.is_open = false;
}

/* `operator()` names nothing: the class or function around it does. */
static void end_part(struct parser *parser) {
    end_identifier(parser);
    struct gt_str name = {parser->text.ptr + parser->part.begin, parser->part.end - parser->part.begin};
    bool is_call = gt_str_eq(name, GT_STR("operator()")) || gt_str_eq(name, GT_STR("operator ()"));
    if (name.len && !is_call)
        parser->named = parser->part;
}

static void read_group(struct parser *parser) {
    size_t begin = parser->at, end = skip_group(parser->text, begin);
    bool is_first = parser->part.is_open;
    end_identifier(parser);
    if (is_first && parser->part.begin == begin) {
        /* A part without identifier is a namespace or a lambda, so more of the name must follow. After a space that
           also distinguishes `Memset (Device)` from a signature. */
        bool may_end = parser->text.ptr[begin] == '{' && parser->named.end > parser->named.begin;
        parser->is_prose |= !(has_at(parser->text, end, GT_STR("::")) || may_end);
    } else {
        parser->has_brackets = true;
        if (is_first && parser->text.ptr[begin] == '<' && end <= parser->text.len) {
            parser->part.arguments = begin + 1;
            parser->part.arguments_end = end - 1;
        }
    }
    parser->at = end < parser->text.len ? end : parser->text.len;
}

/* Spaces separate the return type from the name and the parameters from qualifiers. */
static void read_space(struct parser *parser) {
    static const struct gt_str qualifiers[] = {GT_STR("const"), GT_STR("volatile"), GT_STR("noexcept")};
    end_identifier(parser);
    while (char_at(parser->text, parser->at) == ' ' || char_at(parser->text, parser->at) == '&')
        parser->at++;
    for (size_t i = 0; i < sizeof qualifiers / sizeof *qualifiers; i++)
        if (has_word_at(parser->text, parser->at, qualifiers[i])) {
            parser->at += qualifiers[i].len;
            return;
        }
    /* `operator<< <int>`: the space only keeps the symbols apart. */
    bool is_operator = has_word_at(parser->text, parser->part.begin, GT_STR("operator"));
    if (parser->at == parser->text.len || has_at(parser->text, parser->at, GT_STR("::")) ||
        (is_operator && parser->text.ptr[parser->at] == '<'))
        return;
    parser->named = parser->part = (struct part){0};
    begin_part(parser);
}

static void parse_signature(struct parser *parser) {
    begin_part(parser);
    while (parser->at < parser->text.len && !parser->is_prose) {
        char c = parser->text.ptr[parser->at];
        size_t after_operator = skip_operator(parser->text, parser->at);
        if (after_operator != parser->at) {
            parser->at = after_operator;
        } else if (opening(c) != NO_BRACKET) {
            read_group(parser);
        } else if (c == ' ') {
            read_space(parser);
        } else if (has_at(parser->text, parser->at, GT_STR("::"))) {
            end_part(parser);
            parser->at += 2;
            begin_part(parser);
        } else {
            parser->at++;
        }
    }
    end_part(parser);
}

/* What compilers put after the name of a copy of a function (`foo(int) [clone .1]`, `foo(int) (.1)`), and AMD's
   runtime after every kernel's descriptor. */
static struct gt_str without_suffix(struct gt_str text) {
    static const struct gt_str descriptor = GT_STR(".kd");
    for (;;) {
        char last = text.len ? text.ptr[text.len - 1] : '\0';
        const char *open = last == ']'   ? memrchr(text.ptr, '[', text.len)
                           : last == ')' ? memrchr(text.ptr, '(', text.len)
                                         : NULL;
        size_t at = open ? (size_t)(open - text.ptr) : 0;
        if (at < 2 || text.ptr[at - 1] != ' ' ||
            !(has_at(text, at, GT_STR("[clone ")) || has_at(text, at, GT_STR("(."))) || has_at(text, at, GT_STR("(..")))
            break;
        text.len = at - 1;
    }
    if (text.len > descriptor.len && has_at(text, text.len - descriptor.len, descriptor))
        text.len -= descriptor.len;
    return text;
}

static bool is_wrapper(struct gt_str name) {
    static const struct gt_str wrappers[] = {GT_STR("Kernel"), GT_STR("Kernel2"), GT_STR("device_kernel")};
    for (size_t i = 0; i < sizeof wrappers / sizeof *wrappers; i++)
        if (gt_str_eq(name, wrappers[i]))
            return true;
    return false;
}

/* ck_tile::kentry<256, 2, ck_tile::FmhaFwdKernel<...>>: the first argument that is no number names the kernel. */
static struct gt_str entered_class(struct gt_str arguments, struct gt_str name) {
    size_t begin = 0;
    while (begin < arguments.len && (is_digit(arguments.ptr[begin]) || memchr(", ", arguments.ptr[begin], 2)))
        begin++;
    size_t end = begin;
    for (; is_word(char_at(arguments, end)) || char_at(arguments, end) == ':'; end++)
        if (arguments.ptr[end] == ':')
            begin = end + 1;
    return end > begin ? (struct gt_str){arguments.ptr + begin, end - begin} : name;
}

/* cutlass::Kernel<the_kernel>, Kernel2 and device_kernel, in all the namespaces that begin with cutlass: the argument
   is the name if it is one identifier. */
static struct gt_str unwrap(const struct parser *parser) {
    const struct part *part = &parser->named;
    const char *text = parser->text.ptr;
    struct gt_str name = {text + part->begin, part->end - part->begin};
    struct gt_str outer = {text + part->outer_begin, part->outer_end - part->outer_begin};
    struct gt_str argument = {text + part->arguments, part->arguments_end - part->arguments};
    if (gt_str_eq(name, GT_STR("kentry")) && gt_str_eq(outer, GT_STR("ck_tile")))
        return entered_class(argument, name);
    if (!is_wrapper(name) || !gt_str_starts(outer, GT_STR("cutlass")))
        return name;
    while (argument.len && argument.ptr[argument.len - 1] == ' ')
        argument.len--;
    size_t begin = argument.len;
    while (begin > 0 && is_word(argument.ptr[begin - 1]))
        begin--;
    for (size_t i = 0; i < begin; i++)
        if (!is_word(argument.ptr[i]) && argument.ptr[i] != ':')
            return name;
    bool is_identifier = begin < argument.len && !is_digit(argument.ptr[begin]);
    return is_identifier ? (struct gt_str){argument.ptr + begin, argument.len - begin} : name;
}

/* The same for _ZN7ck_tile6kentryILi1ENS_12Rmsnorm2dFwdI..., and _ZN7cutlass7Kernel2I10the_kernelEEv..., where the
   argument is its length and its text. */
static struct gt_str simplify_mangled(struct gt_str text) {
    struct gt_str name = gt_mangled_name(text);
    if (name.len == 0)
        return text;
    if (gt_str_starts(text, GT_STR("_ZN7ck_tile6kentryI"))) {
        struct gt_str entered = gt_mangled_argument(text, name);
        return entered.len ? entered : name;
    }
    struct gt_str before = {text.ptr, (size_t)(name.ptr - text.ptr)};
    size_t at = before.len + name.len, bytes = 0;
    if (!is_wrapper(name) || !gt_str_find_nocase(before, GT_STR("cutlass")) || char_at(text, at) != 'I')
        return name;
    for (at++; is_digit(char_at(text, at)) && bytes < text.len; at++)
        bytes = bytes * 10 + (size_t)(text.ptr[at] - '0');
    bool is_identifier = bytes && at + bytes < text.len && text.ptr[at + bytes] == 'E';
    return is_identifier ? (struct gt_str){text.ptr + at, bytes} : name;
}

struct gt_str gt_label_simplify_name(struct gt_str full) {
    struct gt_str text = without_suffix(full);
    if (text.len == 0)
        return full;
    if (gt_str_starts(text, GT_STR("_Z")))
        return simplify_mangled(text);
    struct parser parser = {.text = text};
    parse_signature(&parser);
    /* Words without any bracket are a title that someone gave, unless the first is a return type. */
    bool is_title = !parser.has_brackets && memchr(text.ptr, ' ', text.len) && !gt_str_starts(text, GT_STR("void "));
    if (parser.is_prose || is_title || parser.named.begin == parser.named.end)
        return text;
    return unwrap(&parser);
}
