/* The keys that scripts know from an older tool's JSON, written below the report's own: a list of keys comes in,
   members of an object go out. */
#include "write/cell_format.h"
#include "write/escape.h"
#include "write/folder_files.h"
#include "write/json.h"
#include "write/picked.h"
#include "write/row_plan.h"

struct run {
    struct gt_out *out;
    struct gt_error *err;
    enum gt_status status;
    size_t level;   /* of indentation */
    size_t threads; /* that may write rows */
};

static const struct gt_key *write_members(struct run *run, const struct gt_key *key, const struct gt_scope *scope);

static bool has_members(const struct gt_key *key) {
    return key->kind == GT_KEY_OBJECT || key->kind == GT_KEY_ROWS || key->kind == GT_KEY_ROW ||
           key->kind == GT_KEY_AMOUNTS || key->kind == GT_KEY_MAP;
}

/* What follows a key and its members. */
static const struct gt_key *after(const struct gt_key *key) {
    size_t open = 0;
    do {
        open += has_members(key);
        open -= key->kind == GT_KEY_END;
        key++;
    } while (open);
    return key;
}

static void write_value(struct run *run, const struct gt_cell *cell) {
    char buf[GT_PICKED_NUMBER_MAX];
    size_t length = gt_picked_number(buf, cell);
    if (gt_cell_is_text(cell))
        gt_escape_json(run->out, gt_cell_str(cell));
    else if (length)
        gt_out_write(run->out, buf, length);
    else
        gt_out_text(run->out, "null");
}

static void write_flag(struct run *run, const struct gt_cell *cell) {
    gt_out_text(run->out, gt_cell_is_text(cell) || gt_cell_format_number(cell) != 0 ? "true" : "false");
}

static void put_break(struct gt_out *out, const char *before, size_t level) {
    gt_out_text(out, before);
    gt_out_char(out, '\n');
    gt_out_repeat(out, "  ", level);
}

static void break_line(struct run *run, const char *before) {
    put_break(run->out, before, run->level);
}

static void write_object(struct run *run, const struct gt_key *members, const struct gt_scope *scope) {
    gt_out_char(run->out, '{');
    run->level++;
    write_members(run, members, scope);
    run->level--;
    break_line(run, "");
    gt_out_char(run->out, '}');
}

static void write_name(struct run *run, const struct gt_scope *scope, const char *place) {
    struct gt_cell name = gt_picked_scope_value(scope, place);
    gt_escape_json(run->out, gt_cell_is_text(&name) ? gt_cell_str(&name) : GT_STR(""));
    gt_out_text(run->out, ": ");
}

static void write_row(struct run *run, const struct gt_key *key, const struct gt_scope *inside) {
    struct gt_cell value;
    if (key->name)
        write_name(run, inside, key->name);
    if (has_members(key)) {
        write_object(run, key + 1, inside);
        return;
    }
    value = gt_picked_scope_value(inside, key->value);
    if (key->kind == GT_KEY_FLAGS)
        write_flag(run, &value);
    else
        write_value(run, &value);
}

/* false: memory was short, which the run then knows. */
static bool pick(struct run *run, const struct gt_pick *rows, const struct gt_scope *scope, struct gt_picked *picked) {
    if (gt_picked_init(picked, rows, scope, run->threads, run->err) == GT_OK)
        return true;
    run->status = GT_ERR;
    return false;
}

/* ---- rows of plain members, by a plan ---- */

/* Objects in which each member is one value: those of the tables that may be long. */
static bool is_flat(const struct gt_key *key) {
    if (key->kind != GT_KEY_ROWS)
        return false;
    for (key++; key->kind != GT_KEY_END; key++) {
        bool is_elsewhere = key->kind == GT_KEY_VALUE && key->name; /* another place may have the value */
        if (is_elsewhere || (key->kind != GT_KEY_VALUE && key->kind != GT_KEY_FLAG && key->kind != GT_KEY_LITERAL))
            return false;
    }
    return true;
}

static void plan_member(struct gt_row_plan *plan, const struct gt_key *member, const struct gt_picked *picked,
                        const struct gt_scope *scope) {
    struct gt_bound bound;
    gt_escape_json(plan->texts, gt_str_of(member->key));
    gt_out_text(plan->texts, ": ");
    if (member->kind == GT_KEY_LITERAL) {
        gt_out_text(plan->texts, member->value);
        return;
    }
    gt_bound_init(&bound, member->value, picked->table, scope);
    gt_row_plan_add(plan, member->kind == GT_KEY_FLAG ? GT_ROW_PLAN_FLAG : GT_ROW_PLAN_VALUE, &bound);
}

static const struct gt_cell *row_of(const void *context, size_t index) {
    return ((const struct gt_picked *)context)->rows[index];
}

static void write_flat_rows(struct run *run, const struct gt_key *key, const struct gt_picked *picked,
                            const struct gt_scope *scope) {
    struct gt_row_plan plan;
    if (gt_row_plan_init(&plan, run->err) != GT_OK) {
        run->status = GT_ERR;
        return;
    }
    plan.skipped = 1;
    put_break(plan.texts, ",", run->level);
    gt_out_char(plan.texts, '{');
    for (const struct gt_key *member = key + 1; member->kind != GT_KEY_END; member++) {
        put_break(plan.texts, member > key + 1 ? "," : "", run->level + 1);
        plan_member(&plan, member, picked, scope);
    }
    put_break(plan.texts, "", run->level);
    gt_out_char(plan.texts, '}');
    gt_row_plan_write(&plan, run->out, run->threads, picked->count, row_of, picked);
    gt_row_plan_release(&plan);
}

