// Whether a change is for the better: less time and memory is, more overlap, bandwidth and utilization is, and of numbers of
// things nobody can tell.

import { columnIndex, hasFlag, type Row, type Table } from './data';

export type Judgement = 'better' | 'worse' | 'changed';
type Direction = 'less' | 'more' | 'none';

/** Amounts of which more is better, by column or by measure. */
const MORE =
  /^(overlap|utili[sz]ation|busy_share|coverage|range_coverage|mfu|hfu|model_coverage|occupancy)|(busbw|algbw|bandwidth|bytes_per_s|_gbs|flops_per_s)/;
/** Amounts that only describe the work. */
const NEITHER = /^(busy|sum|count|steps|ops|launches|instances|queued|bytes|used|names)(_ns)?$|^(comm|memory)(_ns)?$/;
const LESS = /_ns$|_share$|^(peak_memory|memory_growth|allocated|reserved|issues|losses|step|span|idle|gap)/;

export function directionOf(key: string): Direction {
  const amount = key.replace(/^(a|b|delta|noise)_/, '');
  if (MORE.test(amount)) return 'more';
  if (NEITHER.test(amount)) return 'none';
  return LESS.test(amount) || /^(compute|exposed_)/.test(amount) ? 'less' : 'none';
}

export function judge(direction: Direction, change: number): Judgement {
  if (direction === 'none' || change === 0) return 'changed';
  return change < 0 === (direction === 'less') ? 'better' : 'worse';
}

/** Of the rows of a comparison: null where the table is none. A row of measures is judged by its measure. */
export function judgeOf(table: Table): ((row: Row) => Judgement) | null {
  const delta = table.columns.findIndex((column) => column.key.startsWith('delta_') && hasFlag(column, 'signed'));
  if (delta < 0) return null;
  const measure = columnIndex(table, 'measure');
  const own = directionOf(table.columns[delta]!.key);
  return (row) => {
    const direction = measure < 0 ? own : directionOf(String(row[measure]));
    return judge(direction, Number(row[delta] ?? 0));
  };
}
