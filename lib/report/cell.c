/* Names of units. */
#include "report/cell.h"

const char *gt_cell_unit_name(enum gt_unit unit) {
    switch (unit) {
    case GT_UNIT_COUNT:
        return "count";
    case GT_UNIT_NS:
        return "ns";
    case GT_UNIT_BYTES:
        return "bytes";
    case GT_UNIT_SHARE:
        return "share";
    case GT_UNIT_NONE:
        break;
    }
    return "";
}