/* ---- any rows ---- */

/* Everything that is one thing for each row. */
static void write_rows(struct run *run, const struct gt_key *key, const struct gt_scope *scope) {
    struct gt_picked picked;
    bool is_array = key->kind == GT_KEY_ROWS || key->kind == GT_KEY_LIST;
    if (!pick(run, &key->rows, scope, &picked))
        return;
    gt_out_char(run->out, is_array ? '[' : '{');
    run->level++;
    bool is_planned = picked.count && is_flat(key);
    if (is_planned)
        write_flat_rows(run, key, &picked, scope);
    for (size_t i = 0; !is_planned && i < picked.count; i++) {
        struct gt_scope inside = {scope->section, picked.table, picked.rows[i], scope};
        break_line(run, i ? "," : "");
        write_row(run, key, &inside);
    }
    run->level--;
    if (picked.count)
        break_line(run, "");
    gt_out_char(run->out, is_array ? ']' : '}');
    gt_picked_release(&picked);
}

static void write_first(struct run *run, const struct gt_key *key, const struct gt_scope *scope) {
    struct gt_picked picked;
    if (!pick(run, &key->rows, scope, &picked))
        return;
    struct gt_scope inside = {scope->section, picked.table, picked.count ? picked.rows[0] : NULL, scope};
    if (picked.count || (key->kind == GT_KEY_AMOUNTS && picked.table))
        write_object(run, key + 1, &inside);
    else
        gt_out_text(run->out, "null");
    gt_picked_release(&picked);
}

static void write_size(struct run *run, const struct gt_key *key, const struct gt_scope *scope) {
    struct gt_picked picked;
    struct gt_pick rows = key->rows;
    rows.sort = NULL; /* whichever rows they are */
    if (key->kind == GT_KEY_HAS)
        rows.limit = 1;
    if (!pick(run, &rows, scope, &picked))
        return;
    if (key->kind == GT_KEY_HAS)
        gt_out_text(run->out, picked.count ? "true" : "false");
    else
        gt_out_printf(run->out, "%zu", picked.count);
    gt_picked_release(&picked);
}

static void write_notes(struct run *run, const struct gt_section *section) {
    const char *before = "";
    gt_out_char(run->out, '[');
    run->level++;
    for (size_t b = 0; b < section->block_count; b++) {
        const struct gt_block *block = &section->blocks[b];
        if (block->kind != GT_BLOCK_NOTE || !(block->audience & GT_FOR_DATA))
            continue;
        break_line(run, before);
        gt_escape_json(run->out, block->note);
        before = ",";
    }
    for (size_t i = 0; i < section->issue_count; i++) {
        break_line(run, before);
        gt_escape_json(run->out, gt_str_of(section->issues[i].help));
        before = ",";
    }
    run->level--;
    if (*before)
        break_line(run, "");
    gt_out_char(run->out, ']');
}

static struct gt_cell value_of(const struct gt_key *key, const struct gt_scope *scope) {
    struct gt_cell value = gt_picked_scope_value(scope, key->value);
    bool has_other = value.type == GPUTIME_CELL_NULL && key->name &&
                     gt_picked_scope_value(scope, key->rows.known).type != GPUTIME_CELL_NULL;
    return has_other ? gt_picked_scope_value(scope, key->name) : value;
}

static void write_key(struct run *run, const struct gt_key *key, const struct gt_scope *scope) {
    struct gt_cell value;
    gt_escape_json(run->out, gt_str_of(key->key));
    gt_out_text(run->out, ": ");
    switch (key->kind) {
    case GT_KEY_OBJECT:
        write_object(run, key + 1, scope);
        break;
    case GT_KEY_ROWS:
    case GT_KEY_MAP:
    case GT_KEY_LIST:
    case GT_KEY_LOOKUP:
    case GT_KEY_FLAGS:
        write_rows(run, key, scope);
        break;
    case GT_KEY_ROW:
    case GT_KEY_AMOUNTS:
        write_first(run, key, scope);
        break;
    case GT_KEY_HAS:
    case GT_KEY_COUNT:
        write_size(run, key, scope);
        break;
    case GT_KEY_VALUE:
        value = value_of(key, scope);
        write_value(run, &value);
        break;
    case GT_KEY_FLAG:
        value = gt_picked_scope_value(scope, key->value);
        write_flag(run, &value);
        break;
    case GT_KEY_LITERAL:
        gt_out_text(run->out, key->value);
        break;
    case GT_KEY_NOTES:
        write_notes(run, scope->section);
        break;
    case GT_KEY_END:
        break;
    }
}

/* Up to the end of the object they are in; gives what follows that. */
static const struct gt_key *write_members(struct run *run, const struct gt_key *key, const struct gt_scope *scope) {
    for (const char *before = ""; key->kind != GT_KEY_END; key = after(key), before = ",") {
        break_line(run, before);
        write_key(run, key, scope);
    }
    return key + 1;
}

enum gt_status gt_folder_files_keys(const struct gt_report *report, const struct gt_key *keys, size_t threads,
                                    struct gt_out *out, struct gt_error *err) {
    struct gt_json_how how = {
        .audience = GT_FOR_DATA, .threads = threads, .is_open = true, .has_recommendations = true};
    struct run run = {.out = out, .err = err, .level = 1, .threads = threads};
    enum gt_status status = gt_json_report(report, &how, out, err);
    if (status != GT_OK)
        return status;
    gt_out_char(out, ',');
    struct gt_scope scope = {.section = &report->sections[0]};
    write_members(&run, keys, &scope);
    gt_out_text(out, "\n}\n");
    return run.status;
}
