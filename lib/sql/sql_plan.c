/* Plans as text: "used;column:op,column:op;column,column;d" and "g". */
#include "sql/sql_plan.h"

#include <stdlib.h>
#include <string.h>

#include "sql/sql_host.h"

char *gt_sql_plan_write(const struct gt_sql_plan *plan) {
    char *text = sqlite3_mprintf("%llx;", (unsigned long long)plan->used);
    for (size_t i = 0; i < plan->constraint_count && text; i++)
        text = sqlite3_mprintf("%z%d:%d,", text, (int)plan->constraints[i].column, plan->constraints[i].op);
    if (text)
        text = sqlite3_mprintf("%z;", text);
    for (size_t i = 0; i < plan->order_count && text; i++)
        text = sqlite3_mprintf("%z%d,", text, (int)plan->order[i]);
    return text ? sqlite3_mprintf("%z;%s%s", text, plan->is_descending ? "d" : "a", plan->is_grouping ? "g" : "")
                : NULL;
}

void gt_sql_plan_read(struct gt_sql_plan *plan, const char *text) {
    char *at;
    *plan = (struct gt_sql_plan){.used = strtoull(text, &at, 16)};
    for (at++; *at != ';' && *at && plan->constraint_count < GT_SQL_PLAN_MOST; at++) {
        struct gt_sql_constraint *constraint = &plan->constraints[plan->constraint_count++];
        constraint->column = (size_t)strtoul(at, &at, 10);
        constraint->op = (int)strtol(at + 1, &at, 10);
    }
    for (at++; *at != ';' && *at && plan->order_count < GT_SQL_PLAN_ORDERS; at++)
        plan->order[plan->order_count++] = (size_t)strtoul(at, &at, 10);
    plan->is_descending = *at && at[1] == 'd';
    plan->is_grouping = *at && at[1] && at[2] == 'g';
}
